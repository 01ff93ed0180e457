package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/product/account/accounttest"
	"postrider/product/domain"
	"postrider/product/tenant"
)

func TestAPausedCustomerSendsNothingFromTheNextRequestOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		ctx := context.Background()
		p := h.platform("acme")
		id := p.Must(201, "POST", "/v1/managed-tenants", fields{"external_id": "shop", "name": "Shop", "provider": "node:" + ownNode}).Text("id")
		otherNode := tenant.New(h.World, h.DB, h.Plans, h.domains, nil)
		for _, node := range []*tenant.Service{h.tenants, otherNode} {
			sender, err := node.ForSending(ctx, p.workspace, id)
			if named, ok := sender.Provider.Node(); err != nil || sender.ExternalID != "shop" || named != ownNode || !ok {
				t.Fatalf("%+v %v", sender, err)
			}
		}

		for _, step := range []struct {
			paused bool
			want   error
		}{{true, tenant.ErrPaused}, {false, nil}, {true, tenant.ErrPaused}} {
			p.Must(200, "PATCH", at(id), fields{"paused": step.paused})
			if _, err := h.tenants.ForSending(ctx, p.workspace, id); !errors.Is(err, step.want) {
				t.Errorf("paused %v: %v on this node", step.paused, err)
			}
			h.Clock.Move(time.Second)
			if _, err := otherNode.ForSending(ctx, p.workspace, id); !errors.Is(err, step.want) {
				t.Errorf("paused %v: %v on the other node", step.paused, err)
			}
		}
		p.Must(200, "DELETE", at(id), nil)
		if _, err := h.tenants.ForSending(ctx, p.workspace, id); !errors.Is(err, tenant.ErrNotFound) {
			t.Errorf("deleted: %v", err)
		}
		if _, err := h.tenants.ForSending(ctx, p.workspace, ""); err != nil {
			t.Errorf("the workspace itself: %v", err)
		}
	})
}

func TestAGuardPausesACustomerOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		for _, reason := range []string{"complaints", "bounces"} {
			h.write(func(tx *db.Tx) error {
				return errors.Join(h.tenants.Pause(tx, p.workspace, id, reason), h.tenants.Pause(tx, p.workspace, nobody, reason))
			})
		}
		if read := p.Must(200, "GET", at(id), nil); read.Text("status") != "paused" || read.Text("pause_reason") != "complaints" || read.Text("paused_at") == "" {
			t.Errorf("%s", read.Body)
		}
		if got := p.news(id); got != "created paused" {
			t.Errorf("events: %s", got)
		}
	})
}

func TestADomainThatIsRemovedSendsNothingFromTheNextRequestOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		domainID := p.domain(id, "shop.example")
		if _, err := h.domains.ForSending(t.Context(), p.workspace, "shop.example"); !errors.Is(err, domain.ErrAuthBroken) {
			t.Errorf("before: %v", err)
		}
		p.Must(200, "DELETE", at(id)+"/domains/"+domainID, nil)
		if _, err := h.domains.ForSending(t.Context(), p.workspace, "shop.example"); !errors.Is(err, domain.ErrNotYours) {
			t.Errorf("after: %v", err)
		}
	})
}

func TestUsageIsCountedByTheMonth(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p, stranger := h.platform("acme"), h.platform("umbrella")
		id := p.customer("shop")
		november := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
		use := func(recipients int64, sent time.Time) {
			h.write(func(tx *db.Tx) error { return h.tenants.Use(tx, p.workspace, id, recipients, sent) })
		}
		shown := func() string { return fmt.Sprint(p.Must(200, "GET", at(id), nil).Value("usage")) }

		use(3, november)
		use(2, november.Add(-time.Hour))
		if got := shown(); got != "map[emails_this_month:5 last_sent_at:2026-11-20T10:00:00.000Z]" {
			t.Errorf("in November: %s", got)
		}
		h.write(func(tx *db.Tx) error { return h.tenants.Return(tx, p.workspace, id, 2, november) })
		if got := shown(); got != "map[emails_this_month:3 last_sent_at:2026-11-20T10:00:00.000Z]" {
			t.Errorf("after two were taken back: %s", got)
		}

		h.write(func(tx *db.Tx) error { return h.tenants.Return(tx, p.workspace, id, 9, november) })
		if got := shown(); got != "map[emails_this_month:3 last_sent_at:2026-11-20T10:00:00.000Z]" {
			t.Errorf("after more was to be taken back than there is: %s", got)
		}

		h.Clock.Move(16 * 24 * time.Hour) // it is December
		if got := shown(); got != "map[emails_this_month:0 last_sent_at:2026-11-20T10:00:00.000Z]" {
			t.Errorf("in December: %s", got)
		}
		december := november.AddDate(0, 0, 12)
		use(4, december)
		use(9, november)
		h.write(func(tx *db.Tx) error { return h.tenants.Return(tx, p.workspace, id, 1, november) })
		h.write(func(tx *db.Tx) error {
			return errors.Join(h.tenants.Use(tx, p.workspace, "", 7, december), h.tenants.Use(tx, p.workspace, nobody, 7, december),
				h.tenants.Use(tx, stranger.workspace, id, 7, december), h.tenants.Return(tx, stranger.workspace, id, 1, december))
		})
		if got := shown(); got != "map[emails_this_month:4 last_sent_at:2026-12-02T10:00:00.000Z]" {
			t.Errorf("after mail in December: %s", got)
		}
		if got := p.Must(200, "GET", "/v1/managed-tenants", nil).Value("data.0.usage.emails_this_month"); got != 4.0 {
			t.Errorf("in the list: %v", got)
		}
	})
}

func TestParallelSendsAreAllCounted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		atOnce(50, func(int) accounttest.Answer {
			err := h.DB.Write(context.Background(), func(tx *db.Tx) error { return h.tenants.Use(tx, p.workspace, id, 2, tx.Now()) })
			if err != nil {
				t.Error(err)
			}
			return accounttest.Answer{}
		})
		if got := p.Must(200, "GET", at(id), nil).Value("usage.emails_this_month"); got != 100.0 {
			t.Errorf("%v emails were counted", got)
		}
	})
}

func TestCustomersAreLoadedForDelivery(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p, other := h.platform("acme"), h.platform("umbrella")
		first, second := p.customer("shop"), other.customer("store")
		other.Must(200, "PATCH", at(second), fields{"paused": true, "provider": "relay"})
		h.read(func(tx *db.Tx) error {
			loaded, err := h.tenants.Load(tx, []tenant.ID{tenant.ID(first), tenant.ID(second), nobody})
			a, b := loaded[tenant.ID(first)], loaded[tenant.ID(second)]
			if len(loaded) != 2 || a.ExternalID != "shop" || a.Workspace != p.workspace || a.Provider != tenant.Inherit || b.Status != tenant.Paused || b.Provider != tenant.Relay {
				t.Errorf("loaded %+v", loaded)
			}
			return err
		})
		for id, want := range map[string]string{first: "shop", second: "", nobody: "", "": ""} {
			h.read(func(tx *db.Tx) error {
				external, err := h.tenants.ExternalID(tx, p.workspace, id)
				if external != want {
					t.Errorf("%s is called %q", id, external)
				}
				return err
			})
		}
	})
}
