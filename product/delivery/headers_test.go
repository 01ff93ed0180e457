package delivery_test

import (
	"fmt"
	"net/http"
	"net/mail"
	"strings"
	"testing"

	"postrider/app/apptest"
)

func TestComplaintsAreCountedByWhoseMailItWas(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for name, given := range map[string]map[string]string{"ours": nil, "theirs": {"feedback-id": "spring:acme:news:acmemail"}} {
			to := name + "@example.net"
			in.Must(202, http.MethodPost, "/emails", map[string]any{"from": "hello@acme.test", "to": []string{to}, "subject": "Hi", "text": "Hi", "headers": given})
			in.Deliver()
			received := in.Mailbox(to)
			if len(received) != 1 {
				t.Fatalf("%d messages for %s", len(received), to)
			}
			read, err := mail.ReadMessage(strings.NewReader(received[0].Raw))
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("[:%s:transactional:postrider]", in.Workspace)
			if given != nil {
				want = "[spring:acme:news:acmemail]"
			}
			if got := fmt.Sprint(read.Header["Feedback-Id"]); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
			if signature := read.Header.Get("DKIM-Signature"); !strings.Contains(strings.Join(strings.Fields(signature), ""), "feedback-id") {
				t.Errorf("%s: not signed: %s", name, signature)
			}
		}
	})
}
