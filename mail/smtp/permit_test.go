package smtp_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"postrider/mail/smtp"
)

// Whoever may no longer send a message finds that out at the last moment, and the server must not have it.
func TestAMessageThatIsNotPermittedNeverGetsItsEnd(t *testing.T) {
	t.Parallel()
	var d desk
	_, address := startServer(t, &d, smtp.Config{})
	client := greet(t, dial(t, address))
	over := errors.New("lease over")
	permitted := envelope("b@mx.test")
	if _, err := client.Send(context.Background(), permitted, bytes.NewReader([]byte("first\r\n"))); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"in one breath", "by DATA"} {
		refused := envelope("b@mx.test")
		refused.Permit = func() error { return over }
		result, err := client.Send(context.Background(), refused, bytes.NewReader([]byte("second\r\n")))
		if !errors.Is(err, over) || result.SentFinalDot || client.Usable() {
			t.Errorf("%s: %+v %v", way, result, err)
		}
		client = greet(t, dial(t, address)) // a stranger is asked first
	}
	if got := d.accepted(); len(got) != 1 {
		t.Errorf("the server has %d messages", len(got))
	}
}
