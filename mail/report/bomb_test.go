package report_test

import (
	"bytes"
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

func TestSloppyReportsAreRead(t *testing.T) {
	t.Parallel()
	text := `<?xml version="1.0" encoding="windows-1252"?><feedback><report_metadata><org_name>Caf` + "\xe9" + ` & Co</org_name></report_metadata>` +
		`<policy_published><domain>acme.test</domain></policy_published>` + strings.Repeat("<record><row><count>2</row></record>", 100) + `</feedback>`
	a, err := report.ReadAggregate(strings.NewReader(text))
	if err != nil || len(a.Records) != 100 || a.Records[99].Count != 2 || a.Organization != "Café & Co" {
		t.Errorf("%d records, %q, %v", len(a.Records), a.Organization, err)
	}
}
