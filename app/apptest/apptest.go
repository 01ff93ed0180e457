// Package apptest gives tests a whole installation to talk to through its front door: a database of either engine, the sandbox
// as its internet, a workspace with a verified domain and a key, and a clock that can be moved. Nothing runs by itself; a test
// says when mail is delivered.
package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app"
	"postrider/platform/blob"
	"postrider/platform/db/dbtest"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/delivery"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/sandbox"
	"postrider/world"
)

// Domain is the domain the workspace of an installation may send from.
const Domain = "acme.test"

const serviceDomain = "mail.postrider.test"

// NodeID is the node that delivers in an installation.
const NodeID = "00000000-0000-7000-8000-00000000000a"

// Clock is the machine's clock, moved forward as a test wishes. It goes on by itself, because sockets wait for real.
type Clock struct {
	mu     sync.Mutex
	offset time.Duration // guarded by mu
}

// Now returns the moved time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().UTC().Add(c.offset)
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// After fires when the moved clock has passed d, at the latest a hundredth of a second late.
func (c *Clock) After(d time.Duration) (<-chan time.Time, func()) {
	due, fired, stop := c.Now().Add(d), make(chan time.Time, 1), make(chan struct{})
	go func() {
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				if now := c.Now(); !now.Before(due) {
					fired <- now
					return
				}
			}
		}
	}()
	return fired, sync.OnceFunc(func() { close(stop) })
}

// ahead is how far the clocks of all installations are ahead of the machine's: POSTRIDER_TEST_AHEAD=23h runs the tests as they would run at
// another time of the day or of the month. What fails only there is wrong all the same.
func ahead(t *testing.T) time.Duration {
	text := os.Getenv("POSTRIDER_TEST_AHEAD")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("POSTRIDER_TEST_AHEAD: %s", err)
	}
	return d
}

// Installation is a whole Postrider for one test.
type Installation struct {
	t       *testing.T
	App     *app.App
	Clock   *Clock
	Sandbox *sandbox.Sandbox
	Keys    *seal.Keyring
	// Workspace is on the plan unlimited; Key can do everything in it; DomainID is its verified domain.
	Workspace space.ID
	Key       string
	DomainID  string

	owners  map[space.ID]string // address of the owner of each workspace
	session map[string]string   // headers of the signed-in owner of Workspace
}

const ownerPassword = "correct horse battery"

// Each runs test on an installation of every engine at hand. Options are those of New.
func Each(t *testing.T, test func(t *testing.T, in *Installation), options ...func(*app.Settings)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, New(t, engine, options...))
		})
	}
}

// New returns an installation on the engine ("sqlite" or "postgres"). Options may change its settings before it is assembled.
func New(t *testing.T, engine string, options ...func(*app.Settings)) *Installation {
	t.Helper()
	ctx := context.Background()
	in := &Installation{t: t, Clock: &Clock{offset: ahead(t)}, owners: map[space.ID]string{}, Keys: seal.NewKeyring(bytes.Repeat([]byte("test"), 8))}
	w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
	w.Clock = in.Clock
	d := dbtest.Open(t, w, engine)
	blobs, err := blob.NewFiles(t.TempDir(), w.Clock, w.Random)
	in.must(err)
	in.Sandbox, err = sandbox.Open(ctx, w, sandbox.Config{ServiceDomain: serviceDomain})
	in.must(err)
	t.Cleanup(func() { in.Sandbox.Close() })
	_, port, err := net.SplitHostPort(in.Sandbox.SMTPAddr())
	in.must(err)
	smtpPort, err := strconv.Atoi(port)
	in.must(err)
	w.Resolver = world.NewResolver([]string{in.Sandbox.DNSAddr()})
	settings := app.Settings{ServiceDomain: serviceDomain, BaseURL: "https://postrider.test", CustomerHosts: true,
		Delivery: delivery.Config{Node: NodeID, Hello: "mx1." + serviceDomain, Port: smtpPort, AllowPrivate: true, Inline: true}}
	for _, option := range options {
		option(&settings)
	}
	if settings.Checks.Clock { // it is compared with that of the database, which nobody moves
		in.Clock.Advance(-ahead(t))
	}
	in.App = app.Assemble(w, d, blobs, in.Keys, settings)
	in.must(in.Sandbox.Attach(sandbox.Product{RecordsOf: in.App.SandboxRecords}))
	in.Workspace, in.Key = in.NewWorkspace(plan.Unlimited)
	in.DomainID = in.VerifiedDomain(in.Workspace, Domain)
	return in
}

func (in *Installation) must(err error) {
	in.t.Helper()
	if err != nil {
		in.t.Fatal(err)
	}
}

// NewWorkspace makes another workspace and a key that can do everything in it.
func (in *Installation) NewWorkspace(name plan.Name) (space.ID, string) {
	in.t.Helper()
	owner := in.App.World.NewID() + "@owner.test"
	created, err := in.App.CreateWorkspace(context.Background(), app.NewWorkspace{Name: "Acme", Plan: name, OwnerEmail: owner, OwnerPassword: ownerPassword})
	in.must(err)
	in.owners[space.ID(created.WorkspaceID)] = owner
	return space.ID(created.WorkspaceID), created.APIKey
}

// Owner returns the address the owner of Workspace signs in with.
func (in *Installation) Owner() string { return in.owners[in.Workspace] }

// Browse makes a request as the signed-in owner of Workspace. path is absolute, because the dashboard has routes outside /v1.
func (in *Installation) Browse(method, path string, body any) Answer {
	in.t.Helper()
	if in.session == nil {
		in.SignInAnew()
	}
	return in.request(method, path, body, in.session)
}

// SignInAnew gives the owner of Workspace another session to Browse with.
func (in *Installation) SignInAnew() {
	in.t.Helper()
	signedIn := in.request(http.MethodPost, "/auth/login", map[string]any{"email": in.owners[in.Workspace], "password": ownerPassword}, nil)
	if signedIn.Status != http.StatusOK {
		in.t.Fatalf("sign in: %d %s", signedIn.Status, signedIn.Raw)
	}
	cookie, _, _ := strings.Cut(signedIn.Header.Get("Set-Cookie"), ";")
	in.session = map[string]string{"Cookie": cookie, "X-CSRF-Token": signedIn.Text("csrf_token")}
}

// VerifiedDomain registers a domain in a workspace, publishes its records in the sandbox and verifies it.
func (in *Installation) VerifiedDomain(ws space.ID, name string) string {
	in.t.Helper()
	ctx := context.Background()
	d, err := in.App.Domains.Register(ctx, ws, plan.Unlimited, domain.Registration{Domain: name})
	in.must(err)
	in.must(in.Sandbox.Publish(ctx, name))
	d, err = in.App.Domains.Verify(ctx, ws, string(d.ID))
	in.must(err)
	if !d.Verified {
		in.t.Fatalf("%s did not verify: %+v", name, d.Checks)
	}
	return string(d.ID)
}

// Answer is what a request was answered with.
type Answer struct {
	Status int
	Header http.Header
	Raw    []byte
	// Body is the decoded object, nil if the answer is none.
	Body map[string]any
}

// Text returns a value of the body by its path, such as Text("error", "code"), or "" if it is not there.
func (a Answer) Text(path ...string) string {
	var value any = a.Body
	for _, key := range path {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// Call makes a request with the installation's key. body is sent as JSON unless it is nil or already bytes.
func (in *Installation) Call(method, path string, body any) Answer {
	in.t.Helper()
	return in.CallAs(in.Key, method, path, body, nil)
}

// CallAs makes a request with another key (none if empty) and further headers.
func (in *Installation) CallAs(key, method, path string, body any, header map[string]string) Answer {
	in.t.Helper()
	with := map[string]string{}
	if key != "" {
		with["Authorization"] = "Bearer " + key
	}
	maps.Copy(with, header)
	return in.request(method, "/v1"+path, body, with)
}

func (in *Installation) request(method, path string, body any, header map[string]string) Answer {
	in.t.Helper()
	raw, ok := body.([]byte)
	if !ok && body != nil {
		var err error
		raw, err = json.Marshal(body)
		in.must(err)
	}
	request := httptest.NewRequest(method, path, bytes.NewReader(raw))
	if raw != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	in.App.API.ServeHTTP(recorder, request)
	answer := Answer{Status: recorder.Code, Header: recorder.Header(), Raw: recorder.Body.Bytes()}
	_ = json.Unmarshal(answer.Raw, &answer.Body) // lists and empty bodies have no object
	return answer
}

// Send sends a simple email from the verified domain and returns its id.
func (in *Installation) Send(to ...string) string {
	in.t.Helper()
	answer := in.Call(http.MethodPost, "/emails", map[string]any{"from": "Acme <hello@" + Domain + ">", "to": to, "subject": "Hello", "text": "Hello there"})
	if answer.Status != http.StatusAccepted {
		in.t.Fatalf("send was answered with %d: %s", answer.Status, answer.Raw)
	}
	return answer.Text("id")
}

// shortWait is how long Deliver moves the clock for mail that waits its turn; what waits for longer is for the test to decide.
const shortWait = time.Second

// Deliver lets everything that is due be delivered and settled.
func (in *Installation) Deliver() {
	in.t.Helper()
	const most = 10_000
	ctx := context.Background()
	for range most {
		busy, err := in.App.Delivery.Step(ctx)
		in.must(err)
		if busy {
			continue
		}
		next, ok, err := in.App.Delivery.Next(ctx)
		in.must(err)
		wait := next.Sub(in.Clock.Now())
		if !ok || wait > shortWait {
			return
		}
		in.Clock.Advance(max(wait, time.Millisecond))
	}
	in.t.Fatal("delivery never rests")
}

// Email returns the record of an email.
func (in *Installation) Email(id string) Answer {
	in.t.Helper()
	answer := in.Call(http.MethodGet, "/emails/"+id, nil)
	if answer.Status != http.StatusOK {
		in.t.Fatalf("email %s was answered with %d: %s", id, answer.Status, answer.Raw)
	}
	return answer
}

// Message is what a mailbox of the sandbox received.
type Message struct {
	Envelope struct {
		From string   `json:"mail_from"`
		To   []string `json:"rcpt_to"`
	} `json:"envelope"`
	Raw            string            `json:"raw"`
	RawBase64      []byte            `json:"raw_base64"` // instead of Raw, if it is not UTF-8
	Subject        string            `json:"subject"`
	Authentication map[string]string `json:"authentication"`
	TLS            bool              `json:"tls"`
}

// Mailbox returns what the sandbox received for an address, newest first.
func (in *Installation) Mailbox(to string) []Message {
	in.t.Helper()
	recorder := httptest.NewRecorder()
	in.Sandbox.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "http://localhost/sandbox/messages?limit=1000&to="+to, nil))
	var page struct {
		Data []Message `json:"data"`
	}
	in.must(json.Unmarshal(recorder.Body.Bytes(), &page))
	for i, m := range page.Data {
		if m.Raw == "" {
			page.Data[i].Raw = string(m.RawBase64)
		}
	}
	return page.Data
}

// Download follows a signed link and returns what is behind it.
func (in *Installation) Download(link string) []byte {
	in.t.Helper()
	recorder := httptest.NewRecorder()
	in.App.ServeFile(recorder, httptest.NewRequest(http.MethodGet, link, nil))
	if recorder.Code != http.StatusOK {
		in.t.Fatalf("download was answered with %d: %s", recorder.Code, recorder.Body)
	}
	return recorder.Body.Bytes()
}
