package email_test

import (
	"net/http"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/product/apikey"
)

func TestAKeyOfSomeDomainsFindsTheirMailOnly(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other, third := in.VerifiedDomain(in.Workspace, "other.test"), in.VerifiedDomain(in.Workspace, "third.test")
		foreign := accepted(t, in, fields{"subject": "foreign", "scheduled_at": "in 1 day"})
		own := accepted(t, in, fields{"subject": "own", "from": "ann@other.test", "scheduled_at": "in 1 day"})
		for _, domains := range [][]string{{other}, {other, third}} {
			_, key, err := in.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: in.Workspace, Name: "own", Preset: apikey.FullAccess, DomainIDs: domains})
			if err != nil {
				t.Fatal(err)
			}
			list := in.CallAs(key, http.MethodGet, "/emails", nil, nil)
			if len(rows(list)) != 1 || !strings.Contains(string(list.Raw), own) {
				t.Errorf("%s", list.Raw)
			}
			for _, c := range []struct {
				method, path string
				body         any
			}{
				{http.MethodGet, "", nil}, {http.MethodGet, "/events", nil}, {http.MethodGet, "/attempts", nil}, {http.MethodGet, "/attachments", nil}, {http.MethodGet, "/raw", nil},
				{http.MethodPost, "/share", fields{}}, {http.MethodPatch, "", fields{"scheduled_at": "in 2 days"}}, {http.MethodPost, "/cancel", nil},
			} {
				if answer := in.CallAs(key, c.method, "/emails/"+foreign+c.path, c.body, nil); answer.Status != http.StatusNotFound || answer.Text("error", "details", "resource") != "email" {
					t.Errorf("%s %s of foreign mail: %d %s", c.method, c.path, answer.Status, answer.Raw)
				}
				if c.path == "/cancel" && len(domains) == 1 {
					continue
				}
				if answer := in.CallAs(key, c.method, "/emails/"+own+c.path, c.body, nil); answer.Status != http.StatusOK {
					t.Errorf("%s %s of own mail: %d %s", c.method, c.path, answer.Status, answer.Raw)
				}
			}
		}
		if got := in.Email(foreign).Text("status"); got != "scheduled" {
			t.Errorf("%s", got)
		}
	})
}
