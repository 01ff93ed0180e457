package stats

import "testing"

func TestADomainIsAlignedByItsSignatureOrItsReturnPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		domain Domain
		want   string
	}{
		{Domain{DKIM: pass, SPF: "missing", ReturnPath: "missing"}, pass},
		{Domain{DKIM: "missing", SPF: pass, ReturnPath: pass}, pass},
		{Domain{DKIM: "missing", SPF: pass, ReturnPath: "missing"}, "fail"}, // which is that of another domain
		{Domain{DKIM: "missing", SPF: "missing", ReturnPath: pass}, "fail"},
	} {
		if got := newDomainAuth(c.domain).Alignment; got != c.want {
			t.Errorf("%+v: %s, want %s", c.domain, got, c.want)
		}
	}
}
