package report_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"postrider/mail/report"
)

func read(t testing.TB, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/statistics/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func gzipped(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	file, err := w.Create("provider.test!acme.test!1794700800!1794787199.xml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mailed puts an attachment into a message.
func mailed(subject, kind, name string, content []byte) string {
	return "From: <noreply@provider.test>\r\nTo: <reports@us.test>\r\nSubject: " + subject + "\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nA report is attached.\r\n--b\r\n" +
		"Content-Type: " + kind + "; name=\"" + name + "\"\r\nContent-Disposition: attachment; filename=\"" + name + "\"\r\n" +
		"Content-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString(content) + "\r\n--b--\r\n"
}

const statisticsName = "provider.test!acme.test!1794700800!1794787199"

func TestAggregateReportsAreReadInEveryWrapping(t *testing.T) {
	t.Parallel()
	plain := read(t, "dmarc.xml")
	for name, message := range map[string]string{
		"gzip":           mailed("Report Domain: acme.test Submitter: provider.test Report-ID: 1", "application/gzip", statisticsName+".xml.gz", gzipped(t, plain)),
		"zip":            mailed("Report domain: acme.test", "application/zip", statisticsName+".zip", zipped(t, plain)),
		"other type":     mailed("x", "application/octet-stream", statisticsName+".xml.gz", gzipped(t, plain)),
		"other name":     mailed("Report Domain: acme.test", "application/x-zip-compressed", "report.zip", zipped(t, plain)),
		"not compressed": mailed("Report Domain: acme.test", "text/xml", statisticsName+".xml", plain),
	} {
		r, err := report.Read(strings.NewReader(message))
		if err != nil || r.Kind != report.KindDMARC {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		a := r.DMARC
		if a.Organization != "provider.test" || a.ReportID != "17120305551234" || a.Domain != "acme.test" || a.Policy != "reject" ||
			a.Begin.Unix() != 1794700800 || a.End.Unix() != 1794787199 || len(a.Records) != 2 {
			t.Errorf("%s: %+v", name, a)
		}
		want := "{192.0.2.10 42 none pass fail acme.test bounce.acme.test [{dkim acme.test s1 pass} {dkim us.test s2 fail} {spf bounce.acme.test  softfail}]}"
		if got := fmt.Sprint(a.Records[0]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if second := a.Records[1]; second.Count != 0 || second.SourceIP.String() != "2001:db8::bad" {
			t.Errorf("%s: %+v", name, second)
		}
	}
}

func TestReportsOnEncryptionAreRead(t *testing.T) {
	t.Parallel()
	plain := read(t, "tls.json")
	for name, message := range map[string]string{
		"gzip":  mailed("Report Domain: acme.test", "application/tlsrpt+gzip", statisticsName+".json.gz", gzipped(t, plain)),
		"plain": mailed("x", "application/tlsrpt+json", "", plain),
	} {
		r, err := report.Read(strings.NewReader(message))
		if err != nil || r.Kind != report.KindTLS {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		want := "{sts acme.test 5326 303 [{certificate-expired  2001:db8:abcd:12::1 mx1.mail.us.test 100} {starttls-not-supported x 192.0.2.99 mx2.mail.us.test 203}]}"
		if got := fmt.Sprint(r.TLS.Policies[0]); got != want || r.TLS.Organization != "Provider Inc." || r.TLS.Begin.IsZero() {
			t.Errorf("%s: %s in %+v", name, got, r.TLS)
		}
	}
}

func TestAttachmentsThatAreNoReportsAreLeftAlone(t *testing.T) {
	t.Parallel()
	plain := read(t, "dmarc.xml")
	for name, message := range map[string]string{
		"not expected":   mailed("holiday pictures", "application/zip", "pictures.zip", zipped(t, plain)),
		"other xml":      mailed("Report Domain: x", "text/xml", "x.xml", []byte("<html><feedback/></html>")),
		"cut off":        mailed("Report Domain: x", "application/gzip", "x.xml.gz", gzipped(t, plain)[:200]),
		"damaged zip":    mailed("Report Domain: x", "application/zip", "x.zip", zipped(t, plain)[:200]),
		"empty":          mailed("Report Domain: x", "application/gzip", "x.xml.gz", nil),
		"no json":        mailed("x", "application/tlsrpt+gzip", "x.json.gz", gzipped(t, []byte("<feedback>"))),
		"nothing inside": mailed("x", "application/tlsrpt+json", "x.json", []byte("{}")),
	} {
		r, err := report.Read(strings.NewReader(message))
		if err != nil || r.Kind != report.KindOrdinary {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestABombIsNotUnpacked(t *testing.T) {
	t.Parallel()
	head := "<feedback><policy_published><domain>acme.test</domain></policy_published>"
	large := []byte(head + strings.Repeat("<record></record>", 2<<20) + "</feedback>") // 34 MB
	bomb := gzipped(t, large)
	for name, message := range map[string]string{
		"gzip":         mailed("Report Domain: x", "application/gzip", "x.xml.gz", bomb),
		"zip":          mailed("Report Domain: x", "application/zip", "x.zip", zipped(t, large)),
		"long json":    mailed("x", "application/tlsrpt+json", "x.json", []byte(`{"policies":[{}],"x":"`+strings.Repeat("x", 1<<20)+`"}`)),
		"gzip of gzip": mailed("Report Domain: x", "application/gzip", "x.xml.gz", gzipped(t, bomb)),
		"deep":         mailed("Report Domain: x", "text/xml", "x.xml", []byte(head+strings.Repeat("<record>", 1<<20))),
		"deep json":    mailed("x", "application/tlsrpt+json", "x.json", []byte(strings.Repeat("[", 1<<20))),
		"entities":     mailed("Report Domain: x", "text/xml", "x.xml", []byte(`<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]>`+head+"&c;</feedback>")),
	} {
		if r, err := report.Read(strings.NewReader(message)); err != nil || r.DMARC != nil && len(r.DMARC.Records) > 0 || r.TLS != nil {
			t.Errorf("%s: %s, %v", name, r.Kind, err)
		}
	}
	many := gzipped(t, []byte(head+strings.Repeat("<record></record>", 20_000)+"</feedback>"))
	r, err := report.Read(strings.NewReader(mailed("Report Domain: x", "application/gzip", "x.xml.gz", many)))
	if err != nil || r.DMARC == nil || len(r.DMARC.Records) != 10_000 || !r.DMARC.Truncated {
		t.Errorf("many: %s, %v", r.Kind, err)
	}
}

func TestOnlyTheFirstAttachmentsAreOpened(t *testing.T) {
	t.Parallel()
	part := func(text string) string {
		return "--b\r\nContent-Type: application/tlsrpt+json; name=x.json\r\nContent-Disposition: attachment\r\n\r\n" + text + "\r\n"
	}
	for before, want := range map[int]report.Kind{2: report.KindTLS, 3: report.KindOrdinary} {
		raw := "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat(part("{}"), before) + part(`{"policies":[{}]}`) + "--b--\r\n"
		if r, err := report.Read(strings.NewReader(raw)); err != nil || r.Kind != want {
			t.Errorf("after %d: %s, %v", before, r.Kind, err)
		}
	}
}

func FuzzReadAggregate(f *testing.F) {
	f.Add(read(f, "dmarc.xml"))
	f.Add([]byte("<feedback><record><row><count>1</count></row></record>"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := report.ReadAggregate(bytes.NewReader(raw))
		if err == nil && a.Domain == "" {
			t.Fatal("a report about nothing")
		}
		for _, r := range a.Records {
			if r.Count < 0 {
				t.Fatalf("%+v", r)
			}
		}
	})
}

func FuzzReadTLS(f *testing.F) {
	f.Add(read(f, "tls.json"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := report.ReadTLS(bytes.NewReader(raw))
		if err == nil && len(r.Policies) == 0 {
			t.Fatal("a report about nothing")
		}
	})
}
