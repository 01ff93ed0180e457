package web_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"postrider/app/apptest"
	"postrider/platform/api"
)

func TestSigningInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	for _, next := range []string{"https://evil.test/", "//evil.test/", `/\evil.test`, "javascript:alert(1)"} {
		page := main(owner.ask(http.MethodGet, "/signin?"+url.Values{"next": {next}}.Encode(), nil).Body.String())
		if strings.Contains(page, "evil.test") || strings.Contains(page, "alert(1)") {
			t.Errorf("the form keeps %s", next)
		}
		removed := owner.post("/suppressions/remove", url.Values{"emails": {"gone@example.net"}, "back": {next}})
		if to := removed.Header().Get("Location"); removed.Code != http.StatusSeeOther || to != owner.path("/suppressions") {
			t.Errorf("%s: %d leads to %q", next, removed.Code, to)
		}
		opened := owner.submit("/signin", url.Values{"email": {in.Owner()}, "password": {"correct horse battery"}, "next": {next}})
		if to := opened.Header().Get("Location"); opened.Code != http.StatusSeeOther || to != "/" {
			t.Errorf("%s: %d leads to %q", next, opened.Code, to)
		}
		for _, set := range opened.Result().Cookies() { // signing in ends the session before
			owner.cookie = set
		}
	}
}

func TestTheBodyOfAMailGetsNothingButPixels(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	for name, want := range map[string]string{"html": "<script>alert(1)</script>", "text": "&lt;script&gt;alert(1)&lt;/script&gt;"} {
		id := in.Must(http.StatusAccepted, http.MethodPost, "/emails",
			map[string]any{"from": "hello@" + apptest.Domain, "to": "ada@example.net", "subject": "Hi", name: "<script>alert(1)</script>"}).Text("id")
		frame := owner.ask(http.MethodGet, owner.path("/emails/"+id+"/body"), nil)
		policy := frame.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "sandbox;") || !strings.Contains(policy, "default-src 'none'") ||
			strings.Contains(policy, "script-src") || strings.Contains(policy, "allow-") {
			t.Errorf("the policy of %s is %q", name, policy)
		}
		if !strings.Contains(frame.Body.String(), want) {
			t.Errorf("the frame of %s is %s", name, frame.Body)
		}
	}
}

func TestWhatAnEndpointAnswersIsShownAsText(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	const hostile = `</pre><script>alert(1)</script>`
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Hostile", hostile)
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, hostile)
	}))
	defer endpoint.Close()
	in.Must(http.StatusCreated, http.MethodPost, "/webhooks", map[string]any{"url": endpoint.URL, "events": []string{"*"}})
	in.Send("ada@example.net")
	in.CatchUp(in.App.Webhooks.Followers())
	in.Finish(in.App.Webhooks.Step)
	deliveries, _ := in.Must(http.StatusOK, http.MethodGet, "/webhook-deliveries", nil).Body["data"].([]any)
	if len(deliveries) == 0 {
		t.Fatal("nothing was posted")
	}
	id := deliveries[0].(map[string]any)["id"].(string)
	page := owner.ask(http.MethodGet, owner.path("/webhooks/deliveries/"+id), nil).Body.String()
	if strings.Contains(page, hostile) || strings.Count(page, "&lt;script&gt;alert(1)") < 2 {
		t.Errorf("the answer and its header stand on the page as %s", main(page))
	}
}

func TestTheBodyOfAMailConnectsToNobody(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	hostile := `<link rel="preconnect" href="https://evil.test"><LINK rel=dns-prefetch href=//evil.test><p>Hello</p><iframe/src="https://evil.test">` +
		`<link rel=preconnect href="https://evil.test"></iframe><object data="https://evil.test">shown</object><embed src="https://evil.test">` +
		`<frameset><frame src="https://evil.test"></frameset><noscript><lInK` + "\n" + `rel=preconnect href=//evil.test></noscript><svg><style><link rel=preconnect href=//evil.test></style></svg>`
	id := in.Must(http.StatusAccepted, http.MethodPost, "/emails",
		map[string]any{"from": "hello@" + apptest.Domain, "to": "ada@example.net", "subject": "Hi", "html": hostile}).Text("id")
	frame := owner.ask(http.MethodGet, owner.path("/emails/"+id+"/body"), nil)
	if frame.Header().Get("X-DNS-Prefetch-Control") != "off" {
		t.Errorf("%v", frame.Header())
	}
	page := strings.ToLower(frame.Body.String())
	for _, element := range []string{"link", "iframe", "object", "embed", "frame"} {
		if strings.Contains(page, "<"+element) {
			t.Errorf("%s is left in %s", element, page)
		}
	}
	if !strings.Contains(page, "<p>hello</p>") || !strings.Contains(page, `<span data="https://evil.test">shown</span>`) {
		t.Errorf("%s", page)
	}
}

func TestCharactersThatHideTextAreShown(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	id := in.Must(http.StatusAccepted, http.MethodPost, "/emails",
		map[string]any{"from": "hello@" + apptest.Domain, "to": "ada@example.net", "subject": "invoice\u202efdp.exe", "text": "Hi"}).Text("id")
	for _, path := range []string{"/emails", "/emails/" + id, "/people/ada@example.net"} {
		if page := owner.open(path); strings.Contains(page, "\u202e") || !strings.Contains(page, "invoice\uFFFDfdp.exe") {
			t.Errorf("%s turns the text round", path)
		}
	}
}

func TestNobodyFillsInAFormThatTheirRoleCannotSend(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for role, forms := range map[api.Role][]string{
		api.Viewer: {"/emails/new", "/emails/check", "/domains/new", "/keys/new", "/webhooks/new", "/suppressions/new",
			"/templates/new", "/customers/new", "/broadcasts/new", "/automations/new",
			"/audience/contacts/new", "/audience/lists/new", "/audience/segments/new", "/audience/topics/new",
			"/audience/properties/new", "/audience/import", "/credentials/new", "/events/new"},
		api.Marketer:  {"/domains/new", "/keys/new", "/webhooks/new", "/suppressions/new", "/customers/new", "/automations/new"},
		api.Developer: {"/keys/new"},
	} {
		member := signedIn(t, in, role)
		for _, form := range forms {
			if answer := member.ask(http.MethodGet, member.path(form), nil); answer.Code != http.StatusForbidden {
				t.Errorf("%s as %s: %d", form, role, answer.Code)
			}
		}
	}
}

func TestWhoMakesAKeyLateIsAskedToConfirmAndLosesNothing(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	secret := in.Browse(http.MethodPost, "/account/2fa/setup", map[string]any{}).Text("secret")
	code := func() string {
		t.Helper()
		made, err := totp.GenerateCode(secret, in.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	if enabled := in.Browse(http.MethodPost, "/account/2fa/enable", map[string]any{"code": code()}); enabled.Status != http.StatusOK {
		t.Fatalf("%d %s", enabled.Status, enabled.Raw)
	}
	owner := signedIn(t, in, api.Owner)
	in.Clock.Advance(20 * time.Minute)
	filled := url.Values{"name": {"My app"}, "preset": {"sending_access"}, "mode": {"live"}, "domain_ids": {in.DomainID}}
	with := func(proof string) url.Values {
		form := maps.Clone(filled)
		form.Set("confirm_code", proof)
		return form
	}
	for _, proof := range []string{"", "a-wrong-guess"} {
		asked := owner.post("/keys/new", with(proof))
		kept := owner.filled(asked.Body.String(), "/keys/new")
		if asked.Code != http.StatusForbidden || !kept.Has("confirm_code") || strings.Contains(said(asked), "a-wrong-guess") {
			t.Fatalf("%d %s", asked.Code, said(asked))
		}
		if kept.Del("confirm_code"); kept.Encode() != filled.Encode() {
			t.Errorf("kept %v", kept)
		}
	}
	digits := code()
	if made := owner.post("/keys/new", with(digits[:3]+" "+digits[3:])); made.Code != http.StatusOK || !strings.Contains(said(made), "pr_live_") {
		t.Errorf("%d %s", made.Code, said(made))
	}
}

func TestAScriptDoesNotTakeWhatAPersonShouldRead(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	look := func(header string) string {
		return main(owner.ask(http.MethodGet, owner.path("/emails"), map[string]string{"Cookie": "notice=Sent.", "X-Requested-By": header}).Body.String())
	}
	if strings.Contains(look("kit"), "Sent.") {
		t.Error("a script is told")
	}
	if !strings.Contains(look(""), "Sent.") {
		t.Error("a person is not told")
	}
}

func TestWhatCannotBeMadeAgainIsDeletedByItsName(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	list := in.Must(http.StatusCreated, http.MethodPost, "/audience/lists", map[string]any{"name": "Readers"}).Text("id")
	contact := in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", map[string]any{"email": "ada@example.net"}).Text("id")
	for _, thing := range []struct{ record, action, field, name string }{
		{"/domains/" + in.DomainID, "/domains/" + in.DomainID + "/delete", "typed", apptest.Domain},
		{"/audience/lists/" + list, "/audience/lists/" + list + "/delete", "confirm", "Readers"},
		{"/audience/contacts/" + contact, "/audience/contacts/" + contact + "/erase", "confirm", "ada@example.net"},
	} {
		for _, typed := range []string{"", "x" + thing.name} {
			if answer := owner.post(thing.action, url.Values{thing.field: {typed}, "force": {"on"}}); answer.Code != http.StatusBadRequest {
				t.Errorf("%s with %q: %d %s", thing.action, typed, answer.Code, said(answer))
			}
		}
		in.Must(http.StatusOK, http.MethodGet, thing.record, nil)
		if answer := owner.post(thing.action, url.Values{thing.field: {thing.name}, "force": {"on"}}); answer.Code != http.StatusSeeOther {
			t.Errorf("%s: %d %s", thing.action, answer.Code, said(answer))
		}
		in.Must(http.StatusNotFound, http.MethodGet, thing.record, nil)
	}
}
