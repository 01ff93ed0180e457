package dashboard

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// ask requests a page of the dashboard, or posts a form of it, as a browser of the person would. It looks at more in a second than
// a person may, and tries again when that is said: later each time, for a page asks for many things and each try uses up some of them.
func (p *person) ask(method, path string, form url.Values) (status int, page string) {
	p.t.Helper()
	for wait := 50 * time.Millisecond; wait < startWithin; wait *= 2 {
		if status, page = p.askOnce(method, path, form); status != http.StatusTooManyRequests {
			return status, page
		}
		<-time.After(wait)
	}
	p.t.Fatalf("%s %s is refused for a minute: %.300s", method, path, mainPart.FindString(page))
	return status, page
}

func (p *person) askOnce(method, path string, form url.Values) (status int, page string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	quiet := *p.client // where an action leads to is not looked at
	quiet.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := quiet.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

var (
	mainPart   = regexp.MustCompile(`(?s)<main.*</main>`)
	linkTarget = regexp.MustCompile(`(?s)<a [^>]*href="(/w/[^"#]*)"`)
	formTarget = regexp.MustCompile(`(?s)(?:method="post" action|formaction)="([^"]*)"`)
	inviteLink = regexp.MustCompile(`/invite/[\w.-]+`)
)

// email and password are those of somebody who joins.
const email, password = "mara@example.net", "a long enough password"

// join invites somebody, who makes an account by the link in the mail, and returns the id of their membership. The browser is theirs then.
func (o *tour) join(role string) string {
	o.t.Helper()
	owner := o.person()
	owner.call("POST", "/workspaces/"+o.ready.WorkspaceID+"/invitations", map[string]string{"email": email, "role": role})
	o.openUntil("/sandbox", email)
	o.Press(email)
	o.Wait(`location.pathname.includes("/sandbox/")`)
	o.open(strings.TrimPrefix(o.Path(), o.path("")) + "?tab=text")
	link := inviteLink.FindString(o.Eval("document.body.innerText"))
	if link == "" {
		o.t.Fatal("the mail holds no invitation")
	}
	o.Eval(`document.querySelector('form[action="/signout"]').requestSubmit()`)
	o.See("You are signed out.")
	o.Visit(link)
	o.Fill("name", "Mara")
	o.Fill("password", password)
	o.Click("main form button.pri")
	o.See("Overview")
	for _, one := range owner.call("GET", "/workspaces/"+o.ready.WorkspaceID+"/members", nil)["data"].([]any) {
		member := one.(map[string]any)
		if user, _ := member["user"].(map[string]any); member["email"] == email || user["email"] == email {
			return member["id"].(string)
		}
	}
	o.t.Fatal("nobody joined")
	return ""
}

// furnish makes one of everything and returns the pages that show it.
func (o *tour) furnish() []string {
	o.t.Helper()
	id := func(path string, body map[string]any) string {
		made, _ := o.call("POST", path, body)["id"].(string)
		return made
	}
	letter := id("/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": "Hi", "text": "Hi"})
	later := id("/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": "Later", "text": "Hi", "scheduled_at": "in 2 hours"})
	template := id("/templates", map[string]any{"name": "Hello", "subject": "Hi", "html": "<p>Hi</p>"})
	list := o.people()
	draft := id("/broadcasts", map[string]any{"name": "News", "from": "news@acme.test", "subject": "News", "html": "<p>Hi</p>", "audience_id": list})
	hook := id("/webhooks", map[string]any{"url": "https://app.example.com/hooks", "events": []string{"email.*"}})
	domain := o.call("GET", "/domains", nil)["data"].([]any)[0].(map[string]any)["id"].(string)
	flow := id("/automations", map[string]any{"name": "Flow"})
	o.call("POST", "/suppressions", map[string]any{"email": "gone@example.net"})
	return []string{"", "/emails", "/emails/" + letter, "/emails/" + later, "/templates", "/templates/" + template, "/broadcasts", "/broadcasts/" + draft + "/edit", "/broadcasts/" + draft + "/review",
		"/audience", "/audience/lists/" + list, "/audience/segments", "/automations", "/automations/" + flow, "/suppressions", "/people/ada@example.net", "/inbox", "/sandbox", "/stats",
		"/logs", "/quickstart", "/domains", "/domains/" + domain, "/keys", "/webhooks", "/webhooks/" + hook, "/webhooks/" + hook + "?tab=settings", "/customers",
		"/settings", "/settings/members", "/settings/plan"}
}

// forbidden are actions by role that are refused even if somebody makes up the form.
var forbidden = map[string][]string{
	"developer": {"/keys/new", "/settings/members/invite"},
	"marketer":  {"/keys/new", "/settings/members/invite", "/domains/new", "/webhooks/new", "/automations/new", "/suppressions/new", "/customers/new"},
	"viewer": {"/keys/new", "/settings/members/invite", "/domains/new", "/webhooks/new", "/automations/new", "/suppressions/new", "/customers/new", "/emails/new", "/emails/check",
		"/templates/new", "/broadcasts/new", "/audience/lists/new", "/audience/segments/new"},
}

func TestEveryRoleIsOfferedWhatItMayDoAndRefusedTheRest(t *testing.T) {
	t.Parallel()
	o := begin(t)
	pages := o.furnish()
	id := o.join("viewer")
	owner := o.person()
	for _, role := range []string{"viewer", "marketer", "developer"} { // what they may do grows, and so does what they change
		owner.call("PATCH", "/workspaces/"+o.ready.WorkspaceID+"/members/"+id, map[string]string{"role": role})
		member := o.signIn(email, password) // a change of rights ends sessions
		var links, actions []string
		for _, page := range pages {
			status, drawn := member.ask(http.MethodGet, o.path(page), nil)
			if status >= 500 {
				t.Errorf("%s as %s: %d", page, role, status)
			}
			if status != http.StatusOK {
				continue
			}
			for _, found := range linkTarget.FindAllStringSubmatch(drawn, -1) {
				links = append(links, strings.ReplaceAll(found[1], "&amp;", "&"))
			}
			for _, found := range formTarget.FindAllStringSubmatch(mainPart.FindString(drawn), -1) {
				actions = append(actions, strings.ReplaceAll(found[1], "&amp;", "&"))
			}
		}
		if len(links) < 20 {
			t.Errorf("a %s is offered %d links, which cannot be all", role, len(links))
		}
		for _, link := range slices.Compact(slices.Sorted(slices.Values(links))) {
			if status, _ := member.ask(http.MethodGet, link, nil); status == http.StatusForbidden {
				t.Errorf("a %s is offered %s, which is refused", role, link)
			}
		}
		for _, path := range forbidden[role] {
			if slices.Contains(actions, o.path(path)) {
				t.Errorf("a %s is offered the form of %s", role, path)
			}
			if status, _ := member.ask(http.MethodGet, o.path(path), nil); status == http.StatusOK {
				t.Errorf("%s opens for a %s", path, role)
			}
			if status, page := member.ask(http.MethodPost, o.path(path), url.Values{"name": {"x"}, "email": {"x@example.net"}, "emails": {"x@example.net"}, "domain": {"x.test"}, "to": {"x@example.net"},
				"from": {"hello@acme.test"}, "subject": {"x"}, "text": {"x"}, "html": {"x"}, "url": {"https://example.com/"}, "events": {"email.sent"}, "external_id": {"x"}, "role": {"viewer"}}); status != http.StatusForbidden {
				t.Errorf("%s as %s: %d %.300s", path, role, status, mainPart.FindString(page))
			}
		}
		for _, action := range slices.Compact(slices.Sorted(slices.Values(actions))) {
			if status, page := member.ask(http.MethodPost, action, nil); status == http.StatusForbidden {
				t.Errorf("a %s is offered %s, which is refused: %.300s", role, action, mainPart.FindString(page))
			}
		}
	}
}

func TestMarketerSeesEmailsHappenAndSendsABroadcast(t *testing.T) {
	t.Parallel()
	o := begin(t)
	list := o.people()
	o.join("marketer")
	if seen := o.Eval(`[...document.querySelectorAll(".side nav a")].map(a => a.innerText.trim()).join(", ")`); strings.Contains(seen, "Domains") || strings.Contains(seen, "Webhooks") || strings.Contains(seen, "API keys") || !strings.Contains(seen, "Broadcasts") {
		t.Errorf("a marketer is led to %s", seen)
	}
	o.look("overview-marketer", "")
	o.open("/emails")
	o.Wait(`!document.querySelector("[data-live-state][data-off]")`)
	id := o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "late@example.net", "subject": "Late", "text": "Hi"})["id"].(string)
	o.Wait(`!document.getElementById("news").hidden`)
	o.open("/emails/" + id)
	o.Wait(`document.querySelector("#state .st-delivered")`)
	o.open("/emails/new")
	o.Fill("from", "hello@acme.test")
	o.Fill("to", "ada@example.net")
	o.Press("Send email")
	o.See("Accepted. What happens to it appears below.")
	o.open("/broadcasts/new?list_id=" + list)
	o.Fill("from", "news@acme.test")
	o.Fill("subject", "What is new")
	o.Set("html", "<p>Three things are new.</p>")
	o.Press("Review and send")
	o.Press("Send to 6 people")
	o.Wait(`document.querySelector("#now .st-sent")`)
	o.open("/domains")
	o.See("Not allowed")
}
