package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"postrider/world"
)

func (b *box) resolver() world.Resolver { return world.NewResolver([]string{b.DNSAddr()}) }

func TestEveryDomainHasAMailServerOfItsOwn(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	for _, domain := range []string{"example.test", "Gmail.COM", "a.b.c.example.org"} {
		name := strings.ToLower(domain)
		mx, _, err := b.resolver().MX(t.Context(), domain)
		if want := []world.MX{{Host: "mx." + name, Preference: 10}}; err != nil || !slices.Equal(mx, want) {
			t.Errorf("MX of %s: %v, %v", domain, mx, err)
		}
		addrs, _, err := b.resolver().IP(t.Context(), "mx."+name)
		if err != nil || fmt.Sprint(addrs) != "[127.0.0.1]" {
			t.Errorf("IP of mx.%s: %v, %v", name, addrs, err)
		}
		if _, _, err := b.resolver().TXT(t.Context(), domain); !errors.Is(err, world.ErrNoData) {
			t.Errorf("TXT of %s: %v", domain, err)
		}
	}
}

func TestSomeDomainsDoNotBehave(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	for _, prefix := range []string{"", "sub."} {
		mx, _, err := b.resolver().MX(t.Context(), prefix+"nomx.test")
		if err != nil || !slices.Equal(mx, []world.MX{{Host: "."}}) {
			t.Errorf("null MX: %v, %v", mx, err)
		}
		for domain, want := range map[string]error{"nxdomain.test": world.ErrNoName, "servfail.test": world.ErrUnanswered} {
			_, _, mxErr := b.resolver().MX(t.Context(), prefix+domain)
			_, _, ipErr := b.resolver().IP(t.Context(), prefix+domain)
			_, _, txtErr := b.resolver().TXT(t.Context(), prefix+domain)
			for _, err := range []error{mxErr, ipErr, txtErr} {
				if !errors.Is(err, want) {
					t.Errorf("%s%s: %v, want %v", prefix, domain, err, want)
				}
			}
		}
	}
}

func TestTheServiceIsPublished(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	for _, host := range []string{"mx1.", "mx2.", "bounces.", "track."} {
		if addrs, _, err := b.resolver().IP(t.Context(), host+serviceDomain); err != nil || fmt.Sprint(addrs) != "[127.0.0.1]" {
			t.Errorf("%s: %v, %v", host, addrs, err)
		}
	}
	for _, host := range []string{"spf.", "bounces."} {
		texts, _, err := b.resolver().TXT(t.Context(), host+serviceDomain)
		if err != nil || len(texts) != 1 || !strings.HasPrefix(texts[0], "v=spf1 ip4:127.0.0.") {
			t.Errorf("%s: %q, %v", host, texts, err)
		}
	}
	mx, _, err := b.resolver().MX(t.Context(), "bounces."+serviceDomain)
	if err != nil || !slices.Equal(mx, []world.MX{{Host: "mx1." + serviceDomain, Preference: 10}}) {
		t.Errorf("MX: %v, %v", mx, err)
	}
	names, _, err := b.resolver().PTR(t.Context(), netip.MustParseAddr("127.0.0.1"))
	if err != nil || fmt.Sprint(names) != "[mx1."+serviceDomain+"]" {
		t.Errorf("PTR: %v, %v", names, err)
	}
	if _, _, err := b.resolver().PTR(t.Context(), netip.MustParseAddr("192.0.2.1")); !errors.Is(err, world.ErrNoName) {
		t.Errorf("PTR of a stranger: %v", err)
	}
}

func TestWhatIsPublishedWins(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	key := "v=DKIM1; k=rsa; p=" + strings.Repeat("Ab+/", 120) + `"\ü`
	b.put("S1._domainkey.Acme.test.", "txt", key)
	b.put("acme.test", "MX", "20 backup.acme.test", "10 in.acme.test.")
	b.put("in.acme.test", "A", "127.0.0.7")
	b.put("in.acme.test", "AAAA", "::1")

	texts, _, err := b.resolver().TXT(t.Context(), "s1._domainkey.acme.test")
	if err != nil || !slices.Equal(texts, []string{key}) {
		t.Errorf("TXT: %q, %v", texts, err)
	}
	mx, _, err := b.resolver().MX(t.Context(), "acme.test")
	if err != nil || len(mx) != 2 || mx[0].Host != "backup.acme.test" || mx[0].Preference != 20 || mx[1].Host != "in.acme.test" {
		t.Errorf("MX: %v, %v", mx, err)
	}
	addrs, _, err := b.resolver().IP(t.Context(), "in.acme.test")
	if err != nil || fmt.Sprint(addrs) != "[127.0.0.7 ::1]" {
		t.Errorf("IP: %v, %v", addrs, err)
	}
	if _, _, err := b.resolver().MX(t.Context(), "in.acme.test"); !errors.Is(err, world.ErrNoData) {
		t.Errorf("MX of a host with addresses: %v", err)
	}
	for name, want := range map[string]error{
		"_dmarc.acme.test":        world.ErrNoName, // its zone is published, so it is really missing
		"s2._domainkey.acme.test": world.ErrNoName,
		"_domainkey.acme.test":    world.ErrNoData, // names lie under it
		"_dmarc.other.test":       world.ErrNoData, // nobody published anything there
		"www.acme.test":           world.ErrNoData, // it has an address, as every host
		"_dmarc.sub.acme.test":    world.ErrNoName,
		"_dmarc.in.acme.test":     world.ErrNoName,
	} {
		if _, _, err := b.resolver().TXT(t.Context(), name); !errors.Is(err, want) {
			t.Errorf("TXT of %s: %v, want %v", name, err, want)
		}
	}
}

func TestWhatIsWithdrawnIsAsBefore(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	b.put("acme.test", "MX", "10 elsewhere.test")
	b.put("acme.test", "TXT", "hello")

	if answer := b.mustCall("DELETE", "/sandbox/dns?name=ACME.test&type=mx", ""); !strings.Contains(answer, `"deleted":1`) {
		t.Errorf("answer %s", answer)
	}
	mx, _, err := b.resolver().MX(t.Context(), "acme.test")
	if err != nil || mx[0].Host != "mx.acme.test" {
		t.Errorf("MX: %v, %v", mx, err)
	}
	if texts, _, err := b.resolver().TXT(t.Context(), "acme.test"); err != nil || texts[0] != "hello" {
		t.Errorf("the other type: %q, %v", texts, err)
	}
	b.mustCall("DELETE", "/sandbox/dns?name=acme.test", "")
	if _, _, err := b.resolver().TXT(t.Context(), "_dmarc.acme.test"); !errors.Is(err, world.ErrNoData) {
		t.Errorf("a zone without names: %v", err)
	}
}

func TestAnEmptySetSaysThatThereIsNoRecord(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	b.put("bare.test", "MX")
	b.put("bare.test", "A")

	_, _, mxErr := b.resolver().MX(t.Context(), "bare.test")
	_, _, ipErr := b.resolver().IP(t.Context(), "bare.test")

	if !errors.Is(mxErr, world.ErrNoData) || !errors.Is(ipErr, world.ErrNoData) {
		t.Fatalf("MX %v, IP %v", mxErr, ipErr)
	}
}

func TestAliasesAreFollowed(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	b.put("bounce.acme.test", "CNAME", "bounces."+serviceDomain)
	b.put("two.acme.test", "CNAME", "bounce.acme.test")
	b.put("gone.acme.test", "CNAME", "nxdomain.test")
	b.put("self.acme.test", "CNAME", "self.acme.test")

	texts, answer, err := b.resolver().TXT(t.Context(), "two.acme.test")
	if err != nil || !strings.HasPrefix(texts[0], "v=spf1") || answer.Canonical != "bounces."+serviceDomain {
		t.Errorf("TXT: %q, %+v, %v", texts, answer, err)
	}
	mx, _, err := b.resolver().MX(t.Context(), "bounce.acme.test")
	if err != nil || mx[0].Host != "mx1."+serviceDomain {
		t.Errorf("MX: %v, %v", mx, err)
	}
	if target, _, err := b.resolver().CNAME(t.Context(), "two.acme.test"); err != nil || target != "bounce.acme.test" {
		t.Errorf("CNAME: %q, %v", target, err)
	}
	if _, _, err := b.resolver().IP(t.Context(), "gone.acme.test"); !errors.Is(err, world.ErrNoName) {
		t.Errorf("alias to nothing: %v", err)
	}
	if _, _, err := b.resolver().IP(t.Context(), "self.acme.test"); !errors.Is(err, world.ErrUnanswered) {
		t.Errorf("alias to itself: %v", err)
	}
}

func TestLargeAnswersComeOverTCP(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	var values []string
	for i := range 30 {
		values = append(values, fmt.Sprintf("%02d%s", i, strings.Repeat("x", 400)))
	}
	b.put("big.test", "TXT", values...)

	texts, _, err := b.resolver().TXT(t.Context(), "big.test")

	if err != nil || !slices.Equal(texts, values) {
		t.Fatalf("%d texts, %v", len(texts), err)
	}
}

func TestTheStandardResolverUnderstandsTheNameServer(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	b.put("acme.test", "TXT", strings.Repeat("long", 500))
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, b.DNSAddr())
	}}

	texts, err := r.LookupTXT(t.Context(), "acme.test.")
	if err != nil || len(texts) != 1 || len(texts[0]) != 2000 {
		t.Errorf("TXT: %d, %v", len(texts), err)
	}
	mx, err := r.LookupMX(t.Context(), "example.test.")
	if err != nil || len(mx) != 1 || mx[0].Host != "mx.example.test." {
		t.Errorf("MX: %v, %v", mx, err)
	}
	hosts, err := r.LookupHost(t.Context(), "mx.example.test.")
	if err != nil || !slices.Equal(hosts, []string{"127.0.0.1"}) {
		t.Errorf("host: %v, %v", hosts, err)
	}
	var missing *net.DNSError
	if _, err := r.LookupHost(t.Context(), "nxdomain.test."); !errors.As(err, &missing) || !missing.IsNotFound {
		t.Errorf("missing: %v", err)
	}
	var trouble *net.DNSError
	if _, err := r.LookupHost(t.Context(), "servfail.test."); !errors.As(err, &trouble) || !trouble.IsTemporary {
		t.Errorf("trouble: %v", err)
	}
}
