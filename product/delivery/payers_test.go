package delivery_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/product/delivery"
	"postrider/product/email"
	"postrider/product/plan"
)

// Mail of several workspaces shares a transaction, and each of them is counted in a row of its own.
func TestNodesThatAcceptForTheSameCustomersDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "postgres")
	blobs, err := blob.NewFiles(t.TempDir(), in.App.World.Clock, in.App.World.Random)
	if err != nil {
		t.Fatal(err)
	}
	second := app.Assemble(in.App.World, in.App.DB, blobs, in.Keys, app.Settings{ServiceDomain: "mail.postrider.test", BaseURL: "https://postrider.test",
		Delivery: delivery.Config{Node: "00000000-0000-7000-8000-00000000000d", Hello: "mx2.test", Port: 25, AllowPrivate: true, Inline: true}})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var sending sync.WaitGroup
	for n := range 6 {
		ws, _ := in.NewWorkspace(plan.Unlimited)
		in.VerifiedDomain(ws, fmt.Sprintf("payer%d.test", n))
		sender := email.Sender{Workspace: ws, Plan: plan.Unlimited, Source: email.SourceAPI}
		draft := email.Draft{From: address.Address{Local: "hello", Domain: fmt.Sprintf("payer%d.test", n)}, To: []address.Address{{Local: "ann", Domain: "example.net"}}, Subject: "x", Content: email.Content{Text: "x"}}
		for _, emails := range []*email.Service{in.App.Emails, second.Emails} {
			for who := range 4 {
				sending.Go(func() {
					for i := range 20 {
						request := api.Idempotency{}
						if who%2 == 0 {
							request = api.Idempotency{Workspace: ws, Key: fmt.Sprintf("%p %d %d", emails, who, i), Operation: "send"}
						}
						if _, _, err := emails.Accept(ctx, sender, draft, request); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
	}
	sending.Wait()
	var deadlocks int64
	if err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		deadlocks, err = db.One(tx, db.Value[int64], `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
		return err
	}); err != nil || deadlocks > 0 {
		t.Errorf("%d deadlocks, %v", deadlocks, err)
	}
}
