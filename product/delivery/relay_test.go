package delivery_test

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/mail/smtp"
	"postrider/world"
)

// relayServer is a mail server that takes mail from one customer.
type relayServer struct {
	mu       sync.Mutex
	messages []string // guarded by mu
	users    []string // who has handed in each; guarded by mu
}

func (r *relayServer) handedInBy() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.users, " ")
}

func (r *relayServer) received() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.messages
}

// customer is a session with it.
type customer struct {
	server *relayServer
	conn   *smtp.ConnInfo
}

func (c customer) Auth(_ context.Context, _, user, password string) *smtp.Reply {
	if (user == "acme" || user == "acme-2") && password == "s3cret" {
		return nil
	}
	return smtp.NewReply(535, "5.7.8", "Wrong name or password")
}
func (customer) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply { return nil }
func (customer) Rcpt(_ context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	switch to.Local {
	case "refused":
		return smtp.NewReply(550, "5.1.1", "No such user")
	case "spam":
		return smtp.NewReply(550, "5.7.1", "Message rejected as spam by local policy")
	}
	return nil
}
func (c customer) Data(_ context.Context, r io.Reader) *smtp.Reply {
	raw, err := io.ReadAll(r)
	if err != nil {
		return smtp.NewReply(451, "4.3.0", "Unreadable")
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.messages, c.server.users = append(c.server.messages, string(raw)), append(c.server.users, c.conn.User)
	return nil
}
func (customer) Reset()  {}
func (customer) Logout() {}

func startRelay(t *testing.T) (*relayServer, int) {
	t.Helper()
	certificate, err := app.SelfSigned(world.New(slog.New(slog.DiscardHandler)), "relay.test")
	if err != nil {
		t.Fatal(err)
	}
	relay := &relayServer{}
	address := startServer(t, smtp.Config{Hostname: "relay.test", Clock: world.SystemClock{}, Auth: true, RequireAuth: true, RequireTLS: true,
		TLS: &tls.Config{Certificates: []tls.Certificate{certificate}},
		Handler: func(_ context.Context, conn *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
			return customer{relay, conn}, nil
		}})
	_, port, _ := net.SplitHostPort(address)
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return relay, number
}

func TestMailGoesThroughTheRelayOfTheWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		relay, port := startRelay(t)
		path := "/workspaces/" + string(in.Workspace) + "/relay"
		wrong := in.Browse(http.MethodPut, path, map[string]any{"host": "relay.test", "port": port, "username": "acme", "password": "guess"})
		if wrong.Status != http.StatusBadGateway || wrong.Text("error", "code") != "relay_error" || !strings.Contains(wrong.Text("error", "message"), "Wrong name or password") {
			t.Fatalf("wrong password: %d %s", wrong.Status, wrong.Raw)
		}
		set := in.Browse(http.MethodPut, path, map[string]any{"host": "relay.test", "port": port, "username": "acme", "password": "s3cret"})
		if set.Status != http.StatusOK || strings.Contains(string(set.Raw), "s3cret") {
			t.Fatalf("%d %s", set.Status, set.Raw)
		}
		kept := in.Browse(http.MethodPut, path, map[string]any{"host": "relay.test", "port": port, "username": "acme"})
		elsewhere := in.Browse(http.MethodPut, path, map[string]any{"host": "thief.test", "port": port, "username": "acme"})
		if kept.Status != http.StatusOK || elsewhere.Status != http.StatusBadRequest || !strings.Contains(elsewhere.Text("error", "details", "fieldErrors"), "password") {
			t.Fatalf("the password that is kept: for its host %d, for another %d %s", kept.Status, elsewhere.Status, elsewhere.Raw)
		}
		in.Call(http.MethodPatch, "/domains/"+in.DomainID, map[string]any{"provider": "relay"})
		id, refused := in.Send("ann@example.net"), in.Send("refused@example.net")
		in.Deliver()

		record := in.Email(id)
		if record.Text("status") != "sent" || record.Text("provider") != "relay" || story(record) != "queued sending sent" {
			t.Errorf("%s by %s: %s", record.Text("status"), record.Text("provider"), story(record))
		}
		if got := in.Email(refused).Text("status"); got != "bounced" {
			t.Errorf("refused by the relay: %s", got)
		}
		if got := relay.received(); len(got) != 1 || !strings.Contains(got[0], "DKIM-Signature") || len(in.Mailbox("ann@example.net")) != 0 {
			t.Errorf("the relay has %d messages, the recipient's server %d", len(got), len(in.Mailbox("ann@example.net")))
		}

		in.Browse(http.MethodDelete, path, nil)
		id = in.Send("bob@example.net")
		in.Deliver()
		if record := in.Email(id); record.Text("status") != "sending" || record.Text("last_event") != "delivery_delayed" {
			t.Errorf("without a relay: %s", record.Raw)
		}
	})
}

func TestWhatARelayRefusesIsNotHeldAgainstTheSourcesOfTheNode(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	relay, port := startRelay(t)
	set := in.Browse(http.MethodPut, "/workspaces/"+string(in.Workspace)+"/relay", map[string]any{"host": "relay.test", "port": port, "username": "acme", "password": "s3cret"})
	if set.Status != http.StatusOK {
		t.Fatalf("%d %s", set.Status, set.Raw)
	}
	in.Call(http.MethodPatch, "/domains/"+in.DomainID, map[string]any{"provider": "relay"})
	n := newNode(t, in, withSources(t, twoSources))
	spam := in.Send("spam@example.net")
	n.deliver()
	other := in.Send("ann@example.net")
	n.deliver()
	if got := in.Email(spam).Text("status"); got != "bounced" {
		t.Errorf("what the relay refuses for good is %s", got)
	}
	if got := in.Email(other).Text("status"); got != "sent" || len(relay.received()) != 1 {
		t.Errorf("other mail is %s, and the relay has %d messages", got, len(relay.received()))
	}
}

func TestMailGoesInUnderTheAccountThatTheRelayHasNow(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		relay, port := startRelay(t)
		n := newNode(t, in)
		for _, user := range []string{"acme", "acme-2"} {
			set := in.Browse(http.MethodPut, "/workspaces/"+string(in.Workspace)+"/relay", map[string]any{"host": "relay.test", "port": port, "username": user, "password": "s3cret"})
			if set.Status != http.StatusOK {
				t.Fatalf("%d %s", set.Status, set.Raw)
			}
			in.Call(http.MethodPatch, "/domains/"+in.DomainID, map[string]any{"provider": "relay"})
			in.Send("ann@example.net")
			n.deliver()
		}
		if got := relay.handedInBy(); got != "acme acme-2" {
			t.Errorf("mail was handed in by %q", got)
		}
	})
}

func TestTheRelayOfAnotherWorkspaceIsNotFound(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	if answer := in.Browse(http.MethodGet, "/workspaces/00000000-0000-7000-8000-000000000000/relay", nil); answer.Status != http.StatusNotFound {
		t.Fatalf("%d", answer.Status)
	}
}
