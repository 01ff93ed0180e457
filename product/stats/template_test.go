package stats_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"postrider/app/apptest"
)

func TestTheMailsOfATemplateAreCountedByVersion(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Must(http.StatusCreated, http.MethodPost, "/templates", map[string]any{"name": "Order", "subject": "Order", "html": "<p>1</p>"}).Text("id")
		publish := func() { in.Must(http.StatusOK, http.MethodPost, "/templates/"+id+"/publish", nil) }
		send := func(to string) {
			in.Must(http.StatusAccepted, http.MethodPost, "/emails", map[string]any{"from": "hello@acme.test", "to": to, "template": map[string]any{"id": id}})
		}
		publish()
		send("ann@example.net")
		in.Must(http.StatusOK, http.MethodPatch, "/templates/"+id, map[string]any{"html": "<p>2</p>"})
		publish()
		send("bob@example.net")
		send("bounce@example.net")
		in.Deliver()
		in.CatchUp(in.App.Stats.Followers())
		told := in.Must(http.StatusOK, http.MethodGet, "/templates/"+id+"/stats", nil)
		counts := func(record any) [3]any {
			totals, _ := record.(map[string]any)["totals"].(map[string]any)
			return [3]any{totals["accepted"], totals["delivered"], totals["bounced"]}
		}
		versions, _ := told.Body["versions"].([]any)
		if counts(map[string]any(told.Body)) != [3]any{3.0, 2.0, 1.0} || told.Body["last_sent_at"] == nil || len(versions) != 2 ||
			counts(versions[0]) != [3]any{2.0, 1.0, 1.0} || counts(versions[1]) != [3]any{1.0, 1.0, 0.0} {
			t.Errorf("%s", told.Raw)
		}

		in.Clock.Advance(4 * 24 * time.Hour)
		fold(t, in)
		packed := in.Must(http.StatusOK, http.MethodGet, "/templates/"+id+"/stats", nil)
		for _, name := range []string{"totals", "versions", "last_sent_at"} {
			if fmt.Sprint(packed.Body[name]) != fmt.Sprint(told.Body[name]) {
				t.Errorf("%s are %v when the day is packed, and were %v", name, packed.Body[name], told.Body[name])
			}
		}
	})
}
