package inbound_test

import (
	"net/http"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/product/apikey"
	"postrider/product/plan"
)

func TestAKeyOfSomeDomainsFindsWhatTheyReceivedOnly(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		other, third := in.VerifiedDomain(in.Workspace, "other.test"), in.VerifiedDomain(in.Workspace, "third.test")
		in.Must(http.StatusOK, http.MethodPost, "/domains/"+other+"/receiving", fields{"enabled": true})
		ids := map[string]string{}
		for _, to := range []string{"support@acme.test", "support@other.test"} {
			hand(t, mx, to, letter)
			rule(t, in, fields{"address": to, "forward_to": "x@y.test", "enabled": false})
		}
		for _, row := range in.Must(http.StatusOK, http.MethodGet, "/emails/receiving", nil).Body["data"].([]any) {
			m := row.(map[string]any)
			ids[m["domain_id"].(string)] = m["id"].(string)
		}
		foreign, own := ids[in.DomainID], ids[other]
		file := func(id string) string {
			list := in.Must(http.StatusOK, http.MethodGet, "/emails/receiving/"+id+"/attachments", nil).Body["data"].([]any)
			return "/attachments/" + list[1].(map[string]any)["id"].(string)
		}
		for _, domains := range [][]string{{other}, {other, third}} {
			_, key, err := in.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: in.Workspace, Name: "own", Preset: apikey.FullAccess, DomainIDs: domains})
			if err != nil {
				t.Fatal(err)
			}
			for path, want := range map[string]string{"": own, "?domain=other.test": own, "?domain=acme.test": "", "/forwarding": "support@other.test"} {
				list := in.CallAs(key, http.MethodGet, "/emails/receiving"+path, nil, nil)
				rows, _ := list.Body["data"].([]any)
				if found := want != ""; list.Status != http.StatusOK || (len(rows) == 1) != found || (list.Text("total") == "1") != found || !strings.Contains(string(list.Raw), want) {
					t.Errorf("%s: %s", path, list.Raw)
				}
			}
			health := in.CallAs(key, http.MethodGet, "/emails/receiving/health", nil, nil)
			if shown, _ := health.Body["domains"].([]any); len(shown) != len(domains) || strings.Contains(string(health.Raw), "acme.test") {
				t.Errorf("health: %s", health.Raw)
			}
			if after := in.CallAs(key, http.MethodGet, "/emails/receiving?after="+foreign, nil, nil); after.Text("error", "code") != "invalid_cursor" {
				t.Errorf("%s", after.Raw)
			}
			for _, c := range []struct {
				method string
				path   func(id string) string
				body   any
				want   int
			}{
				{http.MethodGet, func(string) string { return "" }, nil, http.StatusOK},
				{http.MethodGet, func(string) string { return "/attachments" }, nil, http.StatusOK},
				{http.MethodGet, file, nil, http.StatusOK},
				{http.MethodPatch, func(string) string { return "" }, fields{"read": true}, http.StatusOK},
				{http.MethodPost, func(string) string { return "/reply" }, fields{"text": "Hi", "from": "support@other.test"}, http.StatusAccepted},
				{http.MethodDelete, func(string) string { return "" }, nil, http.StatusConflict}, // nobody has checked it yet
			} {
				if answer := in.CallAs(key, c.method, "/emails/receiving/"+foreign+c.path(foreign), c.body, nil); answer.Status != http.StatusNotFound || answer.Text("error", "details", "resource") != "email" {
					t.Errorf("%s %s of foreign mail: %d %s", c.method, c.path(foreign), answer.Status, answer.Raw)
				}
				if answer := in.CallAs(key, c.method, "/emails/receiving/"+own+c.path(own), c.body, nil); answer.Status != c.want {
					t.Errorf("%s %s of own mail: %d %s", c.method, c.path(own), answer.Status, answer.Raw)
				}
			}
		}
		if got := one(t, in, foreign).Text("read"); got != "false" {
			t.Errorf("read: %s", got)
		}
	})
}

func TestAKeyOfSomeDomainsHandsInAndPassesOnForThemOnly(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	other := in.VerifiedDomain(in.Workspace, "other.test")
	foreign := "/emails/receiving/forwarding/" + rule(t, in, fields{"address": "a@acme.test", "forward_to": "x@y.test"})
	_, key, err := in.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: in.Workspace, Name: "own", Preset: apikey.FullAccess, DomainIDs: []string{other}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path string
		body         any
		want         int
	}{
		{http.MethodPost, "/emails/receiving", fields{"raw": note, "rcpt_to": "a@acme.test"}, http.StatusForbidden},
		{http.MethodPost, "/emails/receiving", fields{"raw": note, "rcpt_to": []string{"a@other.test", "a@acme.test"}}, http.StatusForbidden},
		{http.MethodPost, "/emails/receiving", fields{"raw": note, "rcpt_to": "a@other.test"}, http.StatusCreated},
		{http.MethodPost, "/emails/receiving/forwarding", fields{"address": "*@acme.test", "forward_to": "x@evil.test"}, http.StatusForbidden},
		{http.MethodPost, "/emails/receiving/forwarding", fields{"address": "*@other.test", "forward_to": "x@y.test"}, http.StatusCreated},
		{http.MethodPatch, foreign, fields{"forward_to": "x@evil.test"}, http.StatusForbidden},
		{http.MethodDelete, foreign, nil, http.StatusForbidden},
	} {
		if answer := in.CallAs(key, c.method, c.path, c.body, nil); answer.Status != c.want || c.want == http.StatusForbidden && answer.Text("error", "code") != "domain_not_allowed" {
			t.Errorf("%s %s %v: %d %s", c.method, c.path, c.body, answer.Status, answer.Raw)
		}
	}
	if list := in.Call(http.MethodGet, "/emails/receiving", nil); list.Text("total") != "1" {
		t.Errorf("%s", list.Raw)
	}
}

func TestWhatOthersWroteOrRuledChangesNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		_, key := in.NewWorkspace(plan.Unlimited)
		for _, name := range []string{"claimed.test", "theirs.test"} { // neither is proven to be theirs
			in.CallAs(key, http.MethodPost, "/domains", fields{"name": name}, nil)
		}
		in.Must(http.StatusOK, http.MethodPost, "/domains/"+in.VerifiedDomain(in.Workspace, "claimed.test")+"/receiving", fields{"enabled": true})
		rule(t, in, fields{"address": "support@claimed.test", "forward_to": "team@example.org"})
		if stolen := in.CallAs(key, http.MethodPost, "/emails/receiving/forwarding", fields{"address": "support@claimed.test", "forward_to": "x@evil.test"}, nil); stolen.Status != http.StatusCreated {
			t.Fatalf("%s", stolen.Raw)
		}
		if theirs := in.CallAs(key, http.MethodPost, "/emails/receiving", fields{"raw": note, "rcpt_to": "a@theirs.test"}, nil); theirs.Status != http.StatusCreated {
			t.Fatalf("%s", theirs.Raw)
		}
		hand(t, mx, "support@claimed.test", "From: ann@example.net\r\nSubject: Re: Question\r\nIn-Reply-To: <q@example.net>\r\n\r\nWell.\r\n")
		in.Receive()
		in.Deliver()
		if got := received(t, in); got.Text("thread_id") != got.Text("id") || len(in.Mailbox("team@example.org")) != 1 || len(in.Mailbox("x@evil.test")) != 0 {
			t.Errorf("%s", got.Raw)
		}
	})
}
