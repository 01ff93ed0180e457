package web_test

import (
	"net/http"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/api"
)

func TestMailToAnAddressIsToldFromMailToALongerOne(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		owner := signedIn(t, in, api.Owner)
		for subject, fields := range map[string]map[string]any{
			"For Ada":       {"to": "Ada <ADA@example.net>"},
			"Copy for Ada":  {"to": "bob@example.net", "cc": "ada@example.net"},
			"Quiet for Ada": {"to": "bob@example.net", "bcc": "ada@example.net"},
			"For another":   {"to": "dr.ada@example.net"},
		} {
			fields["from"], fields["subject"], fields["text"] = "hello@"+apptest.Domain, subject, "Hi"
			in.Must(http.StatusAccepted, http.MethodPost, "/emails", fields)
		}
		contact := in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", map[string]any{"email": "ada@example.net"}).Text("id")
		for _, path := range []string{"/people/ada@example.net", "/audience/contacts/" + contact} {
			page := main(owner.open(path))
			for subject, want := range map[string]bool{"For Ada": true, "Copy for Ada": true, "Quiet for Ada": true, "For another": false} {
				if got := strings.Contains(page, ">"+subject+"<"); got != want {
					t.Errorf("%s shows %q: %t", path, subject, got)
				}
			}
		}
	})
}

func TestABounceIsFoundBehindMailThatBouncedForOthers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Send("bounce+ada@sandbox.test")
		in.Deliver()
		in.Send("bounce+ada@sandbox.test", "bounce+bob@sandbox.test") // the first is suppressed by now
		in.Deliver()
		_, card, _ := strings.Cut(signedIn(t, in, api.Owner).open("/people/bounce+ada@sandbox.test"), "<h2>Last bounce</h2>")
		if card, _, _ = strings.Cut(card, "</section>"); !strings.Contains(card, "550") {
			t.Error(card)
		}
	})
}
