package inbound

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"postrider/mail/authres"
	"postrider/mail/message"
	"postrider/product/domain"
	"postrider/product/email"
)

// FuzzMessagesAreReadBack holds for any bytes that an SMTP client can send: what is shown is JSON in UTF-8, what is passed on is one
// message with one head, and no result that claims to be ours survives.
func FuzzMessagesAreReadBack(f *testing.F) {
	for _, seed := range []string{
		"\r\n", "Subject: x\r\n", " folded\r\nSubject: x\r\n\r\nx\r\n", "__proto__: \xff\r\n\r\n\x00\r\n",
		"Authentication-Results: mx.test; dkim=pass\r\nauthentication-results : MX.TEST;dkim=pass\r\n\r\nx\r\n",
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: image/png\r\nContent-ID: <a>\r\n\r\nx\r\n--b\r\nContent-Type: text/html; charset=utf-16\r\n\r\n<img src=cid:a>\r\n--b--\r\n",
		"From: =?x?q?a?= <a@b.test>, c\r\nTo: undisclosed-recipients:;\r\nReferences: <a@b><c@d> <\r\n\r\nOn x wrote:\r\n> y\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := &Service{host: "mx.test"}
		c, err := s.spool(t.Context(), bytes.NewReader(withCRLF(raw)), maxMessage)
		if err != nil || c.blob != "" || len(c.raw) > inlineMessage {
			return
		}
		l := readLetter(c.fields)
		files, _, err := s.filesOf(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		kept := stored{content: c, trace: "Return-Path: <a@b.test>\r\nReceived: from a by b; now\r\n", results: "mx.test; spf=none"}
		said, err := s.read(t.Context(), kept, true)
		if err != nil {
			t.Fatal(err)
		}
		m := Message{ID: "0193a1f2-0000-7000-8000-000000000101", From: l.from, Addresses: l.addresses, Subject: l.subject, Ancestors: l.ancestors, Files: files}
		shown, err := json.Marshal(Record{Row: newRow(m, nil), HeaderLines: said.lines, Headers: said.headers()})
		if err != nil || !utf8.Valid(shown) || !utf8.ValidString(said.html) || !utf8.ValidString(said.stripped()) {
			t.Errorf("%v: %q", err, shown)
		}
		seen, _, err := message.ReadHeader(addedHead(kept.trace, kept.results, s.host, c.fields))
		if ours := len(seen) - len(authres.Remove(seen, s.host)); err == nil && ours != 1 {
			t.Errorf("%d results claim to be ours: %q", ours, said.headers()["authentication-results"])
		}
		var p email.PassedOn
		s.rewrite(forwarding{message: m, content: kept, domain: domain.Domain{Name: "acme.test"}}, c.fields, &p)
		fields, rest, err := message.ReadHeader(append(p.Head, "\r\n"...))
		if err != nil || len(rest) != 0 || countFields(fields, "From") != 1 {
			t.Errorf("%v: passed on as %q", err, p.Head)
		}
	})
}
