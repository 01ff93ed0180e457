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

func TestAKeyOfSomeDomainsDoesNotLearnOfOthers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other := in.VerifiedDomain(in.Workspace, "other.test")
		foreign, own := accepted(t, in, nil), accepted(t, in, fields{"from": "ann@other.test"})
		_, key, err := in.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: in.Workspace, Name: "own", Preset: apikey.FullAccess, DomainIDs: []string{other}})
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range []string{"after", "before"} {
			refused(t, in.CallAs(key, http.MethodGet, "/emails?"+place+"="+foreign, nil, nil), http.StatusBadRequest, "invalid_cursor")
			if answer := in.CallAs(key, http.MethodGet, "/emails?"+place+"="+own, nil, nil); answer.Status != http.StatusOK {
				t.Errorf("%s own mail: %d %s", place, answer.Status, answer.Raw)
			}
		}
		checked := func(from string) apptest.Answer {
			return in.CallAs(key, http.MethodPost, "/emails/spam-check", fields{"from": from, "subject": "Hi", "text": "Hi"}, nil)
		}
		refused(t, checked("hello@acme.test"), http.StatusForbidden, "domain_not_allowed")
		if answer := checked("ann@other.test"); answer.Body["sendable"] != true {
			t.Errorf("from its own domain: %d %s", answer.Status, answer.Raw)
		}
		if answer := checked("ann@nobody.test"); answer.Status != http.StatusOK || answer.Body["sendable"] != false {
			t.Errorf("from nobody's domain: %d %s", answer.Status, answer.Raw)
		}
	})
}

func TestTheSearchOfAKeyOfSomeDomainsIsNotLedAstrayByOthers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other, third := in.VerifiedDomain(in.Workspace, "other.test"), in.VerifiedDomain(in.Workspace, "third.test")
		accepted(t, in, fields{"subject": "printer", "to": "printer@example.net"})
		own := accepted(t, in, fields{"subject": "printers", "from": "ann@other.test", "to": "printers@example.net"})
		for _, domains := range [][]string{{other}, {other, third}} {
			_, key, err := in.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: in.Workspace, Name: "own", Preset: apikey.FullAccess, DomainIDs: domains})
			if err != nil {
				t.Fatal(err)
			}
			for _, query := range []string{"search=printer", "to=printer"} {
				if list := in.CallAs(key, http.MethodGet, "/emails?"+query, nil, nil); len(rows(list)) != 1 || rows(list)[0]["id"] != own {
					t.Errorf("%d domains, %s: %s", len(domains), query, list.Raw)
				}
			}
		}
	})
}
