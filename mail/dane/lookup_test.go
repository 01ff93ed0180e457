package dane_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postrider/mail/dane"
	"postrider/world"
)

var hash = world.TLSA{Usage: 3, Selector: 1, Matching: 1, Data: []byte(strings.Repeat("h", 32))}

func TestAPromiseCountsOnlyIfTheWholeWayToItIsSigned(t *testing.T) {
	t.Parallel()
	const own, target = "_25._tcp.mx.acme.test", "_25._tcp.edge.host.test"
	behindAlias := func(s *dane.Server, z zone) {
		s.Addresses.Canonical, z.aliases["mx.acme.test"] = "edge.host.test", "edge.host.test"
	}
	for name, test := range map[string]struct {
		change func(*dane.Server, zone)
		state  dane.State
		base   string
		asked  []string
	}{
		"all signed":             {func(*dane.Server, zone) {}, dane.Usable, "mx.acme.test", []string{own}},
		"MX records not signed":  {func(s *dane.Server, _ zone) { s.MX.Authentic = false }, dane.Absent, "", nil},
		"addresses not signed":   {func(s *dane.Server, _ zone) { s.Addresses.Authentic = false }, dane.Absent, "", nil},
		"promise not signed":     {func(_ *dane.Server, z zone) { z.signed[own] = false }, dane.Absent, "", []string{own}},
		"no promise, signed":     {func(_ *dane.Server, z zone) { z.records[own] = []world.TLSA{} }, dane.Absent, "", []string{own}},
		"no promise":             {func(_ *dane.Server, z zone) { delete(z.records, own) }, dane.Absent, "", []string{own}},
		"addresses without name": {func(s *dane.Server, _ zone) { s.Addresses.Canonical = "" }, dane.Usable, "mx.acme.test", []string{own}},
		"signed alias with a promise": {func(s *dane.Server, z zone) {
			behindAlias(s, z)
			z.records[target], z.signed[target] = []world.TLSA{hash}, true
		}, dane.Usable, "edge.host.test", []string{target}},
		"signed alias without": {behindAlias, dane.Usable, "mx.acme.test", []string{target, own}},
		"alias out of the signed part": {func(s *dane.Server, z zone) {
			behindAlias(s, z)
			s.Addresses.Authentic, z.signed["mx.acme.test"] = false, true
		}, dane.Usable, "mx.acme.test", []string{"mx.acme.test", own}},
		"alias that is not signed": {func(s *dane.Server, z zone) {
			behindAlias(s, z)
			s.Addresses.Authentic = false
		}, dane.Absent, "", []string{"mx.acme.test"}},
		"other port": {func(s *dane.Server, z zone) { s.Port = 2525 }, dane.Absent, "", []string{"_2525._tcp.mx.acme.test"}},
	} {
		s, z := server(), newZone()
		z.records[own], z.signed[own] = []world.TLSA{hash}, true
		test.change(&s, z)

		p, err := dane.Lookup(t.Context(), z, s)

		if err != nil || p.State != test.state || p.Base != test.base || !cmp.Equal(*z.asked, test.asked) {
			t.Errorf("%s: %+v, %v, asked %q", name, p, err, *z.asked)
		}
	}
}

func TestSilenceAboutAPromiseIsNoPermission(t *testing.T) {
	t.Parallel()
	for _, silent := range []string{"_25._tcp.mx.acme.test", "_25._tcp.edge.host.test", "mx.acme.test"} {
		s, z := server(), newZone()
		z.silent[silent] = true
		if silent != "_25._tcp.mx.acme.test" {
			s.Addresses.Canonical = "edge.host.test"
		}
		s.Addresses.Authentic = silent != "mx.acme.test"
		if p, err := dane.Lookup(t.Context(), z, s); !errors.Is(err, world.ErrUnanswered) {
			t.Errorf("%s: %+v, %v", silent, p, err)
		}
	}
}

func TestAQuestionThatWasGivenUpIsNoPermission(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"_25._tcp.mx.acme.test", "mx.acme.test"} {
		s, z := server(), newZone()
		z.broken[name] = context.DeadlineExceeded
		if name == "mx.acme.test" { // the alias is asked about where the addresses are not signed
			s.Addresses.Authentic, s.Addresses.Canonical = false, "edge.host.test"
		}
		if p, err := dane.Lookup(t.Context(), z, s); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestAResolverThatCannotBeAskedMeansNoPromise(t *testing.T) {
	t.Parallel()
	if p, err := dane.Lookup(t.Context(), struct{ world.Resolver }{}, server()); err != nil || p.State != dane.Absent {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestOnlyRecordsForMailThatCanBeCheckedAreUsable(t *testing.T) {
	t.Parallel()
	hash512 := world.TLSA{Usage: 3, Selector: 1, Matching: 2, Data: []byte(strings.Repeat("h", 64))}
	with := func(change func(*world.TLSA)) world.TLSA {
		r := hash
		change(&r)
		return r
	}
	anchor := with(func(r *world.TLSA) { r.Usage = 2 })
	for name, test := range map[string]struct {
		records []world.TLSA
		want    []world.TLSA
	}{
		"the server's":                   {[]world.TLSA{hash}, []world.TLSA{hash}},
		"an authority's":                 {[]world.TLSA{anchor}, []world.TLSA{anchor}},
		"browsers' usages":               {[]world.TLSA{with(func(r *world.TLSA) { r.Usage = 0 }), with(func(r *world.TLSA) { r.Usage = 1 })}, nil},
		"unknown usage":                  {[]world.TLSA{with(func(r *world.TLSA) { r.Usage = 4 })}, nil},
		"unknown selector":               {[]world.TLSA{with(func(r *world.TLSA) { r.Selector = 2 })}, nil},
		"unknown hash":                   {[]world.TLSA{with(func(r *world.TLSA) { r.Matching = 3 })}, nil},
		"short hash":                     {[]world.TLSA{with(func(r *world.TLSA) { r.Data = r.Data[1:] })}, nil},
		"hash of the other kind":         {[]world.TLSA{with(func(r *world.TLSA) { r.Matching = 2 })}, nil},
		"no certificate":                 {[]world.TLSA{with(func(r *world.TLSA) { r.Selector, r.Matching = 0, 0 })}, nil},
		"no key":                         {[]world.TLSA{with(func(r *world.TLSA) { r.Matching = 0 })}, nil},
		"nothing":                        {[]world.TLSA{with(func(r *world.TLSA) { r.Matching, r.Data = 0, nil })}, nil},
		"one of two":                     {[]world.TLSA{with(func(r *world.TLSA) { r.Usage = 1 }), hash}, []world.TLSA{hash}},
		"the stronger hash":              {[]world.TLSA{hash, hash512}, []world.TLSA{hash512}},
		"a stronger one of another kind": {[]world.TLSA{anchor, hash512}, []world.TLSA{anchor, hash512}},
		"a stronger one of the other form": {[]world.TLSA{with(func(r *world.TLSA) { r.Selector = 0 }), hash512},
			[]world.TLSA{with(func(r *world.TLSA) { r.Selector = 0 }), hash512}},
		"more than anybody needs": {slices.Repeat([]world.TLSA{hash}, 65), slices.Repeat([]world.TLSA{hash}, 64)},
	} {
		state := dane.Usable
		if test.want == nil {
			state = dane.Unusable
		}
		if p := promise(t, test.records...); p.State != state || p.Base != "mx.acme.test" || !cmp.Equal(p.Records, test.want) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestACertificateMayBearEveryNameOnTheSignedWay(t *testing.T) {
	t.Parallel()
	z := newZone()
	z.records["_25._tcp.edge.host.test"], z.signed["_25._tcp.edge.host.test"] = []world.TLSA{hash}, true
	p, err := dane.Lookup(t.Context(), z, dane.Server{Domain: "Acme.test.", MX: world.Answer{Authentic: true, Canonical: "mail.acme.test"},
		Host: "mx.acme.test", Addresses: world.Answer{Authentic: true, Canonical: "edge.host.test"}, Port: 25})
	if want := []string{"edge.host.test", "mx.acme.test", "acme.test", "mail.acme.test"}; err != nil || !cmp.Equal(p.Names, want) {
		t.Errorf("%q, %v", p.Names, err)
	}
	if want := []string{"3 1 1 " + strings.Repeat("68", 32)}; !cmp.Equal(p.Strings(), want) {
		t.Errorf("records %q", p.Strings())
	}
}
