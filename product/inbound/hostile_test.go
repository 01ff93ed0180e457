package inbound_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"postrider/app/apptest"
)

// nested is a message of multiparts inside multiparts.
func nested(depth int) string {
	var b strings.Builder
	b.WriteString("Subject: deep\r\nContent-Type: multipart/mixed; boundary=b0\r\n\r\n")
	for i := range depth {
		edge := "b" + strings.Repeat("x", i%50)
		b.WriteString("--" + edge + "\r\nContent-Type: multipart/mixed; boundary=" + edge + "x\r\n\r\n")
	}
	b.WriteString("text\r\n")
	return b.String()
}

// enclosed is a message inside itself, again and again.
func enclosed(depth int) string {
	return strings.Repeat("Subject: in\r\nContent-Type: message/rfc822\r\n\r\n", depth) + "text\r\n"
}

// hostile are messages that have broken others.
var hostile = map[string]string{
	"empty":               "\r\n",
	"no blank line":       "Subject: x\r\n",
	"no header":           "\r\njust text\r\n",
	"folded first":        " dkim=pass header.d=bank.test\r\nSubject: x\r\n\r\nx\r\n",
	"prototype":           "__proto__: x\r\nconstructor: y\r\nhasOwnProperty: z\r\nSubject: x\r\n\r\nx\r\n",
	"no name":             ": x\r\nSubject: x\r\n\r\nx\r\n",
	"many fields":         strings.Repeat("X-A: b\r\n", 4900) + "Subject: x\r\n\r\nx\r\n",
	"long field":          "X-A: " + strings.Repeat("a ", 200<<10) + "\r\nSubject: x\r\n\r\nx\r\n",
	"eight bit":           "From: \xff\xfe <a@b.test>\r\nSubject: \xc3\x28\xa0\xa1\r\nX-\xff: y\r\n\r\n\xff\xfe\xfd\r\n",
	"nothing in a text":   "Subject: a\x00b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\na\x00b\r\n",
	"unknown charset":     "Subject: =?x-evil?q?=FF?=\r\nContent-Type: text/plain; charset=x-evil\r\n\r\n\xff\xfe\r\n",
	"wide charset":        "Subject: x\r\nContent-Type: text/html; charset=utf-16\r\n\r\n<\x00p\x00\xd8\xd8\r\n",
	"seven bit charset":   "Subject: x\r\nContent-Type: text/plain; charset=utf-7\r\n\r\n+ADw-script+AD4-\r\n",
	"encoded words":       "Subject: " + strings.Repeat("=?utf-8?q?a?= ", 20<<10) + "\r\n\r\nx\r\n",
	"broken words":        "Subject: " + strings.Repeat("=?x?", 50<<10) + "\r\n\r\nx\r\n",
	"many addresses":      "To: " + strings.Repeat("a@b.test, ", 5000) + "\r\nSubject: x\r\n\r\nx\r\n",
	"open comments":       "From: " + strings.Repeat("(", 50_000) + "\r\nSubject: x\r\n\r\nx\r\n",
	"two authors":         "From: a@b.test\r\nFrom: c@d.test\r\nSubject: x\r\n\r\nx\r\n",
	"deep":                nested(10_000),
	"enclosed":            enclosed(1000),
	"long boundary":       "Subject: x\r\nContent-Type: multipart/mixed; boundary=" + strings.Repeat("b", 500<<10) + "\r\n\r\n--b\r\n\r\nx\r\n",
	"many parts":          "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\nContent-Type: image/png\r\n\r\n\r\n", 20_000) + "--b--\r\n",
	"no end":              "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>x",
	"bad base64":          "Subject: x\r\nContent-Type: image/png\r\nContent-ID: <a>\r\nContent-Transfer-Encoding: base64\r\n\r\n====!!!\r\n",
	"picture bomb":        "Subject: x\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n" + strings.Repeat(`<img src=cid:a>`, 50_000) + "\r\n--b\r\nContent-Type: image/png\r\nContent-ID: <a>\r\n\r\n" + strings.Repeat("x", 20_000) + "\r\n--b--\r\n",
	"media type":          "Subject: x\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<img src=\"cid:a\">\r\n--b\r\nContent-Type: image/png\"onerror=alert()\r\nContent-ID: <a>\r\n\r\nx\r\n--b--\r\n",
	"file name":           "Subject: x\r\nContent-Type: application/pdf; name=\"../../\x01etc/passwd\"\r\n\r\nx\r\n",
	"message ids":         "Message-ID: <a\x01b@c>\r\nReferences: " + strings.Repeat("<a@b> ", 20_000) + "\r\nSubject: x\r\n\r\nx\r\n",
	"page without end":    "Subject: x\r\nContent-Type: text/html\r\n\r\n" + strings.Repeat("<div>", 30_000) + "\r\n",
	"quotes":              "Subject: x\r\n\r\n" + strings.Repeat("> ", 30_000) + "\r\n" + strings.Repeat("On a wrote:\r\n", 5000) + strings.Repeat("> \r\n", 5000),
	"many signatures":     strings.Repeat("DKIM-Signature: v=1; a=rsa-sha256; d=a.test; s=b; h=from; bh=AA; b=AA\r\n", 500) + "From: a@b.test\r\n\r\nx\r\n",
	"chain":               strings.Repeat("ARC-Seal: i=1; a=rsa-sha256; cv=none; d=a.test; s=b; b=AA\r\n", 200) + "From: a@b.test\r\n\r\nx\r\n",
	"our results":         strings.Repeat("Authentication-Results: mx1.mail.postrider.test; dkim=pass\r\n", 50) + "AUTHENTICATION-RESULTS: (c) MX1.mail.postrider.test (x; dkim=pass\r\nFrom: a@b.test\r\n\r\nx\r\n",
	"markup":              "From: \"<script>alert(1)</script>\" <a@b.test>\r\nSubject: <img onerror=alert(1)>\r\n\r\n<script>alert(1)</script>\r\n",
	"turned around":       "Subject: \u202egnp.exe\r\nContent-Type: application/octet-stream; name=\"x\u202egnp.exe\"\r\n\r\nx\r\n",
	"line separators":     "Subject: a\u2028b\u2029c\r\nFrom: \"a\u2028\" <a@b.test>\r\n\r\nx\r\n",
	"lone surrogate html": "Subject: x\r\nContent-Type: text/html\r\n\r\n&#xD800;\xed\xa0\x80\r\n",
}

// tooLong is far more than any of them takes, and far less than one that grows with the square of its size would.
const tooLong = 30 * time.Second

func TestNoMessageBreaksAnything(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		rule(t, in, fields{"address": "rewrite@acme.test", "forward_to": "team@example.org"})
		rule(t, in, fields{"address": "pass@acme.test", "forward_to": "team@example.org", "mode": "passthrough"})
		for name, message := range hostile {
			start := time.Now()
			for _, to := range []string{"rewrite@acme.test", "pass@acme.test"} {
				if err := offer(mx, "a@b.test", to, message); err != nil && !strings.HasPrefix(err.Error(), "5") {
					t.Errorf("%s: %v", name, err)
				}
			}
			if took := time.Since(start); took > tooLong {
				t.Errorf("%s took %s", name, took)
			}
		}
		in.Receive()
		in.Deliver()
		list := in.Call(http.MethodGet, "/emails/receiving?limit=200", nil)
		rows, _ := list.Body["data"].([]any)
		if list.Status != http.StatusOK || len(rows) < 2*len(hostile)-4 {
			t.Fatalf("%d: %d of %d messages", list.Status, len(rows), 2*len(hostile))
		}
		for _, row := range rows {
			id := row.(map[string]any)["id"].(string)
			for _, path := range []string{id, id + "?html_format=cid", id + "/attachments"} {
				start := time.Now()
				answer := in.Call(http.MethodGet, "/emails/receiving/"+path, nil)
				if answer.Status != http.StatusOK || !utf8.Valid(answer.Raw) || !json.Valid(answer.Raw) || len(answer.Raw) > 40<<20 {
					t.Errorf("%s: %d, %d bytes: %.300q", path, answer.Status, len(answer.Raw), answer.Raw)
				}
				if took := time.Since(start); took > tooLong {
					t.Errorf("%v took %s", row.(map[string]any)["subject"], took)
				}
			}
			answer := one(t, in, id)
			results := answer.Text("headers", "authentication-results")
			if !strings.HasPrefix(results, "mx1.mail.postrider.test; spf=") || strings.Contains(results, "bank.test") || strings.Count(results, "mx1.mail.postrider.test") != 1 {
				t.Errorf("results are %q", results)
			}
			if strings.Contains(answer.Text("html"), `png"onerror`) {
				t.Error("a media type ended an attribute")
			}
			in.Download(answer.Text("raw", "download_url"))
		}
	})
}
