package sandbox_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/mail/smtp"
	"postrider/sandbox"
	"postrider/world"
)

const serviceDomain = "mail.postrider.test"

// handClock stands still until it is moved. It starts at the machine's time, which one of the libraries under test looks at.
type handClock struct {
	mu      sync.Mutex
	changed *sync.Cond
	now     time.Time
	waits   map[chan time.Time]time.Time
}

func newHandClock() *handClock {
	c := &handClock{now: time.Now().UTC(), waits: make(map[chan time.Time]time.Time)}
	c.changed = sync.NewCond(&c.mu)
	return c
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fired := make(chan time.Time, 1)
	c.waits[fired] = c.now.Add(d)
	c.changed.Broadcast()
	return fired, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waits, fired)
	}
}

// move lets time pass.
func (c *handClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for fired, due := range c.waits {
		if !due.After(c.now) {
			fired <- c.now
			delete(c.waits, fired)
		}
	}
}

// await blocks until somebody waits for the clock.
func (c *handClock) await() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waits) == 0 {
		c.changed.Wait()
	}
}

// moveWhenAwaited waits until somebody waits for the clock, then moves it.
func (c *handClock) moveWhenAwaited(d time.Duration) {
	c.await()
	c.move(d)
}

// box is a sandbox and its doors, for a test.
type box struct {
	*sandbox.Sandbox
	t     testing.TB
	clock *handClock
	doors http.Handler
}

func openBox(t testing.TB) *box { return openBoxIn(t, "", newHandClock()) }

func openBoxIn(t testing.TB, dir string, clock *handClock) *box {
	t.Helper()
	w := world.New(slog.New(slog.DiscardHandler))
	w.Clock = clock
	s, err := sandbox.Open(context.Background(), w, sandbox.Config{Dir: dir, ServiceDomain: serviceDomain})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &box{Sandbox: s, t: t, clock: clock, doors: s.Handler()}
}

// knock is a request as it comes to a laptop.
func knock(method, path, body string) *http.Request {
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	request.Host = "localhost:8080"
	return request
}

// call opens a door and returns the status and the body.
func (b *box) call(method, path, body string) (int, string) {
	b.t.Helper()
	response := httptest.NewRecorder()
	b.doors.ServeHTTP(response, knock(method, path, body))
	return response.Code, response.Body.String()
}

// mustCall opens a door that must answer 200.
func (b *box) mustCall(method, path, body string) string {
	b.t.Helper()
	status, answer := b.call(method, path, body)
	if status != http.StatusOK {
		b.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	return answer
}

// put publishes records.
func (b *box) put(name, kind string, values ...string) {
	b.t.Helper()
	body, err := json.Marshal(map[string]any{"name": name, "type": kind, "values": append([]string{}, values...)})
	if err != nil {
		b.t.Fatal(err)
	}
	b.mustCall("PUT", "/sandbox/dns", string(body))
}

// verdict is what a provider concluded about a message.
type verdict struct{ SPF, DKIM, DMARC string }

// stored is a message as the doors show it.
type stored struct {
	ID         string `json:"id"`
	ReceivedAt string `json:"received_at"`
	Envelope   struct {
		MailFrom string   `json:"mail_from"`
		RcptTo   []string `json:"rcpt_to"`
	} `json:"envelope"`
	Provider       string  `json:"provider"`
	Raw            string  `json:"raw"`
	RawBase64      []byte  `json:"raw_base64"`
	Subject        string  `json:"subject"`
	Authentication verdict `json:"authentication"`
	TLS            bool    `json:"tls"`
}

// messages lists what was received, to anyone if to is empty.
func (b *box) messages(to string) []stored {
	b.t.Helper()
	var list struct{ Data []stored }
	answer := b.mustCall("GET", "/sandbox/messages?to="+url.QueryEscape(to), "")
	if err := json.Unmarshal([]byte(answer), &list); err != nil || list.Data == nil {
		b.t.Fatalf("%v in %s", err, answer)
	}
	return list.Data
}

const sender = "return@bounces." + serviceDomain

func mailTo(to ...string) smtp.Envelope { return smtp.Envelope{From: sender, To: to} }

const letter = "From: Ann <ann@acme.test>\r\nTo: <bob@example.test>\r\nSubject: Hello\r\nMessage-ID: <1@acme.test>\r\n\r\nHello, Bob\r\n"

// connect opens a connection and greets, without TLS.
func (b *box) connect() *smtp.Client {
	b.t.Helper()
	conn, err := net.Dial("tcp", b.SMTPAddr())
	if err != nil {
		b.t.Fatal(err)
	}
	client := smtp.NewClient(conn, smtp.ClientConfig{Hello: "mx1." + serviceDomain, Clock: world.SystemClock{}})
	b.t.Cleanup(client.Close)
	if err := client.Greet(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return client
}

// startTLS secures a connection to a host.
func (b *box) startTLS(client *smtp.Client, host string) error {
	_, err := client.StartTLS(b.t.Context(), &tls.Config{ServerName: host, InsecureSkipVerify: true})
	return err
}

// try sends a message over a connection and returns the reply that decided.
func (b *box) try(client *smtp.Client, envelope smtp.Envelope, raw string) string {
	b.t.Helper()
	result, err := client.Send(b.t.Context(), envelope, strings.NewReader(raw))
	if err != nil {
		b.t.Fatal(err)
	}
	return result.Final.String()
}

// send sends a message over a connection of its own.
func (b *box) send(envelope smtp.Envelope, raw string) string {
	b.t.Helper()
	client := b.connect()
	defer client.Close()
	return b.try(client, envelope, raw)
}

// mustSend sends a message that must be accepted.
func (b *box) mustSend(envelope smtp.Envelope, raw string) {
	b.t.Helper()
	if reply := b.send(envelope, raw); !strings.HasPrefix(reply, "250") {
		b.t.Fatalf("mail to %v: %s", envelope.To, reply)
	}
}

// arrival is a message that reached the product.
type arrival struct {
	from string
	to   []string
	raw  string
}

// postOffice is the product's own mail server.
type postOffice struct {
	arrivals chan arrival
	now      arrival
}

func (p *postOffice) Auth(context.Context, string, string, string) *smtp.Reply { return nil }
func (p *postOffice) Mail(_ context.Context, from smtp.Path, _ smtp.MailParams) *smtp.Reply {
	p.now = arrival{from: from.String()}
	return nil
}
func (p *postOffice) Rcpt(_ context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	if strings.HasPrefix(to.Local, "nobody") {
		return smtp.NewReply(550, "5.1.1", "Nobody here")
	}
	p.now.to = append(p.now.to, to.String())
	return nil
}
func (p *postOffice) Data(_ context.Context, r io.Reader) *smtp.Reply {
	raw, err := io.ReadAll(r)
	if err != nil {
		return smtp.NewReply(451, "4.3.0", "Unreadable")
	}
	p.now.raw = string(raw)
	p.arrivals <- p.now
	return nil
}
func (p *postOffice) Reset()  {}
func (p *postOffice) Logout() {}

// openPostOffice runs the product's mail server and returns its address and what arrives there.
func openPostOffice(t testing.TB) (string, <-chan arrival) {
	t.Helper()
	arrivals := make(chan arrival, 10)
	server, err := smtp.NewServer(smtp.Config{Hostname: "mx1." + serviceDomain, Clock: world.SystemClock{},
		Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
			return &postOffice{arrivals: arrivals}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		<-served
	})
	return listener.Addr().String(), arrivals
}
