package relay_test

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/mail/smtp"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
	"postrider/world"
)

// server is a relay that lets one customer in, and counts who knocks and who says a password.
type server struct {
	port           int
	knocks, logins atomic.Int64
}

// session is a conversation with it.
type session struct{ *server }

func (s session) Auth(_ context.Context, _, user, password string) *smtp.Reply {
	s.logins.Add(1)
	if user == "acme" && password == "s3cret" {
		return nil
	}
	return smtp.NewReply(535, "5.7.8", "Wrong name or password")
}
func (session) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply { return nil }
func (session) Rcpt(context.Context, smtp.Path, smtp.RcptParams) *smtp.Reply { return nil }
func (session) Data(context.Context, io.Reader) *smtp.Reply                  { return nil }
func (session) Reset()                                                       {}
func (session) Logout()                                                      {}

func start(t *testing.T) *server {
	t.Helper()
	certificate, err := app.SelfSigned(world.New(slog.New(slog.DiscardHandler)), "relay.test")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{}
	speaking, err := smtp.NewServer(smtp.Config{Hostname: "relay.test", Clock: world.SystemClock{}, Auth: true, RequireAuth: true, RequireTLS: true,
		TLS: &tls.Config{Certificates: []tls.Certificate{certificate}},
		Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
			s.knocks.Add(1)
			return session{s}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go speaking.Serve(ctx, listener)
	return s
}

func pathOf(in *apptest.Installation) string { return "/workspaces/" + string(in.Workspace) + "/relay" }

// account is what the server takes, but for what a test changes.
func (s *server) account(changes map[string]any) map[string]any {
	body := map[string]any{"host": "relay.test", "port": s.port, "username": "acme", "password": "s3cret"}
	for name, value := range changes {
		body[name] = value
	}
	return body
}

func set(t *testing.T, in *apptest.Installation, body map[string]any) {
	t.Helper()
	if answer := in.Browse(http.MethodPut, pathOf(in), body); answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Raw)
	}
}

func TestARelayThatCannotBeIsRefusedBeforeItIsCalled(t *testing.T) {
	t.Parallel()
	in, relay := apptest.New(t, "sqlite"), start(t)
	for field, value := range map[string]any{"host": "no host", "port": 65536, "security": "none", "username": strings.Repeat("a", 321), "password": ""} {
		answer := in.Browse(http.MethodPut, pathOf(in), relay.account(map[string]any{field: value}))
		if answer.Status != http.StatusBadRequest || !strings.Contains(answer.Problems(), field) {
			t.Errorf("%s %v: %d %s", field, value, answer.Status, answer.Raw)
		}
	}
	if relay.knocks.Load() != 0 {
		t.Error("it was called")
	}
}

func TestTheKeptPasswordIsForItsOwnAccountOnly(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		relay := start(t)
		set(t, in, relay.account(nil))
		before := relay.knocks.Load()

		answer := in.Browse(http.MethodPut, pathOf(in), relay.account(map[string]any{"username": "other", "password": ""}))

		if answer.Status != http.StatusBadRequest || !strings.Contains(answer.Problems(), "password") || relay.knocks.Load() != before {
			t.Errorf("%d %s", answer.Status, answer.Raw)
		}
		if kept := in.Browse(http.MethodGet, pathOf(in), nil); kept.Text("username") != "acme" || strings.Contains(string(kept.Raw), "s3cret") {
			t.Errorf("kept: %s", kept.Raw)
		}
	})
}

func TestARelayThatRefusesChangesNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		relay := start(t)
		set(t, in, relay.account(nil))

		wrong := in.Browse(http.MethodPut, pathOf(in), relay.account(map[string]any{"password": "guess"}))

		if wrong.Status != http.StatusBadGateway {
			t.Errorf("%d %s", wrong.Status, wrong.Raw)
		}
		set(t, in, relay.account(map[string]any{"password": ""})) // the old password is still the one that is kept
	})
}

// Our own network is not for customers to look around in.
func TestARelayInOurOwnNetworkIsNotCalled(t *testing.T) {
	t.Parallel()
	relay := start(t)
	in := apptest.New(t, "sqlite", func(s *app.Settings) { s.Delivery.AllowPrivate = false })

	answer := in.Browse(http.MethodPut, pathOf(in), relay.account(nil))

	if answer.Status != http.StatusBadGateway || answer.Text("error", "code") != "relay_error" || relay.knocks.Load() != 0 {
		t.Fatalf("%d %s after %d calls", answer.Status, answer.Raw, relay.knocks.Load())
	}
}

func TestNoPasswordIsSaidToARelayThatCannotProveItsName(t *testing.T) {
	t.Parallel()
	relay := start(t)
	in := apptest.New(t, "sqlite", func(s *app.Settings) {
		s.Delivery.AllowPrivate, s.Outbound.PrivateHosts = false, []string{"relay.test"}
	})

	answer := in.Browse(http.MethodPut, pathOf(in), relay.account(nil)) // its certificate is signed by nobody

	if answer.Status != http.StatusBadGateway || !strings.Contains(answer.Text("error", "message"), "certificate") || relay.knocks.Load() != 1 || relay.logins.Load() != 0 {
		t.Fatalf("%d %s after %d calls and %d logins", answer.Status, answer.Raw, relay.knocks.Load(), relay.logins.Load())
	}
}

func TestARelayIsItsWorkspacesOwn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		relay := start(t)
		set(t, in, relay.account(nil))
		other, _ := in.NewWorkspace(plan.Unlimited)
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			if answer := in.Browse(method, "/workspaces/"+string(other)+"/relay", relay.account(nil)); answer.Status != http.StatusNotFound {
				t.Errorf("%s that of another: %d %s", method, answer.Status, answer.Raw)
			}
		}
		mine, theirs := exists(t, in, in.Workspace), exists(t, in, other)
		if !mine || theirs {
			t.Fatalf("the workspace has a relay: %v, another: %v", mine, theirs)
		}
		err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error { // the same, copied by somebody who can write rows
			_, err := tx.Exec(`
				INSERT INTO relay (workspace_id, host, port, security, username, password, created_at, updated_at)
				SELECT $1, host, port, security, username, password, created_at, updated_at FROM relay WHERE workspace_id = $2`, other, in.Workspace)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if copied, err := in.App.Relays.Of(t.Context(), other); err == nil {
			t.Errorf("the password opens for another workspace: %+v", copied)
		}

		if answer := in.Browse(http.MethodDelete, pathOf(in), nil); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}

		if exists(t, in, in.Workspace) || !exists(t, in, other) {
			t.Error("not the one relay was removed")
		}
		if answer := in.Browse(http.MethodDelete, pathOf(in), nil); answer.Status != http.StatusNotFound {
			t.Errorf("removed again: %d %s", answer.Status, answer.Raw)
		}
		audit := in.Browse(http.MethodGet, "/workspaces/"+string(in.Workspace)+"/audit-log", nil)
		if got := audit.Column("action"); strings.Count(got, "relay.set") != 1 || strings.Count(got, "relay.removed") != 1 {
			t.Errorf("recorded %s", got)
		}
	})
}

func exists(t *testing.T, in *apptest.Installation, ws space.ID) (found bool) {
	t.Helper()
	if err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		found, err = in.App.Relays.Exists(tx, ws)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}
