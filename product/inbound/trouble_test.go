package inbound_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/mail/spam"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/inbound"
	"postrider/world"
)

// album is a message that is too large for the database.
var album = strings.Replace(note, "How are you?", strings.Repeat("All my pictures of the holidays, one after the other.\r\n", 4000), 1)

// step does some work of a service that may go wrong.
func step(t *testing.T, work func(context.Context) (bool, error)) {
	t.Helper()
	if _, err := work(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// worker returns a worker of an installation by its name.
func worker(t *testing.T, workers []queue.Worker, name string) func(context.Context) (bool, error) {
	t.Helper()
	at := slices.IndexFunc(workers, func(w queue.Worker) bool { return w.Name == name })
	if at < 0 {
		t.Fatalf("no worker is called %q", name)
	}
	return workers[at].Step
}

func TestTroubleOfOursDoesNotUseUpTheHourOfARule(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org"})
		in.Clock.Advance(time.Hour - time.Duration(in.Clock.Now().UnixNano())%time.Hour) // to the beginning of an hour
		for range 3 {
			hand(t, mx, "support@acme.test", album)
		}
		step(t, in.App.Inbound.CheckStep)
		elsewhere := otherNode(t, in) // has none of the large messages
		for range 40 {
			step(t, elsewhere.ForwardStep)
			in.Clock.Advance(time.Minute)
		}
		in.Receive()
		if r := rules(t, in)[0]; r["forwarded_count"] != 3.0 || r["last_error"] != nil {
			t.Errorf("%v", r)
		}
	})
}

func TestMailThatCannotBeReadForAnHourIsNotLost(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org", "keep_copy": false})
		hand(t, in.Receiving(), "support@acme.test", album)
		elsewhere := otherNode(t, in)
		for range 59 {
			step(t, elsewhere.CheckStep)
			in.Clock.Advance(time.Minute)
		}
		if got := received(t, in); got.Body["authentication"] != nil {
			t.Fatalf("given up after less than an hour: %s", got.Raw)
		}
		step(t, elsewhere.CheckStep)
		if n := count(t, in, `SELECT COUNT(*) FROM inbound_received WHERE authentication LIKE '%"spf":"temperror"%' AND spam LIKE '%review%' AND kept = FALSE`); n != 1 {
			t.Fatal("what cannot be checked holds up what follows from it")
		}
		for range 59 {
			step(t, elsewhere.ForwardStep)
			in.Clock.Advance(time.Minute)
		}
		if list := in.Call(http.MethodGet, "/emails/receiving", nil); list.Text("total") != "0" {
			t.Fatalf("given up after less than an hour: %s", list.Raw)
		}
		step(t, elsewhere.ForwardStep)
		if got := received(t, in); got.Text("subject") != "Question" {
			t.Errorf("%s", got.Raw)
		}
		if r := rules(t, in)[0]; r["last_error"] != "internal_error" {
			t.Errorf("%v", r)
		}
		if n := count(t, in, `SELECT COUNT(*) FROM queue_item WHERE lane IN ('received', 'forward')`) + 1 - count(t, in, `SELECT COUNT(*) FROM event WHERE type = 'email.received'`); n != 0 {
			t.Error("it was not told of once, or is tried still")
		}
	})
}

// counted is an engine that tells how often it was asked.
type counted struct {
	spam.Builtin
	asked int
}

func (c *counted) Check(ctx context.Context, m spam.Message) (spam.Result, error) {
	c.asked++
	return c.Builtin.Check(ctx, m)
}

func TestAMessageThatStopsTheProcessDoesNotDoSoForEver(t *testing.T) {
	t.Parallel()
	engine := &counted{}
	in := apptest.New(t, "sqlite", func(s *app.Settings) { s.Spam = engine })
	mx := in.Receiving()
	rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org"})
	begunOften := func() {
		t.Helper()
		if err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE queue_item SET claims = 60 WHERE lane IN ('received', 'forward', 'operator')`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	hand(t, mx, "support@acme.test", note)
	hand(t, mx, "abuse@mail.postrider.test", bounce("x@example.net", "failed", "5.1.1", "550"))
	begunOften()
	step(t, in.App.Inbound.CheckStep)
	step(t, in.App.Inbound.OperatorStep)
	if got := received(t, in); engine.asked != 0 || got.Text("authentication", "dkim") != "temperror" || got.Text("spam", "verdict") != "review" {
		t.Errorf("asked %d times: %s", engine.asked, got.Raw)
	}
	if left := letters(t, in); len(left) != 1 || left[0]["kind"] != "ordinary" {
		t.Errorf("%v", left)
	}
	begunOften()
	step(t, in.App.Inbound.ForwardStep)
	if r := rules(t, in)[0]; r["last_error"] != "internal_error" || r["forwarded_count"] != 0.0 {
		t.Errorf("%v", r)
	}
	if n := count(t, in, `SELECT COUNT(*) FROM queue_item WHERE lane IN ('received', 'forward', 'operator')`); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestANodeThatStartsAgainGoesOnAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		hand(t, in.Receiving(), "support@acme.test", note)
		ctx, kill := context.WithCancel(t.Context())
		before := otherNode(t, in, func(_ *world.World, p *inbound.Parts) { p.Spam = &slow{held: kill} }) // is killed in the middle of its first check
		if _, err := before.CheckStep(ctx); err == nil {
			t.Fatal("it was not stopped")
		}
		if got := received(t, in); got.Body["spam"] != nil {
			t.Fatalf("%s", got.Raw)
		}
		step(t, otherNode(t, in).CheckStep)
		if got := received(t, in); got.Body["spam"] == nil {
			t.Errorf("%s", got.Raw)
		}
	})
}

func TestBlobsOfMailThatIsKeptStay(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		hand(t, mx, "support@acme.test", album)
		hand(t, mx, "postmaster@mail.postrider.test", strings.Replace(album, "holidays", "computer", 1))
		in.Clock.Advance(25 * time.Hour)
		step(t, worker(t, in.App.Workers(), "unused blobs"))
		in.Receive() // reads both
		if got := received(t, in); !strings.Contains(string(in.Download(got.Text("raw", "download_url"))), "holidays") || got.Text("authentication", "spf") == "temperror" {
			t.Errorf("%.300s", got.Raw)
		}
		if left := letters(t, in); len(left) != 1 || left[0]["kind"] != "ordinary" {
			t.Errorf("%v", left)
		}
		in.Clock.Advance(31 * 24 * time.Hour)
		step(t, worker(t, in.App.Workers(), "old operator's mail"))
		if left := letters(t, in); len(left) != 0 || received(t, in).Text("subject") != "Question" {
			t.Errorf("after a month the operator finds %v", left)
		}
	})
}

// patient is a store that is asked for a blob without a hurry.
type patient struct {
	blob.Store
	opened, hurried int
}

func (p *patient) Open(ctx context.Context, ref blob.Ref) (io.ReadCloser, error) {
	p.opened++
	if _, limited := ctx.Deadline(); limited {
		p.hurried++
	}
	return p.Store.Open(ctx, ref)
}

func TestMailIsReadHoweverSlowNameServersAre(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org", "mode": "passthrough"})
	hand(t, mx, "support@acme.test", album)
	hand(t, mx, "postmaster@mail.postrider.test", album)
	store := &patient{}
	node := otherNode(t, in, func(_ *world.World, p *inbound.Parts) {
		store.Store = p.Blobs
		p.Blobs = store
	})
	if _, err := store.Put(t.Context(), strings.NewReader(album), 1<<20); err != nil {
		t.Fatal(err)
	}
	step(t, node.CheckStep)
	step(t, node.ForwardStep)
	step(t, node.OperatorStep)
	if r := rules(t, in)[0]; r["forwarded_count"] != 1.0 || store.opened < 8 || store.hurried > 0 {
		t.Errorf("opened %d times, %d of them in a hurry: %v", store.opened, store.hurried, r)
	}
}
