package delivery_test

import (
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/smtp"
)

// nextAttempt returns how long an email waits after its last attempt.
func nextAttempt(t *testing.T, in *apptest.Installation, id string) time.Duration {
	t.Helper()
	made := attempts(in, id)
	next, _ := made[len(made)-1]["next_attempt_at"].(string)
	at, err := time.Parse(time.RFC3339, next)
	if err != nil {
		t.Fatalf("%v after %v", err, made)
	}
	return at.Sub(in.Clock.Now())
}

func TestWaitsGrowAndTheLastEndsWhenTheMailIsTooOld(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id, began := in.Send("busy@example.net"), in.Clock.Now()
	in.Deliver()
	for _, want := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour, 12 * time.Hour, 12 * time.Hour} {
		wait := nextAttempt(t, in, id)
		if wait < want*2/3 || wait > want*5/4 {
			t.Fatalf("waits for %s instead of about %s", wait, want)
		}
		in.Clock.Advance(wait + time.Second)
		in.Deliver()
	}
	in.Clock.Advance(began.Add(72*time.Hour - time.Minute).Sub(in.Clock.Now()))
	in.Deliver()
	if got := in.Email(id).Text("status"); got != "sending" {
		t.Fatalf("%s a minute before its time is over", got)
	}
	in.Clock.Advance(2 * time.Minute)
	in.Deliver()
	if got := in.Email(id); got.Text("status") != "failed" || got.Text("failure", "reason") != "delivery_expired" {
		t.Errorf("%s when its time is over", got.Text("status"))
	}
}

func TestAServerThatSaysWhenToComeAgainIsHeededIfThatIsLater(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n, _ := newPeering(t, in, startChoosy(t, choosy{"hasty": smtp.NewReply(451, "4.3.0", "Please try again in 5 seconds"),
		"patient": smtp.NewReply(451, "4.3.0", "Please try again in 20 minutes"), "stranger": smtp.NewReply(450, "4.7.1", "Greylisted, please come again")}))
	for _, c := range []struct {
		to          string
		least, most time.Duration
	}{{"hasty@peer.test", 30 * time.Second, 75 * time.Second}, {"patient@peer.test", 19 * time.Minute, 21 * time.Minute},
		{"stranger@peer.test", 4 * time.Minute, 6 * time.Minute}} {
		id := in.Send(c.to)
		n.deliver()
		if wait := nextAttempt(t, in, id); wait < c.least || wait > c.most {
			t.Errorf("%s waits for %s", c.to, wait)
		}
	}
}

func TestOnlyPermanentRefusalsCountTowardsThoseThatAreBelieved(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	full, later := startChoosy(t, choosy{"ann": smtp.NewReply(552, "5.2.2", "mailbox full")}), startChoosy(t, choosy{"ann": smtp.NewReply(452, "4.2.2", "mailbox full")})
	n, network := newPeering(t, in, later)
	id := in.Send("ann@peer.test")
	for round, server := range []string{later, later, full, full, later, full} {
		network.at.Store(&server)
		n.deliver()
		want := map[bool]string{true: "bounced", false: "sending"}[round == 5]
		if got := in.Email(id).Text("status"); got != want || len(attempts(in, id)) != round+1 {
			t.Fatalf("%s after %v", got, said(in, id))
		}
		in.Clock.Advance(10 * time.Hour)
	}
}
