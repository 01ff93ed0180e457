package delivery_test

import (
	"net/http"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/delivery"
)

// say lets the node of the installation tell that it is there.
func say(t *testing.T, in *apptest.Installation) {
	t.Helper()
	for _, w := range in.App.Nodes.Workers() {
		if _, err := w.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNodesAreListedWhileTheyAreThere(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		say(t, in)
		in.Send("ann@example.net")
		first := func() map[string]any {
			list, _ := in.Call(http.MethodGet, "/sending-nodes", nil).Body["data"].([]any)
			if len(list) != 1 {
				t.Fatalf("%d nodes", len(list))
			}
			n, _ := list[0].(map[string]any)
			return n
		}
		n := first()
		queue, _ := n["queue"].(map[string]any)
		if n["id"] != apptest.NodeID || n["status"] != "active" || n["spf_include"] != "spf.mail.postrider.test" || queue["ready"] != 1.0 {
			t.Fatalf("%v", n)
		}
		in.Clock.Advance(2 * time.Minute)
		if n := first(); n["status"] != "offline" {
			t.Fatalf("silent for two minutes: %v", n["status"])
		}
	})
}

func TestMailOfADomainWaitsForTheNodeThatWasChosen(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		say(t, in)
		path := "/domains/" + in.DomainID
		if answer := in.Call(http.MethodPatch, path, map[string]any{"sending_node_id": in.DomainID}); answer.Status != http.StatusBadRequest {
			t.Fatalf("a node that is none: %d %s", answer.Status, answer.Raw)
		}
		chosen := in.Call(http.MethodPatch, path, map[string]any{"sending_node_id": apptest.NodeID})
		if chosen.Status != http.StatusOK || chosen.Text("sending_node_id") != apptest.NodeID {
			t.Fatalf("%d %s", chosen.Status, chosen.Raw)
		}
		id := in.Send("ann@example.net")
		other := delivery.New(in.App.World, in.App.DB, in.App.Emails, in.App.Domains, in.App.Relays, in.Keys, delivery.Config{
			Node: "00000000-0000-7000-8000-00000000000b", Hello: "other.test", AllowPrivate: true, Inline: true})
		if busy, err := other.Step(t.Context()); busy || err != nil {
			t.Fatalf("another node took it: %v", err)
		}
		in.Deliver()
		record := in.Email(id)
		attempts, _ := in.Call(http.MethodGet, "/emails/"+id+"/attempts", nil).Body["data"].([]any)
		attempt, _ := attempts[0].(map[string]any)
		if record.Text("status") != "delivered" || record.Text("sending_node_id") != apptest.NodeID || record.Text("provider") != "direct" || attempt["sending_node_id"] != apptest.NodeID {
			t.Fatalf("%s %v", record.Raw, attempt)
		}
		if answer := in.Call(http.MethodPatch, path, map[string]any{"sending_node_id": nil}); answer.Text("provider") != "inherit" {
			t.Fatalf("let go: %s", answer.Raw)
		}
	})
}

func TestMailOfANodeThatNeverComesBackEnds(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string]int{"left waiting": 0, "claimed": 1, "being sent": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
				say(t, in)
				in.Must(http.StatusOK, http.MethodPatch, "/domains/"+in.DomainID, map[string]any{"sending_node_id": apptest.NodeID})
				id := in.Send("ann@example.net")
				for range steps {
					if _, err := in.App.Delivery.Step(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				other := newNode(t, in)
				look := func() apptest.Answer {
					for range 5 {
						other.work("delivery leases")
						in.Clock.Advance(10 * time.Second)
					}
					in.Finish(in.App.Emails.EndOverdue)
					in.Finish(other.Step)
					return in.Email(id)
				}
				before, copies := in.Email(id).Text("status"), len(in.Mailbox("ann@example.net"))

				in.Clock.Advance(24 * time.Hour)
				if waiting := look(); waiting.Text("status") != before {
					t.Fatalf("%s after a day: %s", before, waiting.Raw)
				}
				in.Clock.Advance(9 * 24 * time.Hour)
				if over := look(); over.Text("status") != "failed" || over.Text("failure", "reason") != "delivery_expired" {
					t.Errorf("after ten: %s", over.Raw)
				}
				if got := in.Mailbox("ann@example.net"); len(got) != copies {
					t.Errorf("%d messages arrived, and %d before", len(got), copies)
				}
			})
		})
	}
}

func TestManagedCustomerMayHaveANodeOfItsOwn(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	say(t, in)
	made := func(provider string) apptest.Answer {
		return in.Call(http.MethodPost, "/managed-tenants", map[string]any{"external_id": "shop", "name": "Shop", "provider": provider})
	}
	if answer := made("node:" + in.DomainID); answer.Status != http.StatusBadRequest {
		t.Fatalf("a node that is none: %d %s", answer.Status, answer.Raw)
	}
	if answer := made("node:" + apptest.NodeID); answer.Status != http.StatusCreated {
		t.Fatalf("%d %s", answer.Status, answer.Raw)
	}
}
