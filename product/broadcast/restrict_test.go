package broadcast_test

import (
	"net/http"
	"testing"

	"postrider/product/apikey"
)

func TestAKeyOfSomeDomainsFindsTheirBroadcastsOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		other := h.VerifiedDomain(h.Workspace, "other.test")
		_, key, err := h.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: h.Workspace, Name: "own", Preset: apikey.FullAccess, DomainIDs: []string{other}})
		if err != nil {
			t.Fatal(err)
		}
		list := h.list("ann@example.net")
		foreign := h.must(201, "POST", "/broadcasts", news(list, nil)).Text("id")
		waiting := h.sent(list, fields{"scheduled_at": "in 2 days"})
		own := h.must(201, "POST", "/broadcasts", news(list, fields{"from": "News <news@OTHER.test>"})).Text("id")
		nobodys := h.must(201, "POST", "/broadcasts", fields{"name": "Without a sender"}).Text("id")

		page := h.mustAs(key, 200, "GET", "/broadcasts", nil)
		if rows := page.Body["data"].([]any); len(rows) != 2 || rows[0].(fields)["id"] != nobodys || rows[1].(fields)["id"] != own || page.Text("total") != "2" {
			t.Errorf("found: %s", page.Raw)
		}
		if got := h.mustAs(key, 200, "GET", "/broadcasts/summary", nil); got.Text("total") != "2" || got.Text("by_status", "scheduled") != "0" {
			t.Errorf("summary: %s", got.Raw)
		}
		if got := h.mustAs(key, 400, "GET", "/broadcasts?after="+foreign, nil); got.Text("error", "code") != "invalid_cursor" {
			t.Errorf("after a foreign one: %s", got.Raw)
		}
		for _, c := range []struct{ method, path string }{
			{http.MethodGet, ""}, {http.MethodPatch, ""}, {http.MethodDelete, ""}, {http.MethodPost, "/send"}, {http.MethodPost, "/cancel"},
			{http.MethodPost, "/pause"}, {http.MethodPost, "/resume"}, {http.MethodPost, "/retry"}, {http.MethodPost, "/duplicate"},
			{http.MethodGet, "/recipients"}, {http.MethodGet, "/recipient-errors"}, {http.MethodGet, "/stats"}, {http.MethodGet, "/clicked-links"},
		} {
			for _, id := range []string{foreign, waiting} {
				if got := h.CallAs(key, c.method, "/broadcasts/"+id+c.path, fields{}, nil); got.Status != 404 || got.Text("error", "details", "resource") != "broadcast" {
					t.Errorf("%s %s: %d %s", c.method, c.path, got.Status, got.Raw)
				}
			}
		}
		for id, status := range map[string]string{foreign: "draft", waiting: "scheduled"} {
			if got := h.get(id).Text("status"); got != status {
				t.Errorf("a broadcast that was %s is %s", status, got)
			}
		}

		for _, answer := range []string{
			h.mustAs(key, 403, "POST", "/broadcasts", news(list, nil)).Text("error", "code"),
			h.mustAs(key, 403, "PATCH", "/broadcasts/"+own, fields{"from": "news@acme.test"}).Text("error", "code"),
		} {
			if answer != "domain_not_allowed" {
				t.Errorf("a draft with a foreign sender: %s", answer)
			}
		}
		h.mustAs(key, 200, "PATCH", "/broadcasts/"+own, fields{"name": "Changed"})
		h.mustAs(key, 200, "GET", "/broadcasts/"+nobodys, nil)
		h.mustAs(key, 202, "POST", "/broadcasts/"+own+"/send", nil)
		h.mustAs(key, 200, "GET", "/broadcasts/"+own+"/recipients", nil)
	})
}
