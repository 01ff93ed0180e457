package suppression_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/platform/db"
	"postrider/product/plan"
	"postrider/product/suppression"
)

func TestUnsubscriptionsStopOnlyBulkMail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for _, reason := range []suppression.Reason{suppression.Bounce, suppression.Complaint, suppression.Unsubscribe, suppression.Manual, suppression.Invalid} {
			h.add(suppression.Entry{Workspace: h.Workspace, Address: string(reason) + "@example.net", Reason: reason})
			bulk, plain := h.stopped(ask(h.Workspace, string(reason)+"@example.net", true)), h.stopped(ask(h.Workspace, string(reason)+"@example.net", false))
			want := string(reason)
			if reason == suppression.Unsubscribe {
				want = "-"
			}
			if bulk != string(reason) || plain != want {
				t.Errorf("%s stops bulk mail with %s and other mail with %s", reason, bulk, plain)
			}
		}
	})
}

func TestManyRecipientsAreCheckedAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		other, _ := h.NewWorkspace(plan.Unlimited)
		var entries []suppression.Entry
		var queries []suppression.Query
		var want []string
		for i := range 500 {
			ws, email := h.Workspace, fmt.Sprintf("r%d@example.net", i)
			if i%2 == 0 {
				ws = other
			}
			expected := "-"
			if i%3 == 0 {
				entries = append(entries, suppression.Entry{Workspace: ws, Address: email, Reason: suppression.Bounce})
				expected = "bounce"
			}
			queries = append(queries, ask(ws, strings.ToUpper(email), false))
			want = append(want, expected)
		}
		h.add(entries...)
		if got := h.stopped(queries...); got != strings.Join(want, " ") {
			t.Errorf("stopped: %s", got)
		}
		if got := h.stopped(); got != "" {
			t.Errorf("nobody is stopped by %s", got)
		}
	})
}

func TestHitsAreCounted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.suppress("ann@example.net", nil)
		h.suppress("bob@example.net", nil)
		h.suppress("eve@example.net", nil)
		h.write(func(tx *db.Tx) error {
			stops, err := h.list.Check(tx, []suppression.Query{ask(h.Workspace, "ann@example.net", false), ask(h.Workspace, "zoe@example.net", false),
				ask(h.Workspace, "Ann@example.net", true), ask(h.Workspace, "bob@example.net", false)})
			if err != nil {
				return err
			}
			return h.list.Hit(tx, stops)
		})
		for name, want := range map[string]string{"ann": "2", "bob": "1", "eve": "0"} {
			entry := h.must(200, "GET", "/suppressions/"+name+"@example.net", nil)
			if entry.Text("hits") != want || (entry.Text("last_hit_at") == "") != (want == "0") {
				t.Errorf("%s: %s", name, entry.Raw)
			}
		}
	})
}

func TestAStrongerReasonTakesOverAndIsTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		first, second := h.App.World.NewID(), h.App.World.NewID()
		entry := func(reason suppression.Reason, email string) suppression.Entry {
			return suppression.Entry{Workspace: h.Workspace, Address: "ann@example.net", Reason: reason, EmailID: email, Detail: fields{"of": reason}}
		}
		unsubscribed := h.add(entry(suppression.Unsubscribe, first))[0]
		bounced := h.add(entry(suppression.Bounce, second))[0]
		manual := h.add(entry(suppression.Manual, first), entry(suppression.Manual, first))

		if !unsubscribed.Created || bounced.Created || manual[0].Created || bounced.ID != unsubscribed.ID {
			t.Errorf("created: %v, %v, %v", unsubscribed.Created, bounced.Created, manual[0].Created)
		}
		got := h.must(200, "GET", "/suppressions/ann@example.net", nil)
		if got.Text("reason") != "bounce" || got.Text("email_id") != second || got.Text("detail", "of") != "bounce" || manual[1].Reason != suppression.Bounce {
			t.Errorf("entry: %s", got.Raw)
		}
		if h.news(string(bounced.ID)) != "added added" {
			t.Errorf("events: %s", h.news(string(bounced.ID)))
		}
		for reason, want := range map[string]string{"unsubscribe": "0", "bounce": "1", "manual": "0", "": "1"} {
			if total := h.must(200, "GET", "/suppressions?reason="+reason, nil).Text("total"); total != want {
				t.Errorf("total of %q: %s", reason, total)
			}
		}
	})
}

func TestFiveFullMailboxesInAMonthSuppress(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		fail := func(email string, ids ...string) (added []suppression.Added) {
			h.write(func(tx *db.Tx) (err error) {
				var entries []suppression.Entry
				for _, id := range ids {
					entries = append(entries, suppression.Entry{Workspace: h.Workspace, Address: email, Reason: suppression.Bounce, EmailID: id,
						Detail: suppression.BounceDetail{Class: "soft", Category: "mailbox_full", SMTPCode: new(552), Enhanced: "5.2.2"}})
				}
				added, err = h.list.NoteSoftBounces(tx, entries)
				return err
			})
			return added
		}
		id := h.App.World.NewID
		old := []string{id(), id(), id(), id()}
		fail("ann@example.net", old...)
		h.Clock.Advance(30*24*time.Hour + time.Second)
		repeated := id()
		for range 5 {
			fail("Ann@example.net", repeated) // one email, however often it is noted
		}
		fail("bob@example.net", id())
		if added := fail("ann@example.net", id(), id(), id()); len(added) != 0 || h.stopped(ask(h.Workspace, "ann@example.net", false)) != "-" {
			t.Fatalf("suppressed after four: %+v", added)
		}
		h.sweep() // forgets what was a month ago, and nothing else
		last := id()
		added := fail("ann@EXAMPLE.net", last)
		if len(added) != 1 || !added[0].Created || added[0].Reason != suppression.Bounce || added[0].EmailID != last {
			t.Fatalf("after five: %+v", added)
		}
		if got := h.stopped(ask(h.Workspace, "ann@example.net", false), ask(h.Workspace, "bob@example.net", false)); got != "bounce -" {
			t.Errorf("stopped: %s", got)
		}
		h.must(200, "DELETE", "/suppressions/ann@example.net", nil)
		if added := fail("ann@example.net", id()); len(added) != 0 {
			t.Error("whoever is taken off the list does not begin anew")
		}
		h.Clock.Advance(31 * 24 * time.Hour)
		h.sweep()
		h.read(func(tx *db.Tx) error {
			left, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM suppression_strike`)
			if left != 0 {
				t.Errorf("%d strikes are kept for ever", left)
			}
			return err
		})
	})
}

func TestWhoSubscribesAgainTakesBackTheirOwnNoAndNothingElse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.suppress("ann@example.net", fields{"reason": "unsubscribe"})
		h.suppress("bob@example.net", fields{"reason": "complaint"})
		h.suppress("eve@example.net", nil)

		h.write(func(tx *db.Tx) error {
			return h.list.Resubscribe(tx, h.Workspace, []string{"Ann@example.net", "bob@example.net", "eve@example.net", "zoe@example.net"})
		})

		got := h.stopped(ask(h.Workspace, "ann@example.net", true), ask(h.Workspace, "bob@example.net", true), ask(h.Workspace, "eve@example.net", true))
		if got != "- complaint manual" {
			t.Errorf("stopped: %s", got)
		}
		if total := h.must(200, "GET", "/suppressions", nil).Text("total"); total != "2" || h.news(id) != "added removed" {
			t.Errorf("%s entries, events: %s", total, h.news(id))
		}
	})
}

func TestAnAddressThatIsForgottenIsStillNotMailed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.suppress("Ann@example.net", fields{"note": "Ann asked by phone."})
		for range 2 {
			h.write(func(tx *db.Tx) error {
				forgotten, err := h.list.Erase(tx, h.Workspace, "ann@EXAMPLE.net")
				if string(forgotten) != id {
					t.Errorf("forgot %q", forgotten)
				}
				return err
			})
		}
		again := h.must(200, "POST", "/suppressions", fields{"email": "ann@example.net", "reason": "complaint"})
		if again.Text("id") != id || again.Text("reason") != "complaint" || h.stopped(ask(h.Workspace, "ann@example.net", false)) != "complaint" {
			t.Errorf("%s", again.Raw)
		}
		for _, path := range []string{"/suppressions", "/suppressions/" + id, "/suppressions/ann@example.net"} {
			answer := h.must(200, "GET", path, nil)
			if text := strings.ToLower(string(answer.Raw)); strings.Contains(text, "ann") || strings.Contains(text, "example.net") {
				t.Errorf("%s still says who it was: %s", path, answer.Raw)
			}
		}
		for _, search := range []string{"ann", "@example.net"} {
			if found := h.must(200, "GET", "/suppressions?search="+search, nil); found.Text("total") != "0" {
				t.Errorf("%s finds %s", search, found.Raw)
			}
		}
		gone := h.must(200, "DELETE", "/suppressions/ann@example.net", nil)
		if gone.Text("id") != id || h.stopped(ask(h.Workspace, "ann@example.net", true)) != "-" {
			t.Errorf("%s", gone.Raw)
		}
	})
}

func TestAnEntryThatIsMadeToStayAtTheSameMomentIsNotSwept(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		if !h.App.DB.Shared() {
			return // one writer at a time: there is no same moment
		}
		h.suppress("ann@example.net", fields{"expires_at": h.Clock.Now().Add(time.Hour)})
		h.Clock.Advance(2 * time.Hour)
		sweeps, locked := 0, make(chan bool)
		var adding sync.WaitGroup
		stop := h.App.DB.Watch(func(query string, _ []any) {
			if !strings.Contains(query, "ORDER BY expires_at") {
				return
			}
			if sweeps++; sweeps != 2 { // the first is the rehearsal of the transaction
				return
			}
			h.Clock.Advance(-2 * time.Hour) // another node, whose clock is behind
			adding.Go(func() { h.addWhileOthersWait(locked) })
			<-locked
		})
		defer stop()

		h.sweep()

		adding.Wait()
		if got := h.stopped(ask(h.Workspace, "ann@example.net", false)); got != "complaint" {
			t.Errorf("stopped by %s", got)
		}
	})
}

// addWhileOthersWait adds a complaint of Ann, says so, and commits when somebody waits for its lock.
func (h *house) addWhileOthersWait(locked chan<- bool) {
	tries := 0
	h.write(func(tx *db.Tx) error {
		_, err := h.list.AddMany(tx, []suppression.Entry{{Workspace: h.Workspace, Address: "ann@example.net", Reason: suppression.Complaint}})
		if tries++; err != nil || tries != 2 {
			return err
		}
		close(locked)
		return othersWait(tx)
	})
}

// othersWait returns when somebody waits for what the transaction holds.
func othersWait(tx *db.Tx) (err error) {
	for waiting := int64(0); waiting == 0 && err == nil; {
		waiting, err = db.One(tx, db.Value[int64], `
			SELECT COUNT(*) FROM pg_locks
			WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))`)
	}
	return err
}

// The list is compared with the simplest list there is: a map of what was added, by address.
func TestTheListIsWhatWasAddedAndNotRemoved(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		strength := map[suppression.Reason]int{suppression.Complaint: 5, suppression.Bounce: 4, suppression.Invalid: 3, suppression.Manual: 2, suppression.Unsubscribe: 1}
		round := 0
		rapid.Check(t, func(rt *rapid.T) {
			round++
			ws := h.Workspace
			model := map[string]suppression.Reason{}
			spell := func(i int) string { return []string{"a%d-%d@example.net", "A%d-%d@EXAMPLE.net"}[i%2] }
			for range rapid.IntRange(1, 6).Draw(rt, "steps") {
				var entries []suppression.Entry
				for range rapid.IntRange(1, 4).Draw(rt, "size") {
					n := rapid.IntRange(0, 3).Draw(rt, "who")
					reason := rapid.SampledFrom([]suppression.Reason{"bounce", "complaint", "unsubscribe", "manual", "invalid"}).Draw(rt, "reason")
					entries = append(entries, suppression.Entry{Workspace: ws, Address: fmt.Sprintf(spell(rapid.IntRange(0, 1).Draw(rt, "spelling")), round, n), Reason: reason})
					key := fmt.Sprintf("a%d-%d@example.net", round, n)
					if strength[reason] > strength[model[key]] {
						model[key] = reason
					}
				}
				h.add(entries...)
				if rapid.Bool().Draw(rt, "remove") {
					key := fmt.Sprintf("a%d-%d@example.net", round, rapid.IntRange(0, 3).Draw(rt, "whom"))
					h.as(h.Key, "DELETE", "/suppressions/"+key, nil)
					delete(model, key)
				}
			}
			for n := range 4 {
				key := fmt.Sprintf("a%d-%d@example.net", round, n)
				want := "-"
				if reason, listed := model[key]; listed {
					want = string(reason)
				}
				if got := h.stopped(ask(ws, key, true)); got != want {
					rt.Fatalf("%s is stopped by %s, want %s", key, got, want)
				}
			}
			list := h.must(200, "GET", fmt.Sprintf("/suppressions?search=a%d-", round), nil)
			if list.Text("total") != fmt.Sprint(len(model)) {
				rt.Fatalf("%s entries, want %d", list.Text("total"), len(model))
			}
		})
		counted := h.must(200, "GET", "/suppressions", nil).Text("total")
		h.read(func(tx *db.Tx) error {
			rows, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM suppression`)
			if fmt.Sprint(rows) != counted {
				t.Errorf("%d rows are counted as %s", rows, counted)
			}
			return err
		})
	})
}
