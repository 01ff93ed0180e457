package delivery_test

import (
	"net/http"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/db"
)

// A name that was taken when longer ones were allowed cannot be read any more, today or tomorrow.
func TestMailToAnAddressThatCannotBeReadFailsAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		if err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE email SET addresses = $1 WHERE id = $2`, `{"to":["`+strings.Repeat("Ann ", 300)+`<ann@example.net>"]}`, id)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		in.Deliver()
		if e := in.Email(id); e.Text("status") != "failed" || e.Text("failure", "reason") != "message_rejected_locally" {
			t.Errorf("%s", e.Raw)
		}
		if raw := in.Call(http.MethodGet, "/emails/"+id+"/raw", nil); raw.Status != http.StatusConflict || raw.Text("error", "code") != "invalid_state" {
			t.Errorf("its raw message: %d %s", raw.Status, raw.Raw)
		}
	})
}
