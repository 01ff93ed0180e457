package test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"postrider/mail/message"
	"postrider/mail/smtp"
	"postrider/platform/db/dbtest"
	"postrider/world"
)

// kills is how often the process is killed: a few times in every run, two hundred times by make kill.
var kills = flag.Int("kills", 5, "how often to kill the process under load")

const (
	killSenders = 8
	// killSites are enough that no limit of a server's holds the mail up.
	killSites = 40
)

// ledger is what was answered by us, against what arrived at the servers of the recipients and at the customer's webhook.
type ledger struct {
	mu sync.Mutex
	// All below is guarded by mu.
	promised map[string]string          // recipient by id of the email
	arrived  map[string]int             // copies by recipient
	told     map[string]map[string]bool // ids of email.delivered by email
	posts    int
	from     map[string][]arrival // by recipient, in order
	refused  int                  // answers that were neither yes nor a conflict
	broken   int                  // requests whose connection was lost before the answer
	counted  reckoning            // what open has found last

	// talking are the conversations that are held now, mostTalking how many were held at once so far.
	talking, mostTalking atomic.Int64

	// manners says how the recipients' server treats a stage of a conversation; nil is friendly.
	manners atomic.Pointer[func(stage, to string) *smtp.Reply]
	// hang is how the customer's webhook treats a post before it takes it; nil takes it at once.
	hang atomic.Pointer[func()]
}

// arrival is one copy of a message: which node sent it, which message it is, and when it came.
type arrival struct {
	hello string
	id    string
	at    time.Time
}

// arrivals is a mail server that writes the ledger.
type arrivals struct {
	*ledger
	conn *smtp.ConnInfo
	to   string
}

func (l *ledger) mannered(stage, to string) *smtp.Reply {
	if manners := l.manners.Load(); manners != nil {
		return (*manners)(stage, to)
	}
	return nil
}

func (a *arrivals) Auth(context.Context, string, string, string) *smtp.Reply { return nil }
func (a *arrivals) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply {
	return a.mannered("mail", "")
}
func (a *arrivals) Rcpt(_ context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	a.to = to.String()
	return a.mannered("rcpt", a.to)
}
func (a *arrivals) Data(_ context.Context, r io.Reader) *smtp.Reply {
	raw, err := io.ReadAll(r)
	if err != nil {
		return smtp.NewReply(451, "4.3.0", "Unreadable")
	}
	if refusal := a.mannered("data", a.to); refusal != nil {
		return refusal
	}
	a.mu.Lock()
	a.arrived[a.to]++
	a.from[a.to] = append(a.from[a.to], arrival{a.conn.Hello, messageID(raw), time.Now()})
	a.mu.Unlock()
	a.mannered("answer", a.to)
	return nil
}
func (a *arrivals) Reset()  {}
func (a *arrivals) Logout() { a.talking.Add(-1) }

// messageID is what tells copies of a message from other messages.
func messageID(raw []byte) string {
	fields, _, err := message.ReadHeader(raw)
	if err != nil {
		return ""
	}
	for _, f := range fields {
		if f.Is("Message-ID") {
			return strings.TrimSpace(f.Value)
		}
	}
	return ""
}

// greet counts a conversation that begins.
func (l *ledger) greet() {
	now := l.talking.Add(1)
	for most := l.mostTalking.Load(); now > most && !l.mostTalking.CompareAndSwap(most, now); most = l.mostTalking.Load() {
	}
}

func newLedger(t *testing.T) (l *ledger, smtpPort, hook string) {
	t.Helper()
	l = &ledger{promised: map[string]string{}, arrived: map[string]int{}, told: map[string]map[string]bool{}, from: map[string][]arrival{}}
	server, err := smtp.NewServer(smtp.Config{Hostname: "mx.test", Clock: world.SystemClock{}, MaxConnections: 5_000, MaxConnectionsPerIP: 5_000,
		Handler: func(_ context.Context, conn *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
			refusal := l.mannered("hello", "")
			if refusal == nil {
				l.greet()
			}
			return &arrivals{ledger: l, conn: conn}, refusal
		}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go server.Serve(ctx, listener)
	customer := httptest.NewServer(http.HandlerFunc(l.hear))
	t.Cleanup(customer.Close)
	_, smtpPort, _ = net.SplitHostPort(listener.Addr().String())
	return l, smtpPort, customer.URL
}

// hear is the customer's webhook.
func (l *ledger) hear(w http.ResponseWriter, r *http.Request) {
	var event struct {
		Type string `json:"type"`
		Data struct {
			ID string `json:"email_id"`
		} `json:"data"`
	}
	if json.NewDecoder(r.Body).Decode(&event) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if hang := l.hang.Load(); hang != nil {
		(*hang)()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posts++
	if l.told[event.Data.ID] == nil {
		l.told[event.Data.ID] = map[string]bool{}
	}
	l.told[event.Data.ID][r.Header.Get("webhook-id")] = true
}

// promise sends one email, with the same key until it is answered.
func (l *ledger) promise(ctx context.Context, t *testing.T, url, key, to string) {
	l.promiseTo(ctx, t, func() string { return url }, key, to)
}

// promiseTo asks whichever server it is told to at each try, as a load balancer would.
func (l *ledger) promiseTo(ctx context.Context, t *testing.T, url func() string, key, to string) {
	body, err := json.Marshal(map[string]any{"from": "olga@shop.test", "to": to, "subject": "Order", "text": "Thanks"})
	if err != nil {
		t.Error(err)
		return
	}
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url()+"/v1/emails", bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		request.Header.Set("Authorization", "Bearer "+key)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "order-"+strings.ReplaceAll(to, "@", "-"))
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			l.noteFailure(err)
			continue // it is dead, or not up again
		}
		raw, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode == http.StatusConflict || answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode/100 == 5 && answer.StatusCode != http.StatusInternalServerError {
			if err != nil || answer.StatusCode != http.StatusConflict {
				l.noteRefusal()
			}
			continue // it died in between, or its twin is still at work
		}
		var made struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(raw, &made) != nil || answer.StatusCode != http.StatusAccepted && answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", to, answer.StatusCode, raw)
			return
		}
		l.mu.Lock()
		l.promised[made.ID] = to
		l.mu.Unlock()
		return
	}
	t.Errorf("mail to %s was never answered", to)
}

// noteFailure counts a connection that was lost with a request on it; one that could not be made is the load balancer's to notice.
func (l *ledger) noteFailure(err error) {
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, context.Canceled) {
		<-time.After(time.Millisecond) // somebody else may want the processor
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken++
}

func (l *ledger) noteRefusal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused++
}

// reckoning is what was open in a ledger.
type reckoning struct {
	promised, missing, untold int
	at                        time.Time
	took                      time.Duration
}

// open counts what has not arrived, and what was not told of. The ledger of a million messages is closed for long meanwhile, so what was found
// holds for some time if nothing was promised since.
func (l *ledger) open() (missing, untold int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	start := time.Now()
	if c := l.counted; c.promised == len(l.promised) && start.Sub(c.at) < 20*c.took {
		return c.missing, c.untold
	}
	for id, to := range l.promised {
		if l.arrived[to] == 0 {
			missing++
		}
		if len(l.told[id]) == 0 {
			untold++
		}
	}
	l.counted = reckoning{len(l.promised), missing, untold, time.Now(), time.Since(start)}
	return missing, untold
}

func TestKilledAgainAndAgainUnderLoadEveryPromiseIsKept(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			var storage []string
			if engine == "postgres" {
				storage = []string{"--database-url", dbtest.URL(t, "postgres")}
			}
			keepPromises(t, append(storage, "--data", t.TempDir(), "--secret", "a secret that all runs of this test share"))
		})
	}
}

func keepPromises(t *testing.T, storage []string) {
	internet := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	l, port, hook := newLedger(t)
	serve := func(http string) *process {
		return start(t, append([]string{"serve", "--domain", "mail.postrider.test", "--http", http, "--insecure-test-network", "--resolver", internet.DNS,
			"--smtp-port", port}, storage...)...)
	}
	p := serve("127.0.0.1:0")
	http, key := p.HTTP, p.shop(t, internet, hook, storage)
	address := http[len("http://"):]

	running, enough := context.WithCancel(t.Context())
	defer enough()
	var senders sync.WaitGroup
	for worker := range killSenders {
		senders.Go(func() {
			for n := 0; running.Err() == nil; n++ {
				l.promise(t.Context(), t, http, key, fmt.Sprintf("user-%d-%d@d%d.test", worker, n, n%killSites))
			}
		})
	}
	chance := rand.New(rand.NewPCG(1, uint64(*kills)))
	for range *kills {
		<-time.After(50*time.Millisecond + time.Duration(chance.IntN(400))*time.Millisecond) // a power cut asks nobody
		p.kill()
		p = serve(address)
	}
	enough()
	senders.Wait()

	var missing, untold int
	defer func() {
		if t.Failed() {
			t.Logf("%d emails have not arrived, %d were not told of", missing, untold)
		}
	}()
	until(t, 2*time.Minute, "every arrival and every webhook", func() bool {
		missing, untold = l.open()
		return missing == 0 && untold == 0
	})
	p.APIKey = key
	l.mu.Lock()
	ids := slices.Collect(maps.Keys(l.promised))
	l.mu.Unlock()
	for _, id := range ids {
		until(t, time.Minute, "the state of "+id, func() bool { return p.status(id) == "delivered" })
	}
	l.judge(t)
}

// judge compares the two sides.
func (l *ledger) judge(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	recipients := map[string]string{}
	for id, to := range l.promised {
		if other := recipients[to]; other != "" {
			t.Errorf("one key has two emails: %s and %s", other, id)
		}
		recipients[to] = id
		if len(l.told[id]) != 1 {
			t.Errorf("%s was told under %d ids", id, len(l.told[id]))
		}
	}
	copies := 0
	for to, n := range l.arrived {
		if recipients[to] == "" {
			t.Errorf("%s got mail that nobody was promised", to)
		}
		copies += n - 1
	}
	if most := *kills * maxInFlightAtKill; copies > most {
		t.Errorf("%d copies too many after %d kills", copies, *kills)
	}
	t.Logf("%d kills: %d emails promised, %d arrived, %d copies of which the process did not live to hear the answer; %d webhooks for %d events",
		*kills, len(l.promised), len(l.arrived), copies, l.posts, len(l.told))
}

// maxInFlightAtKill is more than can have been under way when the process died: what arrives twice was among it.
const maxInFlightAtKill = 60

// shop makes a workspace with a verified domain, and a webhook if one is given, and returns its key.
func (p *process) shop(t *testing.T, internet *process, hook string, storage []string) string {
	t.Helper()
	return p.shopBy(t, nil, internet, hook, storage)
}

// shopBy is shop with another build of the program.
func (p *process) shopBy(t *testing.T, build []string, internet *process, hook string, storage []string) string {
	t.Helper()
	stdout, stderr, err := runBy(t, build, append([]string{"workspace", "create", "--name", "Shop", "--owner-email", "olga@shop.test",
		"--owner-password", "correct horse battery", "--json"}, storage...)...)
	var created struct {
		APIKey string `json:"api_key"`
	}
	if err != nil || json.Unmarshal([]byte(stdout), &created) != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	_, registered, err := call(created.APIKey, http.MethodPost, p.HTTP+"/v1/domains", map[string]any{"domain": "shop.test"})
	if err != nil {
		t.Fatal(err)
	}
	publish(t, internet, registered)
	if _, verified, err := call(created.APIKey, http.MethodPost, p.HTTP+"/v1/domains/"+registered["id"].(string)+"/verify", nil); err != nil || verified["verified"] != true {
		t.Fatalf("%v %v", verified, err)
	}
	if hook == "" {
		return created.APIKey
	}
	if status, answer, err := call(created.APIKey, http.MethodPost, p.HTTP+"/v1/webhooks", map[string]any{"url": hook, "events": []string{"email.delivered"}}); err != nil || status/100 != 2 {
		t.Fatalf("%d %v %v", status, answer, err)
	}
	return created.APIKey
}
