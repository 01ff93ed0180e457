package smtp_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"postrider/mail/smtp"
)

const (
	chunking = "S: 220 mx.test\nC: EHLO client.test\nS: 250-mx.test\nS: 250-PIPELINING\nS: 250 CHUNKING\n"
	before   = "C: MAIL FROM:<a@client.test>\nC: RCPT TO:<b@mx.test>\nC: DATA\nS: 250 ok\nS: 250 ok\nS: 354 go\nC.\nS: 250 taken\n"
	breath   = "C: MAIL FROM:<a@client.test>\nC: RCPT TO:<b@mx.test>\nC: RCPT TO:<c@mx.test>\nC: BDAT 6 LAST\nC: .\nC: y\n"
)

// sendTwo sends a message by which the server is known to take mail, and then one to two recipients.
func sendTwo(t *testing.T, script string) (*smtp.Client, smtp.Result, error) {
	t.Helper()
	client := greet(t, remote(t, chunking+before+script))
	if _, err := client.Send(context.Background(), envelope("b@mx.test"), bytes.NewReader([]byte("x\r\n"))); err != nil {
		t.Fatal(err)
	}
	result, err := client.Send(context.Background(), envelope("b@mx.test", "c@mx.test"), bytes.NewReader([]byte(".\r\ny\r\n")))
	return client, result, err
}

func TestASecondMessageGoesInOneBreath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replies, first, second string
		dot                    bool
	}{
		"taken":              {"S: 250 ok\nS: 250 ok\nS: 250 ok\nS: 250 taken", "accepted 250 end_of_data", "accepted 250 end_of_data", true},
		"one recipient":      {"S: 250 ok\nS: 550 5.1.1 no\nS: 250 ok\nS: 250 taken", "refused 550 rcpt_to", "accepted 250 end_of_data", true},
		"no recipient":       {"S: 250 ok\nS: 550 no\nS: 451 later\nS: 554 nobody", "refused 550 rcpt_to", "refused 451 rcpt_to", false},
		"sender refused":     {"S: 550 no\nS: 503 no\nS: 503 no\nS: 503 no", "refused 550 mail_from", "refused 550 mail_from", false},
		"message refused":    {"S: 250 ok\nS: 250 ok\nS: 250 ok\nS: 554 spam", "refused 554 end_of_data", "refused 554 end_of_data", true},
		"leaves at the end":  {"S: 250 ok\nS: 250 ok\nS: 250 ok\nS: 421 bye", "refused 421 end_of_data", "refused 421 end_of_data", true},
		"leaves at once":     {"S: 421 4.4.2 idle too long", "refused 421 mail_from", "refused 421 mail_from", false},
		"leaves at the rcpt": {"S: 250 ok\nS: 421 bye", "refused 421 rcpt_to", "refused 421 rcpt_to", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, result, err := sendTwo(t, breath+c.replies)
			if err != nil || result.SentFinalDot != c.dot {
				t.Errorf("%+v %v", result, err)
			}
			checkRecipients(t, result, c.first, c.second)
		})
	}
}

func TestAConnectionThatBreaksInOneBreathLeavesItOpenWhetherTheMessageWasTaken(t *testing.T) {
	t.Parallel()
	for replies, dot := range map[string]bool{"": true, "S: 250 ok\nS: 250 ok\n": true, "S: 250 ok\nS: 250 ok\nS: 250 ok\n": true, "S: 250 ok\nS: 550 no\nS: 550 no\n": false, "S: 550 no\n": false} {
		_, result, err := sendTwo(t, breath+replies+"X")
		if result.SentFinalDot != dot || (err == nil) == dot {
			t.Errorf("after %q: %+v %v", replies, result, err)
		}
	}
}

func TestAfterAMessageThatWasRefusedInOneBreathTheNextIsSent(t *testing.T) {
	t.Parallel()
	client, _, err := sendTwo(t, breath+"S: 250 ok\nS: 550 no\nS: 550 no\nS: 554 nobody\nC: RSET\nS: 250 ok\n"+breath+"S: 250 ok\nS: 250 ok\nS: 250 ok\nS: 250 taken")
	if err != nil || !client.Usable() {
		t.Fatal(err)
	}
	result, err := client.Send(context.Background(), envelope("b@mx.test", "c@mx.test"), bytes.NewReader([]byte(".\r\ny\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	checkRecipients(t, result, "accepted 250 end_of_data", "accepted 250 end_of_data")
}

// What goes in one breath arrives byte for byte; what cannot goes by DATA as ever.
func TestTheServerGetsTheSameMessageEitherWay(t *testing.T) {
	t.Parallel()
	var d desk
	_, address := startServer(t, &d, smtp.Config{})
	client := greet(t, dial(t, address))
	large := bytes.Repeat([]byte("a line of a long letter\r\n"), 4000)
	bodies := [][]byte{[]byte("first\r\n"), []byte(".\r\n..\r\nsecond\r\n"), []byte("bare\nends\r\n"), []byte("no end"), large}
	for _, body := range bodies {
		if result, err := client.Send(context.Background(), envelope("b@mx.test"), bytes.NewReader(body)); err != nil || !result.Recipients[0].Accepted {
			t.Fatalf("%.20q: %+v %v", body, result, err)
		}
	}
	if _, err := client.Send(context.Background(), envelope("b@mx.test"), io.LimitReader(bytes.NewReader(large), 26)); err != nil {
		t.Fatal(err)
	}
	want := []string{"first\r\n", ".\r\n..\r\nsecond\r\n", "bare\r\nends\r\n", "no end\r\n", string(large), string(large[:25]) + "a\r\n"}
	for i, got := range d.accepted() {
		if string(got.Body) != want[i] {
			t.Errorf("message %d is %.40q", i, got.Body)
		}
	}
}
