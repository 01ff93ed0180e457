package suppression_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/product/suppression"
)

const (
	formType = "application/x-www-form-urlencoded"
	oneClick = "List-Unsubscribe=One-Click"
	browser  = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
)

// link returns the path of an unsubscribe link to ann@example.net.
func (h *house) link(c suppression.Claims) string {
	c.Workspace, c.Address = h.Workspace, "Ann@example.net"
	return strings.TrimPrefix(h.list.Link("", c), "https://postrider.test")
}

// post posts a form.
func (h *house) post(path, form, accept string) apptest.Answer {
	return h.ask("POST", path, []byte(form), map[string]string{"Content-Type": formType, "Accept": accept})
}

func TestOneClickUnsubscribesAsOftenAsItIsPosted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		email := h.App.World.NewID()
		path := h.link(suppression.Claims{Email: email, Contact: nobody})
		for range 3 {
			answer := h.post(path, oneClick, "")
			want := `{"object":"unsubscribe_result","status":"unsubscribed","scope":"all","email":"a…n@example.net"}`
			if answer.Status != 200 || strings.TrimSpace(string(answer.Raw)) != want || answer.Header.Get("Set-Cookie") != "" || answer.Header.Get("Location") != "" {
				t.Fatalf("answer: %d %s", answer.Status, answer.Raw)
			}
		}
		entry := h.must(200, "GET", "/suppressions/ann@example.net", nil)
		if entry.Text("reason") != "unsubscribe" || entry.Text("email_id") != email || entry.Text("detail", "method") != "one_click" ||
			entry.Text("detail", "contact_id") != nobody || entry.Text("created_by") != "" {
			t.Errorf("entry: %s", entry.Raw)
		}
		if got := h.news(entry.Text("id")); got != "added" {
			t.Errorf("events: %s", got)
		}
		if got := h.stopped(ask(h.Workspace, "ann@example.net", true), ask(h.Workspace, "ann@example.net", false)); got != "unsubscribe -" {
			t.Errorf("stopped: %s", got)
		}
	})
}

func TestMultipartFormsAreReadToo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		body := "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n"
		answer := h.ask("POST", h.link(suppression.Claims{}), []byte(body), map[string]string{"Content-Type": "multipart/form-data; boundary=x"})
		if answer.Status != 200 || h.must(200, "GET", "/suppressions/ann@example.net", nil).Text("detail", "method") != "one_click" {
			t.Errorf("answer: %d %s", answer.Status, answer.Raw)
		}
	})
}

func TestLookingAtALinkChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		path := h.link(suppression.Claims{})
		for _, accept := range []string{"", "*/*", browser, "application/json"} {
			for _, method := range []string{"GET", "HEAD"} {
				answer := h.ask(method, path, nil, map[string]string{"Accept": accept})
				html := strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html")
				if answer.Status != 200 || html == (accept == "application/json") || (len(answer.Raw) == 0) != (method == "HEAD") {
					t.Errorf("%s for %q: %d %s", method, accept, answer.Status, answer.Header)
				}
			}
		}
		if got := h.ask("GET", path, nil, map[string]string{"Accept": "application/json"}); got.Text("status") != "confirm" {
			t.Errorf("looked: %s", got.Raw)
		}
		h.must(404, "GET", "/suppressions/ann@example.net", nil)
	})
}

func TestThePageAsksAndThenConfirms(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		path := h.link(suppression.Claims{})
		asked := h.ask("GET", path, nil, map[string]string{"Accept": browser})
		done := h.post(path, "scope=all", browser)
		again := h.ask("GET", path, nil, map[string]string{"Accept": browser})

		for name, answer := range map[string]apptest.Answer{"asked": asked, "done": done, "again": again} {
			page := string(answer.Raw)
			style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)
			if answer.Status != 200 || len(style) == 0 {
				t.Fatalf("%s: %d %s", name, answer.Status, page)
			}
			sum := sha256.Sum256([]byte(style[1]))
			policy := answer.Header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") || !strings.HasPrefix(policy, "default-src 'none'") {
				t.Errorf("%s: the style is not that of the policy %s", name, policy)
			}
			if strings.Contains(page, "<script") || strings.Contains(page, "ann@") || !strings.Contains(page, "a…n@example.net") || !strings.Contains(page, "Acme") {
				t.Errorf("%s: %s", name, page)
			}
			for header, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex", "Cache-Control": "no-store",
				"X-Content-Type-Options": "nosniff", "Content-Type": "text/html; charset=utf-8"} {
				if answer.Header.Get(header) != want {
					t.Errorf("%s: %s is %q", name, header, answer.Header.Get(header))
				}
			}
		}
		if !strings.Contains(string(asked.Raw), `<form method="post">`) || strings.Contains(string(done.Raw), "<form") || strings.Contains(string(again.Raw), "<form") {
			t.Error("the page asks when it should confirm, or the other way round")
		}
		if entry := h.must(200, "GET", "/suppressions/ann@example.net", nil); entry.Text("detail", "method") != "link" {
			t.Errorf("entry: %s", entry.Raw)
		}
	})
}

func TestBrokenLinksChangeNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		path := h.link(suppression.Claims{})
		foreign := h.list.Link("", suppression.Claims{Workspace: nobody, Address: "ann@example.net"})
		for _, broken := range []string{path[:len(path)-1], path + "x", "/v1/unsubscribe/v1.x", "/v1/unsubscribe/" + nobody, strings.TrimPrefix(foreign, "https://postrider.test")} {
			for _, method := range []string{"GET", "POST"} {
				program := h.ask(method, broken, nil, nil)
				person := h.ask(method, broken, nil, map[string]string{"Accept": browser})
				if program.Status != 404 || program.Text("error", "code") != "not_found" || program.Text("error", "request_id") == "" {
					t.Errorf("%s %.40s for a program: %d %s", method, broken, program.Status, program.Raw)
				}
				if person.Status != 404 || !strings.Contains(string(person.Raw), "This link does not work") {
					t.Errorf("%s %.40s for a person: %d %s", method, broken, person.Status, person.Raw)
				}
			}
		}
		for form, want := range map[string]int{"scope=everything": 400, "scope=%zz": 400, strings.Repeat("a=b&", 5000): 413} {
			if answer := h.post(path, form, ""); answer.Status != want {
				t.Errorf("%.20s: %d %s", form, answer.Status, answer.Raw)
			}
		}
		if answer := h.ask("POST", path, []byte("hello"), map[string]string{"Content-Type": "text/plain"}); answer.Status != 415 {
			t.Errorf("plain text: %d", answer.Status)
		}
		if list := h.must(200, "GET", "/suppressions", nil); list.Text("total") != "0" {
			t.Errorf("list: %s", list.Raw)
		}
	})
}

func TestLinksAreLimitedByAddressOfTheCaller(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		path := h.link(suppression.Claims{})
		refused := 0
		for range 200 {
			if h.ask("GET", path, nil, nil).Status == 429 {
				refused++
			}
		}
		if refused == 0 {
			t.Error("nobody is ever told to wait")
		}
	})
}

// newsletter is a stand-in for topics and lists: one of each, and who has left them.
type newsletter struct {
	left map[string]bool
}

func (n *newsletter) Describe(_ *db.Tx, c suppression.Claims) (about suppression.About, err error) {
	if c.Topic == "news" {
		about.TopicName = "Product <news>"
	}
	if c.List == "friends" {
		about.ListName = "Friends"
	}
	return about, nil
}

func (n *newsletter) Leave(_ *db.Tx, u suppression.Unsubscription) (suppression.Left, error) {
	what := map[suppression.Scope]string{suppression.FromTopic: u.Topic, suppression.FromList: u.List, suppression.FromAll: "everything"}[u.Scope]
	if what == "" || what == "gone" {
		return suppression.NothingToLeave, nil
	}
	if what == "broken" {
		return suppression.NothingToLeave, errors.New("broken")
	}
	n.left[what] = true
	return suppression.JustLeft, nil
}

func TestPeopleMayLeaveATopicAListOrEverything(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		claims             suppression.Claims
		form, scope, left  string
		everythingIsEnough bool
	}{
		{suppression.Claims{Topic: "news", List: "friends"}, oneClick, "topic", "news", false},
		{suppression.Claims{List: "friends"}, oneClick, "list", "friends", false},
		{suppression.Claims{Topic: "news", List: "friends"}, "scope=list", "list", "friends", false},
		{suppression.Claims{Topic: "news", List: "friends"}, "scope=all", "all", "everything", true},
		{suppression.Claims{}, oneClick, "all", "everything", true},
		{suppression.Claims{Topic: "gone"}, "scope=topic", "all", "everything", true},
		{suppression.Claims{}, "scope=list", "all", "everything", true},
	} {
		t.Run(fmt.Sprintf("%s%s %s", test.claims.Topic, test.claims.List, test.form), func(t *testing.T) {
			t.Parallel()
			n, told := &newsletter{left: map[string]bool{}}, map[suppression.Scope]bool{}
			in := apptest.New(t, "sqlite")
			h := newHouse(t, in, func(p *suppression.Parts) {
				p.Preferences = n
				p.Unsubscribed = func(_ *db.Tx, u suppression.Unsubscription) error {
					told[u.Scope] = true
					return nil
				}
			})
			answer := h.post(h.link(test.claims), test.form, "application/json")
			if answer.Text("scope") != test.scope || !n.left[test.left] || len(n.left) != 1 || !told[suppression.Scope(test.scope)] {
				t.Errorf("answer %s, left %v, told %v", answer.Raw, n.left, told)
			}
			if listed := h.as(h.Key, "GET", "/suppressions/ann@example.net", nil).Status == 200; listed != test.everythingIsEnough {
				t.Errorf("listed: %v", listed)
			}
		})
	}
}

func TestThePageOffersTopicAndList(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		page := string(h.ask("GET", h.link(suppression.Claims{Topic: "news", List: "friends"}), nil, nil).Raw)
		for _, want := range []string{`value="topic" checked> Product &lt;news&gt;</label>`, `value="list"> Mail for Friends</label>`, `value="all"> All`} {
			if !strings.Contains(page, want) {
				t.Errorf("no %s in %s", want, page)
			}
		}
		done := string(h.post(h.link(suppression.Claims{Topic: "news"}), "scope=topic", browser).Raw)
		if !strings.Contains(done, "Product &lt;news&gt;") {
			t.Errorf("done: %s", done)
		}
		if broken := h.post(h.link(suppression.Claims{Topic: "broken"}), "scope=topic", browser); broken.Status != 500 {
			t.Errorf("broken: %d", broken.Status)
		}
	}, func(p *suppression.Parts) { p.Preferences = &newsletter{left: map[string]bool{}} })
}

func TestAnUnsubscriptionNeverWeakensAnEntry(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.suppress("ann@example.net", fields{"reason": "complaint"})
		if answer := h.post(h.link(suppression.Claims{}), oneClick, ""); answer.Status != 200 || answer.Text("status") != "unsubscribed" {
			t.Errorf("answer: %s", answer.Raw)
		}
		if got := h.stopped(ask(h.Workspace, "ann@example.net", false)); got != "complaint" {
			t.Errorf("stopped by %s", got)
		}
	})
}

func TestWhoIsOnTheListAlreadyIsHeardAsTheyLeave(t *testing.T) {
	t.Parallel()
	told := false
	h := newHouse(t, apptest.New(t, "sqlite"), func(p *suppression.Parts) {
		p.Preferences = &newsletter{left: map[string]bool{}}
		p.Unsubscribed = func(*db.Tx, suppression.Unsubscription) error {
			told = true
			return nil
		}
	})
	h.suppress("ann@example.net", fields{"reason": "manual"})

	answer := h.post(h.link(suppression.Claims{}), oneClick, "")

	if answer.Status != 200 || !told {
		t.Errorf("%d %s, told: %v", answer.Status, answer.Raw, told)
	}
}

func TestAnUnsubscriptionIsToldOfWhenItIsNews(t *testing.T) {
	t.Parallel()
	told := 0
	h := newHouse(t, apptest.New(t, "sqlite"), func(p *suppression.Parts) {
		p.Unsubscribed = func(*db.Tx, suppression.Unsubscription) error {
			told++
			return nil
		}
	})
	h.post(h.link(suppression.Claims{}), oneClick, "")
	first := told // more than one: a transaction is rehearsed
	h.post(h.link(suppression.Claims{}), oneClick, "")
	if first == 0 || told != first {
		t.Errorf("told %d times, and then %d", first, told-first)
	}
}

func TestWhoIsOnTheListForAnotherReasonMayStillUnsubscribe(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.suppress("ann@example.net", fields{"reason": "bounce"})
		look := func() apptest.Answer {
			return h.ask("GET", h.link(suppression.Claims{}), nil, map[string]string{"Accept": "application/json"})
		}
		if got := look(); got.Text("status") != "confirm" {
			t.Errorf("before: %s", got.Raw)
		}
		h.must(200, "DELETE", "/suppressions/ann@example.net", nil)
		h.post(h.link(suppression.Claims{}), oneClick, "")
		if got := look(); got.Text("status") != "unsubscribed" {
			t.Errorf("after: %s", got.Raw)
		}
	})
}

func TestAComplaintOutlivesAResubscriptionAtTheSameMoment(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		if !h.App.DB.Shared() {
			return // one writer at a time: there is no same moment
		}
		h.suppress("ann@example.net", fields{"reason": "unsubscribe"})
		deletes := 0
		stop := h.App.DB.Watch(func(query string, _ []any) {
			if !strings.Contains(query, "DELETE FROM suppression") {
				return
			}
			if deletes++; deletes == 2 { // the first is the rehearsal of the transaction
				h.must(200, "POST", "/suppressions", fields{"email": "ann@example.net", "reason": "complaint"})
			}
		})
		defer stop()

		err := h.App.DB.Write(t.Context(), func(tx *db.Tx) error { return h.list.Resubscribe(tx, h.Workspace, []string{"ann@example.net"}) })

		if err != nil {
			t.Fatal(err)
		}
		if got := h.stopped(ask(h.Workspace, "ann@example.net", false)); got != "complaint" {
			t.Errorf("stopped by %s", got)
		}
	})
}
