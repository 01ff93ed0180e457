package domain_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/product/domain"
	"postrider/product/plan"
)

// receiver returns the id of the domain that mail to the name is for, empty if it is not taken.
func receiver(t *testing.T, in *apptest.Installation, name string) string {
	t.Helper()
	d, receives, err := in.App.Domains.ForReceiving(t.Context(), name)
	if err != nil || receives != (d.ID != "") {
		t.Fatalf("%+v %v %v", d, receives, err)
	}
	return string(d.ID)
}

// lapse takes the policy of the verified domain away for so long that it counts as broken.
func lapse(t *testing.T, in *apptest.Installation) {
	t.Helper()
	in.Publish(apptest.Domain, "TXT")
	for range 4 {
		verify(t, in, in.DomainID)
		in.Clock.Advance(9 * time.Hour)
	}
	if answer := get(t, in, in.DomainID); answer.Body["verified"] != false {
		t.Fatalf("%s", answer.Raw)
	}
}

func TestAWishToReceiveComesTrueWithTheProof(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.MX()
		wanted := register(in, in.Key, fields{"domain": "shop.test", "capabilities": fields{"receiving": "enabled"}})
		plain := registered(t, in, "plain.test")
		publishAll(t, in, "shop.test")
		publishAll(t, in, "plain.test")
		id := wanted.Text("id")
		refused(t, in.Call(http.MethodPost, "/domains/"+id+"/receiving", fields{"enabled": true}), http.StatusConflict, "inbound_receiver_unhealthy")
		if receiver(t, in, "shop.test") != "" {
			t.Error("mail is taken before the domain is proven")
		}

		if answer := verify(t, in, id); answer.Text("capabilities", "receiving") != "enabled" || receiver(t, in, "shop.test") != id {
			t.Errorf("%s", answer.Raw)
		}
		if got := told(t, in, in.Workspace, id); !slices.Equal(got, []string{"domain.created", "domain.updated", "domain.verified", "domain.updated"}) {
			t.Errorf("events %v", got)
		}
		if answer := verify(t, in, plain); answer.Text("capabilities", "receiving") != "disabled" || receiver(t, in, "plain.test") != "" {
			t.Errorf("nobody wished for it: %s", answer.Raw)
		}
	})
}

func TestADomainThatReceivesGoesOnThroughABadHour(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Receiving()
		path := "/domains/" + in.DomainID
		in.Publish(apptest.Domain, "MX", "10 mx.elsewhere.test")

		refused(t, in.Call(http.MethodPost, path+"/receiving", fields{"enabled": true}), http.StatusConflict, "inbound_receiver_unhealthy")
		refused(t, in.Call(http.MethodPatch, path, fields{"capabilities": fields{"receiving": "enabled"}}), http.StatusConflict, "inbound_receiver_unhealthy")
		lapse(t, in)
		if answer := get(t, in, in.DomainID); answer.Text("capabilities", "receiving") != "enabled" || receiver(t, in, apptest.Domain) != in.DomainID {
			t.Errorf("its mail is refused: %s", answer.Raw)
		}

		off := in.Must(http.StatusOK, http.MethodPost, path+"/receiving", fields{"enabled": false})
		if off.Text("capabilities", "receiving") != "disabled" || receiver(t, in, apptest.Domain) != "" {
			t.Errorf("off: %s", off.Raw)
		}
	})
}

func TestWhoeverHasProvenANameDecidesAboutItsMail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Receiving()
		lapse(t, in)
		ws, key := in.NewWorkspace(plan.Unlimited)
		owner := in.VerifiedDomain(ws, apptest.Domain)
		in.Clock.Advance(time.Second)

		if got := receiver(t, in, apptest.Domain); got != "" {
			t.Errorf("mail for its new owner goes to %s", got)
		}
		if _, err := in.App.Inbound.Beat(t.Context()); err != nil {
			t.Fatal(err)
		}
		if on := in.CallAs(key, http.MethodPost, "/domains/"+owner+"/receiving", fields{"enabled": true}, nil); on.Status != http.StatusOK {
			t.Fatalf("%s", on.Raw)
		}
		if got := receiver(t, in, apptest.Domain); got != owner {
			t.Errorf("mail goes to %q, not to %s", got, owner)
		}
	})
}

func TestTheReceiverIsAskedWhileNothingIsLocked(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := register(in, in.Key, fields{"domain": "shop.test", "capabilities": fields{"receiving": "enabled"}}).Text("id")
		publishAll(t, in, "shop.test")
		asked := 0
		busy := func(ctx context.Context) []domain.HealthCheck {
			asked++
			waiting, done := context.WithTimeout(ctx, time.Minute) // only somebody who holds the domain has to wait
			defer done()
			free := make(chan error, 1)
			go func() {
				free <- in.App.DB.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
					_, err := tx.Exec(`UPDATE domain SET region = region WHERE id = $1`, id)
					return err
				})
			}()
			select {
			case err := <-free:
				if err != nil {
					t.Error(err)
				}
			case <-waiting.Done():
				t.Error("the domain is locked")
			}
			return []domain.HealthCheck{{Name: "receiver", Status: "pass"}}
		}
		domains := domain.New(in.App.World, in.App.DB, in.Keys, in.App.Plans, in.App.Domains.Hosts(), nil, busy)

		if d, err := domains.Verify(t.Context(), in.Workspace, id); err != nil || !d.Receiving || asked != 1 {
			t.Errorf("receiving %v, asked %d times, %v", d.Receiving, asked, err)
		}
	})
}

func TestSettingsStayAsTheyAreWhenReceivingIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		path := "/domains/" + in.DomainID
		both := fields{"tls": "enforced", "capabilities": fields{"receiving": "enabled"}}
		refused(t, in.Call(http.MethodPatch, path, both), http.StatusConflict, "inbound_receiver_unhealthy")
		if after := get(t, in, in.DomainID); after.Text("tls") != "opportunistic" || after.Body["receiving_requested"] != true {
			t.Errorf("%s", after.Raw)
		}
		wrong := fields{"tracking_subdomain": "bounce", "capabilities": fields{"receiving": "disabled"}}
		refused(t, in.Call(http.MethodPatch, path, wrong), http.StatusBadRequest, "validation_error")
		if after := get(t, in, in.DomainID); after.Body["receiving_requested"] != true {
			t.Errorf("%s", after.Raw)
		}
	})
}
