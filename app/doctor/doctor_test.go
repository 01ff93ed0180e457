package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/app/doctor"
	"postrider/product/inbound"
)

// examine returns the findings by check; of several the worst counts.
func examine(t *testing.T, change func(*doctor.Patient)) map[string]string {
	t.Helper()
	in := apptest.New(t, "sqlite")
	p := doctor.Patient{Dir: t.TempDir(), Domain: "mail.postrider.test", Hello: "mx1.mail.postrider.test", Database: in.App.DB.Ping,
		Reports: func(context.Context) (inbound.Digest, error) {
			return inbound.Digest{DMARCReports: 2, Messages: 200, Passed: 200, TLSReports: 1, Sessions: 100}, nil
		}}
	change(&p)
	found := map[string]string{}
	for _, f := range doctor.Examine(t.Context(), in.App.World, p) {
		if !strings.HasSuffix(f.Message, ".") {
			t.Errorf("not a sentence: %+v", f)
		}
		if found[f.Check] == "" || f.Status != "ok" {
			found[f.Check] = string(f.Status)
		}
	}
	return found
}

func TestAHealthyInstallationIsToldSo(t *testing.T) {
	t.Parallel()
	want := "map[advised:warning certificate:warning database:ok disk:ok dmarc reports:ok name:ok records:ok reverse name:ok spf:ok tls reports:ok]"
	if got := fmt.Sprint(examine(t, func(*doctor.Patient) {})); got != want {
		t.Errorf("%s", got)
	}
}

func TestEveryIllnessIsFound(t *testing.T) {
	t.Parallel()
	for check, change := range map[string]func(*doctor.Patient){
		"disk":        func(p *doctor.Patient) { p.Dir += "/missing" },
		"database":    func(p *doctor.Patient) { p.Database = func(context.Context) error { return errors.New("it is away") } },
		"bucket":      func(p *doctor.Patient) { p.Bucket = func(context.Context) error { return errors.New("access denied") } },
		"certificate": func(p *doctor.Patient) { p.Certificate = p.Dir + "/missing.pem" },
		"dmarc reports": func(p *doctor.Patient) {
			p.Reports = reporting(inbound.Digest{DMARCReports: 1, Messages: 100, Passed: 90})
		},
		"tls reports": func(p *doctor.Patient) {
			p.Reports = reporting(inbound.Digest{TLSReports: 1, Sessions: 100, Failed: 2})
		},
		"server": func(p *doctor.Patient) { p.Inside = being(doctor.Inside{}) },
		"blobs":  func(p *doctor.Patient) { p.Inside = being(doctor.Inside{Live: 2, FileBlobs: true}) },
		"copy":   func(p *doctor.Patient) { p.Inside = being(doctor.Inside{Copied: true}) },
		"queue": func(p *doctor.Patient) {
			p.Inside = being(doctor.Inside{Live: 1, Ready: 3, Oldest: time.Now().Add(-time.Hour)})
		},
		"domains": func(p *doctor.Patient) {
			p.Inside = being(doctor.Inside{Live: 1, Failing: []doctor.FailingDomain{{Name: "shop.test", Problem: "no SPF record", Publish: "Publish: it"}}})
		},
		"records": func(p *doctor.Patient) { p.Domain = "elsewhere.test" },
		"port":    func(p *doctor.Patient) { p.Probe, p.Port = "nowhere.invalid", 25 },
	} {
		t.Run(check, func(t *testing.T) {
			t.Parallel()
			if got := examine(t, change)[check]; got != "failure" && got != "warning" {
				t.Errorf("%s: %q", check, got)
			}
		})
	}
}

func being(in doctor.Inside) func(context.Context) (doctor.Inside, error) {
	return func(context.Context) (doctor.Inside, error) { return in, nil }
}

func TestAFindingNamesTheRecordThatMendsIt(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mends := map[string]bool{}
	for _, f := range doctor.Examine(t.Context(), in.App.World, doctor.Patient{Domain: "elsewhere.test", Hello: "mx1.mail.postrider.test"}) {
		if f.Status == "failure" && f.Mend == "" {
			t.Errorf("what to do about it? %+v", f)
		}
		mends[f.Mend] = true
	}
	for _, want := range []string{"Publish: bounces.elsewhere.test. MX 10 mx1.elsewhere.test.", `Publish: bounces.elsewhere.test. TXT "v=spf1 ip4:127.0.0.1 -all"`,
		"Publish: elsewhere.test. MX 10 mx1.elsewhere.test.", `Publish: _smtp._tls.elsewhere.test. TXT "v=TLSRPTv1; rua=mailto:tlsrpt@elsewhere.test"`} {
		if !mends[want] {
			t.Errorf("%s is not said, but %v", want, mends)
		}
	}
}

func TestAnAddressThatIsNotKnownIsLeftToBeFilledIn(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mends := map[string]bool{}
	for _, f := range doctor.Examine(t.Context(), in.App.World, doctor.Patient{Domain: "elsewhere.test", Hello: "mx1.nxdomain.test"}) {
		if strings.Contains(f.Mend, "ip4:0.0.0.0") || strings.Contains(f.Mend, "v=spf1 -all") {
			t.Errorf("nobody could send: %+v", f)
		}
		mends[f.Mend] = true
	}
	for _, want := range []string{`Publish: bounces.elsewhere.test. TXT "v=spf1 ip4:<public address of this machine> -all"`,
		`Publish: spf.elsewhere.test. TXT "v=spf1 ip4:<public address of this machine> -all"`, "Publish: mx1.nxdomain.test. A <public address of this machine>"} {
		if !mends[want] {
			t.Errorf("%s is not said, but %v", want, mends)
		}
	}
}

func TestRecordsAreNotCalledWrongWhenOurAddressIsNotKnown(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, f := range doctor.Examine(t.Context(), in.App.World, doctor.Patient{Domain: "mail.postrider.test", Hello: "mx1.nxdomain.test"}) {
		if strings.HasPrefix(f.Message, "The TXT record of ") {
			t.Errorf("%+v", f)
		}
	}
}

func reporting(d inbound.Digest) func(context.Context) (inbound.Digest, error) {
	return func(context.Context) (inbound.Digest, error) { return d, nil }
}
