package broadcast_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/product/broadcast"
	"postrider/product/delivery"
	"postrider/product/plan"
	"postrider/world"
)

// frail is an installation whose disk fails and whose processes die as a seed decides.
type frail struct {
	t      *testing.T
	random *rand.Rand
	clock  *apptest.Clock
	app    *app.App
	// failing is the chance, in percent, that a commit fails.
	failing int
	key     string
	list    string
	id      string
	nodes   []*broadcast.Service
	// during happens once, while a page is being made.
	during func()
}

// hookedBlobs let something happen when content is stored, which is outside of transactions.
type hookedBlobs struct {
	blob.Store
	frail *frail
}

func (h hookedBlobs) Put(ctx context.Context, r io.Reader, most int64) (blob.Info, error) {
	if during := h.frail.during; during != nil {
		h.frail.during = nil
		during()
	}
	return h.Store.Put(ctx, r, most)
}

var errDisk = errors.New("the disk is gone")

func newFrail(t *testing.T, seed uint64) *frail {
	t.Helper()
	f := &frail{t: t, random: rand.New(rand.NewPCG(seed, 1)), clock: &apptest.Clock{}}
	w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
	w.Clock = f.clock
	d, err := db.Open(context.Background(), w, db.Config{URL: dbtest.URL(t, "sqlite"), Fault: func() error {
		if f.random.IntN(100) < f.failing {
			return errDisk
		}
		return nil
	}})
	f.must(err)
	t.Cleanup(func() { d.Close() })
	blobs, err := blob.NewFiles(t.TempDir(), w.Clock, w.Random)
	f.must(err)
	f.app = app.Assemble(w, d, hookedBlobs{blobs, f}, seal.NewKeyring(bytes.Repeat([]byte("test"), 8)), app.Settings{ServiceDomain: "mail.postrider.test", BaseURL: "https://postrider.test",
		Delivery: delivery.Config{Node: apptest.NodeID, Hello: "mx1.mail.postrider.test", AllowPrivate: true, Inline: true}})
	made, err := f.app.CreateWorkspace(context.Background(), app.NewWorkspace{Name: "Acme", Plan: plan.Unlimited, OwnerEmail: "owner@owner.test", OwnerPassword: "correct horse battery"})
	f.must(err)
	f.key = made.APIKey
	f.call("POST", "/domains", `{"name":"acme.test"}`)
	f.must(d.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE domain SET verified = TRUE, status = 'verified'`)
		return err
	}))
	f.restart()
	return f
}

func (f *frail) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// call makes a request and returns the id in its answer; the disk may refuse it.
func (f *frail) call(method, path, body string) string {
	request := httptest.NewRequest(method, "/v1"+path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+f.key)
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	f.app.API.ServeHTTP(answer, request)
	_, rest, _ := strings.Cut(answer.Body.String(), `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// send starts a broadcast to some people.
func (f *frail) send(people int, html string, throttle int) {
	f.t.Helper()
	f.list = f.call("POST", "/audience/lists", `{"name":"All"}`)
	for _, address := range crowd(people) {
		f.call("POST", "/contacts", fmt.Sprintf(`{"email":%q,"list_ids":[%q]}`, address, f.list))
	}
	if f.id = f.call("POST", "/broadcasts", fmt.Sprintf(`{"audience_id":%q,"from":"news@acme.test","subject":"x","html":%q,"throttle_per_hour":%d,"send":true}`, f.list, html, throttle)); f.id == "" {
		f.t.Fatal("no broadcast")
	}
}

// restart replaces the two processes by others of the same nodes.
func (f *frail) restart() {
	a := f.app
	f.nodes = nil
	for _, node := range []string{"one", "two"} {
		f.nodes = append(f.nodes, broadcast.New(a.World, a.DB, broadcast.Parts{Plans: a.Plans, Accounts: a.Accounts, Templates: a.Templates,
			Suppressions: a.Suppressions, Emails: a.Emails, Audience: a.Audience, Node: node}))
	}
}

// disturb does something that a customer, a reader or the machine might do.
func (f *frail) disturb(people int) {
	ctx := context.Background()
	switch f.random.IntN(9) {
	case 0:
		f.restart()
	case 1:
		f.clock.Advance(3 * time.Minute) // leases run out
		for _, w := range f.nodes[0].Workers() {
			_, _ = w.Step(ctx) // a disk that fails is what the test is about
		}
	case 2:
		f.call("PATCH", "/contacts/"+crowd(people)[f.random.IntN(people)], `{"unsubscribed":true}`)
	case 3:
		f.call("DELETE", "/contacts/"+crowd(people)[f.random.IntN(people)], "")
	case 4:
		f.call("POST", "/broadcasts/"+f.id+"/pause", "")
	case 5:
		f.call("POST", "/broadcasts/"+f.id+"/resume", "")
	case 6:
		f.follow()
	default:
		f.clock.Advance(time.Duration(f.random.IntN(60)) * time.Second)
	}
}

func (f *frail) follow() {
	for _, follower := range f.app.Broadcasts.Followers() {
		_, _ = follower.Step(context.Background(), f.app.DB)
	}
}

func TestNobodyIsLostOrDoubledWhateverBreaks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			f := newFrail(t, seed)
			people := 1 + f.random.IntN(40)
			f.send(people, "<p>x</p>", 360*(1+f.random.IntN(10)))
			f.failing = 10 + f.random.IntN(40)
			for range 150 {
				_, _ = f.nodes[f.random.IntN(2)].Step(context.Background()) // a disk that fails is what the test is about
				f.disturb(people)
			}
			f.failing = 0
			end := "sent"
			if f.call("POST", "/broadcasts/"+f.id+"/resume", ""); f.random.IntN(3) == 0 {
				end = "cancelled"
				f.call("POST", "/broadcasts/"+f.id+"/cancel", "")
			}
			f.settle()
			f.check(people, end)
		})
	}
}

// settle lets everything come to rest on a disk that works.
func (f *frail) settle() {
	f.t.Helper()
	for range 1000 {
		f.clock.Advance(3 * time.Minute)
		for _, w := range f.nodes[0].Workers() {
			_, err := w.Step(context.Background())
			f.must(err)
		}
		if f.waiting() == 0 {
			f.follow()
			return
		}
	}
	f.t.Fatal("it never rests")
}

// waiting returns how many items are in the queue of broadcasts.
func (f *frail) waiting() (n int64) {
	f.t.Helper()
	f.must(f.app.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, err = queue.Depth(tx, broadcast.Lane)
		return err
	}))
	return n
}

// check holds the rows against the emails, and the counters against the rows.
func (f *frail) check(people int, end string) {
	f.t.Helper()
	type row struct{ address, state, email string }
	var rows []row
	var mails []string
	var counted string
	f.must(f.app.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		if rows, err = db.All(tx, func(s db.Scanner) (r row, err error) {
			err = s.Scan(&r.address, &r.state, db.Text(&r.email))
			return r, err
		}, `SELECT address, state, email_id FROM broadcast_recipient ORDER BY contact`); err != nil {
			return err
		}
		if mails, err = db.All(tx, db.Value[string], `SELECT address FROM email_recipient WHERE state IN ('queued', 'cancelled') ORDER BY address`); err != nil {
			return err
		}
		counted, err = db.One(tx, func(s db.Scanner) (string, error) {
			var n [5]int64
			err := s.Scan(&n[0], &n[1], &n[2], &n[3], &n[4])
			return fmt.Sprint(n), err
		}, `SELECT recipients, queued, suppressed, skipped, cancelled FROM broadcast_count`)
		return err
	}))
	var handed []string
	counts := map[string]int64{}
	for _, r := range rows {
		counts[r.state]++
		if r.email != "" {
			handed = append(handed, r.address)
		}
		if r.state == "pending" && end != "paused" {
			f.t.Errorf("%s was forgotten", r.address)
		}
		if r.state == "queued" && end == "cancelled" {
			f.t.Errorf("%s was not called back", r.address)
		}
	}
	slices.Sort(handed)
	if strings.Join(handed, " ") != strings.Join(mails, " ") {
		f.t.Errorf("rows say that these have mail: %v\nthese have: %v", handed, mails)
	}
	if doubled := slices.Compact(slices.Clone(mails)); len(doubled) != len(mails) {
		f.t.Errorf("somebody has two mails: %v", mails)
	}
	if len(rows) > people {
		f.t.Errorf("%d recipients of %d people", len(rows), people)
	}
	want := fmt.Sprint([5]int64{int64(len(rows)), counts["pending"] + counts["queued"], counts["suppressed"], counts["skipped"], counts["cancelled"]})
	if counted != want {
		f.t.Errorf("counted %s, the rows say %s", counted, want)
	}
}

func TestWhatHappensWhileAPageIsBeingMadeCounts(t *testing.T) {
	t.Parallel()
	const people = 3
	large := "<p>" + strings.Repeat("x", 100_000) + "</p>"
	for name, c := range map[string]struct {
		during func(f *frail)
		end    string
		mails  int
	}{
		"another process sends the same page": {func(f *frail) {
			f.clock.Advance(3 * time.Minute)
			for range 5 {
				for _, w := range f.nodes[1].Workers() {
					_, err := w.Step(context.Background())
					f.must(err)
				}
			}
		}, "sent", people},
		"it is cancelled":       {func(f *frail) { f.call("POST", "/broadcasts/"+f.id+"/cancel", "") }, "cancelled", 0},
		"it is paused":          {func(f *frail) { f.call("POST", "/broadcasts/"+f.id+"/pause", "") }, "paused", 0},
		"somebody unsubscribes": {func(f *frail) { f.call("PATCH", "/contacts/"+crowd(1)[0], `{"unsubscribed":true}`) }, "sent", people - 1},
		"somebody is deleted":   {func(f *frail) { f.call("DELETE", "/contacts/"+crowd(1)[0], "") }, "sent", people - 1},
		"somebody is put on the list of those who get none": {func(f *frail) {
			f.call("POST", "/suppressions", fmt.Sprintf(`{"email":%q}`, crowd(1)[0]))
		}, "sent", people - 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFrail(t, 1)
			f.send(people, large, 1_000_000)
			happened := false
			f.during = func() { happened = true; c.during(f) }
			f.settle()
			if f.check(people, c.end); !happened || f.mails() != c.mails {
				t.Errorf("happened %v, %d mails, want %d", happened, f.mails(), c.mails)
			}
		})
	}
}

// mails returns how many mails wait to be delivered.
func (f *frail) mails() (n int) {
	f.t.Helper()
	f.must(f.app.DB.Read(context.Background(), func(tx *db.Tx) error {
		found, err := db.All(tx, db.Value[string], `SELECT id FROM email WHERE status = 'queued'`)
		n = len(found)
		return err
	}))
	return n
}

func TestWhoIsForgottenWhileAPageIsBeingMadeStaysForgotten(t *testing.T) {
	t.Parallel()
	f := newFrail(t, 1)
	f.send(2, "<p>"+strings.Repeat("x", 100_000)+"</p>", 1_000_000)
	f.during = func() {
		f.call("POST", "/audience/contacts/"+crowd(1)[0]+"/erase", "")
		for _, w := range f.app.Audience.Workers() {
			_, err := w.Step(context.Background())
			f.must(err)
		}
	}
	f.settle()
	var rows []string
	f.must(f.app.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		rows, err = db.All(tx, db.Value[string], `SELECT address || ' ' || state FROM broadcast_recipient ORDER BY contact`)
		return err
	}))
	if got := strings.Join(rows, ", "); got != "forgotten@erased.invalid skipped, person001@example.net queued" {
		t.Error(got)
	}
}
