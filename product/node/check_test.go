package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/apikey"
	"postrider/product/node"
)

// run lets the node say that it is there and look at itself.
func run(t *testing.T, in *apptest.Installation) {
	t.Helper()
	for _, w := range in.App.Nodes.Workers() {
		if _, err := w.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// record returns the only node as a key sees it.
func record(t *testing.T, in *apptest.Installation, key string) map[string]any {
	t.Helper()
	answer := in.CallAs(key, http.MethodGet, "/sending-nodes", nil, nil)
	list, _ := answer.Body["data"].([]any)
	if len(list) != 1 {
		t.Fatalf("%d nodes: %s", len(list), answer.Raw)
	}
	return list[0].(map[string]any)
}

func each(t *testing.T, test func(t *testing.T, in *apptest.Installation), option func(*app.Settings)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, apptest.New(t, engine, option))
		})
	}
}

// known names an address and a blocklist, as an operator would.
func known(s *app.Settings) {
	s.Delivery.Sources.Sources = []node.Source{{Name: "mx1", Pool: node.MainPool, IPv4: netip.MustParseAddr("203.0.113.10"), Hello: "out.mail.postrider.test"}}
	s.Receives = true
	s.Checks.Blocklists = []string{"list.test", "other.test"}
}

func TestANodeTellsHowItsAddressesStand(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in *apptest.Installation) {
		in.Publish("10.113.0.203.in-addr.arpa", "PTR", "out.mail.postrider.test.")
		in.Publish("out.mail.postrider.test", "A", "203.0.113.10")
		in.Publish("spf.mail.postrider.test", "TXT", "v=spf1 ip4:203.0.113.10 -all")
		in.Publish("10.113.0.203.list.test", "A", "127.0.0.2")
		in.Publish("10.113.0.203.other.test", "A")
		run(t, in)
		n := record(t, in, in.Key)
		if got := fmt.Sprint(n["reverse_dns"], n["blocklists"], n["ip_addresses"], n["status"]); got != "map[ptr:out.mail.postrider.test status:pass] [list.test] [203.0.113.10]active" {
			t.Errorf("%s", got)
		}
		if got := fmt.Sprint(n["capabilities"]); got != "map[receiving:true sending:true tls:true]" {
			t.Errorf("it can %s", got)
		}
		if n["checked_at"] == nil {
			t.Error("nobody knows when it was checked")
		}
		checks, _ := json.Marshal(n["checks"])
		for _, want := range []string{`"203.0.113.10 is listed by list.test."`, `"203.0.113.10 is not listed by other.test."`, `"The SPF record of spf.mail.postrider.test lists our addresses."`, "self-signed"} {
			if !strings.Contains(string(checks), want) {
				t.Errorf("%s is not among %s", want, checks)
			}
		}
		in.Publish("10.113.0.203.in-addr.arpa", "PTR", "dynamic.provider.test.")
		in.Publish("10.113.0.203.list.test", "A")
		run(t, in)
		n = record(t, in, in.Key)
		if got := fmt.Sprint(n["reverse_dns"], n["blocklists"]); got != "map[ptr:dynamic.provider.test status:fail] []" {
			t.Errorf("after a change: %s", got)
		}
	}, known)
}

func TestOnlyWhoMaySeeStatisticsSeesAddresses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in *apptest.Installation) {
		in.Publish("10.113.0.203.list.test", "A", "127.0.0.2")
		run(t, in)
		_, key, err := in.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: in.Workspace, Name: "Sender", Preset: apikey.SendingAccess})
		if err != nil {
			t.Fatal(err)
		}
		n := record(t, in, key)
		if got := fmt.Sprint(n["ip_addresses"], n["blocklists"], n["checks"], n["queue"]); got != "[] [] [] <nil>" {
			t.Errorf("a key that only sends sees %s", got)
		}
	}, known)
}

func TestANodeWithoutSourcesIsKnownByItsName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in *apptest.Installation) {
		if got := len(in.App.Nodes.Workers()); got != 2 {
			t.Fatalf("%d workers", got)
		}
		run(t, in)
		if got := fmt.Sprint(record(t, in, in.Key)["reverse_dns"]); got != "map[ptr:mx1.mail.postrider.test status:pass]" {
			t.Errorf("%s", got)
		}
	}, func(*app.Settings) {})
}

func TestANodeThatStopsIsDrainingThenOffline(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in *apptest.Installation) {
		run(t, in)
		if err := in.App.Nodes.Leave(context.Background()); err != nil {
			t.Fatal(err)
		}
		run(t, in) // its workers have not stopped yet
		if got := record(t, in, in.Key)["status"]; got != "draining" {
			t.Errorf("while it stops it is %v", got)
		}
		in.Clock.Advance(2 * time.Minute)
		if got := record(t, in, in.Key)["status"]; got != "offline" {
			t.Errorf("afterwards it is %v", got)
		}
		err := in.App.DB.Read(context.Background(), func(tx *db.Tx) error {
			found, err := in.App.Nodes.Findings(tx)
			if len(found) != 0 {
				t.Errorf("a node that is gone still says %v", found)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}, func(*app.Settings) {})
}

func TestANodeThatIsStartedAgainIsActive(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in *apptest.Installation) {
		run(t, in)
		if err := in.App.Nodes.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}

		again(t, node.New(in.App.World, in.App.DB, node.Config{ID: apptest.NodeID, Name: "again"}, func(node.ID) queue.Lane { return "" }))

		if got := record(t, in, in.Key)["status"]; got != "active" {
			t.Errorf("it is %v", got)
		}
	}, func(*app.Settings) {})
}

func TestANodeThatLeavesIsNotAmongTheLiving(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in *apptest.Installation) {
		live := func() (count int64) {
			t.Helper()
			if err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
				count, err = in.App.Nodes.Live(tx)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return count
		}
		run(t, in)
		if count := live(); count != 1 {
			t.Fatalf("%d live", count)
		}
		if err := in.App.Nodes.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if count := live(); count != 0 {
			t.Errorf("%d live, though the only one has left", count)
		}
	}, known)
}
