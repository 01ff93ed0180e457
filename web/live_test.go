package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"postrider/app/apptest"
	"postrider/platform/api"
)

// unmoved is what stands on a page beside the parts that follow what happens, word by word.
func (v visitor) unmoved(path string) string {
	v.t.Helper()
	document, err := html.Parse(strings.NewReader(v.open(path)))
	if err != nil {
		v.t.Fatal(err)
	}
	var text strings.Builder
	var read func(node *html.Node, inside bool)
	read = func(node *html.Node, inside bool) {
		if has(node, "data-live") || has(node, "data-again") || node.Data == "time" {
			return
		}
		inside = inside || node.Data == "main"
		if words := strings.Join(strings.Fields(node.Data), " "); inside && node.Type == html.TextNode && words != "" {
			text.WriteString(words + "\n")
		}
		for child := range node.ChildNodes() {
			read(child, inside)
		}
	}
	read(document, false)
	return text.String()
}

// Nobody may be told one thing by the state of a record, and another by what stands beside it.
func TestWhatAPageSaysOfAStateFollowsIt(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	app := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(app.Close)
	before := map[string]string{}
	seen := func(pages ...string) {
		for _, page := range pages {
			before[page] = owner.unmoved(page)
		}
	}
	seen("")
	send := func(from, to, when string) string {
		t.Helper()
		return "/emails/" + in.Must(http.StatusAccepted, http.MethodPost, "/emails", map[string]any{"from": from, "to": to, "subject": "Hi", "text": "Hi", "scheduled_at": when}).Text("id")
	}
	made := func(path string, body map[string]any) string {
		t.Helper()
		return path + "/" + in.Must(http.StatusCreated, http.MethodPost, path, body).Text("id")
	}
	in.VerifiedDomain(in.Workspace, "later.test")
	hook := made("/webhooks", map[string]any{"url": app.URL, "events": []string{"email.*"}})
	later, letter := send("hello@later.test", "ada@example.net", "in 3 days"), send("hello@"+apptest.Domain, "bounce@sandbox.test", "")
	domain := made("/domains", map[string]any{"domain": "shop.test"})
	flow := made("/automations", map[string]any{"name": "Order", "status": "enabled", "connections": []any{map[string]any{"from": "start", "to": "call", "type": "default"}}, "steps": []any{
		map[string]any{"key": "start", "type": "trigger", "config": map[string]any{"event_name": "order.placed", "re_entry": "always"}},
		map[string]any{"key": "call", "type": "http_request", "config": map[string]any{"method": "POST", "url": app.URL}}}})
	runs, _ := in.Must(http.StatusAccepted, http.MethodPost, "/events/send", map[string]any{"event": "order.placed", "email": "ada@example.net"}).Body["runs"].([]any)
	run := fmt.Sprintf("%s/runs/%s", flow, runs[0])
	in.CatchUp(in.App.Webhooks.Followers())
	post := "/webhooks/deliveries/" + in.Must(http.StatusOK, http.MethodGet, "/webhook-deliveries?limit=1", nil).Column("id")
	seen(later, letter, letter+"?tab=attempts", domain, domain+"?tab=receiving", hook, post, run, "/people/bounce@sandbox.test")

	in.Must(http.StatusOK, http.MethodPost, later+"/cancel", nil)
	in.Deliver()
	in.CatchUp(in.App.Followers())
	in.Finish(in.App.Webhooks.Step)
	in.Finish(in.App.Automations.Step)
	in.Must(http.StatusOK, http.MethodPost, domain+"/verify", nil)
	if err := in.Sandbox.Publish(t.Context(), "shop.test"); err != nil {
		t.Fatal(err)
	}
	in.Must(http.StatusOK, http.MethodPost, domain+"/verify", nil)
	in.Call(http.MethodPost, domain+"/receiving", map[string]any{"enabled": true})

	for page, was := range before {
		if is := owner.unmoved(page); is != was {
			t.Errorf("%s said beside its live parts\n%s\nand then\n%s", page, was, is)
		}
	}
	for page, want := range map[string]string{letter: "bounced", domain: "Verified.", domain + "?tab=receiving": "Waits until mail would arrive", hook: "has not taken an event", post: "1 of at most", run: "At the step", "": "3 of 4 done"} {
		if words := owner.words(page); !strings.Contains(words, want) {
			t.Errorf("%s does not say %q at all: %s", page, want, words)
		}
	}
}

func TestNoLinkLeadsWhereARoleMayNotGo(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	in.Must(http.StatusCreated, http.MethodPost, "/webhooks", map[string]any{"url": "https://app.example.com/hooks", "events": []string{"email.*"}})
	letter := in.Send("bounce@sandbox.test")
	in.Deliver()
	message := owner.received()
	in.CatchUp(in.App.Followers())
	in.Finish(in.App.Logs.Writer().Step)
	pages := []string{"", "/emails/" + letter, "/emails/" + letter + "?tab=events", "/people/bounce@sandbox.test", "/inbox", message, "/stats", "/stats/deliverability",
		"/quickstart", "/templates", "/broadcasts", "/audience", "/settings"}
	for _, kind := range []string{"api_request", "email", "inbound"} {
		entries := in.Must(http.StatusOK, http.MethodGet, "/logs?limit=1&kind="+kind, nil)
		pages = append(pages, "/logs/"+entries.Column("id"))
	}
	for _, role := range []api.Role{api.Owner, api.Developer, api.Marketer, api.Viewer} {
		member, followed := signedIn(t, in, role), map[string]bool{}
		for _, page := range pages {
			answer := member.ask(http.MethodGet, member.path(page), nil)
			if answer.Code != http.StatusOK {
				continue // it is not for them
			}
			for _, link := range inside.FindAllStringSubmatch(main(answer.Body.String()), -1) {
				to := html.UnescapeString(link[1])
				if followed[to] {
					continue
				}
				followed[to] = true
				in.Clock.Advance(time.Second) // a person takes a moment for each
				if got := member.ask(http.MethodGet, to, nil); got.Code >= http.StatusBadRequest {
					t.Errorf("%s leads a %s to %s: %d", page, role, to, got.Code)
				}
			}
		}
		if len(followed) < 10 {
			t.Errorf("a %s has only %d links", role, len(followed))
		}
	}
}

// inside is a link to a page of the workspace.
var inside = regexp.MustCompile(`<a [^>]*href="(/w/[^"#]*)`)
