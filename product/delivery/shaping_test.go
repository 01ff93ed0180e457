package delivery_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/delivery"
	"postrider/product/email"
	"postrider/product/plan"
)

func TestATenantsBacklogDoesNotHoldUpAnother(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newNode(t, in, func(c *delivery.Config) { c.MaxHeld = 100 })
		const backlog = 2000
		busy := sendMany(t, in, in.Key, "hello@acme.test", backlog, func(n int) string { return fmt.Sprintf("busy%d@d%d.test", n, n%3) })
		n.step()
		other, key := in.NewWorkspace(plan.Unlimited)
		in.VerifiedDomain(other, "other.test")
		single := sendMany(t, in, key, "hello@other.test", 1, func(int) string { return "ann@example.net" })
		for range 5 {
			n.step()
		}
		if received := in.Mailbox("ann@example.net"); len(received) != 1 {
			t.Fatal("the single message waits behind the backlog of another tenant")
		}
		n.deliver()
		states, attempts := fates(in, busy[:200])
		if states["queued"] < 100 || attempts > 100 {
			t.Fatalf("%v after %d attempts at servers that are busy", states, attempts)
		}
		if answer := in.CallAs(key, http.MethodGet, "/emails/"+single[0], nil, nil); answer.Text("status") != "delivered" {
			t.Fatalf("%s", answer.Raw)
		}
	})
}

func TestTenantsTakeTurnsOnOnePath(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := newNode(t, in)
	first := sendMany(t, in, in.Key, "hello@acme.test", 300, func(n int) string { return fmt.Sprintf("user%d@example.net", n) })
	n.step()
	n.step()
	other, key := in.NewWorkspace(plan.Unlimited)
	in.VerifiedDomain(other, "other.test")
	sendMany(t, in, key, "hello@other.test", 1, func(int) string { return "ann@example.net" })
	for range 10 {
		n.step()
		in.Clock.Advance(20 * time.Millisecond)
	}
	if states, _ := fates(in, first); len(in.Mailbox("ann@example.net")) != 1 || states["queued"] < 100 {
		t.Fatalf("the other's message arrived %d times; the first tenant's mail: %v", len(in.Mailbox("ann@example.net")), states)
	}
}

func TestMailForAStoppedPathWaitsWithoutAttemptsAndGoesWhenItIsResumed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newNode(t, in)
		order := map[string]any{"site": "mx.example.net", "for": "3h", "reason": "a test"}
		if status, answer := n.ask(http.MethodPost, "/delivery/paths/suspend", order); status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		ids := sendMany(t, in, in.Key, "hello@acme.test", 30, func(n int) string { return fmt.Sprintf("user%d@example.net", n) })
		n.deliver()
		if states, attempts := fates(in, ids); states["queued"] != 30 || attempts != 0 {
			t.Fatalf("%v after %d attempts on a stopped path", states, attempts)
		}
		if got := n.sentence("mx.example.net"); !strings.Contains(got, "stopped by an operator until") || !strings.HasSuffix(got, "because a test") {
			t.Errorf("operators read %q", got)
		}
		n = newNode(t, in) // a restart
		n.deliver()
		if states, attempts := fates(in, ids); states["queued"] != 30 || attempts != 0 {
			t.Fatalf("after a restart: %v after %d attempts", states, attempts)
		}
		if status, answer := n.ask(http.MethodPost, "/delivery/paths/resume", map[string]any{"site": "mx.example.net"}); status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		n.deliver()
		if states, attempts := fates(in, ids); states["delivered"] != 30 || attempts != 30 {
			t.Fatalf("resumed: %v after %d attempts", states, attempts)
		}
	})
}

func TestATenantStoppedOnAPathDoesNotStopOthersThere(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newNode(t, in)
		order := map[string]any{"site": "mx.example.net", "tenant": string(in.Workspace), "for": "3h"}
		if status, answer := n.ask(http.MethodPost, "/delivery/paths/suspend", order); status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		stopped := sendMany(t, in, in.Key, "hello@acme.test", 10, func(n int) string { return fmt.Sprintf("user%d@example.net", n) })
		other, key := in.NewWorkspace(plan.Unlimited)
		in.VerifiedDomain(other, "other.test")
		sendMany(t, in, key, "hello@other.test", 1, func(int) string { return "ann@example.net" })
		n.deliver() // it comes to rest: what is stopped is not fetched again and again
		if states, attempts := fates(in, stopped); states["queued"] != 10 || attempts != 0 || len(in.Mailbox("ann@example.net")) != 1 {
			t.Fatalf("%v after %d attempts; the other tenant's mail arrived %d times", states, attempts, len(in.Mailbox("ann@example.net")))
		}
		delete(order, "for")
		if status, answer := n.ask(http.MethodPost, "/delivery/paths/resume", order); status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		n.deliver()
		if states, attempts := fates(in, stopped); states["delivered"] != 10 || attempts != 10 {
			t.Fatalf("resumed: %v after %d attempts", states, attempts)
		}
	})
}

// crowd takes all places that google.test has until it is told to leave.
func crowd(t *testing.T, in *apptest.Installation) (leave func()) {
	t.Helper()
	var conns []net.Conn
	for range 5 {
		conn, err := net.Dial("tcp", in.Sandbox.SMTPAddr())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		lines := bufio.NewReader(conn)
		for _, command := range []string{"", "HELO crowd.test\r\n", "MAIL FROM:<a@crowd.test>\r\n", "RCPT TO:<b@google.test>\r\n"} {
			if _, err := conn.Write([]byte(command)); err != nil {
				t.Fatal(err)
			}
			if line, err := lines.ReadString('\n'); err != nil || line[0] != '2' {
				t.Fatalf("%q %v", line, err)
			}
		}
	}
	return func() {
		for _, conn := range conns {
			fmt.Fprint(conn, "QUIT\r\n")
			_, _ = bufio.NewReader(conn).ReadString(0) // until it is closed
			conn.Close()
		}
	}
}

func TestMailThatAProviderThrottlesKeepsItsAttempts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newNode(t, in)
		leave := crowd(t, in)
		ids := sendMany(t, in, in.Key, "hello@acme.test", 50, func(n int) string { return fmt.Sprintf("user%d@google.test", n) })
		n.deliver()
		states, attempts := fates(in, ids)
		if states["delivered"] != 0 || attempts < 1 || attempts > 2 {
			t.Fatalf("%v after %d attempts", states, attempts)
		}
		if got := n.sentence("google-sandbox"); !strings.Contains(got, "backing off until") || !strings.HasSuffix(got, "because 421-4.7.28") {
			t.Errorf("operators read %q", got)
		}
		leave()
		for range 10 {
			in.Clock.Advance(2 * time.Minute)
			n.deliver()
		}
		if states, attempts := fates(in, ids); states["delivered"] != 50 || attempts > 52 {
			t.Fatalf("%v after %d attempts", states, attempts)
		}
	})
}

func TestAProviderThatCannotBeReachedIsLeftAloneAndThenTriedWithOneConnection(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newNode(t, in)
		ids := sendMany(t, in, in.Key, "hello@acme.test", 40, func(n int) string { return fmt.Sprintf("user%d@dead.test", n) })
		n.deliver()
		if dials := n.roads.dialled(deadAddr); dials < 3 || dials > 5 {
			t.Fatalf("%d connections tried before the provider was left alone", dials)
		}
		if _, attempts := fates(in, ids); attempts > 5 {
			t.Fatalf("%d attempts", attempts)
		}
		if got := n.sentence("dead.mx.test"); !strings.Contains(got, "left alone until") {
			t.Errorf("operators read %q", got)
		}
		before := n.roads.dialled(deadAddr)
		in.Clock.Advance(6 * time.Minute)
		n.deliver()
		if tried := n.roads.dialled(deadAddr) - before; tried != 1 {
			t.Fatalf("%d connections probed a provider that is still down", tried)
		}
		n.roads.heal()
		for range 12 {
			in.Clock.Advance(time.Minute)
			n.deliver()
		}
		if states, attempts := fates(in, ids); states["delivered"] != 40 || attempts > 46 {
			t.Fatalf("%v after %d attempts", states, attempts)
		}
	})
}

func TestAProviderNeverSeesMoreConnectionsThanItBears(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newNode(t, in, func(c *delivery.Config) { c.Inline = false })
		const count = 300
		ids := sendMany(t, in, in.Key, "hello@acme.test", count, func(n int) string { return fmt.Sprintf("user%d@google.test", n) })
		n.run(func() bool { return len(in.Mailbox("@google.test")) == count })
		if err := n.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if states, attempts := fates(in, ids); states["delivered"] != count || attempts != count {
			t.Fatalf("%v after %d attempts", states, attempts)
		}
		if n.roads.peak > 5 || n.roads.peak < 2 || n.roads.open != 0 {
			t.Fatalf("%d connections at once, %d left open", n.roads.peak, n.roads.open)
		}
	})
}

func TestTheNextServerIsTriedWhenOneIsDown(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newNode(t, in)
		ids := sendMany(t, in, in.Key, "hello@acme.test", 3, func(n int) string { return fmt.Sprintf("user%d@two.test", n) })
		n.deliver()
		if states, attempts := fates(in, ids); states["delivered"] != 3 || attempts != 3 {
			t.Fatalf("%v after %d attempts", states, attempts)
		}
		if n.roads.dialled(deadAddr) != 1 {
			t.Errorf("the server that is down was tried %d times; the connection to the other should have been used again", n.roads.dialled(deadAddr))
		}
		list, _ := in.Call(http.MethodGet, "/emails/"+ids[0]+"/attempts", nil).Body["data"].([]any)
		attempt, _ := list[0].(map[string]any)
		if attempt["mx_host"] != "mx.two.test" || attempt["next_attempt_at"] != nil || attempt["classification"] != nil {
			t.Errorf("%v", attempt)
		}
	})
}

// Domains are of one site if their best servers are the same. What one has in reserve is not the other's.
func TestAnOpenConversationWithTheReserveOfOneDomainIsNotUsedForAnother(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := newNode(t, in)
	two := in.Send("ann@two.test")
	n.deliver()
	one := in.Send("ann@one.test")
	n.deliver()
	if in.Email(two).Text("status") != "delivered" || in.Email(one).Text("status") != "sending" || len(in.Mailbox("ann@one.test")) != 0 {
		t.Errorf("two.test %s, one.test %s: %v", in.Email(two).Text("status"), in.Email(one).Text("status"), said(in, one))
	}
}

func TestMailForOurselvesIsNotSentInCircles(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := newNode(t, in)
	id := in.Send("ann@loop.test")
	n.deliver()
	if record := in.Email(id); record.Text("status") != "bounced" || !strings.Contains(record.Text("failure", "message"), "is this one") {
		t.Fatalf("%s: %s", record.Text("status"), record.Text("failure", "message"))
	}
}

func TestShutdownLetsConversationsEndAndGivesTheRestBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newNode(t, in, func(c *delivery.Config) { c.Inline = false })
		ids := sendMany(t, in, in.Key, "hello@acme.test", 20, func(n int) string { return fmt.Sprintf("slow%d@example.net", n) })
		n.run(func() bool { return n.roads.dialled(liveAddr) >= 1 })
		drained := make(chan error, 1)
		go func() { drained <- n.Drain(context.Background()) }()
		for waiting := true; waiting; {
			select {
			case err := <-drained:
				if err != nil {
					t.Fatal(err)
				}
				waiting = false
			case <-time.After(20 * time.Millisecond): // the servers take their time by the moved clock
				in.Clock.Advance(time.Second)
			}
		}
		states, attempts := fates(in, ids)
		if states["delivered"] != attempts || attempts < 1 || attempts > 4 || states["queued"] != 20-attempts {
			t.Fatalf("%v after %d attempts", states, attempts)
		}
		if err := in.App.DB.Read(t.Context(), func(tx *db.Tx) error {
			ready, _, err := queue.Waiting(tx, email.Lane)
			if int(ready) != 20-attempts {
				t.Errorf("%d of %d are free for another node", ready, 20-attempts)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOperatorsAdjustPathsAndAreToldWhatIsWrong(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := newNode(t, in)
	for name, wrong := range map[string]map[string]any{
		"suspend": {"site": "mx.example.net"},
		"resume":  {"site": "mx.example.net"},
		"adjust":  {"site": "mx.example.net", "for": "1h", "limits": map[string]any{"max_connections": -1}},
	} {
		if status, answer := n.ask(http.MethodPost, "/delivery/paths/"+name, wrong); status != http.StatusBadRequest || answer["error"] == "" {
			t.Errorf("%s %v: %d %v", name, wrong, status, answer)
		}
	}
	if status, _ := n.ask(http.MethodPost, "/delivery/paths/suspend", map[string]any{"for": "1h"}); status != http.StatusBadRequest {
		t.Errorf("without a site: %d", status)
	}
	adjust := map[string]any{"site": "mx.example.net", "for": "1h", "limits": map[string]any{"messages_per_second": 0.1}, "reason": "a test"}
	if status, answer := n.ask(http.MethodPost, "/delivery/paths/adjust", adjust); status != http.StatusOK {
		t.Fatalf("%d %v", status, answer)
	}
	ids := sendMany(t, in, in.Key, "hello@acme.test", 5, func(n int) string { return fmt.Sprintf("user%d@example.net", n) })
	n.deliver()
	if states, attempts := fates(in, ids); states["delivered"] != 1 || attempts != 1 {
		t.Fatalf("with one message in ten seconds: %v after %d attempts", states, attempts)
	}
	in.Clock.Advance(10 * time.Second)
	n.deliver()
	if states, _ := fates(in, ids); states["delivered"] != 2 {
		t.Fatalf("ten seconds later: %v", states)
	}
	delete(adjust, "limits")
	if status, answer := n.ask(http.MethodPost, "/delivery/paths/adjust", adjust); status != http.StatusOK {
		t.Fatalf("%d %v", status, answer)
	}
	n.deliver()
	if states, _ := fates(in, ids); states["delivered"] != 5 {
		t.Fatalf("with the limits taken back: %v", states)
	}
}

func TestAttemptsKeepTheDialogue(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("bounce@example.net")
		in.Deliver()
		list, _ := in.Call(http.MethodGet, "/emails/"+id+"/attempts", nil).Body["data"].([]any)
		attempt, _ := list[0].(map[string]any)
		steps, _ := attempt["dialogue"].([]any)
		var said []string
		for _, item := range steps {
			step, _ := item.(map[string]any)
			if step["at_ms"].(float64) < 0 || step["reply"] == "" {
				t.Errorf("%v", step)
			}
			said = append(said, strings.Fields(fmt.Sprint(step["command"]))[0])
		}
		if got := strings.Join(said, " "); got != "(connected EHLO STARTTLS EHLO MAIL RCPT DATA" {
			t.Fatalf("%s", got)
		}
		last, _ := steps[5].(map[string]any)
		if last["command"] != "RCPT TO:<bounce@example.net>" || !strings.HasPrefix(fmt.Sprint(last["reply"]), "550 5.1.1") {
			t.Errorf("%v", last)
		}
	})
}

func TestAnOperatorsFileIsLaidOverTheShippedProviders(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	path := filepath.Join(t.TempDir(), "providers.toml")
	if err := os.WriteFile(path, []byte("[[provider]]\nname = \"example\"\nmx = [\"example.net\"]\none_site = true\nmessages_per_second = 0.01\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	providers, err := delivery.ReadProviders(path)
	if err != nil {
		t.Fatal(err)
	}
	n := newNode(t, in, func(c *delivery.Config) { c.Providers = providers })
	ids := sendMany(t, in, in.Key, "hello@acme.test", 3, func(n int) string { return fmt.Sprintf("user%d@example.net", n) })
	n.deliver()
	if states, _ := fates(in, ids); states["delivered"] != 1 || n.sentence("example") == "" {
		t.Fatalf("%v %q", states, n.sentence("example"))
	}
	if _, err := delivery.ReadProviders(path + ".missing"); err == nil {
		t.Fatal("a missing file was read")
	}
	if err := os.WriteFile(path, []byte("[[provider]]\nname = \"Example\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := delivery.ReadProviders(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Fatalf("%v", err)
	}
}

func TestMailThatDoesNotFitStaysInTheQueueAndIsFetchedWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newNode(t, in, func(c *delivery.Config) { c.MaxHeld = 10 })
		ids := sendMany(t, in, in.Key, "hello@acme.test", 40, users)
		n.step() // it has claimed what it has room for
		in.Deliver()
		if states, _ := fates(in, ids); states["delivered"] != 30 {
			t.Fatalf("a node with room for 10 of 40 has left %d to another", states["delivered"])
		}
		ids, began := append(ids, sendMany(t, in, in.Key, "hello@acme.test", 30, users)...), in.Clock.Now()
		n.deliver()
		if states, attempts := fates(in, ids); states["delivered"] != 70 || attempts != 70 || in.Clock.Now().Sub(began) > 5*time.Minute {
			t.Errorf("%v after %d attempts and %s", states, attempts, in.Clock.Now().Sub(began))
		}
	})
}

func TestMailForAStoppedPathEndsWhenItIsTooOld(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := newNode(t, in)
	if status, answer := n.ask(http.MethodPost, "/delivery/paths/suspend", map[string]any{"site": exampleSite, "for": "240h", "reason": "a test"}); status != http.StatusOK {
		t.Fatalf("%d %v", status, answer)
	}
	id := in.Send("ann@example.net")
	n.deliver()
	in.Clock.Advance(72*time.Hour + time.Minute)
	n.deliver()
	n.deliver()
	if record := in.Email(id); record.Text("status") != "failed" || record.Text("failure", "reason") != "delivery_expired" {
		t.Errorf("%s %s", record.Text("status"), record.Text("failure", "reason"))
	}
}

func TestAConnectionWhoseLastMessageIsNotSentIsClosed(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := newNode(t, in)
	order := map[string]any{"site": exampleSite, "for": "24h", "reason": "a test", "limits": map[string]any{"max_connections": 1, "messages_per_connection": 2}}
	if status, answer := n.ask(http.MethodPost, "/delivery/paths/adjust", order); status != http.StatusOK {
		t.Fatalf("%d %v", status, answer)
	}
	first := in.Send("user0@example.net")
	n.deliver()
	if in.Email(first).Text("status") != "delivered" || n.roads.open != 1 {
		t.Fatalf("%s, %d connections open", in.Email(first).Text("status"), n.roads.open)
	}
	second := in.Send("user1@example.net")
	in.Must(http.StatusCreated, http.MethodPost, "/suppressions", map[string]any{"email": "user1@example.net"})
	n.deliver()
	if in.Email(second).Text("status") != "suppressed" || n.roads.open != 0 {
		t.Errorf("%s, %d connections open", in.Email(second).Text("status"), n.roads.open)
	}
}

// lingering is a network in which connections are slow to close.
type lingering struct {
	*roads
	closing chan struct{} // receives when one begins to close
	closed  chan struct{} // closed when all may
}

func (l *lingering) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.roads.DialContext(ctx, network, address)
	return &lingerer{Conn: conn, network: l}, err
}

type lingerer struct {
	net.Conn
	network *lingering
}

func (l *lingerer) Close() error {
	select {
	case l.network.closing <- struct{}{}:
	default:
	}
	<-l.network.closed
	return l.Conn.Close()
}

func TestThePlaceOfAConnectionIsTakenWhileItCloses(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	l := &lingering{newRoads(in.App.World), make(chan struct{}, 1), make(chan struct{})}
	n := newNodeIn(t, in, l, l.roads, func(c *delivery.Config) { c.Inline = false })
	order := map[string]any{"site": exampleSite, "for": "24h", "reason": "a test", "limits": map[string]any{"max_connections": 1, "messages_per_connection": 1}}
	if status, answer := n.ask(http.MethodPost, "/delivery/paths/adjust", order); status != http.StatusOK {
		t.Fatalf("%d %v", status, answer)
	}
	ids := sendMany(t, in, in.Key, "hello@acme.test", 2, users)
	n.run(func() bool { states, _ := fates(in, ids); return states["delivered"] == 1 && len(l.closing) == 1 })
	for range 20 {
		n.step()
		in.Clock.Advance(time.Second)
	}
	if dials := l.dialled(liveAddr); dials != 1 {
		t.Errorf("%d connections at once, 1 is allowed", dials)
	}
	close(l.closed)
	n.run(func() bool { states, _ := fates(in, ids); return states["delivered"] == 2 })
	if err := n.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}
