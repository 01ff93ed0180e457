package tlsrpt_test

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	moxtlsrpt "github.com/mjl-/mox/tlsrpt"
	"pgregory.net/rapid"

	"postrider/mail/address"
	"postrider/mail/report"
	"postrider/mail/tlsrpt"
)

var (
	wished  = tlsrpt.Policy{Type: tlsrpt.STS, Domain: "acme.test", Lines: []string{"version: STSv1", "mode: testing"}, Hosts: []string{"*.acme.test"}}
	expired = tlsrpt.Failure{Result: tlsrpt.CertificateExpired, SendingIP: "192.0.2.1", MXHost: "mx.acme.test", MXIP: "192.0.2.9"}
	by      = tlsrpt.Submitter{Organization: "Sender & Söhne", Domain: "sender.test", Contact: "postmaster@sender.test"}
)

func dayOf(sessions ...tlsrpt.Session) tlsrpt.Day {
	d := tlsrpt.Day{Key: tlsrpt.Key{Domain: "acme.test", Date: "2026-11-15"}}
	for _, s := range sessions {
		d.Add(s)
	}
	return d
}

func TestSessionsAreCountedByPolicyAndFailure(t *testing.T) {
	t.Parallel()
	good, bad := tlsrpt.Session{Policy: wished}, tlsrpt.Session{Policy: wished, Failure: &expired}
	other := tlsrpt.Session{Policy: tlsrpt.Policy{Type: tlsrpt.NoPolicy, Domain: "acme.test"}, Failure: &tlsrpt.Failure{Result: tlsrpt.NotOffered}}
	want := []tlsrpt.Tally{
		{Policy: wished, Successful: 2, Failed: 2, Failures: []tlsrpt.Count{{Failure: expired, Sessions: 2}}},
		{Policy: other.Policy, Failed: 1, Failures: []tlsrpt.Count{{Failure: *other.Failure, Sessions: 1}}},
	}
	if d := dayOf(good, bad, good, bad, other); !cmp.Equal(d.Tallies, want) {
		t.Error(cmp.Diff(want, d.Tallies))
	}
	merged := dayOf(good, bad)
	merged.Merge(dayOf(good, bad, other))
	if !cmp.Equal(merged.Tallies, want) {
		t.Error(cmp.Diff(want, merged.Tallies))
	}
}

func TestADayIsOfUTCAndOfThePolicysDomain(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, 11, 16, 0, 30, 0, 0, time.FixedZone("", 3600))
	promised := tlsrpt.Session{Policy: tlsrpt.Policy{Type: tlsrpt.TLSA, Domain: "MX.acme.test"}}
	if got, want := promised.Key(late), (tlsrpt.Key{Domain: "mx.acme.test", Date: "2026-11-15"}); got != want {
		t.Errorf("%+v", got)
	}
}

func TestEverySessionIsCountedHoweverManyKindsThereAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var days [2]tlsrpt.Day
		want := map[bool]int64{}
		for range rapid.IntRange(0, 30).Draw(t, "bursts") {
			s := tlsrpt.Session{Policy: tlsrpt.Policy{Type: rapid.SampledFrom([]tlsrpt.PolicyType{tlsrpt.STS, tlsrpt.TLSA, tlsrpt.NoPolicy}).Draw(t, "type"), Domain: "acme.test"}}
			fails, kinds := rapid.Bool().Draw(t, "fails"), rapid.IntRange(1, 300).Draw(t, "kinds")
			for i := range kinds {
				s.Policy.Lines = []string{fmt.Sprint(i % 40)}
				if fails {
					s.Failure = &tlsrpt.Failure{Result: tlsrpt.NotTrusted, MXIP: fmt.Sprint(i)}
				}
				days[i%2].Add(s)
				want[fails]++
			}
		}
		days[0].Merge(days[1])
		got, detailed := map[bool]int64{}, int64(0)
		for _, tally := range days[0].Tallies {
			got[false], got[true] = got[false]+tally.Successful, got[true]+tally.Failed
			for _, c := range tally.Failures {
				detailed += c.Sessions
			}
			if len(tally.Failures) > 211 {
				t.Fatalf("%d kinds of failures", len(tally.Failures))
			}
		}
		if got[true] != want[true] || got[false] != want[false] || detailed != want[true] || len(days[0].Tallies) > 34 {
			t.Fatalf("counted %v (%d in detail) of %v in %d tallies", got, detailed, want, len(days[0].Tallies))
		}
	})
}

func TestAReportSaysWhatWasCounted(t *testing.T) {
	t.Parallel()
	r, err := tlsrpt.NewReport(dayOf(tlsrpt.Session{Policy: wished}, tlsrpt.Session{Policy: wished, Failure: &expired}), by)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(r.JSON, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"organization-name": "Sender & Söhne", "contact-info": "postmaster@sender.test", "report-id": r.ID,
		"date-range": map[string]any{"start-datetime": "2026-11-15T00:00:00Z", "end-datetime": "2026-11-15T23:59:59Z"},
		"policies": []any{map[string]any{
			"policy": map[string]any{"policy-type": "sts", "policy-domain": "acme.test", "mx-host": []any{"*.acme.test"},
				"policy-string": []any{"version: STSv1", "mode: testing"}},
			"summary": map[string]any{"total-successful-session-count": 1.0, "total-failure-session-count": 1.0},
			"failure-details": []any{map[string]any{"result-type": "certificate-expired", "sending-mta-ip": "192.0.2.1", "receiving-mx-hostname": "mx.acme.test",
				"receiving-ip": "192.0.2.9", "failed-session-count": 1.0, "additional-information": "", "failure-reason-code": ""}},
		}},
	}
	if !cmp.Equal(got, any(want)) {
		t.Error(cmp.Diff(any(want), got))
	}
	if r.Filename() != "sender.test!acme.test!1794700800!1794787199.json.gz" || !strings.HasSuffix(r.ID, "@sender.test") {
		t.Errorf("%s, %s", r.Filename(), r.ID)
	}
	empty, err := tlsrpt.NewReport(dayOf(), by)
	if err != nil || !bytes.Contains(empty.JSON, []byte(`"policies":[]`)) {
		t.Errorf("%s, %v", empty.JSON, err)
	}
}

func TestAReportIsUniqueToItsDayAndTheSameWhenMadeAgain(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, domain := range []string{"acme.test", "mx.acme.test"} {
		for _, date := range []string{"2026-11-15", "2026-11-16"} {
			d := tlsrpt.Day{Key: tlsrpt.Key{Domain: domain, Date: date}}
			one, err := tlsrpt.NewReport(d, by)
			two, _ := tlsrpt.NewReport(d, by)
			if err != nil || !cmp.Equal(one, two) || seen[one.ID] {
				t.Errorf("%s of %s: %s, %v", date, domain, one.ID, err)
			}
			seen[one.ID] = true
		}
	}
}

func TestAReportArrivesByMail(t *testing.T) {
	t.Parallel()
	day := dayOf()
	for i := range 100 {
		day.Add(tlsrpt.Session{Policy: wished, Failure: &tlsrpt.Failure{Result: tlsrpt.NotTrusted, MXIP: fmt.Sprint(i * 7919)}})
	}
	r, err := tlsrpt.NewReport(day, by)
	if err != nil {
		t.Fatal(err)
	}
	from, to := address.Address{Name: "Reports", Local: "tls", Domain: "sender.test"}, address.Address{Local: "in", Domain: "acme.test"}
	raw := r.Mail(from, to, time.Date(2026, 11, 16, 1, 0, 0, 0, time.UTC))

	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"From": "Reports <tls@sender.test>", "To": "in@acme.test", "TLS-Report-Domain": "acme.test", "TLS-Report-Submitter": "sender.test",
		"TLS-Required": "No", "Auto-Submitted": "auto-generated",
		"Subject": "Report Domain: acme.test Submitter: sender.test Report-ID: <" + r.ID + ">", "Date": "Mon, 16 Nov 2026 01:00:00 +0000",
	} {
		if got := message.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, line := range strings.Split(string(raw), "\r\n") {
		if len(line) > 200 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("line %q", line)
		}
	}
	theirs, err := moxtlsrpt.ParseMessage(nil, bytes.NewReader(raw))
	if err != nil || theirs.ReportID != r.ID || len(theirs.Policies) != 1 || len(theirs.Policies[0].FailureDetails) != 100 {
		t.Errorf("another reader: %+v, %v", theirs, err)
	}
	ours, err := report.Read(bytes.NewReader(raw))
	if err != nil || ours.Kind != report.KindTLS || ours.TLS.ReportID != r.ID || ours.TLS.Policies[0].Failed != 100 {
		t.Errorf("our reader: %+v, %v", ours, err)
	}
}

func TestNamesThatWouldBreakAHeaderAreNotReportedOn(t *testing.T) {
	t.Parallel()
	for _, key := range []tlsrpt.Key{
		{Domain: "acme.test\r\nBcc: eve@x.test", Date: "2026-11-15"}, {Domain: `a"b.test`, Date: "2026-11-15"}, {Domain: "a!b.test", Date: "2026-11-15"},
		{Domain: "", Date: "2026-11-15"}, {Domain: strings.Repeat("a", 254), Date: "2026-11-15"},
		{Domain: "acme.test", Date: ""}, {Domain: "acme.test", Date: "2026-11-31"},
	} {
		if r, err := tlsrpt.NewReport(tlsrpt.Day{Key: key}, by); err == nil {
			t.Errorf("%+v: %+v", key, r)
		}
	}
	if r, err := tlsrpt.NewReport(dayOf(), tlsrpt.Submitter{Domain: "sender.test\r\nBcc: eve@x.test"}); err == nil {
		t.Errorf("%+v", r)
	}
}

func TestErrorsOfCertificatesHaveTheirWords(t *testing.T) {
	t.Parallel()
	for want, err := range map[tlsrpt.Result]error{
		tlsrpt.CertificateExpired: x509.CertificateInvalidError{Reason: x509.Expired},
		tlsrpt.HostMismatch:       fmt.Errorf("x: %w", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "a"}),
		tlsrpt.NotTrusted:         x509.UnknownAuthorityError{},
		tlsrpt.ValidationFailure:  errors.New("broken"),
	} {
		if got, _ := tlsrpt.Reason(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
