package tlspolicy_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"

	"postrider/mail/dane"
	"postrider/mail/dane/danetest"
	"postrider/mail/mtasts"
	"postrider/mail/tlspolicy"
)

// peers are mail servers with every kind of certificate.
type peers struct {
	authority *danetest.Authority
	by        map[string]tls.Certificate
}

func newPeers(t *testing.T) peers {
	known, unknown := danetest.NewAuthority(t), danetest.NewAuthority(t)
	return peers{authority: known, by: map[string]tls.Certificate{
		"good":       known.Issue(t, "mx.acme.test", danetest.FarAhead),
		"expired":    known.Issue(t, "mx.acme.test", danetest.Expired),
		"wrong name": known.Issue(t, "acme.test", danetest.FarAhead), // of the domain, not of the server
		"unknown":    unknown.Issue(t, "mx.acme.test", danetest.FarAhead),
	}}
}

func TestWhichServersALevelAccepts(t *testing.T) {
	t.Parallel()
	p := newPeers(t)
	only := func(name string) dane.Promise { return promise(danetest.Record(3, 1, 1, p.by[name].Leaf)) }
	for name, test := range map[string]struct {
		change   func(*tlspolicy.Facts)
		accepted map[string]tlspolicy.Protection
	}{
		"opportunistic": {func(*tlspolicy.Facts) {}, map[string]tlspolicy.Protection{"good": tlspolicy.Encrypted, "expired": tlspolicy.Encrypted,
			"wrong name": tlspolicy.Encrypted, "unknown": tlspolicy.Encrypted}},
		"required": {func(f *tlspolicy.Facts) { f.Demand = tlspolicy.DemandEncryption }, map[string]tlspolicy.Protection{"good": tlspolicy.Encrypted,
			"expired": tlspolicy.Encrypted, "wrong name": tlspolicy.Encrypted, "unknown": tlspolicy.Encrypted}},
		"certificate required": {func(f *tlspolicy.Facts) { f.Demand = tlspolicy.DemandCertificate }, map[string]tlspolicy.Protection{"good": tlspolicy.Verified}},
		"policy":               {func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Enforce, "*.acme.test") }, map[string]tlspolicy.Protection{"good": tlspolicy.Verified}},
		"policy for others":    {func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Enforce, "mx.other.test") }, nil},
		"testing": {func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Testing, "*.acme.test") }, map[string]tlspolicy.Protection{"good": tlspolicy.Verified,
			"expired": tlspolicy.Encrypted, "wrong name": tlspolicy.Encrypted, "unknown": tlspolicy.Encrypted}},
		"promise":         {func(f *tlspolicy.Facts) { f.DANE = only("unknown") }, map[string]tlspolicy.Protection{"unknown": tlspolicy.Verified}},
		"expired promise": {func(f *tlspolicy.Facts) { f.DANE = only("expired") }, map[string]tlspolicy.Protection{"expired": tlspolicy.Verified}},
		"unusable promise": {func(f *tlspolicy.Facts) { f.DANE = unusable }, map[string]tlspolicy.Protection{"good": tlspolicy.Encrypted, "expired": tlspolicy.Encrypted,
			"wrong name": tlspolicy.Encrypted, "unknown": tlspolicy.Encrypted}},
		"unusable promise for a strict sender": {func(f *tlspolicy.Facts) { f.DANE, f.Demand = unusable, tlspolicy.DemandCertificate },
			map[string]tlspolicy.Protection{"good": tlspolicy.Verified}},
		"promise for a strict sender": {func(f *tlspolicy.Facts) {
			f.DANE, f.Demand = only("unknown"), tlspolicy.DemandCertificate
		}, map[string]tlspolicy.Protection{"unknown": tlspolicy.Verified}},
		"promise and policy": {func(f *tlspolicy.Facts) { f.DANE, f.STS = only("good"), policy(mtasts.Enforce, "*.acme.test") },
			map[string]tlspolicy.Protection{"good": tlspolicy.Verified}},
		"promise against policy": {func(f *tlspolicy.Facts) { f.DANE, f.STS = only("unknown"), policy(mtasts.Enforce, "*.acme.test") }, nil},
		"a report": {func(f *tlspolicy.Facts) {
			f.DANE, f.STS, f.Demand = only("good"), policy(mtasts.Enforce, "*.acme.test"), tlspolicy.DemandDelivery
		}, map[string]tlspolicy.Protection{"good": tlspolicy.Verified, "expired": tlspolicy.Encrypted, "wrong name": tlspolicy.Encrypted, "unknown": tlspolicy.Encrypted}},
	} {
		f := facts()
		f.Roots = p.authority.Pool()
		test.change(&f)
		d := tlspolicy.Decide(f)
		for peer, certificate := range p.by {
			state, err := connect(t, d, certificate)
			want, accepted := test.accepted[peer]
			switch {
			case accepted && (err != nil || d.Reached(state) != want || d.Accepts(state) != nil):
				t.Errorf("%s: %s server: %v", name, peer, err)
			case !accepted && err == nil:
				t.Errorf("%s: %s server was accepted", name, peer)
			}
			var failed *tlspolicy.CheckError
			if !accepted && !errors.As(err, &failed) {
				t.Errorf("%s: %s server: %v", name, peer, err)
			}
		}
	}
}

func TestACertificateMayBeSignedByAnAuthorityBelowAKnownOne(t *testing.T) {
	t.Parallel()
	known := danetest.NewAuthority(t)
	f := facts()
	f.Roots, f.STS = known.Pool(), policy(mtasts.Enforce, "mx.acme.test")
	if _, err := connect(t, tlspolicy.Decide(f), known.Under(t).Issue(t, "mx.acme.test", danetest.FarAhead)); err != nil {
		t.Error(err)
	}
}

func TestBrokenVersionsOfTLSAreNotSpoken(t *testing.T) {
	t.Parallel()
	if version := tlspolicy.Decide(facts()).Config().MinVersion; version != tls.VersionTLS12 { // RFC 8996 ends the older ones
		t.Errorf("from %s on", tls.VersionName(version))
	}
}

func TestAnOpenConnectionIsHeldAgainstTheNextDecision(t *testing.T) {
	t.Parallel()
	p := newPeers(t)
	f := facts()
	f.Roots = p.authority.Pool()
	first := tlspolicy.Decide(f)
	good, err := connect(t, first, p.by["good"])
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := connect(t, first, p.by["unknown"])
	if err != nil {
		t.Fatal(err)
	}
	f.STS = policy(mtasts.Enforce, "mx.acme.test")
	next := tlspolicy.Decide(f)
	if err := next.Accepts(good); err != nil {
		t.Errorf("good: %v", err)
	}
	if err := next.Accepts(unknown); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("unknown: %v", err)
	}
	if err := next.Accepts(nil); !errors.Is(err, tlspolicy.ErrNotEncrypted) {
		t.Errorf("clear text: %v", err)
	}
	f.STS = policy(mtasts.Enforce, "mx.other.test")
	if err := tlspolicy.Decide(f).Accepts(good); !errors.Is(err, tlspolicy.ErrHostNotListed) {
		t.Errorf("unlisted: %v", err)
	}
}

func TestWhatIsProvenNeedNotBeProvenAgain(t *testing.T) {
	t.Parallel()
	p := newPeers(t)
	kinds := map[string]func(*tlspolicy.Facts){
		"opportunistic":  func(*tlspolicy.Facts) {},
		"testing":        func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Testing, "mx.acme.test") },
		"required":       func(f *tlspolicy.Facts) { f.Demand = tlspolicy.DemandEncryption },
		"certificate":    func(f *tlspolicy.Facts) { f.Demand = tlspolicy.DemandCertificate },
		"policy":         func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Enforce, "mx.acme.test") },
		"wider policy":   func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Enforce, "*.acme.test") },
		"others' policy": func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Enforce, "other.test") },
		"promise":        func(f *tlspolicy.Facts) { f.DANE = promise(danetest.Record(3, 1, 1, p.by["unknown"].Leaf)) },
		"other server":   func(f *tlspolicy.Facts) { f.Host = "mx2.acme.test" },
		"authority": func(f *tlspolicy.Facts) { // promised by a server for a domain whose own name its certificate may bear
			f.DANE = promise(danetest.Record(2, 0, 1, p.authority.Certificate))
			f.DANE.Names = append(f.DANE.Names, "acme.test")
		},
		"authority, other domain": func(f *tlspolicy.Facts) {
			f.Domain, f.DANE = "other.test", promise(danetest.Record(2, 0, 1, p.authority.Certificate))
			f.DANE.Names = append(f.DANE.Names, "other.test")
		},
	}
	decisions := map[string]tlspolicy.Decision{}
	for name, change := range kinds {
		f := facts()
		f.Roots = p.authority.Pool()
		change(&f)
		decisions[name] = tlspolicy.Decide(f)
	}
	states := []*tls.ConnectionState{nil}
	for _, certificate := range p.by {
		state, err := connect(t, decisions["opportunistic"], certificate)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, state)
	}
	for before, d := range decisions {
		if want := d.Refusal == nil; d.Implies(d) != want {
			t.Errorf("%s implies itself: %v", before, !want)
		}
		for after, next := range decisions {
			for _, state := range states {
				if d.Implies(next) && d.Accepts(state) == nil && next.Accepts(state) != nil {
					t.Errorf("%s is said to imply %s: %v", before, after, next.Accepts(state))
				}
			}
		}
	}
	for _, pair := range [][2]string{{"policy", "required"}, {"policy", "opportunistic"}, {"promise", "required"}, {"opportunistic", "testing"}} {
		if !decisions[pair[0]].Implies(decisions[pair[1]]) {
			t.Errorf("%s does not imply %s", pair[0], pair[1])
		}
	}
	if decisions["opportunistic"].Implies(decisions["other server"]) {
		t.Error("one server vouches for another")
	}
}

func TestTheDatesOfACertificateAreHeldAgainstTheGivenTime(t *testing.T) {
	t.Parallel()
	p := newPeers(t)
	f := facts()
	f.Roots, f.STS = p.authority.Pool(), policy(mtasts.Enforce, "mx.acme.test")
	for days, want := range map[int]bool{-1: true, 1: false} {
		f.Now = danetest.Expired.AddDate(0, 0, days)
		if _, err := connect(t, tlspolicy.Decide(f), p.by["expired"]); (err == nil) != want {
			t.Errorf("%d days after its end: %v", days, err)
		}
	}
}

func TestAConnectionWithoutCertificateProvesNothing(t *testing.T) {
	t.Parallel()
	f := facts()
	f.Demand = tlspolicy.DemandCertificate
	d := tlspolicy.Decide(f)
	if d.Verify(tls.ConnectionState{}) == nil || d.Verified(tls.ConnectionState{}) {
		t.Error("it was accepted")
	}
}
