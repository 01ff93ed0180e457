package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"postrider/mail/report"
)

// endless repeats a text, and watches how much memory its reader holds meanwhile.
type endless struct {
	text string
	at   int
	peak uint64
}

// Read fills p.
func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	e.peak = max(e.peak, now.HeapAlloc)
	return len(p), nil
}

// It is not parallel: it measures the memory of the process.
func TestAnUnpackedReportCostsNoMemory(t *testing.T) {
	const size, most = 16 << 20, 100 << 20
	for name, bomb := range map[string]struct{ start, text string }{
		"elements that never end":           {"<feedback>", "<a>"},
		"elements of a record without end":  {"<feedback><record>", "<a>"},
		"checks of one record":              {"<feedback><record><auth_results>", "<dkim/>"},
		"attributes of one element":         {"<feedback><record ", "a=b "},
		"attributes in another charset":     {`<?xml version="1.0" encoding="windows-1252"?><feedback><record `, "a=b "},
		"one long text":                     {"<feedback><record><row><count>", "1"},
		"one long comment":                  {"<feedback><!--", "x"},
		"records in records without an end": {"<feedback>", "<record>"},
	} {
		runtime.GC()
		body := &endless{text: bomb.text}
		_, err := report.ReadAggregate(io.LimitReader(io.MultiReader(strings.NewReader(bomb.start), body), size))
		if !errors.Is(err, report.ErrStatistics) {
			t.Errorf("%s: %v", name, err)
		}
		if body.peak > most {
			t.Errorf("%s: reading took %d MB", name, body.peak>>20)
		}
	}
}

func TestNumbersBeyondReasonAreBounded(t *testing.T) {
	t.Parallel()
	const row = "<record><row><source_ip>192.0.2.1</source_ip><count>9000000000000000000</count></row></record>"
	a, err := report.ReadAggregate(strings.NewReader("<feedback><policy_published><domain>acme.test</domain></policy_published>" + row + row + "</feedback>"))
	if err != nil || len(a.Records) != 2 || a.Records[0].Count+a.Records[1].Count != 20_000_000_000 {
		t.Errorf("%+v, %v", a, err)
	}
	r, err := report.ReadTLS(bytes.NewReader([]byte(`{"policies":[{"summary":{"total-successful-session-count":9000000000000000000,"total-failure-session-count":-5}}]}`)))
	if err != nil || r.Policies[0].Successful != 10_000_000_000 || r.Policies[0].Failed != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestOfManyOnlyTheFirstAreKept(t *testing.T) {
	t.Parallel()
	const head = "<feedback><policy_published><domain>acme.test</domain></policy_published>"
	record := "<record><auth_results>" + strings.Repeat("<dkim/><spf/>", 21) + "</auth_results></record>"
	a, err := report.ReadAggregate(strings.NewReader(head + record + "</feedback>"))
	if err != nil || len(a.Records) != 1 || len(a.Records[0].Checks) != 40 {
		t.Errorf("%+v, %v", a, err)
	}
	policies := `{"failure-details":[{}` + strings.Repeat(",{}", 1000) + `]}` + strings.Repeat(",{}", 1000)
	r, err := report.ReadTLS(strings.NewReader(`{"policies":[` + policies + `]}`))
	if err != nil || len(r.Policies) != 1000 || len(r.Policies[0].Failures) != 1000 {
		t.Errorf("%d policies, %v", len(r.Policies), err)
	}
}

func TestDatesThatCannotBeWrittenAreNone(t *testing.T) {
	t.Parallel()
	for date, known := range map[string]bool{"2026-11-15T00:00:00+01:00": true, "9999-12-31T23:59:59-23:59": false, "0000-01-01T00:00:00+23:59": false} {
		r, err := report.ReadTLS(strings.NewReader(`{"date-range":{"start-datetime":"` + date + `"},"policies":[{}]}`))
		if _, bad := json.Marshal(r); err != nil || bad != nil || r.Begin.IsZero() == known {
			t.Errorf("%s: %s, %v, %v", date, r.Begin, err, bad)
		}
	}
	for date, known := range map[string]bool{"15 Nov 2026 00:00:00 +0100": true, "15 Nov 2026 00:00:00 +2400": true, "31 Dec 9999 23:59:59 -2300": false} {
		status := "Arrival-Date: " + date + "\r\n\r\nFinal-Recipient: rfc822; a@x.test\r\n"
		r, err := report.Read(strings.NewReader("Content-Type: message/delivery-status\r\n\r\n" + status))
		if err != nil || r.DSN == nil {
			t.Fatalf("%s: %+v, %v", date, r, err)
		}
		if _, bad := json.Marshal(r.DSN); bad != nil || r.DSN.ArrivalDate.IsZero() == known {
			t.Errorf("%s: %s, %v", date, r.DSN.ArrivalDate, bad)
		}
	}
	const head, year10000 = "<feedback><policy_published><domain>a.test</domain></policy_published>", "<date_range><begin>253402300800</begin></date_range>"
	if a, err := report.ReadAggregate(strings.NewReader(head + "<report_metadata>" + year10000 + "</report_metadata></feedback>")); err != nil || !a.Begin.IsZero() {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestSloppyReportsAreRead(t *testing.T) {
	t.Parallel()
	text := `<?xml version="1.0" encoding="windows-1252"?><feedback><report_metadata><org_name>Caf` + "\xe9" + ` & Co</org_name></report_metadata>` +
		`<policy_published><domain>acme.test</domain></policy_published>` + strings.Repeat("<record><row><count>2</row></record>", 100) + `</feedback>`
	a, err := report.ReadAggregate(strings.NewReader(text))
	if err != nil || len(a.Records) != 100 || a.Records[99].Count != 2 || a.Organization != "Café & Co" {
		t.Errorf("%d records, %q, %v", len(a.Records), a.Organization, err)
	}
}
