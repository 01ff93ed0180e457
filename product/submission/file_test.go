package submission_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
)

// withParts is a message of the given parts, each a header and a body.
func withParts(parts ...string) string {
	message := "From: hello@acme.test\nTo: ann@example.net\nSubject: Files\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=edge\n\n"
	for _, part := range parts {
		message += "--edge\n" + part + "\n"
	}
	return message + "--edge--\n"
}

func file(header, content string) string {
	return header + "\nContent-Transfer-Encoding: base64\n\n" + wrapped(base64.StdEncoding.EncodeToString([]byte(content)))
}

func wrapped(text string) string {
	var b strings.Builder
	for len(text) > 76 {
		b.WriteString(text[:76] + "\n")
		text = text[76:]
	}
	return b.String() + text
}

func named(name string) string { return `Content-Disposition: attachment; filename="` + name + `"` }

func zipOf(t *testing.T, name string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	entry, err := w.Create(name)
	if err == nil {
		_, err = entry.Write([]byte("content"))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFilesThatRunAreRefusedHoweverTheyHide(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	inner := strings.ReplaceAll(withParts(file(named("x.exe"), "x")), "edge", "inner")
	enclosed := "Content-Type: message/rfc822\n\n" + inner
	for name, part := range map[string]string{
		"extension":             file(named("x.exe"), "x"),
		"upper case":            file(named("X.EXE"), "x"),
		"trailing dot":          file(named("x.exe."), "x"),
		"trailing space":        file(named("x.exe "), "x"),
		"double extension":      file(named("x.pdf.exe"), "x"),
		"turned around":         file(named("x\u202efdp.exe"), "x"),
		"turned harmless":       file(named("x\u202eexe.pdf"), "x"),
		"tab":                   file(named("x\texe.pdf"), "x"),
		"encoded tab":           file("Content-Disposition: attachment;\n\tfilename*=utf-8''x%09.pdf", "x"),
		"behind a folded tab":   file(named("my\n\tx.exe"), "x"),
		"semicolon":             file(named("x.exe;.pdf"), "x"),
		"in pieces":             file(`Content-Disposition: attachment; filename*0="x.e"; filename*1="xe"`, "x"),
		"percent":               file("Content-Disposition: attachment; filename*=utf-8''x%2Eexe", "x"),
		"percent in quotes":     file(named("x%2Eexe"), "x"),
		"part of a message":     "Content-Type: message/partial; id=a@acme.test; number=1; total=2\n\nContent-Type: text/plain\n\nx",
		"somewhere else":        "Content-Type: message/external-body; access-type=URL; URL=\"http://acme.test/x\"\n\nContent-Type: image/png\n\n",
		"encoded word":          file(`Content-Disposition: attachment; filename="=?utf-8?B?eC5leGU=?="`, "x"),
		"in the type alone":     file("Content-Type: application/octet-stream; name=x.exe", "x"),
		"second name":           file(`Content-Disposition: attachment; filename=x.txt; filename=x.exe`, "x"),
		"Windows program":       file(named("x.txt"), "MZ\x90\x00"),
		"Linux program":         file(named("x"), "\x7fELF\x02"),
		"program as a picture":  file("Content-Type: image/png", "MZ\x90\x00"),
		"in an archive":         file(named("x.zip"), zipOf(t, "dir/x.exe")),
		"in an archive unnamed": file("Content-Type: application/octet-stream", zipOf(t, "x.js")),
		"in a message enclosed": enclosed,
		"in news":               strings.Replace(enclosed, "rfc822", "news", 1),
		"in any message":        strings.Replace(enclosed, "rfc822", "x-unknown", 1),
		"behind a mailbox line": strings.Replace(enclosed, "rfc822\n\n", "x-unknown\n\nFrom ann Fri Nov 13 10:00:00 2026\n", 1),
		"message and program":   file("Content-Type: message/x-unknown", "MZ\x90\x00"),
		"message and archive":   file("Content-Type: message/x-unknown", zipOf(t, "x.exe")),
		"message or archive":    strings.Replace(enclosed, "rfc822", "x-unknown; name=x.zip", 1),
		"report and archive":    file("Content-Type: message/feedback-report", zipOf(t, "x.exe")),
		"script":                file(named("x.js"), "alert()"),
		"script without a name": file("Content-Type: text/javascript", "alert()"),
		"archive by its type":   file("Content-Type: application/zip", "anything"+zipOf(t, "x.exe")),
		"as Outlook does":       file("Content-Type: application/ms-tnef; name=winmail.dat", "\x78\x9f\x3e\x22\x01\x00\x02\x10\x80\x01\x00\x06\x00\x00\x00x.exe\x00"),
		"archive as a message":  file("Content-Type: message/rfc822", zipOf(t, "x.exe")),
		"archive named so":      file("Content-Type: message/rfc822; name=x.zip", "anything"+zipOf(t, "x.exe")),
		"program as a message":  file("Content-Type: message/rfc822", "MZ\x90\x00"),
		"archive and message":   file("Content-Type: message/x-unknown", "PK\x03\x04\n"+inner),
		"in a text with a name": "Content-Type: text/plain; name=x.txt\n\n" + uuencoded("x.exe", "x"),
		"in a text attached":    "Content-Type: text/plain\n" + named("x.txt") + "\n\n" + uuencoded("x.exe", "x"),
		"archive as a text":     file("Content-Type: text/plain; name=x.txt", zipOf(t, "x.exe")),
		"endless name":          "Content-Type: text/plain\n\n" + uuencoded(strings.Repeat("x", 3000)+".exe", "x"),
		"shortcut":              file(named("x.lnk"), "x"),
		"disk image":            file(named("x.iso"), "x"),
		"comments":              file("Content-Disposition: attachment; filename=(a)x.exe(b)", "x"),
		"more than a word":      file("Content-Disposition: attachment; filename=x.exe or so", "x"),
		"no semicolon":          file("Content-Disposition: attachment filename=x.exe", "x"),
		"other quotes":          file("Content-Disposition: attachment; filename='x.exe'", "x"),
		"unseen letter":         file(named("x.exe\u200b"), "x"),
		"behind other bytes":    file(named("x.zip"), "anything"+zipOf(t, "x.exe")),
		"encoding in quotes":    "Content-Type: image/png\nContent-Transfer-Encoding: \"base64\"\n\nTVqQAA==",
		"encoding and comment":  "Content-Type: image/png\nContent-Transfer-Encoding: base64 (a)\n\nTVqQAA==",
	} {
		c := dial(t, in).signIn(in.Key)
		c.envelope("ann@example.net")
		if answer := c.hand(withParts("\nHello", part), 554); !strings.HasPrefix(answer, "5.6.0 attachments: ") {
			t.Errorf("%s: %q", name, answer)
		}
	}
	for name, part := range map[string]string{
		"picture":       file("Content-Type: image/png; name=x.png", "\x89PNG"),
		"clean archive": file(named("x.zip"), zipOf(t, "a.txt")),
		"folded name":   file("Content-Disposition: attachment; filename=\"Annual report of\n\tthe company.pdf\"", "x"),
		"news":          "Content-Type: message/news\n\nSubject: x\n\nHello",
		"report":        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; acme.test\n\nFinal-Recipient: rfc822; ann@example.net\nAction: delayed",
		"receipt":       "Content-Type: message/x-receipt\n\n<?xml version=\"1.0\"?>\n<receipt/>",
		"no message":    file("Content-Type: message/x-unknown; name=x.bin", strings.Repeat("\x00\x01\n", 10_000)),
		"text":          file("Content-Type: text/plain; name=x.txt", "Hello"),
		"text in a zip": file("Content-Type: text/plain; name=x.zip", zipOf(t, "a.txt")),
		"no name":       file("Content-Type: application/zip", zipOf(t, "a.txt")),
		"a message":     "Content-Type: message/rfc822; name=\"Re: photos.zip.eml\"\n\nSubject: photos.zip\n\nHello",
		"signature":     file("Content-Type: application/pgp-signature; name=signature.asc", "-----"),
	} {
		c := dial(t, in).signIn(in.Key)
		c.envelope("ann@example.net")
		if answer := c.hand(withParts("\nHello", part), 250); !strings.HasPrefix(answer, "2.0.0 queued as ") {
			t.Errorf("%s: %q", name, answer)
		}
	}
}

// uuencoded is a file as programs put it into a text before there were parts.
func uuencoded(name, content string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "begin 644 %s\n", name)
	for line := range slices.Chunk([]byte(content), 45) {
		b.WriteByte(byte(' ' + len(line)))
		for group := range slices.Chunk(line, 3) {
			three := append(bytes.Clone(group), 0, 0)
			for _, six := range []byte{three[0] >> 2, three[0]<<4 | three[1]>>4, three[1]<<2 | three[2]>>6, three[2]} {
				b.WriteByte(' ' + six&63)
			}
		}
		b.WriteByte('\n')
	}
	return b.String() + "`\nend\n"
}

func TestFilesThatRunAreRefusedInTheMiddleOfATextToo(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	const top = "From: hello@acme.test\nTo: ann@example.net\nSubject: Files\nMIME-Version: 1.0\n"
	hidden := base64.StdEncoding.EncodeToString([]byte("Hello\n" + uuencoded("x.exe", "x")))
	for name, message := range map[string]string{
		"extension":        top + "\nHello\n" + uuencoded("x.exe", "x"),
		"program":          top + "\nHello\n" + uuencoded("x.txt", "MZ\x90\x00"),
		"archive":          top + "\nHello\n" + uuencoded("x.zip", zipOf(t, "x.js")),
		"base64":           top + "\nbegin-base64 644 x.exe\nTVqQAA==\n====\n",
		"in an encoding":   top + "Content-Transfer-Encoding: base64\n\n" + hidden + "\n",
		"quoted":           top + "Content-Transfer-Encoding: quoted-printable\n\n=62egin 644 x.exe\n!>```\n`\nend\n",
		"in a part":        withParts("\nHello\n\n" + uuencoded("x.exe", "x")),
		"in a message":     withParts("\nHello", "Content-Type: message/rfc822\n\nSubject: x\n\n"+uuencoded("x.exe", "x")),
		"after a harmless": top + "\n" + uuencoded("x.txt", "x") + uuencoded("x.exe", "x"),
	} {
		c := dial(t, in).signIn(in.Key)
		c.envelope("ann@example.net")
		if answer := c.hand(message, 554); !strings.HasPrefix(answer, "5.6.0 attachments: ") {
			t.Errorf("%s: %q", name, answer)
		}
	}
	for name, text := range map[string]string{
		"harmless file": uuencoded("x.txt", "Hello"),
		"about a file":  "Then type:\n\nbegin 644 x.exe\n\nand so on\n",
	} {
		c := dial(t, in).signIn(in.Key)
		c.envelope("ann@example.net")
		if answer := c.hand(top+"\n"+text, 250); !strings.HasPrefix(answer, "2.0.0 queued as ") {
			t.Errorf("%s: %q", name, answer)
		}
	}
}

// around is a message with a file that nobody may send, in multiparts as deep as given.
func around(header string, depth int) string {
	message, end := "From: hello@acme.test\nTo: ann@example.net\nSubject: Files\nMIME-Version: 1.0\n"+header+"\n", ""
	for i := range depth {
		message += fmt.Sprintf("\n--edge%d\n", i)
		end = fmt.Sprintf("\n--edge%d--%s", i, end)
		if i+1 < depth {
			message += fmt.Sprintf("Content-Type: multipart/mixed; boundary=edge%d\n", i+1)
		}
	}
	return message + file(named("x.exe"), "x") + end + "\n"
}

func TestPartsThatOnlySomeProgramsSeeAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	const top = "From: hello@acme.test\nTo: ann@example.net\nSubject: Files\nMIME-Version: 1.0\n"
	const mixed = "Content-Type: multipart/mixed; boundary=edge0"
	blanks := strings.Repeat(" ", 16<<10)
	for name, message := range map[string]string{
		"very deep":                   around(mixed, 21),
		"two types":                   around("Content-Type: text/plain\n"+mixed, 1),
		"two types, the other first":  around(mixed+"\nContent-Type: text/plain", 1),
		"comment behind the type":     around("Content-Type: multipart/mixed (a;b); boundary=edge0", 1),
		"comment in the type":         around("Content-Type: multipart(a)/mixed; boundary=edge0", 1),
		"spaces in the type":          around("Content-Type: multipart / mixed; boundary=edge0", 1),
		"no semicolon":                around("Content-Type: multipart/mixed boundary=edge0", 1),
		"no type":                     around("Content-Type: multipart; boundary=edge0", 1),
		"two boundaries":              around("Content-Type: multipart/mixed; boundary=other; boundary=edge0", 1),
		"boundary in pieces":          around("Content-Type: multipart/mixed; boundary*0=ed; boundary*1=ge0", 1),
		"boundary and comment":        around("Content-Type: multipart/mixed; boundary=edge0 (a)", 1),
		"boundary that ends in space": around("Content-Type: multipart/mixed; boundary=\"edge0 \"", 1),
		"long boundary":               strings.ReplaceAll(around(mixed, 1), "edge0", strings.Repeat("e", 300)),
		"behind the end":              strings.Replace(around(mixed, 1), "\n--edge0\n", "\n--edge0--\n--edge0\n", 1),
		"two encodings": around("Content-Type: application/octet-stream\nContent-Transfer-Encoding: 8bit\n"+
			"Content-Transfer-Encoding: base64", 0),
		"an old encoding":             around("Content-Type: application/octet-stream\nContent-Transfer-Encoding: x-uuencode", 0),
		"in one enclosed":             withParts("Content-Type: message/rfc822\n\n" + around("Content-Type: text/plain\n"+mixed, 1)),
		"said to be a text":           around("Content-Type: text/plain\nContent-Type: text/html\n"+mixed, 1),
		"encoded in a text":           "From: hello@acme.test\nSubject: x\nContent-Transfer-Encoding: uuencode\n\nbegin 644 x.exe\n",
		"boundary that goes on":       strings.Replace(around(mixed, 2), "\n--edge1\n", "\n--edge0--"+blanks+"!\n--edge1\n", 1),
		"boundary that goes on blank": strings.Replace(around(mixed, 1), "\n--edge0\n", "\n--edge0"+blanks+"\n", 1),
		"boundary in an archive":      withParts("\nHello", strings.Replace(file(named("x.zip"), zipOf(t, "x.exe")), "\n\n", "\n\nUEsD\n--edge"+blanks+"!\n", 1)),
		"boundary with an escape":     strings.ReplaceAll(around("Content-Type: multipart/mixed; boundary=\"edge0\"", 1), "edge0", `ed\ge0`),
		"boundary and a tab":          around("Content-Type: multipart/mixed; boundary=edge0\tmore", 1),
		"boundary in pieces, a blank": strings.ReplaceAll(around("Content-Type: multipart/mixed; boundary*0=edge; boundary*1=0 x", 1), "x.exe", "x.txt"),
		"boundary in odd quotes":      around("Content-Type: multipart/mixed; boundary=<edge0>", 1),
		"boundary that begins a line": strings.Replace(around(mixed, 1), "\n--edge0\n", "\n--edge0\n\nHello\n--edge0 and more\n", 1),
		"behind no field": withParts("Content-Type: multipart/mixed; boundary=edge0\nno field\n--edge0\n" + file(named("x.exe"), "x") +
			"\n--edge0\n\nHello\n--edge0--"),
		"behind a blank line": withParts("Content-Type: multipart/mixed; boundary=\"edge:0\"\n \n--edge:0\n" + file(named("x.exe"), "x") +
			"\n--edge:0\n\nHello\n--edge:0--"),
		"a message that is not encoded": withParts("Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" + around(mixed, 1)),
		"a message that means itself": withParts("Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n" +
			strings.ReplaceAll(around("Content-Type: multipart/mixed; boundary=\"edge0\"", 1), "edge0", "edge0=")),
		"an encoding and more": top + "Content-Type: image/png\nContent-Transfer-Encoding: base64 x\n\nTVqQAA==\n",
		"another old encoding": top + "Content-Type: image/png\nContent-Transfer-Encoding: x-yencode\n\nTVqQAA==\n",
		"multipart unopened":   around("Content-Type: multipart/mixed", 1),
	} {
		c := dial(t, in).signIn(in.Key)
		c.envelope("ann@example.net")
		if answer := c.hand(message, 554); !strings.HasPrefix(answer, "5.6.0 attachments: ") {
			t.Errorf("%s: %q", name, answer)
		}
	}
	for name, message := range map[string]string{
		"said twice":      strings.Replace(withParts("\nHello"), "Content-Type", "Content-Type: multipart/mixed; boundary=edge\nContent-Type", 1),
		"comment":         strings.Replace(withParts("\nHello"), "mixed;", "mixed (of two);", 1),
		"encoded message": withParts("\nHello", file("Content-Type: message/rfc822", simple)),
		"no field":        withParts("\nHello", "Content-Type: message/rfc822\n\nSubject: x\nno field\n\nHello"),
		"epilogue":        withParts("\nHello") + "--\nedge\n",
		"long lines":      withParts("\nHello" + blanks + "--edge--\n" + blanks),
	} {
		c := dial(t, in).signIn(in.Key)
		c.envelope("ann@example.net")
		if answer := c.hand(message, 250); !strings.HasPrefix(answer, "2.0.0 queued as ") {
			t.Errorf("%s: %q", name, answer)
		}
	}
}

func TestFilesOverTheLimitsAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	c := dial(t, in).signIn(in.Key)
	nine := strings.Repeat("x", 9<<20)
	for name, parts := range map[string][]string{
		"21 files":       strings.SplitAfter(strings.Repeat(file(named("a.txt"), "x")+"\x00", 21), "\x00")[:21],
		"one too large":  {file(named("a.bin"), strings.Repeat("x", 10<<20+1))},
		"a long header":  {"Content-Type: message/x-unknown\n\n" + strings.Repeat("X-Long: x\n", 6000)},
		"three together": {file(named("a.bin"), nine), file(named("b.bin"), nine), file(named("c.bin"), nine)},
	} {
		c.envelope("ann@example.net")
		message := strings.ReplaceAll(withParts(parts...), "\x00", "")
		if answer := c.hand(message, 552); !strings.HasPrefix(answer, "5.3.4 ") {
			t.Errorf("%s: %q", name, answer)
		}
	}
	c.envelope("ann@example.net")
	c.hand(withParts(file(named("a.bin"), strings.Repeat("x", 10<<20))), 250)
}

func TestAMessageOfTheSizeThatIsAnnouncedIsTaken(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	c := dial(t, in)
	_, announced, _ := strings.Cut(c.say("EHLO app.test", 250), "\nSIZE ")
	var size int
	if _, err := fmt.Sscan(announced, &size); err != nil {
		t.Fatal(err)
	}
	const line = "All work and no play makes Jack a dull boy.\n"
	head := strings.Count(simple, "\n") + len(simple)
	lines, rest := (size-head)/(len(line)+1), (size-head)%(len(line)+1)
	message := simple + strings.Repeat(line, lines-1) + strings.Repeat("x", rest) + line
	c.signIn(in.Key)
	c.say(fmt.Sprintf("MAIL FROM:<hello@acme.test> SIZE=%d", size), 250)
	c.say("RCPT TO:<ann@example.net>", 250)
	id := strings.TrimPrefix(c.hand(message, 250), "2.0.0 queued as ")
	raw := in.Download(in.Call(http.MethodGet, "/emails/"+id+"/raw", nil).Text("download_url"))
	if want := strings.ReplaceAll(message[len(simple):], "\n", "\r\n"); !strings.HasSuffix(string(raw), want) || len(raw) <= size {
		t.Errorf("%d bytes are kept of %d", len(raw), size)
	}
	c.envelope("ann@example.net")
	c.hand(message+"x", 552)
}

// retried is the same message as a program sends it when it tries again: another date, another boundary.
func retried(attempt int) string {
	edge := fmt.Sprintf("edge%d", attempt)
	return strings.ReplaceAll(fmt.Sprintf("Date: Fri, 13 Nov 2026 10:00:%02d +0000\nX-Idempotency-Key: invoice:4711\n", attempt)+
		withParts("\nHello", file(named("a.txt"), "x")), "edge", edge)
}

func TestTheSameKeyIsTheSameEmailOverSMTPToo(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		const twins = 20
		var mu sync.Mutex
		ids := map[string]bool{}
		var all sync.WaitGroup
		clients := make([]*client, twins)
		for i := range clients {
			clients[i] = dial(t, in).signIn(in.Key)
			clients[i].envelope("ann@example.net")
		}
		for i, c := range clients {
			all.Go(func() {
				id := c.hand(retried(i), 250)
				mu.Lock()
				defer mu.Unlock()
				ids[id] = true
			})
		}
		all.Wait()
		if len(ids) != 1 {
			t.Errorf("%d emails: %v", len(ids), ids)
		}
		clients[0].envelope("ann@example.net")
		clients[0].hand(strings.Replace(retried(1), "Hello", "Another", 1), 550)
		in.Deliver()
		if got := len(in.Mailbox("ann@example.net")); got != 1 {
			t.Errorf("%d messages arrived", got)
		}
		if got := in.Call(http.MethodGet, "/emails", nil); strings.Count(string(got.Raw), `"object":"email"`) != 1 {
			t.Errorf("list is %s", got.Raw)
		}
	})
}

func TestScheduledMessageIsReplayedOverSMTPEvenAfterItsTime(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		head := "X-Scheduled-At: " + in.Clock.Now().Add(time.Hour).Format(time.RFC3339) + "\n"
		c := dial(t, in).signIn(in.Key)
		id := c.send(head+retried(1), "ann@example.net")

		in.Clock.Advance(2 * time.Hour)
		if again := c.send(head+retried(2), "ann@example.net"); again != id {
			t.Errorf("after its time it is %s, not %s", again, id)
		}
		for change, code := range map[string]int{"Hello": 550, "invoice:4711": 554} { // another message under its key, and the message under another key
			c.envelope("ann@example.net")
			c.hand(strings.Replace(head+retried(3), change, "another:one", 1), code)
		}
		in.Deliver()
		if got := len(in.Mailbox("ann@example.net")); got != 1 {
			t.Errorf("%d messages arrived", got)
		}
	})
}

func TestMessageIsReplayedOverSMTPAfterItsTopicHasGone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		topic := in.Must(http.StatusCreated, http.MethodPost, "/topics", map[string]any{"name": "Offers", "default_subscription": "opt_in"}).Text("id")
		c := dial(t, in).signIn(in.Key)
		id := c.send("X-Topic-Id: "+topic+"\n"+retried(1), "ann@example.net")

		in.Must(http.StatusOK, http.MethodDelete, "/topics/"+topic, nil)
		if again := c.send("X-Topic-Id: "+topic+"\n"+retried(2), "ann@example.net"); again != id {
			t.Errorf("it is %s, not %s", again, id)
		}
	})
}
