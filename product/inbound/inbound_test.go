package inbound_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/smtp"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
)

// sentTo mails an address and returns the id of the email and its return path.
func sentTo(t *testing.T, in *apptest.Installation, to string) (id, returnPath string) {
	t.Helper()
	id = in.Send(to)
	in.Deliver()
	got := in.Mailbox(to)
	if len(got) != 1 {
		t.Fatalf("%d messages to %s", len(got), to)
	}
	return id, got[0].Envelope.From
}

func bounce(recipient, action, status, diagnostic string) string {
	return strings.ReplaceAll("From: MAILER-DAEMON@mx.example.net\nTo: <>\nSubject: Undelivered Mail\nAuto-Submitted: auto-replied\nMIME-Version: 1.0\n"+
		"Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nCould not be delivered.\n\n--b\nContent-Type: message/delivery-status\n\n"+
		"Reporting-MTA: dns; mx.example.net\n\nFinal-Recipient: rfc822; "+recipient+"\nAction: "+action+"\nStatus: "+status+"\nDiagnostic-Code: smtp; "+diagnostic+"\n\n--b--\n", "\n", "\r\n")
}

func complaint(recipient string) string {
	return strings.ReplaceAll("From: fbl@example.net\nSubject: Complaint\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=feedback-report; boundary=b\n\n"+
		"--b\n\nComplaint.\n\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nUser-Agent: X/1\nVersion: 1\nOriginal-Rcpt-To: "+recipient+"\n\n--b--\n", "\n", "\r\n")
}

// offer brings a message to our door as another server would, encrypted but without knowing who we are.
func offer(mx, from, to, message string) error {
	client, err := smtp.Dial(mx)
	if err != nil {
		return err
	}
	defer client.Close()
	var body io.WriteCloser
	for _, step := range []func() error{
		func() error { return client.StartTLS(&tls.Config{InsecureSkipVerify: true}) },
		func() error { return client.Mail(from) },
		func() error { return client.Rcpt(to) },
		func() (err error) { body, err = client.Data(); return err },
		func() error { _, err := io.WriteString(body, message); return err },
		func() error { return body.Close() },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return client.Quit()
}

func hand(t *testing.T, mx, to, message string) {
	t.Helper()
	if err := offer(mx, "", to, message); err != nil {
		t.Fatal(err)
	}
}

func TestABounceMessageReachesTheEmailItIsAbout(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, back := sentTo(t, in, "ann@example.net")
		mx := in.MX()
		hand(t, mx, back, bounce("ann@example.net", "delayed", "4.4.1", "450 try later"))
		if got := in.Email(id).Text("status"); got != "delivered" {
			t.Errorf("a delay made it %s", got)
		}
		for range 2 { // some servers say it twice
			hand(t, mx, back, bounce("ann@example.net", "failed", "5.1.1", "550 5.1.1 no such user"))
		}
		record := in.Email(id)
		bounced, _ := record.Body["recipients"].([]any)[0].(map[string]any)["bounce"].(map[string]any)
		if record.Text("status") != "bounced" || bounced["asynchronous"] != true || bounced["suppressed"] != true || bounced["category"] != "no_mailbox" ||
			bounced["smtp_code"] != 550.0 || bounced["enhanced_code"] != "5.1.1" {
			t.Errorf("%s", record.Raw)
		}
		if entry := in.Call(http.MethodGet, "/suppressions/ann@example.net", nil); entry.Text("reason") != "bounce" || entry.Text("email_id") != id ||
			entry.Text("detail", "smtp_code") != "550" {
			t.Errorf("%s", entry.Raw)
		}
		if events := in.Call(http.MethodGet, "/emails/"+id+"/events", nil); strings.Count(string(events.Raw), `"type":"email.bounced"`) != 1 {
			t.Errorf("%s", events.Raw)
		}
	})
}

func TestAComplaintReachesTheEmailItIsAbout(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, back := sentTo(t, in, "ann@example.net")
		hand(t, in.MX(), back, complaint("ann@example.net"))
		if record := in.Email(id); record.Text("status") != "complained" {
			t.Errorf("%s", record.Raw)
		}
		if entry := in.Call(http.MethodGet, "/suppressions/ann@example.net", nil); entry.Text("reason") != "complaint" {
			t.Errorf("%s", entry.Raw)
		}
		next := in.Send("ann@example.net")
		in.Deliver()
		if got := in.Email(next).Text("status"); got != "suppressed" {
			t.Errorf("the next mail is %s", got)
		}
	})
}

// underWay mails an address up to where its server has the message and that is not written down yet, and returns the id of the email and its
// return path.
func underWay(t *testing.T, in *apptest.Installation, to string) (id, returnPath string) {
	t.Helper()
	id = in.Send(to)
	for range 2 {
		step(t, in.App.Delivery.Step)
	}
	got := in.Mailbox(to)
	if len(got) != 1 || in.Email(id).Text("status") != "sending" {
		t.Fatalf("%s with %d messages to %s", in.Email(id).Text("status"), len(got), to)
	}
	return id, got[0].Envelope.From
}

func TestAReportThatOvertakesTheRecordOfItsMessageIsTakenWhenItComesAgain(t *testing.T) {
	t.Parallel()
	for want, report := range map[string]string{"bounced": bounce("ann@example.net", "failed", "5.1.1", "550 5.1.1 no such user"), "complained": complaint("ann@example.net")} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
				id, back := underWay(t, in, "ann@example.net")
				mx := in.MX()
				var refused *textproto.Error
				if err := offer(mx, "", back, report); !errors.As(err, &refused) || refused.Code != 451 || !strings.Contains(refused.Msg, "not known yet") {
					t.Fatalf("before the outcome was recorded: %v", err)
				}
				in.Deliver()
				hand(t, mx, back, report)
				if record := in.Email(id); record.Text("status") != want {
					t.Errorf("%s", record.Raw)
				}
				if entry := in.Call(http.MethodGet, "/suppressions/ann@example.net", nil); entry.Text("email_id") != id {
					t.Errorf("%s", entry.Raw)
				}
			})
		})
	}
}

func TestOtherMessagesToAReturnPathChangeNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, back := sentTo(t, in, "ann@example.net")
		mx := in.MX()
		for _, message := range []string{
			"Subject: Out of office\r\nAuto-Submitted: auto-replied\r\n\r\nI am away. 550 5.1.1 nobody home\r\n",
			"Subject: Re: Hello\r\n\r\nThanks!\r\n",
			"\r\n",
		} {
			hand(t, mx, back, message)
		}
		if got := in.Email(id).Text("status"); got != "delivered" {
			t.Errorf("%s", got)
		}
	})
}

func TestForgedReturnPathsAndStrangersAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id, back := sentTo(t, in, "ann@example.net")
	_, other := sentTo(t, in, "bob@example.net")
	signature := other[strings.IndexByte(other, '@')-10 : strings.IndexByte(other, '@')]
	mx := in.MX()
	local, host, _ := strings.Cut(back, "@")
	for name, to := range map[string]string{
		"changed":        local[:len(local)-2] + "aa@" + host,
		"signed for bob": local[:len(local)-10] + signature + "@" + host,
		"cut":            local[:20] + "@" + host,
		"somebody":       "ann@example.net",
		"postmaster":     "postmaster@" + host,
		"percent":        "a%evil.test@" + host,
		"other's domain": "x@evil.test",
	} {
		if to == back {
			continue
		}
		if err := offer(mx, "x@evil.test", to, bounce("ann@example.net", "failed", "5.1.1", "550")); err == nil || !strings.HasPrefix(err.Error(), "550") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := in.Email(id).Text("status"); got != "delivered" {
		t.Errorf("a forgery made it %s", got)
	}
}

// Only the return path says whom a report is about: what stands in it, anybody may write.
func TestAReportIsAboutWhomItsReturnPathNames(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mine, back := sentTo(t, in, "bob@example.net")
		id, _ := sentTo(t, in, "ann@example.net")
		mx := in.MX()
		hand(t, mx, back, bounce("ann@example.net", "failed", "5.1.1", "550 5.1.1 no such user"))
		hand(t, mx, back, complaint("ann@example.net"))
		if got := in.Email(id).Text("status"); got != "delivered" {
			t.Errorf("a report of another message made it %s", got)
		}
		if entry := in.Call(http.MethodGet, "/suppressions/ann@example.net", nil); entry.Status != http.StatusNotFound {
			t.Errorf("%s", entry.Raw)
		}
		if got := in.Email(mine).Text("status"); got != "bounced" {
			t.Errorf("the message that came back is %s", got)
		}
	})
}

func TestAReportAfterAMonthIsNotBelieved(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, back := sentTo(t, in, "ann@example.net")
		mx := in.MX()
		in.Clock.Advance(31 * 24 * time.Hour)
		hand(t, mx, back, bounce("ann@example.net", "failed", "5.1.1", "550 5.1.1 no such user"))
		hand(t, mx, back, complaint("ann@example.net"))
		if got := in.Email(id).Text("status"); got != "delivered" {
			t.Errorf("it made the email %s", got)
		}
		if entry := in.Call(http.MethodGet, "/suppressions/ann@example.net", nil); entry.Status != http.StatusNotFound {
			t.Errorf("%s", entry.Raw)
		}
		if kept := letters(t, in); len(kept) != 2 {
			t.Errorf("the operator finds %v", kept)
		}
	})
}
