package suppression_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/product/plan"
	"postrider/product/suppression"
)

func TestAnAddressIsSuppressedOnceInAnySpelling(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		first := h.must(201, "POST", "/suppressions", fields{"email": "Jürgen.Groß@BÜCHER.example", "note": "Asked by phone."})
		for _, spelling := range []string{"JÜRGEN.GROß@bücher.example", "jürgen.groß@xn--bcher-kva.EXAMPLE", `Jürgen <"jürgen.groß"@Bücher.example>`} {
			again := h.must(200, "POST", "/suppressions", fields{"email": spelling})
			if again.Text("id") != first.Text("id") || again.Text("created") != "false" {
				t.Errorf("%s: %s", spelling, again.Raw)
			}
			if got := h.stopped(ask(h.Workspace, spelling, false)); got != "manual" {
				t.Errorf("%s is stopped by %s", spelling, got)
			}
			if found := h.must(200, "GET", "/suppressions/"+url.PathEscape(spelling), nil); found.Text("id") != first.Text("id") {
				t.Errorf("%s: %s", spelling, found.Raw)
			}
		}
		if first.Text("created") != "true" || first.Text("email") != "jürgen.groß@xn--bcher-kva.example" || first.Text("note") != "Asked by phone." ||
			first.Text("reason") != "manual" || first.Text("origin") != "manual" || first.Text("created_by") == "" {
			t.Errorf("entry: %s", first.Raw)
		}
		for _, field := range []string{"detail", "source_id", "email_id", "domain_id", "managed_tenant_id", "expires_at", "last_hit_at"} {
			if value, there := first.Body[field]; !there || value != nil {
				t.Errorf("%s: %v, there %v", field, value, there)
			}
		}
		if h.news(first.Text("id")) != "added" {
			t.Errorf("events: %s", h.news(first.Text("id")))
		}
	})
}

func TestTheListIsFiltered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		start := h.Clock.Now()
		for i, reason := range []string{"bounce", "complaint", "unsubscribe", "manual", "invalid"} {
			h.Clock.Advance(time.Hour)
			h.suppress(fmt.Sprintf("%c_%s@example.net", 'e'-rune(i), reason), fields{"reason": reason})
		}
		h.Clock.Advance(time.Hour)
		h.suppress("d@bücher.example", fields{"reason": "bounce"})
		at := func(hours float64) string {
			return url.QueryEscape(start.Add(time.Duration(hours * float64(time.Hour))).Format(time.RFC3339))
		}
		all := "d@xn--bcher-kva.example a_invalid@example.net b_manual@example.net c_unsubscribe@example.net d_complaint@example.net e_bounce@example.net"
		for query, want := range map[string]string{
			"":                                         all,
			"reason=bounce":                            "d@xn--bcher-kva.example e_bounce@example.net",
			"reason=bounce,invalid":                    "d@xn--bcher-kva.example a_invalid@example.net e_bounce@example.net",
			"reason=bounce&reason=manual&limit=1":      "d@xn--bcher-kva.example",
			"reason=bounce,manual&limit=2&offset=1":    "b_manual@example.net e_bounce@example.net",
			"origin=manual":                            "a_invalid@example.net b_manual@example.net c_unsubscribe@example.net",
			"origin=manual&reason=invalid,bounce":      "a_invalid@example.net",
			"origin=complaint&reason=bounce":           "",
			"email=E_BOUNCE@example.net":               "e_bounce@example.net",
			"email=D@BÜCHER.example,x@x.test":          "d@xn--bcher-kva.example",
			"email=e_bounce@example.net&reason=manual": "",
			"search=d":                                 "d@xn--bcher-kva.example d_complaint@example.net",
			"search=D_":                                "d_complaint@example.net",
			"search=d_complaint@exam":                  "d_complaint@example.net",
			"search=d%25":                              "",
			"search=example.net":                       "a_invalid@example.net b_manual@example.net c_unsubscribe@example.net d_complaint@example.net e_bounce@example.net",
			"search=@example.net&limit=2&offset=1":     "b_manual@example.net c_unsubscribe@example.net",
			"search=@BÜCHER.example":                   "d@xn--bcher-kva.example",
			"search=@example":                          "",
			"search=@":                                 all,
			"search=example.net&reason=manual":         "b_manual@example.net",
			"search=d&email=d_complaint@example.net":   "d_complaint@example.net",
			"since=" + at(4.5):                         "d@xn--bcher-kva.example a_invalid@example.net",
			"until=" + at(1.5):                         "e_bounce@example.net",
			"since=" + at(1.5) + "&until=" + at(3.5) + "&reason=complaint,unsubscribe": "c_unsubscribe@example.net d_complaint@example.net",
			"limit=2&offset=5":            "e_bounce@example.net",
			"limit=500&offset=1000000000": "",
		} {
			list := h.must(200, "GET", "/suppressions?"+query, nil)
			if got := list.Column("email"); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
			if !strings.Contains(query, "offset") && !strings.Contains(query, "limit") && list.Text("total") != fmt.Sprint(len(strings.Fields(want))) {
				t.Errorf("%s: total %s", query, list.Text("total"))
			}
		}
		page := h.must(200, "GET", "/suppressions?limit=4", nil)
		if page.Text("has_more") != "true" || page.Text("total") != "6" || page.Text("limit") != "4" {
			t.Errorf("page: %s", page.Raw)
		}
		if last := h.must(200, "GET", "/suppressions?limit=4&offset=2", nil); last.Text("has_more") != "false" {
			t.Errorf("last page: %s", last.Raw)
		}
	})
}

func TestBadRequestsAreRefusedByField(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		many := make([]string, 1001)
		for i := range many {
			many[i] = fmt.Sprintf("a%d@example.net", i)
		}
		for _, request := range []struct {
			method, path string
			body         any
			want         string
		}{
			{"POST", "/suppressions", fields{}, "email"},
			{"POST", "/suppressions", fields{"email": "a@x.test."}, "email"},
			{"POST", "/suppressions", fields{"email": "a@b.test, c@d.test"}, "email"},
			{"POST", "/suppressions", fields{"email": "a@x.test", "reason": "because", "note": strings.Repeat("ä", 501), "expires_at": "2020-01-01T00:00:00Z"}, "expires_at note reason"},
			{"POST", "/suppressions", fields{"email": "a@x.test", "expires_at": "soon"}, "expires_at"},
			{"POST", "/suppressions", fields{"email": "a@x.test", "reason": 5}, "reason"},
			{"GET", "/suppressions?reason=x", nil, "reason"},
			{"GET", "/suppressions?origin=unsubscribe", nil, "origin"},
			{"GET", "/suppressions?email=x", nil, "email"},
			{"GET", "/suppressions?limit=501", nil, "limit"},
			{"GET", "/suppressions?limit=0", nil, "limit"},
			{"GET", "/suppressions?offset=9223372036854775807", nil, "offset"},
			{"GET", "/suppressions?offset=-1", nil, "offset"},
			{"GET", "/suppressions?since=x", nil, "since"},
			{"GET", "/suppressions?search=" + strings.Repeat("x", 321), nil, "search"},
			{"POST", "/suppressions/batch/add", fields{"emails": []string{"a@x.test", "b", "c@"}}, "emails[1] emails[2]"},
			{"POST", "/suppressions/batch/add", fields{"emails": []string{}}, "emails"},
			{"POST", "/suppressions/batch/add", fields{"emails": many}, "emails"},
			{"POST", "/suppressions/batch/remove", fields{}, "emails"},
			{"POST", "/suppressions/batch/remove", fields{"emails": []string{"a@x.test"}, "ids": []string{nobody}}, "ids"},
			{"POST", "/suppressions/batch/remove", fields{"ids": many}, "ids"},
		} {
			if got := problems(h.must(400, request.method, request.path, request.body)); got != request.want {
				t.Errorf("%s %.60s: %q, want %q", request.method, request.path, got, request.want)
			}
		}
		if list := h.must(200, "GET", "/suppressions", nil); list.Text("total") != "0" {
			t.Errorf("something was added: %s", list.Raw)
		}
	})
}

func TestAnAddressIsRemovedByAddressOrID(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		byAddress, byID := h.suppress("a+b/c@example.net", nil), h.suppress("d@example.net", nil)

		gone := h.must(200, "DELETE", "/suppressions/"+url.PathEscape("A+B/C@example.net"), nil)
		h.must(200, "DELETE", "/suppressions/"+byID, nil)

		if gone.Text("id") != byAddress || gone.Text("email") != "a+b/c@example.net" || gone.Text("deleted") != "true" || gone.Text("object") != "suppression" {
			t.Errorf("answer: %s", gone.Raw)
		}
		for _, name := range []string{byAddress, byID, "d@example.net", "nonsense", "a@x.test."} {
			for _, method := range []string{"GET", "DELETE"} {
				if missing := h.must(404, method, "/suppressions/"+name, nil); missing.Text("error", "code") != "not_found" {
					t.Errorf("%s %s: %s", method, name, missing.Raw)
				}
			}
		}
		if got := h.stopped(ask(h.Workspace, "d@example.net", true)); got != "-" {
			t.Errorf("still stopped by %s", got)
		}
		if h.news(byID) != "added removed" || h.must(200, "GET", "/suppressions", nil).Text("total") != "0" {
			t.Errorf("events: %s", h.news(byID))
		}
	})
}

func TestBatchesAddAndRemoveMany(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		known := h.suppress("b@example.net", nil)

		added := h.must(201, "POST", "/suppressions/batch/add", fields{"emails": []string{"c@example.net", "B@example.net", "a@example.net", "C@EXAMPLE.net"}, "note": "Import"})
		removed := h.must(200, "POST", "/suppressions/batch/remove", fields{"emails": []string{"never@example.net", "C@example.net", "not an address"}})
		byID := h.must(200, "POST", "/suppressions/batch/remove", fields{"ids": []string{known, nobody, "nonsense"}})

		if got := added.Column("email"); got != "c@example.net b@example.net a@example.net" {
			t.Errorf("added: %s", got)
		}
		if row := added.Body["data"].([]any)[1].(fields); row["id"] != known || row["created"] != false || row["object"] != "suppression" {
			t.Errorf("known: %v", row)
		}
		if removed.Column("email") != "c@example.net" || byID.Column("email") != "b@example.net" || removed.Body["data"].([]any)[0].(fields)["deleted"] != true {
			t.Errorf("removed: %s, by id: %s", removed.Raw, byID.Raw)
		}
		if left := h.must(200, "GET", "/suppressions", nil); left.Column("email") != "a@example.net" || left.Text("total") != "1" {
			t.Errorf("left: %s", left.Raw)
		}
	})
}

func TestAnotherWorkspaceHasItsOwnList(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.suppress("ann@example.net", nil)
		elsewhere, stranger := h.NewWorkspace(plan.Unlimited)

		for _, name := range []string{id, "ann@example.net"} {
			for _, method := range []string{"GET", "DELETE"} {
				if answer := h.as(stranger, method, "/suppressions/"+name, nil); answer.Status != 404 {
					t.Errorf("%s %s: %d", method, name, answer.Status)
				}
			}
		}
		h.as(stranger, "POST", "/suppressions/batch/remove", fields{"ids": []string{id}})
		h.as(stranger, "POST", "/suppressions/batch/remove", fields{"emails": []string{"ann@example.net"}})
		if list := h.as(stranger, "GET", "/suppressions", nil); list.Column("email") != "" || list.Text("total") != "0" {
			t.Errorf("list of the stranger: %s", list.Raw)
		}
		if got := h.stopped(ask(h.Workspace, "ann@example.net", false), ask(elsewhere, "ann@example.net", false)); got != "manual -" {
			t.Errorf("stopped: %s", got)
		}
		h.as(stranger, "POST", "/suppressions", fields{"email": "ann@example.net", "reason": "complaint"})
		if got := h.stopped(ask(elsewhere, "Ann@example.net", false), ask(h.Workspace, "Ann@example.net", false)); got != "complaint manual" {
			t.Errorf("stopped: %s", got)
		}
	})
}

func TestExpiredEntriesAreAbsent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		end := h.Clock.Now().Add(time.Hour)
		temporary := h.suppress("ann@example.net", fields{"expires_at": end})
		again := h.suppress("bob@example.net", fields{"expires_at": end})
		h.suppress("eve@example.net", nil)

		h.Clock.Advance(time.Hour)

		h.must(404, "GET", "/suppressions/ann@example.net", nil)
		h.must(404, "DELETE", "/suppressions/"+temporary, nil)
		if list := h.must(200, "GET", "/suppressions", nil); list.Column("email") != "eve@example.net" || list.Text("total") != "1" {
			t.Errorf("list: %s", list.Raw)
		}
		if got := h.stopped(ask(h.Workspace, "ann@example.net", true)); got != "-" {
			t.Errorf("stopped by %s", got)
		}
		if renewed := h.suppress("bob@example.net", nil); renewed == again || h.news(again) != "added removed" || h.news(renewed) != "added" {
			t.Errorf("added again: %s, %s", h.news(again), h.news(renewed))
		}
		h.sweep()
		if list := h.must(200, "GET", "/suppressions", nil); list.Column("email") != "bob@example.net eve@example.net" || list.Text("total") != "2" {
			t.Errorf("list: %s", list.Raw)
		}
		if h.news(temporary) != "added removed" {
			t.Errorf("events: %s", h.news(temporary))
		}
	})
}

func TestTheLaterOfTwoEndsCounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		start := h.Clock.Now()
		again := func(end any) apptest.Answer {
			return h.must(200, "POST", "/suppressions", fields{"email": "ann@example.net", "expires_at": end})
		}
		id := h.suppress("ann@example.net", fields{"expires_at": start.Add(time.Hour)})
		end := again(start.Add(3 * time.Hour)).Text("expires_at")
		again(start.Add(2 * time.Hour))
		h.Clock.Advance(2 * time.Hour)
		h.sweep()
		if entry := h.must(200, "GET", "/suppressions/ann@example.net", nil); entry.Text("id") != id || entry.Text("expires_at") != end {
			t.Errorf("%s", entry.Raw)
		}
		again(nil)
		h.Clock.Advance(2 * time.Hour)
		h.sweep()
		if entry := h.must(200, "GET", "/suppressions/"+id, nil); entry.Body["expires_at"] != nil {
			t.Errorf("%s", entry.Raw)
		}
	})
}

func TestATimeOfTheListBeginsWithItsStartAndEndsBeforeItsEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.suppress("ann@example.net", nil)
		var at time.Time
		h.read(func(tx *db.Tx) (err error) {
			at, err = db.One(tx, db.Moment, `SELECT created_at FROM suppression`)
			return err
		})
		moment, next := url.QueryEscape(at.Format(time.RFC3339Nano)), url.QueryEscape(at.Add(time.Microsecond).Format(time.RFC3339Nano))
		for query, want := range map[string]string{
			"since=" + moment: "ann@example.net", "since=" + next: "", "until=" + moment: "", "until=" + next: "ann@example.net",
		} {
			for _, more := range []string{"", "&email=ann@example.net"} {
				if got := h.must(200, "GET", "/suppressions?"+query+more, nil).Column("email"); got != want {
					t.Errorf("%s: %q", query+more, got)
				}
			}
		}
	})
}

func TestEventsTellWhatTheCatalogueSays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		email := h.App.World.NewID()
		added := h.add(suppression.Entry{Workspace: h.Workspace, Address: "Gone@example.net", Reason: suppression.Bounce, EmailID: email,
			DomainID: h.DomainID, TenantID: nobody,
			Detail: suppression.BounceDetail{Class: "hard", Category: "no_mailbox", SMTPCode: new(550), Enhanced: "5.1.1", Message: "550 5.1.1 user unknown"}})

		entry := h.must(200, "GET", "/suppressions/gone@example.net", nil)
		told := h.events(string(added[0].ID))

		want := fmt.Sprintf(`{"id":%q,"email":"gone@example.net","origin":"bounce","reason":"bounce","source_id":%q,"created_at":%q}`,
			added[0].ID, email, entry.Text("created_at"))
		if len(told) != 1 || string(told[0].Data) != want || told[0].Domain != h.DomainID || told[0].Tenant != nobody ||
			told[0].Recipient != "gone@example.net" {
			t.Errorf("events: %+v", told)
		}
		if entry.Text("detail", "category") != "no_mailbox" || entry.Text("detail", "smtp_code") != "550" || entry.Text("source_id") != email ||
			entry.Text("email_id") != email || entry.Text("domain_id") != h.DomainID || entry.Text("managed_tenant_id") != nobody {
			t.Errorf("entry: %s", entry.Raw)
		}
		if reason, message := added[0].Why(); reason != "previous_bounce" || !strings.HasPrefix(message, "The address bounced on 20") {
			t.Errorf("why: %s, %s", reason, message)
		}
	})
}

// Many callers at once must neither make two entries nor lose count.
func TestConcurrentAddsMakeOneEntry(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		reasons := []suppression.Reason{suppression.Unsubscribe, suppression.Manual, suppression.Invalid, suppression.Bounce, suppression.Complaint}
		const rounds = 10
		for round := range rounds {
			email := fmt.Sprintf("ann%d@example.net", round)
			var all sync.WaitGroup
			var created atomic.Int64
			if round%2 == 0 { // then they all find an entry that is weaker than theirs
				h.suppress(email, fields{"reason": "unsubscribe"})
				created.Add(1)
			}
			for _, reason := range reasons {
				all.Go(func() {
					if h.add(suppression.Entry{Workspace: h.Workspace, Address: email, Reason: reason})[0].Created {
						created.Add(1)
					}
				})
			}
			all.Wait()
			if got := h.stopped(ask(h.Workspace, email, false)); created.Load() != 1 || got != "complaint" {
				t.Errorf("%d created, stopped by %s", created.Load(), got)
			}
		}
		for _, query := range []string{"", "?reason=complaint"} {
			if total := h.must(200, "GET", "/suppressions"+query, nil).Text("total"); total != fmt.Sprint(rounds) {
				t.Errorf("total of %q: %s", query, total)
			}
		}
	})
}

func TestBatchesOfTheSameAddressesInTwoOrdersDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		if !h.App.DB.Shared() {
			return // one writer at a time: nobody stops half-way
		}
		tries := 0
		var other sync.WaitGroup
		h.write(func(tx *db.Tx) error {
			if _, err := h.list.AddMany(tx, []suppression.Entry{{Workspace: h.Workspace, Address: "ann@example.net", Reason: suppression.Bounce}}); err != nil {
				return err
			}
			if tries++; tries != 2 { // the first is the rehearsal of the transaction
				return nil
			}
			other.Go(func() {
				h.as(h.Key, "POST", "/suppressions/batch/add", fields{"emails": []string{"bob@example.net", "ann@example.net"}})
			})
			if err := othersWait(tx); err != nil {
				return err
			}
			if _, err := tx.Exec(`SET LOCAL lock_timeout = '100ms'`); err != nil {
				return err
			}
			_, err := h.list.AddMany(tx, []suppression.Entry{{Workspace: h.Workspace, Address: "bob@example.net", Reason: suppression.Bounce}})
			return err
		})
		other.Wait()
		if got := h.must(200, "GET", "/suppressions?reason=bounce", nil).Text("total"); got != "2" || tries != 2 {
			t.Errorf("%s bounces after %d tries", got, tries)
		}
	})
}

func TestASearchFindsNobodyTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.suppress("example.net@example.net", nil)
		h.suppress("ann@example.net", nil)
		h.suppress("example.net.fan@example.org", nil)
		list := h.must(200, "GET", "/suppressions?search=example.net", nil)
		if list.Column("email") != "ann@example.net example.net.fan@example.org example.net@example.net" || list.Text("total") != "3" {
			t.Errorf("list: %s", list.Raw)
		}
	})
}

func TestScopesOpenTheListAndNothingElse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for _, route := range h.list.Routes() {
			want := map[string]string{"GET": "suppression:read", "POST": "suppression:manage", "DELETE": "suppression:manage"}[route.Method]
			if strings.HasPrefix(route.Path, "/unsubscribe/") {
				want = ""
			}
			if string(route.Scope) != want {
				t.Errorf("%s %s asks for %q", route.Method, route.Path, route.Scope)
			}
		}
		if answer := h.ask("GET", "/v1/suppressions", nil, nil); answer.Status != 401 {
			t.Errorf("without a key: %d", answer.Status)
		}
	})
}
