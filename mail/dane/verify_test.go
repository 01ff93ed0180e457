package dane_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"testing"

	"github.com/mjl-/adns"
	moxdane "github.com/mjl-/mox/dane"
	moxdns "github.com/mjl-/mox/dns"

	"postrider/mail/dane"
	"postrider/mail/dane/danetest"
	"postrider/world"
)

func TestAPromisedCertificateIsAcceptedWhateverItsNameAndDates(t *testing.T) {
	t.Parallel()
	authority := danetest.NewAuthority(t)
	for name, certificate := range map[string]tls.Certificate{
		"good":       authority.Issue(t, "mx.acme.test", danetest.FarAhead),
		"expired":    authority.Issue(t, "mx.acme.test", danetest.Expired),
		"wrong name": authority.Issue(t, "other.test", danetest.FarAhead),
	} {
		state := handshake(t, certificate)
		for _, selector := range []uint8{0, 1} {
			for _, matching := range []uint8{0, 1, 2} {
				p := promise(t, danetest.Record(3, selector, matching, certificate.Leaf))
				if err := p.Verify(state, now); err != nil {
					t.Errorf("%s, 3 %d %d: %v", name, selector, matching, err)
				}
			}
		}
	}
}

func TestAPromisedAuthorityMustSignAValidCertificateForTheServer(t *testing.T) {
	t.Parallel()
	authority := danetest.NewAuthority(t)
	for name, test := range map[string]struct {
		certificate tls.Certificate
		want        any // what kind of error, or nil
	}{
		"good":               {authority.Issue(t, "mx.acme.test", danetest.FarAhead), nil},
		"the domain's name":  {authority.Issue(t, "acme.test", danetest.FarAhead), nil},
		"expired":            {authority.Issue(t, "mx.acme.test", danetest.Expired), new(x509.CertificateInvalidError)},
		"wrong name":         {authority.Issue(t, "other.test", danetest.FarAhead), new(x509.HostnameError)},
		"name of a neighbor": {authority.Issue(t, "mx2.acme.test", danetest.FarAhead), new(x509.HostnameError)},
	} {
		state := handshake(t, test.certificate)
		for _, selector := range []uint8{0, 1} {
			for _, matching := range []uint8{0, 1, 2} {
				err := promise(t, danetest.Record(2, selector, matching, authority.Certificate)).Verify(state, now)
				if test.want == nil && err != nil || test.want != nil && (!errors.Is(err, dane.ErrMismatch) || !errors.As(err, test.want)) {
					t.Errorf("%s, 2 %d %d: %v", name, selector, matching, err)
				}
			}
		}
	}
}

func TestAnAuthorityNeedNotBeSentIfTheRecordHoldsIt(t *testing.T) {
	t.Parallel()
	authority := danetest.NewAuthority(t)
	certificate := authority.Issue(t, "mx.acme.test", danetest.FarAhead)
	certificate.Certificate = certificate.Certificate[:1]
	state := handshake(t, certificate)
	if err := promise(t, danetest.Record(2, 0, 0, authority.Certificate)).Verify(state, now); err != nil {
		t.Errorf("whole certificate: %v", err)
	}
	if err := promise(t, danetest.Record(2, 0, 1, authority.Certificate)).Verify(state, now); !errors.Is(err, dane.ErrMismatch) {
		t.Errorf("hash of one that was not sent: %v", err)
	}
}

func TestAnAuthorityMayVouchThroughAnother(t *testing.T) {
	t.Parallel()
	authority := danetest.NewAuthority(t)
	state := handshake(t, authority.Under(t).Issue(t, "mx.acme.test", danetest.FarAhead))
	if err := promise(t, danetest.Record(2, 0, 0, authority.Certificate)).Verify(state, now); err != nil {
		t.Error(err)
	}
}

func TestAnotherCertificateIsRefused(t *testing.T) {
	t.Parallel()
	authority, stranger := danetest.NewAuthority(t), danetest.NewAuthority(t)
	promised := authority.Issue(t, "mx.acme.test", danetest.FarAhead)
	state := handshake(t, stranger.Issue(t, "mx.acme.test", danetest.FarAhead))
	for _, record := range []world.TLSA{
		danetest.Record(3, 1, 1, promised.Leaf), danetest.Record(3, 0, 2, promised.Leaf),
		danetest.Record(2, 0, 1, authority.Certificate), danetest.Record(2, 0, 0, authority.Certificate),
		danetest.Record(3, 0, 1, stranger.Certificate), // the authority is not the server
	} {
		if err := promise(t, record).Verify(state, now); !errors.Is(err, dane.ErrMismatch) {
			t.Errorf("%d %d %d: %v", record.Usage, record.Selector, record.Matching, err)
		}
	}
	if err := promise(t, danetest.Record(3, 1, 1, promised.Leaf), danetest.Record(2, 1, 1, stranger.Certificate)).Verify(state, now); err != nil {
		t.Errorf("the second of two records matches: %v", err)
	}
}

func TestWhatPromisesNothingProvesNothing(t *testing.T) {
	t.Parallel()
	certificate := danetest.NewAuthority(t).Issue(t, "mx.acme.test", danetest.FarAhead)
	state := tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate.Leaf}}
	kept := promise(t, danetest.Record(3, 1, 1, certificate.Leaf))
	nameless := dane.Promise{State: dane.Usable, Records: []world.TLSA{danetest.Record(2, 0, 1, certificate.Leaf)}}
	for name, err := range map[string]error{
		"absent":         dane.Promise{State: dane.Absent, Records: kept.Records}.Verify(state, now),
		"unusable":       promise(t, world.TLSA{Usage: 1}).Verify(state, now),
		"no certificate": kept.Verify(tls.ConnectionState{}, now),
		"no name":        nameless.Verify(state, now),
	} {
		if !errors.Is(err, dane.ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := kept.Verify(state, now); err != nil {
		t.Errorf("kept: %v", err)
	}
}

func TestTheDatesOfACertificateAreHeldAgainstTheGivenTime(t *testing.T) {
	t.Parallel()
	authority := danetest.NewAuthority(t)
	state := handshake(t, authority.Issue(t, "mx.acme.test", danetest.Expired))
	p := promise(t, danetest.Record(2, 1, 1, authority.Certificate))
	if err := p.Verify(state, danetest.Expired.AddDate(0, 0, -1)); err != nil {
		t.Errorf("the day before: %v", err)
	}
	if err := p.Verify(state, danetest.Expired.AddDate(0, 0, 1)); err == nil {
		t.Error("accepted the day after")
	}
}

// Another implementation must come to the same verdict on every kind of record and certificate.
func TestAnotherImplementationAgrees(t *testing.T) {
	t.Parallel()
	authority, stranger := danetest.NewAuthority(t), danetest.NewAuthority(t)
	certificates := map[string]tls.Certificate{
		"good":       authority.Issue(t, "mx.acme.test", danetest.FarAhead),
		"by domain":  authority.Issue(t, "acme.test", danetest.FarAhead),
		"expired":    authority.Issue(t, "mx.acme.test", danetest.Expired),
		"wrong name": authority.Issue(t, "other.test", danetest.FarAhead),
		"stranger's": stranger.Issue(t, "mx.acme.test", danetest.FarAhead),
	}
	verdicts := map[bool]int{}
	for name, certificate := range certificates {
		state := handshake(t, certificate)
		for i := range 2 * 2 * 3 * 3 {
			usage, selector, matching := uint8(2+i%2), uint8(i/2%2), uint8(i/4%3)
			record := danetest.Record(usage, selector, matching, []*x509.Certificate{certificate.Leaf, authority.Certificate, stranger.Certificate}[i/12])
			theirs, _, _ := moxdane.Verify(nil, []adns.TLSA{{Usage: adns.TLSAUsage(usage), Selector: adns.TLSASelector(selector),
				MatchType: adns.TLSAMatchType(matching), CertAssoc: record.Data}}, state, moxdns.Domain{ASCII: "mx.acme.test"}, []moxdns.Domain{{ASCII: "acme.test"}}, nil)
			ours := promise(t, record).Verify(state, now)
			if (ours == nil) != theirs {
				t.Errorf("%s: we say %v, they say %v", fmt.Sprint(name, " ", usage, selector, matching, " ", i/12), ours, theirs)
			}
			verdicts[theirs]++
		}
	}
	if verdicts[true] < 30 || verdicts[false] < 30 {
		t.Errorf("the cases prove too little: %v", verdicts)
	}
}

func FuzzRecordsOfStrangersNeverVouchForAServer(f *testing.F) {
	authority := danetest.NewAuthority(f)
	certificate := authority.Issue(f, "mx.acme.test", danetest.FarAhead)
	state := tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate.Leaf}}
	stranger := danetest.NewAuthority(f).Certificate
	f.Add(uint8(3), uint8(1), uint8(1), []byte("short"))
	f.Add(uint8(2), uint8(0), uint8(0), stranger.Raw)
	f.Add(uint8(2), uint8(1), uint8(0), stranger.RawSubjectPublicKeyInfo)
	f.Fuzz(func(t *testing.T, usage, selector, matching uint8, data []byte) {
		p := promise(t, world.TLSA{Usage: usage, Selector: selector, Matching: matching, Data: data})
		if err := p.Verify(state, now); err == nil {
			t.Fatalf("%d %d %d %x", usage, selector, matching, data)
		}
	})
}
