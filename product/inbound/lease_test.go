package inbound_test

import (
	"context"
	"slices"
	"sync"
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

// slow is an engine of a node that is held up in the middle of its first check.
type slow struct {
	spam.Builtin
	once sync.Once
	held func()
}

func (s *slow) Check(ctx context.Context, m spam.Message) (spam.Result, error) {
	s.once.Do(s.held)
	return s.Builtin.Check(ctx, m)
}

// otherNode is another process on the database of an installation.
func otherNode(t *testing.T, in *apptest.Installation, options ...func(*world.World, *inbound.Parts)) *inbound.Service {
	t.Helper()
	a, w := in.App, in.App.World
	blobs, err := blob.NewFiles(t.TempDir(), a.World.Clock, a.World.Random) // what is small is in the database
	if err != nil {
		t.Fatal(err)
	}
	parts := inbound.Parts{Blobs: blobs, Accounts: a.Accounts, Domains: a.Domains, Emails: a.Emails, Delivery: a.Delivery, Webhooks: a.Webhooks, Plans: a.Plans, Suppressions: a.Suppressions,
		Keys: in.Keys, Node: "other", BaseURL: "https://postrider.test"}
	for _, option := range options {
		option(&w, &parts)
	}
	return inbound.New(w, a.DB, parts)
}

func TestACheckWhoseLeaseWasLostSettlesNothing(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			held := &slow{}
			in := apptest.New(t, engine, func(s *app.Settings) { s.Spam = held })
			other := otherNode(t, in)
			rule(t, in, fields{"address": "support@acme.test", "forward_to": "x@example.net"})
			hand(t, in.Receiving(), "support@acme.test", note)
			held.held = func() {
				in.Clock.Advance(3 * time.Minute) // longer than a lease lasts
				workers := other.Workers()
				leases := slices.IndexFunc(workers, func(w queue.Worker) bool { return w.Name == "inbound leases" })
				for _, step := range []func(context.Context) (bool, error){workers[leases].Step, other.CheckStep, other.ForwardStep} {
					if _, err := step(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if got := received(t, in); got.Body["spam"] == nil || got.Text("forwarded") == "[]" {
					t.Errorf("the other node has not taken over: %s", got.Raw)
				}
			}
			in.Receive()
			var told int64
			err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
				told, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM event WHERE type = 'email.received'`)
				return err
			})
			if list := in.Call("GET", "/emails", nil); err != nil || told != 1 || len(list.Body["data"].([]any)) != 1 {
				t.Errorf("told %d times, %v: %s", told, err, list.Raw)
			}
		})
	}
}

// stalled is a resolver whose first answer about a text is held up.
type stalled struct {
	world.Resolver
	once sync.Once
	held func()
}

func (s *stalled) TXT(ctx context.Context, name string) ([]string, world.Answer, error) {
	s.once.Do(s.held)
	return s.Resolver.TXT(ctx, name)
}

func TestAForwardWhoseLeaseWasLostIsCountedOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org", "mode": "passthrough"})
		sealed := crlf("ARC-Seal: i=1; a=rsa-sha256; cv=none; d=example.net; s=x; t=1700000000; b=AAAA",
			"ARC-Message-Signature: i=1; a=rsa-sha256; c=relaxed/relaxed; d=example.net; s=x; t=1700000000; h=from; bh=qLKbpaSndNO6Wp/cm+OE7R8kTAxUkYfIjerX8SOSVtc=; b=AAAA",
			"ARC-Authentication-Results: i=1; example.net; none") + note
		hand(t, in.Receiving(), "support@acme.test", sealed)
		step(t, in.App.Inbound.CheckStep)
		taken := false
		stall := func() {
			in.Clock.Advance(3 * time.Minute) // longer than a lease lasts
			step(t, worker(t, in.App.Inbound.Workers(), "inbound leases"))
			step(t, in.App.Inbound.ForwardStep)
			taken = true
		}
		step(t, otherNode(t, in, func(w *world.World, _ *inbound.Parts) { w.Resolver = &stalled{Resolver: w.Resolver, held: stall} }).ForwardStep)
		in.Deliver()
		if r := rules(t, in)[0]; !taken || r["forwarded_count"] != 1.0 || len(in.Mailbox("team@example.org")) != 1 {
			t.Errorf("taken over: %v, %v", taken, r)
		}
	})
}
