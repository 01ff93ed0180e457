package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postrider/mail/smtp"
	"postrider/sandbox"
)

// attachMail gives the sandbox a product that takes mail.
func (b *box) attachMail() <-chan arrival {
	b.t.Helper()
	addr, arrivals := openPostOffice(b.t)
	if err := b.Attach(sandbox.Product{MXAddr: addr}); err != nil {
		b.t.Fatal(err)
	}
	return arrivals
}

func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
}

func TestADSNComesBackToTheReturnPath(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	arrivals := b.attachMail()
	b.put("bounce.acme.test", "CNAME", "bounces."+serviceDomain)

	b.mustSend(smtp.Envelope{From: "v-7@bounce.acme.test", To: []string{"dsn@example.test"}}, letter)
	if len(b.messages("dsn@example.test")) != 1 {
		t.Error("the message was not accepted")
	}
	b.clock.move(3 * time.Second)

	got := <-arrivals
	if got.from != "" || len(got.to) != 1 || got.to[0] != "v-7@bounce.acme.test" {
		t.Errorf("envelope %q %q", got.from, got.to)
	}
	holds(t, got.raw, "Content-Type: multipart/report; report-type=delivery-status;", "Auto-Submitted: auto-replied",
		"Reporting-MTA: dns; mx.example.test\r\n", "Final-Recipient: rfc822; dsn@example.test\r\n", "Action: failed\r\n",
		"Status: 5.1.1\r\n", "Diagnostic-Code: smtp; 550 5.1.1 ", "Content-Type: text/rfc822-headers", "Message-ID: <1@acme.test>\r\n")
	if strings.Contains(got.raw, "Hello, Bob") {
		t.Error("the body came back")
	}
}

func TestAComplaintIsAFeedbackReport(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	arrivals := b.attachMail()

	b.mustSend(mailTo("complain@example.test"), letter)
	b.clock.move(3 * time.Second)

	got := <-arrivals
	if got.from != "complaints@example.test" || got.to[0] != sender {
		t.Errorf("envelope %q %q", got.from, got.to)
	}
	holds(t, got.raw, "report-type=feedback-report;", "Content-Type: message/feedback-report\r\n", "Feedback-Type: abuse\r\n",
		"Version: 1\r\n", "Original-Mail-From: <"+sender+">\r\n", "Original-Rcpt-To: <complain@example.test>\r\n",
		"Content-Type: message/rfc822\r\n", "Message-ID: <1@acme.test>\r\n", "Hello, Bob\r\n")
}

func TestAReportOutlastsARestartOfTheProduct(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	b.mustSend(mailTo("dsn@example.test"), letter)
	b.clock.moveWhenAwaited(3 * time.Second) // nobody takes mail yet

	b.clock.await()
	arrivals := b.attachMail()
	b.clock.move(30 * time.Second)

	if got := <-arrivals; got.to[0] != sender {
		t.Fatalf("to %q", got.to)
	}
}

func TestReportsToStrangersLandInTheMailbox(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	b.mustSend(smtp.Envelope{From: "ann@stranger.test", To: []string{"complain@example.test"}}, letter)

	b.clock.move(3 * time.Second)
	b.Settle()

	got := b.messages("ann@stranger.test")
	if len(got) != 1 || got[0].Subject != "Abuse report" || !got[0].TLS {
		t.Fatalf("%+v", got)
	}
}

func TestNobodyComplainsAboutAComplaint(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	b.mustSend(smtp.Envelope{From: "complaints@example.test", To: []string{"complain@stranger.test"}}, letter)

	b.clock.move(3 * time.Second)
	b.Settle()

	if got := b.messages("complaints@example.test"); len(got) != 0 {
		t.Fatalf("%+v", got)
	}
}

const page = "From: <ann@acme.test>\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n" +
	"--a\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSee http://plain.test/\r\n" +
	"--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" +
	"<p><a href=3D\"mailto:x@y\">m</a><a href=3D\"https://track.acme.test/c/1?a=3D1&amp;b=3D2\">go</a><a href=3D\"http://second.test\">no</a>" +
	"<img src=3D\"cid:x\"><img src=3D\"http://track.acme.te=\r\nst/o/1.gif\"><img src=3D\"http://cdn.test/logo.png\">\r\n--b--\r\n--a--\r\n"

// visit is a request that reached the product.
type visit struct{ host, uri, agent string }

// attachWeb gives the sandbox a product that answers for tracking links.
func (b *box) attachWeb() <-chan visit {
	b.t.Helper()
	visits := make(chan visit, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visits <- visit{r.Host, r.RequestURI, r.UserAgent()}
		http.Redirect(w, r, "https://outside.test/", http.StatusFound)
	}))
	b.t.Cleanup(server.Close)
	if err := b.Attach(sandbox.Product{HTTPAddr: server.Listener.Addr().String()}); err != nil {
		b.t.Fatal(err)
	}
	return visits
}

func TestAnOpenedMailLoadsItsImages(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	visits := b.attachWeb()

	b.mustSend(mailTo("open@example.test"), page)
	b.clock.move(3 * time.Second)

	for _, want := range []visit{{host: "track.acme.test", uri: "/o/1.gif"}, {host: "cdn.test", uri: "/logo.png"}} {
		got := <-visits
		if got.host != want.host || got.uri != want.uri || !strings.HasPrefix(got.agent, "Mozilla/5.0") {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestAClickFollowsTheFirstLink(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ raw, host, uri string }{
		"html":  {page, "track.acme.test", "/c/1?a=1&b=2"},
		"plain": {letter + "\r\nSee <http://track.acme.test/c/2>, bye\r\n", "track.acme.test", "/c/2"},
	} {
		b := openBox(t)
		visits := b.attachWeb()

		b.mustSend(mailTo("click@example.test"), test.raw)
		b.clock.move(3 * time.Second)

		if got := <-visits; got.host != test.host || got.uri != test.uri {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestMailToTheProductIsPassedOn(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	arrivals := b.attachMail()
	b.put("acme.test", "MX", "10 mx1."+serviceDomain, "20 mx2."+serviceDomain)

	if reply := b.send(smtp.Envelope{From: "x@example.test", To: []string{"nobody@acme.test"}}, letter); !strings.HasPrefix(reply, "550 5.1.1 ") {
		t.Errorf("a refusal of the product: %q", reply)
	}
	b.mustSend(smtp.Envelope{From: "x@example.test", To: []string{"bounce@acme.test"}}, letter)
	if got := <-arrivals; got.from != "x@example.test" || got.to[0] != "bounce@acme.test" || got.raw != letter {
		t.Errorf("%+v", got)
	}
	if got := len(b.messages("")); got != 0 {
		t.Errorf("%d messages are in the mailbox", got)
	}

	b.mustSend(smtp.Envelope{From: sender, To: []string{"nobody@acme.test", "ann@acme.test"}}, letter)
	<-arrivals
	b.clock.move(3 * time.Second)
	if got := <-arrivals; got.from != "" || !strings.Contains(got.raw, "Final-Recipient: rfc822; nobody@acme.test") {
		t.Errorf("the refused one of two: %+v", got)
	}
}

func TestMailToAProductThatIsDownIsDeferred(t *testing.T) {
	t.Parallel()
	b := openBox(t)

	if reply := b.send(smtp.Envelope{From: "x@example.test", To: []string{"ann@bounces." + serviceDomain}}, letter); !strings.HasPrefix(reply, "451 4.4.1 ") {
		t.Fatalf("%q", reply)
	}
}

func TestAProductMustBeOnLoopback(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	for addr, ok := range map[string]bool{"127.0.0.1:25": true, "[::1]:25": true, "0.0.0.0:25": true, "": true, "192.0.2.1:25": false, "example.com:25": false} {
		if err := b.Attach(sandbox.Product{MXAddr: addr}); (err == nil) != ok {
			t.Errorf("MXAddr %q: %v", addr, err)
		}
		if err := b.Attach(sandbox.Product{HTTPAddr: addr}); (err == nil) != ok {
			t.Errorf("HTTPAddr %q: %v", addr, err)
		}
	}
}
