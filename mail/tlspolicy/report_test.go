package tlspolicy_test

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"testing"

	"postrider/mail/dane"
	"postrider/mail/dane/danetest"
	"postrider/mail/mtasts"
	"postrider/mail/smtp"
	"postrider/mail/tlspolicy"
	"postrider/mail/tlsrpt"
	"postrider/world"
)

// told writes sessions in short: the kind of policy, its domain, and what failed.
func told(sessions []tlsrpt.Session) string {
	var all []string
	for _, s := range sessions {
		line := string(s.Policy.Type) + " " + s.Policy.Domain
		if s.Failure != nil {
			line += " " + strings.TrimSpace(string(s.Failure.Result)+" "+s.Failure.Reason)
		}
		all = append(all, line)
	}
	return strings.Join(all, ", ")
}

func TestEveryPolicyHearsOfItsOwnFailures(t *testing.T) {
	t.Parallel()
	p := newPeers(t)
	only := func(name string) dane.Promise { return promise(danetest.Record(3, 1, 1, p.by[name].Leaf)) }
	both := func(name string, mode mtasts.Mode) func(*tlspolicy.Facts) {
		return func(f *tlspolicy.Facts) { f.DANE, f.STS = only(name), policy(mode, "mx.acme.test") }
	}
	for name, test := range map[string]struct {
		change func(*tlspolicy.Facts)
		peer   string
		want   string
	}{
		"no policy":                 {func(*tlspolicy.Facts) {}, "expired", "no-policy-found acme.test"},
		"a sender's own wish":       {func(f *tlspolicy.Facts) { f.Demand = tlspolicy.DemandCertificate }, "expired", ""},
		"policy kept":               {func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Enforce, "mx.acme.test") }, "good", "sts acme.test"},
		"policy broken":             {func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Enforce, "mx.acme.test") }, "expired", "sts acme.test certificate-expired"},
		"wrong name":                {func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Enforce, "mx.acme.test") }, "wrong name", "sts acme.test certificate-host-mismatch"},
		"only tested":               {func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Testing, "mx.acme.test") }, "unknown", "sts acme.test certificate-not-trusted"},
		"tested for others":         {func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Testing, "a.test") }, "good", "sts acme.test validation-failure mx-not-in-sts-policy"},
		"promise kept":              {func(f *tlspolicy.Facts) { f.DANE = only("expired") }, "expired", "tlsa mx.acme.test"},
		"promise broken":            {func(f *tlspolicy.Facts) { f.DANE = only("good") }, "expired", "tlsa mx.acme.test validation-failure dane-no-match"},
		"promised authority":        {func(f *tlspolicy.Facts) { f.DANE = promise(danetest.Record(2, 0, 1, p.authority.Certificate)) }, "expired", "tlsa mx.acme.test certificate-expired"},
		"promise unusable":          {func(f *tlspolicy.Facts) { f.DANE = unusable }, "good", "tlsa mx.acme.test tlsa-invalid no-usable-record"},
		"both kept":                 {both("good", mtasts.Enforce), "good", "tlsa mx.acme.test, sts acme.test"},
		"both broken":               {both("good", mtasts.Enforce), "expired", "tlsa mx.acme.test validation-failure dane-no-match, sts acme.test certificate-expired"},
		"one broken":                {both("expired", mtasts.Enforce), "expired", "sts acme.test certificate-expired"},
		"promise kept, test failed": {both("expired", mtasts.Testing), "expired", "tlsa mx.acme.test, sts acme.test certificate-expired"},
	} {
		f := facts()
		f.Roots = p.authority.Pool()
		test.change(&f)
		d := tlspolicy.Decide(f)
		state, err := connect(t, d, p.by[test.peer])
		if err != nil {
			err = &smtp.Error{Stage: smtp.StageStartTLS, Err: err} // as delivery meets it
		}
		if got := told(d.Sessions(tlspolicy.Connection{State: state, Err: err})); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestAFailureSaysWhereItHappened(t *testing.T) {
	t.Parallel()
	f := facts()
	f.STS = policy(mtasts.Enforce, "mx.acme.test")
	d := tlspolicy.Decide(f)
	sessions := d.Sessions(tlspolicy.Connection{SendingIP: "192.0.2.1", MXHost: "mx.acme.test", MXHello: "acme", MXIP: "192.0.2.9"})
	want := tlsrpt.Failure{Result: tlsrpt.NotOffered, SendingIP: "192.0.2.1", MXHost: "mx.acme.test", MXHello: "acme", MXIP: "192.0.2.9"}
	if len(sessions) != 1 || *sessions[0].Failure != want || fmt.Sprint(sessions[0].Policy.Hosts, len(sessions[0].Policy.Lines)) != "[mx.acme.test] 4" {
		t.Errorf("%+v", sessions)
	}
}

func TestAHandshakeThatBreaksFailsForAllPolicies(t *testing.T) {
	t.Parallel()
	f := facts()
	f.STS, f.DANE = policy(mtasts.Enforce, "mx.acme.test"), promise(world.TLSA{})
	got := told(tlspolicy.Decide(f).Sessions(tlspolicy.Connection{Err: errors.New("reset")}))
	if got != "tlsa mx.acme.test validation-failure, sts acme.test validation-failure" {
		t.Error(got)
	}
}

func TestWhatGoesWrongBeforeAConnectionIsToldToo(t *testing.T) {
	t.Parallel()
	f := facts()
	f.STS = policy(mtasts.Enforce, "other.test")
	d := tlspolicy.Decide(f)
	fetch := func(err error) error { return fmt.Errorf("%w: %w", mtasts.ErrFetch, err) }
	for want, sessions := range map[string][]tlsrpt.Session{
		"sts acme.test validation-failure mx-not-in-sts-policy":    d.Refused("mx.acme.test"),
		"sts acme.test sts-policy-invalid":                         {tlspolicy.PolicyProblem("acme.test", mtasts.ErrPolicy)},
		"sts acme.test sts-policy-fetch-error":                     {tlspolicy.PolicyProblem("acme.test", fetch(errors.New("refused")))},
		"sts acme.test sts-webpki-invalid certificate-not-trusted": {tlspolicy.PolicyProblem("acme.test", fetch(x509.UnknownAuthorityError{}))},
		"tlsa mx.acme.test dnssec-invalid":                         {tlspolicy.PromiseProblem("mx.acme.test", fmt.Errorf("x: %w", world.ErrUnanswered))},
	} {
		if got := told(sessions); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
