package httpout_test

import (
	"errors"
	"strings"
	"testing"

	"postrider/platform/httpout"
)

func TestCheckURLSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	private := httpout.Policy{AllowPrivate: true}
	loopback := httpout.Policy{AnyLoopbackPort: true}
	encrypted := httpout.Policy{RequireTLS: true}
	named := httpout.Policy{RequireTLS: true, PrivateHosts: []string{"crm.intranet.example", "10.0.0.7", "localhost"}}
	for _, test := range []struct {
		url    string
		policy httpout.Policy
		want   string // part of the sentence; empty if the URL is fine
	}{
		{"https://example.com/hook", httpout.Policy{}, ""},
		{"http://example.com/hook?a=b", httpout.Policy{}, ""},
		{"https://EXAMPLE.com:8443", httpout.Policy{}, ""},
		{"https://xn--bcher-kva.example/", httpout.Policy{}, ""},
		{"https://under_score.example.com/", httpout.Policy{}, ""},
		{"https://8.8.8.8/", httpout.Policy{}, ""},
		{"https://[2606:4700:4700::1111]/", httpout.Policy{}, ""},
		{"https://example.com:9000/", httpout.Policy{ExtraPorts: []int{9000}}, ""},

		{"", httpout.Policy{}, "must start with https://"},
		{"example.com", httpout.Policy{}, "must start with https://"},
		{"ftp://example.com/", httpout.Policy{}, "must start with https://"},
		{"file:///etc/passwd", httpout.Policy{}, "must start with https://"},
		{"https:example.com", httpout.Policy{}, "names no host"},
		{"https:///path", httpout.Policy{}, "names no host"},
		{"https://:443/", httpout.Policy{}, "names no host"},
		{"https://example.com:x/", httpout.Policy{}, "cannot be read"},
		{"https://exa mple.com/", httpout.Policy{}, "cannot be read"},
		{"https://example.com/\n", httpout.Policy{}, "cannot be read"},
		{"https://user:pw@example.com/", httpout.Policy{}, "user name or password"},
		{"https://example.com/#part", httpout.Policy{}, "fragment"},
		{"https://example.com/#", httpout.Policy{}, "fragment"},
		{"https://example.com/" + strings.Repeat("a", 2048), httpout.Policy{}, "longer than 2048"},
		{"https://bücher.example/", httpout.Policy{}, "xn--"},
		{"https://a..example.com/", httpout.Policy{}, "not a domain name"},
		{"https://" + strings.Repeat("a", 64) + ".example.com/", httpout.Policy{}, "not a domain name"},
		{"https://" + strings.Repeat("a.", 130) + "example.com/", httpout.Policy{}, "too long"},
		{"https://example.com:22/", httpout.Policy{ExtraPorts: []int{9000}}, "Port 22 is not allowed; allowed ports are 80, 443, 8080, 8443, 9000"},
		{"https://10.0.0.1/", httpout.Policy{}, "The address 10.0.0.1 is not on the public internet"},
		{"https://0x7f.1/", httpout.Policy{}, "usual form"},
		{"https://intranet/", httpout.Policy{}, "full domain name"},

		{"http://10.0.0.7/", named, ""},
		{"http://CRM.intranet.example/", named, ""},
		{"http://localhost:8080/", named, ""},
		{"http://10.0.0.8/", named, "not on the public internet"},
		{"http://127.0.0.1/", named, "not on the public internet"},
		{"http://other.intranet.example/", named, "must start with https://"},
		{"http://10.0.0.7:3000/", named, "Port 3000"},

		{"http://10.0.0.1/", private, ""},
		{"http://localhost:8080/", private, ""},
		{"http://[::1]/", private, ""},
		{"http://intranet/", private, ""},
		{"http://localhost:3000/", private, "Port 3000"},
		{"http://169.254.169.254/", private, "not on the public internet"},
		{"http://[fd00:ec2::254]/", private, "not on the public internet"},
		{"http://100.100.100.200/", private, "not on the public internet"},
		{"http://0.0.0.0/", private, "not on the public internet"},
		{"http://[::ffff:127.0.0.1]/", private, "not on the public internet"},
		{"http://0x7f000001/", private, "usual form"},

		{"http://localhost:3000/", loopback, ""},
		{"http://127.0.0.1:65535/", loopback, ""},
		{"http://10.0.0.1/", loopback, "not on the public internet"},
		{"http://8.8.8.8:3000/", loopback, "Port 3000"},

		{"https://example.com/", encrypted, ""},
		{"http://example.com/", encrypted, "must start with https://"},
		{"http://8.8.8.8/", encrypted, "must start with https://"},
		{"http://8.8.8.8/", httpout.Policy{RequireTLS: true, AllowPrivate: true}, "must start with https://"},
		{"http://10.0.0.1/", httpout.Policy{RequireTLS: true, AllowPrivate: true}, ""},
		{"http://localhost:3000/", httpout.Policy{RequireTLS: true, AnyLoopbackPort: true}, ""},
	} {
		err := httpout.CheckURL(test.url, test.policy)
		var refusal *httpout.Refusal
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%.60s with %+v: %v", test.url, test.policy, err)
		case test.want != "" && (!errors.As(err, &refusal) || !strings.Contains(refusal.Sentence, test.want)):
			t.Errorf("%.60s with %+v: %v; want %q", test.url, test.policy, err, test.want)
		}
	}
}

func TestWhatANameHidesIsCheckedAgainstThePolicyToo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		policy httpout.Policy
		target string
		addr   string
	}{
		{httpout.Policy{AnyLoopbackPort: true}, "http://app.example.com:3000/", public},
		{httpout.Policy{AnyLoopbackPort: true}, "http://app.example.com/", "10.0.0.1"},
		{httpout.Policy{AllowPrivate: true}, "http://app.example.com/", "169.254.169.254"},
		{httpout.Policy{AllowPrivate: true, RequireTLS: true}, "http://app.example.com/", public},
	} {
		l := newLookout(t, func(c *httpout.Config) { c.Policy = test.policy })
		l.names.answers["app.example.com"] = [][]string{{test.addr}}

		_, err := l.get(t, test.target)

		wantRefusal(t, test.target, err)
		if dialed := l.roads.dialed(); len(dialed) != 0 {
			t.Errorf("%s: dialed %v", test.target, dialed)
		}
	}
}
