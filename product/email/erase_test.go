package email_test

import (
	"net/http"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/product/email"
)

func TestARecipientIsForgottenAFewMailsAtATime(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		batch := []fields{}
		for i := range 30 { // all have the words of the address
			to := "bob@example.net"
			if i%10 == 5 {
				to = "ann@example.net"
			}
			batch = append(batch, fields{"from": "hello@acme.test", "to": to, "subject": "About ann at example net", "text": "Hi"})
		}
		in.Must(http.StatusAccepted, http.MethodPost, "/emails/batch", batch)
		in.Deliver()
		erased := int64(0)
		for done := (email.Erasure{Place: db.PlaceAfter(in.Clock.Now()), More: true}); done.More; erased += done.Erased {
			place := done.Place
			err := in.App.DB.Write(t.Context(), func(tx *db.Tx) (err error) {
				done, err = in.App.Emails.Erase(tx, in.Workspace, "ann@example.net", place, 4)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if left := string(in.Must(http.StatusOK, http.MethodGet, "/emails?limit=50", nil).Raw); erased != 3 || strings.Contains(left, "ann@example.net") {
			t.Errorf("%d forgotten, %s", erased, left)
		}
	})
}
