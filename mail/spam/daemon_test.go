package spam_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/mail/message"
	"postrider/mail/spam"
)

// fakeDaemon answers every connection with the next of its replies and keeps what it was asked.
type fakeDaemon struct {
	replies []string
	refuses bool
	silent  bool

	mu     sync.Mutex
	asked  []*bytes.Buffer // guarded by mu
	served sync.WaitGroup
}

func (d *fakeDaemon) DialContext(_ context.Context, _, _ string) (net.Conn, error) {
	if d.refuses {
		return nil, errors.New("connection refused")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ours, theirs := net.Pipe()
	asked := &bytes.Buffer{}
	reply := ""
	if len(d.asked) < len(d.replies) {
		reply = d.replies[len(d.asked)]
	}
	d.asked = append(d.asked, asked)
	d.served.Go(func() { io.Copy(asked, theirs) })
	if !d.silent {
		d.served.Go(func() {
			io.WriteString(theirs, reply)
			theirs.Close()
		})
	}
	return ours, nil
}

// question returns what the daemon was asked on its n-th connection, once all connections are closed.
func (d *fakeDaemon) question(n int) string {
	d.served.Wait()
	return d.asked[n].String()
}

// stopped is a clock that stands still.
type stopped struct{}

func (stopped) Now() time.Time { return time.Date(2026, 11, 14, 9, 12, 0, 0, time.UTC) }

func (stopped) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// engines are the two that ask a daemon.
func engines(d *fakeDaemon, timeout time.Duration) map[string]spam.Engine {
	return map[string]spam.Engine{
		"rspamd":       spam.Rspamd{Address: "127.0.0.1:11333", Dialer: d, Clock: stopped{}, Timeout: timeout},
		"spamassassin": &spam.SpamAssassin{Address: "127.0.0.1:783", Dialer: d, Clock: stopped{}, Timeout: timeout},
	}
}

func TestADaemonThatCannotBeAskedIsAnError(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{
		"", "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n{}", "HTTP/1.1 200 OK\r\n\r\n{\"score\":1,",
		"HTTP/1.1 401 Unauthorized\r\n\r\n{\"error\":\"Unauthorized\",\"score\":1}",
		"HTTP/1.1 200 OK\r\n\r\n{\"error\":\"timeout\"}",
		"HTTP/1.1 200 OK\r\n\r\n{\"is_skipped\":true,\"score\":0,\"action\":\"no action\"}",
		"HTTP/1.1 200 OK\r\n\r\n{\"score\":1,\"thresholds\":{\"add header\":-6}}",
		"HTTP/1.1 200 OK\r\n\r\n{\"score\":1,\"x\":\"" + strings.Repeat("x", 2<<20) + "\"}",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n{\"score\":1}",
		"SPAMD/1.1 76 EX_PROTOCOL\r\n\r\n", "SPAMD/1.1 0 EX_OK\r\n", "SPAMD/1.1 0 EX_OK\r\n\r\n", "SPAMD/1.1 0 EX_OK\r\nSpam: maybe\r\n\r\n",
		"SPAMD/1.1 0 EX_OK\r\nSpam: True ; 7.9 / 0.0\r\n\r\n", "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 1.2.3 / 5.0\r\n\r\n",
		"SPAMD/1.1 0 EX_OK\r\nContent-length: many\r\nSpam: True ; 7.9 / 5.0\r\n\r\n",
		"SPAMD/1.1 0 EX_OK\r\nX: " + strings.Repeat("x", 2<<20) + "\r\nSpam: True ; 7.9 / 5.0\r\n\r\n",
	} {
		for name, engine := range engines(&fakeDaemon{replies: []string{reply}}, 0) {
			if result, err := engine.Check(context.Background(), ordinary()); !errors.Is(err, spam.ErrDaemon) {
				t.Errorf("%s made %+v of %.60q (%v)", name, result, reply, err)
			}
		}
	}
}

func TestADaemonThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	for name, engine := range engines(&fakeDaemon{refuses: true}, 0) {
		_, err := engine.Check(context.Background(), ordinary())
		if !errors.Is(err, spam.ErrDaemon) || !strings.Contains(err.Error(), "127.0.0.1") || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASilentDaemonIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, engine := range engines(&fakeDaemon{silent: true}, 20*time.Millisecond) {
		_, err := engine.Check(context.Background(), ordinary())
		if !errors.Is(err, spam.ErrDaemon) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, engine := range engines(&fakeDaemon{silent: true}, time.Hour) {
		_, err := engine.Check(cancelled, ordinary())
		if !errors.Is(err, spam.ErrDaemon) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestComposedMessagesCarryTheHeadersThatTheSenderMaySet(t *testing.T) {
	t.Parallel()
	daemon := &fakeDaemon{replies: []string{rspamdAnswer}}
	m := ordinary()
	m.To = []string{"nobody", "bob@example.net"}
	m.Headers = map[string]string{"X-Campaign": "spring", "Date": "never", "X-Bad": "a\r\nBcc: eve@evil.example", "Reply-To": "ann@acme.com"}

	_, err := spam.Rspamd{Address: "h:1", Dialer: daemon, Clock: stopped{}}.Check(context.Background(), m)

	question := daemon.question(0)
	if err != nil || !strings.Contains(question, "\r\nX-Campaign: spring\r\n") || !strings.Contains(question, "\r\nReply-To: ann@acme.com\r\n") ||
		strings.Contains(question, "never") || strings.Contains(question, "Bcc") || strings.Contains(question, "nobody") {
		t.Fatal(err, question)
	}
}

func TestAMessageThatIsTooLargeIsNotSent(t *testing.T) {
	t.Parallel()
	m := ordinary()
	m.Raw = make([]byte, message.MaxBytes+1)
	for name, engine := range engines(&fakeDaemon{}, 0) {
		if _, err := engine.Check(context.Background(), m); !errors.Is(err, message.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAMessageThatCannotBeComposedIsNotTheDaemonsFault(t *testing.T) {
	t.Parallel()
	m := ordinary()
	m.From = "Ann Lee"
	for name, engine := range engines(&fakeDaemon{}, 0) {
		if _, err := engine.Check(context.Background(), m); err == nil || errors.Is(err, spam.ErrDaemon) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
