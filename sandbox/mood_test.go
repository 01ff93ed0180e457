package sandbox_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"postrider/mail/smtp"
)

func TestMoodsRefuseAtTheRecipient(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	for local, want := range map[string]string{
		"bounce":     "550 5.1.1 ",
		"bounced":    "550 5.1.1 ",
		"BOUNCE+7":   "550 5.1.1 ",
		"full":       "552 5.2.2 ",
		"block.list": "550 5.7.1 ",
		"busy":       "421 4.3.2 ",
	} {
		for range 2 { // as often as one tries
			if reply := b.send(mailTo(local+"@example.test"), letter); !strings.HasPrefix(reply, want) {
				t.Errorf("%s: %q, want %q", local, reply, want)
			}
		}
	}
	if reply := b.send(mailTo("abounce@example.test"), letter); !strings.HasPrefix(reply, "250") {
		t.Errorf("a mood in the middle: %q", reply)
	}
	if got := len(b.messages("")); got != 1 {
		t.Errorf("%d messages were stored", got)
	}
}

func TestRefusedRecipientsDoNotHarmOthers(t *testing.T) {
	t.Parallel()
	b := openBox(t)

	result, err := b.connect().Send(t.Context(), mailTo("bounce@example.test", "Bob@Example.test", "full@example.test"), strings.NewReader(letter))

	if err != nil || result.Recipients[0].Accepted || !result.Recipients[1].Accepted || result.Recipients[2].Accepted {
		t.Fatalf("%+v, %v", result, err)
	}
	list := b.messages("bob@example.test")
	if len(list) != 1 || len(list[0].Envelope.RcptTo) != 1 || list[0].Envelope.RcptTo[0] != "Bob@Example.test" {
		t.Fatalf("%+v", list)
	}
}

func TestABusyServerHangsUp(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	peer := b.dial()
	peer.say("EHLO client.test")
	peer.say("MAIL FROM:<a@client.test>")

	reply := peer.say("RCPT TO:<busy@example.test>")

	if !strings.HasPrefix(reply, "421 ") || !peer.closed() {
		t.Fatalf("%q, or the connection is still open", reply)
	}
}

func TestADeferredMailIsAcceptedOnItsSecondTry(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	first, second := mailTo("defer@example.test"), mailTo("defer@example.test")
	second.From = "other-" + sender
	for _, step := range []struct {
		envelope smtp.Envelope
		want     string
	}{{first, "451 "}, {second, "451 "}, {first, "250 "}, {first, "250 "}, {second, "250 "}} {
		if reply := b.send(step.envelope, letter); !strings.HasPrefix(reply, step.want) {
			t.Fatalf("%q, want %q", reply, step.want)
		}
	}
}

func TestAGreylistedMailIsAcceptedAfterAMinute(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	for _, step := range []struct {
		wait time.Duration
		want string
	}{{0, "450 4.7.1 "}, {59 * time.Second, "450 4.7.1 "}, {time.Second, "250 "}, {0, "250 "}} {
		b.clock.move(step.wait)
		if reply := b.send(mailTo("greylisted@example.test"), letter); !strings.HasPrefix(reply, step.want) {
			t.Fatalf("%q, want %q", reply, step.want)
		}
	}
}

func TestASlowServerTakesTwentySeconds(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	replies := make(chan string, 1)
	go func() { replies <- b.send(mailTo("slow@example.test"), letter) }()

	b.clock.moveWhenAwaited(19 * time.Second)
	if got := len(b.messages("slow")); got != 0 {
		t.Errorf("%d messages were stored before the answer", got)
	}
	b.clock.move(time.Second)

	if reply := <-replies; !strings.HasPrefix(reply, "250 ") || len(b.messages("slow")) != 1 {
		t.Fatalf("%q", reply)
	}
}

func TestASlowServerCanBeClosed(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	results := make(chan smtp.Result, 1)
	client := b.connect()
	go func() {
		result, _ := client.Send(t.Context(), mailTo("slow@example.test"), strings.NewReader(letter))
		results <- result
	}()
	b.clock.moveWhenAwaited(0)

	if err := b.Close(); err != nil {
		t.Error(err)
	}

	if result := <-results; result.Recipients[0].Accepted {
		t.Fatal("the message was accepted")
	}
}

func TestADroppingServerHangsUpInTheMessage(t *testing.T) {
	t.Parallel()
	b := openBox(t)

	result, err := b.connect().Send(t.Context(), mailTo("drop@example.test"), strings.NewReader(letter+strings.Repeat("line\r\n", 1<<20)))

	var broken *smtp.Error
	if !errors.As(err, &broken) || broken.Stage != smtp.StageData && broken.Stage != smtp.StageEndOfData || result.Recipients[0].Accepted {
		t.Fatalf("%+v, %v", result, err)
	}
	if got := len(b.messages("drop")); got != 0 {
		t.Fatalf("%d messages were stored", got)
	}
}

func TestATLSMoodBreaksTheHandshakeWithItsHost(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	secure := func(host string) (*smtp.Client, error) {
		client := b.connect()
		return client, b.startTLS(client, host)
	}

	client, err := secure("mx.example.test")
	if err != nil {
		t.Fatal(err)
	}
	if reply := b.try(client, mailTo("tls@example.test"), letter); !strings.HasPrefix(reply, "421 4.7.0 ") {
		t.Errorf("first visit: %q", reply)
	}

	if _, err := secure("mx.example.test"); err == nil {
		t.Error("the handshake worked")
	}
	if _, err := secure("mx.other.test"); err != nil {
		t.Errorf("the handshake with another host: %v", err)
	}
	if reply := b.send(mailTo("tls@example.test"), letter); !strings.HasPrefix(reply, "250 ") {
		t.Errorf("in clear text: %q", reply)
	}
	b.clock.move(10 * time.Minute)
	if _, err := secure("mx.example.test"); err != nil {
		t.Errorf("the handshake ten minutes later: %v", err)
	}
}

func TestBouncesMeetNoMoods(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	for _, local := range []string{"bounce", "dsn", "slow", "drop", "busy"} {
		if reply := b.send(smtp.Envelope{To: []string{local + "@example.test"}}, letter); !strings.HasPrefix(reply, "250 ") {
			t.Errorf("bounce to %s: %q", local, reply)
		}
	}
}
