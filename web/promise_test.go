package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
)

// words are those of a page, without its tags.
func (v visitor) words(path string) string {
	v.t.Helper()
	return strings.Join(strings.Fields(plain.ReplaceAllString(main(v.open(path)), " ")), " ")
}

func TestASendingWindowKeepsItsWeekdays(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	path := "/broadcasts/" + in.Must(http.StatusCreated, http.MethodPost, "/broadcasts", map[string]any{"name": "News"}).Text("id")
	form := owner.filled(owner.open(path+"/edit"), path+"/edit")
	form["window_days"] = []string{"5", "1"}
	form.Set("window_start", "09:00")
	form.Set("window_end", "17:00")
	form.Set("window_timezone", "Europe/Berlin")
	if saved := owner.post(path+"/edit", form); saved.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", saved.Code, said(saved))
	}
	if got := in.Call(http.MethodGet, path, nil).Pick("sending_window"); !strings.Contains(got, `"days":[1,5]`) {
		t.Errorf("the window is %s", got)
	}
	if kept := owner.filled(owner.open(path+"/edit"), path+"/edit"); strings.Join(kept["window_days"], ",") != "1,5" {
		t.Errorf("the form has ticked %v", kept["window_days"])
	}
	if page := owner.words(path + "/review"); !strings.Contains(page, "09:00 to 17:00, Europe/Berlin, Mon, Fri") {
		t.Errorf("the review does not tell the days: %s", page)
	}
}

func TestProgressIsTheShareOfPeopleThatAreDone(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	list := in.Must(http.StatusCreated, http.MethodPost, "/audience/lists", map[string]any{"name": "Readers"}).Text("id")
	for _, email := range []string{"ada@example.net", "bob@example.net", "eve@example.net", "joe@example.net"} {
		in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", map[string]any{"email": email, "list_id": list})
	}
	path := "/broadcasts/" + in.Must(http.StatusAccepted, http.MethodPost, "/broadcasts",
		map[string]any{"name": "News", "from": "news@" + apptest.Domain, "subject": "News", "html": "<p>Hi</p>", "audience_id": list,
			"throttle_per_hour": 60, "send": true}).Text("id")
	in.Finish(in.App.Broadcasts.Step)
	in.Deliver()
	in.CatchUp(in.App.Followers())
	page := main(signedIn(t, in, api.Owner).open(path))
	for _, want := range []string{"1 of 4 people", `aria-label="1 of 4 people done"><rect width="25"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %.3000s", want, page)
		}
	}
}

func TestABroadcastThatReachedNobodySaysSo(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	list := in.Must(http.StatusCreated, http.MethodPost, "/audience/lists", map[string]any{"name": "Readers"}).Text("id")
	for _, email := range []string{"ada@example.net", "bob@example.net"} {
		in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", map[string]any{"email": email, "list_id": list})
	}
	path := "/broadcasts/" + in.Must(http.StatusAccepted, http.MethodPost, "/broadcasts", map[string]any{"name": "News",
		"from": "news@" + apptest.Domain, "subject": "News", "html": "<p>Hi {{missing}}</p>", "audience_id": list, "send": true}).Text("id")
	in.Finish(in.App.Broadcasts.Step)
	in.CatchUp(in.App.Followers())
	if state := in.Call(http.MethodGet, path, nil).Text("status"); state != "failed" {
		t.Fatal(state)
	}
	page := main(signedIn(t, in, api.Owner).open(path))
	for _, want := range []string{"0 of 2 people", `aria-label="0 of 2 people done"><rect width="0"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %.3000s", want, page)
		}
	}
}

// hooks is an app that listens to events once it is up.
type hooks struct {
	up    atomic.Bool
	taken atomic.Int64
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if !h.up.Load() {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	h.taken.Add(1)
}

func TestAWebhookThatFailsSaysSoAndIsToldOnceMore(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	app := &hooks{}
	server := httptest.NewServer(app)
	t.Cleanup(server.Close)
	path := "/webhooks/" + in.Must(http.StatusCreated, http.MethodPost, "/webhooks",
		map[string]any{"url": server.URL, "events": []string{"email.delivered"}}).Text("id")
	in.Send("ada@example.net", "bob@example.net")
	in.Deliver()
	in.CatchUp(in.App.Webhooks.Followers())
	in.Finish(in.App.Webhooks.Step)
	if page := signedIn(t, in, api.Owner).words("/webhooks"); !strings.Contains(page, "Failing: 2 times in a row") {
		t.Errorf("the list does not say that it fails: %s", page)
	}
	for _, wait := range []time.Duration{6 * time.Second, 6 * time.Minute, 33 * time.Minute, 133 * time.Minute, 6 * time.Hour, 11 * time.Hour,
		16 * time.Hour, 22 * time.Hour, 27 * time.Hour} { // until it is given up
		in.Clock.Advance(wait)
		in.Finish(in.App.Webhooks.Step)
	}
	app.up.Store(true)
	owner := signedIn(t, in, api.Owner)
	again := func(want string, taken int64) {
		t.Helper()
		answer := owner.post(path+"/replay", nil)
		in.Finish(in.App.Webhooks.Step)
		if said := answer.Header().Get("Set-Cookie"); !strings.Contains(said, url.QueryEscape(want)) || app.taken.Load() != taken {
			t.Errorf("%d %s, and the app took %d", answer.Code, said, app.taken.Load())
		}
	}
	again("2 events are on the way again.", 2)
	again("Every event that failed was delivered since", 2)
	if page := owner.words("/webhooks"); strings.Contains(page, "Failing") {
		t.Errorf("the list says that it still fails: %s", page)
	}
}

func TestAStarLeavesTheFiltersOfTheInbox(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	tried := owner.post("/inbox/try", url.Values{"to": {"hello@" + apptest.Domain}})
	mark := strings.TrimPrefix(tried.Header().Get("Location"), owner.path("")) + "/mark"
	place := "/inbox?only=unread&domain=" + apptest.Domain
	form := owner.filled(owner.open(place), mark)
	form.Set("as", "star")
	answer := owner.post(mark, form)
	if to := answer.Header().Get("Location"); to != owner.path(place) {
		t.Errorf("%d leads to %s", answer.Code, to)
	}
	if page := owner.open(place); !strings.Contains(page, `value="nostar"`) {
		t.Error("it has no star")
	}
}

func TestASegmentSaysHowItsRulesAreJoined(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	rules := []any{map[string]any{"type": "rule", "field": "email", "operator": "contains", "value": "a"},
		map[string]any{"type": "rule", "field": "email", "operator": "contains", "value": "b"}}
	for kind, want := range map[string]string{"and": "All of these are true", "or": "At least one of these is true", "not": "None of these is true"} {
		filter := map[string]any{"type": kind, "rules": rules}
		if kind == "not" {
			filter["rules"] = []any{map[string]any{"type": "or", "rules": rules}}
		}
		made := in.Must(http.StatusCreated, http.MethodPost, "/segments", map[string]any{"name": kind, "filter": filter})
		path := "/audience/segments/" + made.Text("id")
		if page := owner.words(path); !strings.Contains(page, want+":") {
			t.Errorf("%s is not told as %q: %s", kind, want, page)
		}
		form := owner.open(path + "/edit")
		group := owner.filled(form, path+"/edit").Get("group:0")
		if !strings.Contains(form, `<option value="`+group+`" selected>`+want) {
			t.Errorf("the form of %s has %q, not %q", kind, group, want)
		}
	}
}

func TestADomainSaysHowManyRequiredChecksPass(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	id := in.Must(http.StatusCreated, http.MethodPost, "/domains", map[string]any{"domain": "shop.test"}).Text("id")
	says := func(want string) {
		t.Helper()
		in.Must(http.StatusOK, http.MethodPost, "/domains/"+id+"/verify", nil)
		if page := owner.words("/domains/" + id); !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %.300s", want, page)
		}
	}
	says("Pending: 0 of 2 required checks pass")
	in.Publish("shop.test", "TXT", "v=spf1 include:spf.mail.postrider.test ~all")
	in.Clock.Advance(time.Hour)
	says("Pending: 1 of 2 required checks pass")
}

func TestAnAutomationThatWasNeverPublishedIsADraft(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	flow := map[string]any{"name": "Welcome", "connections": []any{map[string]any{"from": "start", "to": "end", "type": "default"}},
		"steps": []any{map[string]any{"key": "start", "type": "trigger", "config": map[string]any{"event_name": "go"}},
			map[string]any{"key": "end", "type": "exit"}}}
	id := in.Must(http.StatusCreated, http.MethodPost, "/automations", flow).Text("id")
	says := func(want, not string) {
		t.Helper()
		_, list, _ := strings.Cut(main(owner.open("/automations")), "<tbody")
		for _, page := range []string{list, main(owner.open("/automations/" + id))} {
			if !strings.Contains(page, "</svg>"+want+"</span>") || strings.Contains(page, "</svg>"+not+"</span>") {
				t.Errorf("it is not %s: %.3000s", want, page)
			}
		}
	}
	says("Draft", "Disabled")
	in.Must(http.StatusOK, http.MethodPost, "/automations/"+id+"/publish", nil)
	in.Must(http.StatusOK, http.MethodPatch, "/automations/"+id, map[string]any{"status": "disabled"})
	says("Disabled", "Draft")
}

func TestAReviewKnowsTheFallbacksOfProperties(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	in.Must(http.StatusCreated, http.MethodPost, "/contact-properties", map[string]any{"key": "city", "type": "string", "fallback_value": "your town"})
	in.Must(http.StatusCreated, http.MethodPost, "/contact-properties", map[string]any{"key": "plan", "type": "string"})
	list := in.Must(http.StatusCreated, http.MethodPost, "/audience/lists", map[string]any{"name": "Readers"}).Text("id")
	in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", map[string]any{"email": "ada@example.net", "first_name": "Ada", "list_id": list})
	review := func(html string) (path, page string) {
		path = "/broadcasts/" + in.Must(http.StatusCreated, http.MethodPost, "/broadcasts",
			map[string]any{"name": "News", "from": "news@" + apptest.Domain, "subject": "News", "html": html, "audience_id": list}).Text("id")
		return path, owner.words(path + "/review")
	}
	path, page := review("<p>News from {{{city}}}</p>")
	if strings.Contains(page, "Without a fallback") || strings.Contains(page, "Nobody has a value") {
		t.Errorf("a fallback is missed that mail would have: %s", page)
	}
	if body := owner.open(path + "/body?made=1"); !strings.Contains(body, "News from your town") {
		t.Errorf("the preview is not what is sent: %s", body)
	}
	if _, page := review("<p>You have {{{plan}}}</p>"); !strings.Contains(page, "Without a fallback: plan") || strings.Contains(page, "Nobody has a value") {
		t.Errorf("what is not known of everybody is not told: %s", page)
	}
	if path, page := review("<p>Hi {{{first_name}}}</p>"); !strings.Contains(page, "Nobody has a value for first_name") ||
		strings.Contains(owner.open(path+"/review"), path+"/send") {
		t.Errorf("a message that can be made for nobody can be sent: %s", page)
	}
}

func TestACallThatIsNoSendIsNoRefusal(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	letter := map[string]any{"from": "hello@" + apptest.Domain, "to": "ada@example.net", "subject": "Hello", "text": "Hi"}
	in.Must(http.StatusAccepted, http.MethodPost, "/emails", letter)
	in.Clock.Advance(time.Second)
	in.Must(http.StatusCreated, http.MethodPost, "/emails/receiving/forwarding", map[string]any{"address": "help@" + apptest.Domain, "forward_to": []string{"ann@example.net"}})
	in.Must(http.StatusAccepted, http.MethodPost, "/emails/batch", []any{letter, letter})
	shows := func(want string) {
		t.Helper()
		if err := in.App.Logs.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if page := owner.words("/quickstart"); !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %.2000s", want, page)
		}
	}
	shows("Got it: ")
	in.Clock.Advance(time.Second)
	letter["from"] = "hello@stranger.test"
	in.Call(http.MethodPost, "/emails", letter)
	shows("Refused: ")
}
