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
func otherNode(t *testing.T, in *apptest.Installation) *inbound.Service {
	t.Helper()
	a := in.App
	blobs, err := blob.NewFiles(t.TempDir(), a.World.Clock, a.World.Random) // what is small is in the database
	if err != nil {
		t.Fatal(err)
	}
	return inbound.New(a.World, a.DB, inbound.Parts{Blobs: blobs, Accounts: a.Accounts, Domains: a.Domains, Emails: a.Emails, Delivery: a.Delivery, Webhooks: a.Webhooks,
		Keys: in.Keys, Node: "other", BaseURL: "https://postrider.test"})
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
