package smtp_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"postrider/mail/smtp"
	"postrider/world"
)

// remote plays a server by a script: "C: x" reads a line that must be x, "S: x" sends a line, "S> x" sends x as it is,
// "C." reads a message to its lone dot, "X" closes. Lines are given as one text.
func remote(t testing.TB, script string) net.Conn {
	t.Helper()
	listener := listen(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := listener.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		play(t, conn, script)
	}()
	conn := dial(t, listener.Addr().String())
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return conn
}

func play(t testing.TB, conn net.Conn, script string) {
	in := bufio.NewReader(conn)
	for step := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
		step = strings.TrimSpace(step)
		kind, text := step[:min(2, len(step))], strings.TrimPrefix(step[min(2, len(step)):], " ")
		switch kind {
		case "S:":
			io.WriteString(conn, text+"\r\n")
		case "S>":
			io.WriteString(conn, strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(text))
		case "C:":
			if line, err := in.ReadString('\n'); err != nil || line != text+"\r\n" {
				t.Errorf("client said %q (%v), want %q", line, err, text)
				return
			}
		case "C.":
			for line := ""; line != ".\r\n"; {
				var err error
				if line, err = in.ReadString('\n'); err != nil {
					t.Errorf("message has no end: %v", err)
					return
				}
			}
		case "X":
			return
		}
	}
	io.Copy(io.Discard, in)
}

func newClient(conn net.Conn) *smtp.Client {
	return smtp.NewClient(conn, smtp.ClientConfig{Hello: "client.test", Clock: world.SystemClock{}})
}

func greet(t testing.TB, conn net.Conn) *smtp.Client {
	t.Helper()
	client := newClient(conn)
	if err := client.Greet(context.Background()); err != nil {
		t.Fatal(err)
	}
	return client
}

func envelope(to ...string) smtp.Envelope {
	return smtp.Envelope{From: "a@client.test", To: to}
}

const (
	greeting  = "S: 220 mx\nC: EHLO client.test\nS: 250-mx\nS: 250 8BITMIME\n"
	pipelined = "S: 220 mx\nC: EHLO client.test\nS: 250-mx\nS: 250-PIPELINING\nS: 250 SIZE 1000\n"
)

func TestClientAndServerUnderstandEachOther(t *testing.T) {
	t.Parallel()
	var d desk
	serverTLS, clientTLS := certificate(t)
	_, address := startServer(t, &d, smtp.Config{TLS: serverTLS, RequireTLS: true, MaxRecipients: 7})
	ctx := context.Background()
	client := greet(t, dial(t, address))
	state, err := client.StartTLS(ctx, clientTLS)
	if err != nil || state.Version != tls.VersionTLS13 {
		t.Fatalf("%+v %v", state, err)
	}
	offered := client.Extensions()
	want := smtp.Extensions{Pipelining: true, Chunking: true, EightBitMIME: true, SMTPUTF8: true, EnhancedStatusCodes: true,
		Size: true, SizeBytes: smtp.DefaultMaxMessageBytes, MaxRecipients: 7}
	if offered != want {
		t.Errorf("offered %+v", offered)
	}

	body := "Subject: x\n\n.dot\r..dots\r\n\r.\r\nlast"
	result, err := client.Send(ctx, smtp.Envelope{From: "ü@client.test", To: []string{"b@mx.test", "unknown@mx.test", "later@mx.test"},
		EightBit: true, Size: 40}, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if result.Final.String() != "250 2.0.0 queued as 42" || result.Stage != smtp.StageEndOfData || !result.SentFinalDot {
		t.Errorf("result %+v", result)
	}
	checkRecipients(t, result, "accepted 250 end_of_data", "refused 550 rcpt_to", "refused 450 rcpt_to")
	got := d.accepted()[0]
	if got.Body != "Subject: x\r\n\r\n.dot\r\n..dots\r\n\r\n.\r\nlast\r\n" {
		t.Errorf("body arrived as %q", got.Body)
	}
	if d.mails[0] != (smtp.MailParams{Size: 40, EightBit: true, SMTPUTF8: true}) {
		t.Errorf("parameters arrived as %+v", d.mails[0])
	}

	if _, err := client.Send(ctx, envelope("c@mx.test"), strings.NewReader("")); err != nil || len(d.accepted()) != 2 {
		t.Errorf("second message: %v", err)
	}
	if err := client.Reset(ctx); err != nil || !client.Usable() {
		t.Errorf("reset: %v", err)
	}
	client.Quit(ctx)
	if client.Usable() {
		t.Error("usable after quit")
	}
}

// checkRecipients compares each recipient's result with "accepted|refused|local code stage".
func checkRecipients(t testing.TB, result smtp.Result, want ...string) {
	t.Helper()
	if len(result.Recipients) != len(want) {
		t.Fatalf("%d recipients, want %d", len(result.Recipients), len(want))
	}
	for i, r := range result.Recipients {
		word := "refused"
		if r.Accepted {
			word = "accepted"
		}
		if r.Local {
			word = "local"
		}
		code, _, _ := strings.Cut(r.Reply.String(), " ")
		if got := word + " " + code + " " + string(r.Stage); got != want[i] {
			t.Errorf("recipient %d: %s, want %s", i, got, want[i])
		}
	}
}

func TestGreetFallsBackToHELO(t *testing.T) {
	t.Parallel()
	client := greet(t, remote(t, "S: 220 mx\nC: EHLO client.test\nS: 502 what?\nC: HELO client.test\nS: 250 mx"))
	if client.Extensions() != (smtp.Extensions{}) || !client.Usable() {
		t.Error("plain server not usable")
	}
}

func TestLimitsOfTheServerAreRead(t *testing.T) {
	t.Parallel()
	client := greet(t, remote(t, "S: 220 mx\nC: EHLO client.test\nS: 250-mx\nS: 250-limits MAILMAX=5 RCPTMAX=many X=1\nS: 250 SIZE"))
	if got := client.Extensions(); got != (smtp.Extensions{MaxMessages: 5, Size: true}) {
		t.Errorf("offered %+v", got)
	}
}

func TestRefusedResetEndsTheConnection(t *testing.T) {
	t.Parallel()
	for _, code := range []int{421, 502} {
		client := greet(t, remote(t, fmt.Sprintf("%sC: RSET\nS: %d no", greeting, code)))
		err := client.Reset(context.Background())
		var failure *smtp.Error
		if !errors.As(err, &failure) || failure.Reply.Code != code || client.Usable() {
			t.Errorf("got %v", err)
		}
	}
}

func TestErrorsSayWhereAndWhy(t *testing.T) {
	t.Parallel()
	reply := *smtp.NewReply(421, "4.3.2", "bye")
	broken := &smtp.ProtocolError{Problem: "odd"}
	for want, err := range map[string]error{
		"smtp banner: refused: 421 4.3.2 bye":                              &smtp.Error{Stage: smtp.StageBanner, Reply: reply},
		"smtp data: protocol broken: odd":                                  &smtp.Error{Stage: smtp.StageData, Err: broken},
		"smtp mail_from: protocol broken: odd (last reply: 421 4.3.2 bye)": &smtp.Error{Stage: smtp.StageMailFrom, Reply: reply, Err: broken},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestGreetReportsWhoRefusedAndWhere(t *testing.T) {
	t.Parallel()
	cases := []struct {
		script string
		stage  smtp.Stage
		code   int
	}{
		{"S: 554 5.7.1 blocked", smtp.StageBanner, 554},
		{"S: 421 busy", smtp.StageBanner, 421},
		{"S: 220 mx\nC: EHLO client.test\nS: 421 busy", smtp.StageEHLO, 421},
		{"S: 220 mx\nC: EHLO client.test\nS: 500 no\nC: HELO client.test\nS: 550 no", smtp.StageEHLO, 550},
		{"S: 220 mx\nC: EHLO client.test\nS: 451 later", smtp.StageEHLO, 451},
	}
	for _, c := range cases {
		client := newClient(remote(t, c.script))
		err := client.Greet(context.Background())
		var failure *smtp.Error
		if !errors.As(err, &failure) || failure.Stage != c.stage || failure.Reply.Code != c.code || client.Usable() {
			t.Errorf("%q: %v", c.script, err)
		}
	}
}

func TestDroppedConnectionsAreErrorsOfTheirStage(t *testing.T) {
	t.Parallel()
	whole := []struct {
		step  string
		stage smtp.Stage
	}{
		{"", smtp.StageBanner},
		{"S: 220 mx\n", smtp.StageEHLO},
		{"C: EHLO client.test\nS: 250 mx\n", smtp.StageMailFrom},
		{"C: MAIL FROM:<a@client.test>\nS: 250 ok\n", smtp.StageRcptTo},
		{"C: RCPT TO:<b@mx.test>\nS: 250 ok\n", smtp.StageData},
		{"C: DATA\nS: 354 go\nC.\n", smtp.StageEndOfData},
	}
	script := ""
	for _, w := range whole {
		script += w.step
		client := newClient(remote(t, script+"X"))
		err := client.Greet(context.Background())
		var result smtp.Result
		if err == nil {
			result, err = client.Send(context.Background(), envelope("b@mx.test"), strings.NewReader("x"))
		}
		var failure *smtp.Error
		if !errors.As(err, &failure) || failure.Stage != w.stage || failure.Reply.Code != 0 || client.Usable() {
			t.Errorf("after %q: %v", w.step, err)
		}
		if result.SentFinalDot != (w.stage == smtp.StageEndOfData) {
			t.Errorf("after %q: final dot sent %v", w.step, result.SentFinalDot)
		}
	}
}

func TestServerSpeakingBeforeTLSIsUpIsNotBelieved(t *testing.T) {
	t.Parallel()
	client := greet(t, remote(t, "S: 220 mx\nC: EHLO client.test\nS: 250-mx\nS: 250 STARTTLS\nC: STARTTLS\nS> 220 go\\r\\n250 injected\\r\\n"))
	_, err := client.StartTLS(context.Background(), &tls.Config{ServerName: "mx.test"})
	var broken *smtp.ProtocolError
	if !errors.As(err, &broken) || client.Usable() {
		t.Errorf("got %v", err)
	}
}

func TestStartTLSRefusedLeavesTheConnectionUsable(t *testing.T) {
	t.Parallel()
	client := greet(t, remote(t, greeting+"C: STARTTLS\nS: 454 4.7.0 no TLS today"))
	_, err := client.StartTLS(context.Background(), &tls.Config{ServerName: "mx.test"})
	var failure *smtp.Error
	if !errors.As(err, &failure) || failure.Stage != smtp.StageStartTLS || failure.Reply.Code != 454 || !client.Usable() {
		t.Errorf("got %v", err)
	}
}

func TestFailedHandshakeEndsTheConnection(t *testing.T) {
	t.Parallel()
	serverTLS, _ := certificate(t)
	_, address := startServer(t, &desk{}, smtp.Config{TLS: serverTLS})
	client := greet(t, dial(t, address))
	_, err := client.StartTLS(context.Background(), &tls.Config{ServerName: "mx.test"})
	var failure *smtp.Error
	var unknown *tls.CertificateVerificationError
	if !errors.As(err, &failure) || failure.Stage != smtp.StageStartTLS || !errors.As(err, &unknown) || client.Usable() {
		t.Errorf("got %v", err)
	}
}

func TestEndOfContextClosesTheSocket(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	near, far := net.Pipe()
	defer far.Close()
	go func() {
		io.WriteString(far, "220 mx\r\n")
		bufio.NewReader(far).ReadString('\n')
		cancel() // while the client waits for the answer to EHLO
	}()
	client := newClient(near)
	err := client.Greet(ctx)
	var failure *smtp.Error
	if !errors.Is(err, context.Canceled) || !errors.As(err, &failure) || failure.Stage != smtp.StageEHLO || client.Usable() {
		t.Errorf("got %v", err)
	}
}

func TestSilentServerTimesOut(t *testing.T) {
	t.Parallel()
	client := smtp.NewClient(remote(t, ""), smtp.ClientConfig{Hello: "client.test", Clock: world.SystemClock{},
		Timeouts: smtp.ClientTimeouts{Banner: time.Nanosecond}})
	if err := client.Greet(context.Background()); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestCallsOutOfOrderAreErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	client := newClient(remote(t, greeting))
	if _, err := client.Send(ctx, envelope("b@mx.test"), strings.NewReader("")); err == nil {
		t.Error("sent before greeting")
	}
	if err := client.Reset(ctx); err == nil {
		t.Error("reset before greeting")
	}
	if err := client.Greet(ctx); err != nil {
		t.Error(err)
	}
	if err := client.Greet(ctx); err == nil {
		t.Error("greeted twice")
	}
	client.Close()
	if _, err := client.StartTLS(ctx, &tls.Config{}); err == nil {
		t.Error("secured after close")
	}
}
