package httpout_test

import (
	"net/http"
	"testing"

	"postrider/platform/httpout"
)

func TestARequestThatCameBackIsKnownAgain(t *testing.T) {
	t.Parallel()
	self := httpout.SelfOf("https://Mail.acme.test:8443/")
	for _, test := range []struct {
		lines []string
		want  bool
	}{
		{nil, false},
		{[]string{"mail.acme.test:8443"}, true},
		{[]string{"cloudflare; loops=1, MAIL.acme.test:8443 ; a=b"}, true},
		{[]string{"cloudflare", "fastly,mail.acme.test:8443"}, true},
		{[]string{"mail.acme.test", "a.mail.acme.test:8443", "x;mail.acme.test:8443"}, false},
	} {
		if got := httpout.CameBack(http.Header{"Cdn-Loop": test.lines}, self); got != test.want {
			t.Errorf("%q: %v", test.lines, got)
		}
	}
	if httpout.CameBack(http.Header{"Cdn-Loop": {""}}, httpout.SelfOf("")) {
		t.Error("nobody's request came back")
	}
}
