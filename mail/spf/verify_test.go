package spf_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"postrider/mail/spf"
	"postrider/world"
)

// records is a small part of the name system. A name that ends in servfail.test never answers.
type records struct {
	world.Resolver
	texts map[string][]string
	ips   map[string][]string
	mx    map[string][]world.MX
	ptr   map[string][]string
	asked *int
}

func answer[T any](from map[string][]T, name string, asked *int) ([]T, world.Answer, error) {
	if asked != nil {
		*asked++
	}
	name = strings.ToLower(name)
	switch list, found := from[name]; {
	case strings.HasSuffix(name, "servfail.test"):
		return nil, world.Answer{}, world.ErrUnanswered
	case !found:
		return nil, world.Answer{}, world.ErrNoName
	default:
		return list, world.Answer{Canonical: name, Partial: strings.HasPrefix(name, "half")}, nil
	}
}

func (r records) TXT(_ context.Context, name string) ([]string, world.Answer, error) {
	return answer(r.texts, name, r.asked)
}

func (r records) MX(_ context.Context, name string) ([]world.MX, world.Answer, error) {
	return answer(r.mx, name, r.asked)
}

func (r records) PTR(_ context.Context, addr netip.Addr) ([]string, world.Answer, error) {
	return answer(r.ptr, addr.String(), r.asked)
}

func (r records) IP(_ context.Context, name string) ([]netip.Addr, world.Answer, error) {
	texts, answered, err := answer(r.ips, name, r.asked)
	var list []netip.Addr
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list, answered, err
}

func TestSendersAreJudgedByThePolicyOfTheirDomain(t *testing.T) {
	t.Parallel()
	names := records{
		texts: map[string][]string{
			"ip.test":      {"unrelated", "v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 -all"},
			"soft.test":    {"v=spf1 ~all"},
			"open.test":    {"v=spf1 ?all"},
			"inc.test":     {"v=spf1 include:ip.test -all"},
			"red.test":     {"v=spf1 redirect=ip.test"},
			"mx.test":      {"v=spf1 mx a:host.test -all"},
			"ptr.test":     {"v=spf1 ptr -all"},
			"macro.test":   {"v=spf1 exists:%{ir}.%{l}.allow.test -all"},
			"two.test":     {"v=spf1 -all", "v=spf1 +all"},
			"bad.test":     {"v=spf1 ip4:nonsense -all"},
			"dead.test":    {"v=spf1 include:x.servfail.test -all"},
			"hello.test":   {"v=spf1 ip4:192.0.2.1 -all"},
			"missing.test": {"v=spf1 include:nowhere.test -all"},
			"half.test":    {"v=spf1 a -all"},
			"exists.test":  {"v=spf1 exists:half.test -all"},
			"em_1.ip.test": {"v=spf1 ip4:192.0.2.1 -all"},
		},
		ips: map[string][]string{"a.mx.test": {"192.0.2.9", "2001:db8::9"}, "host.test": {"192.0.2.10"}, "half.test": {"192.0.2.5"}, "out.ptr.test": {"192.0.2.1"},
			"1.2.0.192.ann.allow.test": {"127.0.0.2"}},
		mx:  map[string][]world.MX{"mx.test": {{Host: "a.mx.test", Preference: 10}}},
		ptr: map[string][]string{"192.0.2.1": {"out.ptr.test", "elsewhere.test"}},
	}
	for _, c := range []struct {
		ip, hello, from string
		want            spf.Result
		domain          string
	}{
		{"192.0.2.1", "x.test", "ann@ip.test", spf.Pass, "ip.test"},
		{"::ffff:192.0.2.1", "x.test", "ann@ip.test", spf.Pass, "ip.test"},
		{"198.51.100.1", "x.test", "ann@ip.test", spf.Fail, "ip.test"},
		{"2001:db8::7", "x.test", "ann@IP.test", spf.Pass, "ip.test"},
		{"192.0.2.1", "x.test", "ann@em_1.ip.test", spf.Pass, "em_1.ip.test"},
		{"192.0.2.1", "x.test", "\"ann@soft.test\"@ip.test", spf.Pass, "ip.test"},
		{"192.0.2.1", "x.test", "ann@soft.test", spf.SoftFail, "soft.test"},
		{"192.0.2.1", "x.test", "ann@open.test", spf.Neutral, "open.test"},
		{"192.0.2.1", "x.test", "ann@inc.test", spf.Pass, "inc.test"},
		{"192.0.2.1", "x.test", "ann@red.test", spf.Pass, "red.test"},
		{"192.0.2.9", "x.test", "ann@mx.test", spf.Pass, "mx.test"},
		{"192.0.2.10", "x.test", "ann@mx.test", spf.Pass, "mx.test"},
		{"2001:db8::9", "x.test", "ann@mx.test", spf.Pass, "mx.test"},
		{"192.0.2.11", "x.test", "ann@mx.test", spf.Fail, "mx.test"},
		{"192.0.2.1", "x.test", "ann@ptr.test", spf.Pass, "ptr.test"},
		{"192.0.2.2", "x.test", "ann@ptr.test", spf.Fail, "ptr.test"},
		{"192.0.2.1", "x.test", "ann@macro.test", spf.Pass, "macro.test"},
		{"192.0.2.1", "x.test", "bob@macro.test", spf.Fail, "macro.test"},
		{"192.0.2.1", "x.test", "ann@nowhere.test", spf.None, "nowhere.test"},
		{"192.0.2.1", "x.test", "ann@two.test", spf.PermError, "two.test"},
		{"192.0.2.1", "x.test", "ann@bad.test", spf.PermError, "bad.test"},
		{"192.0.2.1", "x.test", "ann@missing.test", spf.PermError, "missing.test"},
		{"192.0.2.1", "x.test", "ann@dead.test", spf.TempError, "dead.test"},
		{"192.0.2.1", "x.test", "ann@servfail.test", spf.TempError, "servfail.test"},
		{"192.0.2.5", "x.test", "ann@half.test", spf.Pass, "half.test"},
		{"192.0.2.6", "x.test", "ann@half.test", spf.Fail, "half.test"},
		{"2001:db8::5", "x.test", "ann@half.test", spf.TempError, "half.test"},
		{"2001:db8::5", "x.test", "ann@exists.test", spf.Pass, "exists.test"},
		{"192.0.2.1", "hello.test", "", spf.Pass, "hello.test"},
		{"192.0.2.2", "hello.test", "", spf.Fail, "hello.test"},
		{"192.0.2.1", "[192.0.2.1]", "", spf.None, ""},
		{"192.0.2.1", "192.0.2.1", "", spf.None, ""},
		{"192.0.2.1", "\x00", "ann@not a name", spf.None, ""},
		{"", "hello.test", "ann@ip.test", spf.None, ""},
	} {
		ip, _ := netip.ParseAddr(c.ip)
		v := spf.Verify(t.Context(), names, spf.Session{IP: ip, Hello: c.hello, From: c.from, Receiver: "mx.us.test"})
		if v.Result != c.want || v.Domain != c.domain || v.ByHello != (c.from == "" && c.domain != "") {
			t.Errorf("%s %q <%s>: %+v, want %s of %q", c.ip, c.hello, c.from, v, c.want, c.domain)
		}
	}
}

func TestPoliciesThatNeverEndAreGivenUp(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string]map[string][]string{
		"redirect to itself": {"loop.test": {"v=spf1 redirect=loop.test"}},
		"two that redirect":  {"loop.test": {"v=spf1 redirect=other.test"}, "other.test": {"v=spf1 redirect=loop.test"}},
		"include of itself":  {"loop.test": {"v=spf1 include:loop.test -all"}},
		"eleven hosts":       {"loop.test": {"v=spf1" + strings.Repeat(" exists:here.test", 11) + " -all"}},
	} {
		asked := 0
		names := records{texts: texts, asked: &asked, ips: map[string][]string{"here.test": {"2001:db8::1"}}}
		v := spf.Verify(t.Context(), names, spf.Session{IP: netip.MustParseAddr("192.0.2.1"), Hello: "x.test", From: "ann@loop.test"})
		if v.Result != spf.PermError || asked > 13 {
			t.Errorf("%s: %+v after %d questions", name, v, asked)
		}
	}
}

func TestAnAddressWithManyNamesIsNotFollowedForEver(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 500 {
		many = append(many, fmt.Sprintf("n%d.test", i))
	}
	asked := 0
	names := records{asked: &asked, texts: map[string][]string{"a.test": {"v=spf1 exists:%{p}.a.test -all"}},
		ptr: map[string][]string{"192.0.2.1": many}}
	v := spf.Verify(t.Context(), names, spf.Session{IP: netip.MustParseAddr("192.0.2.1"), Hello: "x.test", From: "ann@a.test"})
	if v.Result != spf.PermError || asked > 130 {
		t.Errorf("%+v after %d questions", v, asked)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add("v=spf1 a mx ptr include:b.test exists:%{ir}.%{v}.%{d2} redirect=b.test", "x.test", "ann@a.test", "v=spf1 exp=a.test -all")
	f.Add("v=spf1 ip4:1.2.3.4/33 ip6:::/129", "[::1]", "", "")
	f.Add("v=spf1 a:%{s}%{l}%{o}%{d}%{h}%{p}%{c}%{r}%{t}", "\xff", "\"a b\"@a.test", "v=spf1 redirect=a.test")
	f.Fuzz(func(t *testing.T, policy, hello, from, other string) {
		asked := 0
		names := records{asked: &asked, texts: map[string][]string{"a.test": {policy}, "x.test": {policy}, "b.test": {other}},
			ips: map[string][]string{"a.test": {"192.0.2.9"}}, mx: map[string][]world.MX{"a.test": {{Host: "a.test"}}},
			ptr: map[string][]string{"192.0.2.1": {"a.test"}}}
		v := spf.Verify(t.Context(), names, spf.Session{IP: netip.MustParseAddr("192.0.2.1"), Hello: hello, From: from, Receiver: "mx.us.test"})
		if v.Result == "" || asked > 130 {
			t.Fatalf("%+v after %d questions", v, asked)
		}
	})
}
