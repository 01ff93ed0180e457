package smtp_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"postrider/mail/smtp"
)

// open leads the dialogue up to the point where a message may come.
func (p *peer) open() {
	p.t.Helper()
	p.send("EHLO client.test\r\n")
	p.skipReply()
	p.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\n")
	p.expect("250 2.1.0", "250 2.1.5")
}

func bdat(text string, last bool) string {
	word := ""
	if last {
		word = " LAST"
	}
	return fmt.Sprintf("BDAT %d%s\r\n%s", len(text), word, text)
}

func TestChunksMakeTheMessageThatWasCut(t *testing.T) {
	t.Parallel()
	var d desk
	server := newServer(t, &d, smtp.Config{})
	p := &peer{t: t, conn: pipeTo(t, server)}
	p.in = newReader(p.conn)
	p.expect("220 ")
	sent := 0
	rapid.Check(t, func(r *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[.a-z ]{0,40}`), 1, 20).Draw(r, "lines")
		message := strings.Join(lines, "\r\n") + "\r\n"
		p.open()
		for rest := message; ; {
			n := rapid.IntRange(0, len(rest)).Draw(r, "chunk")
			last := n == len(rest)
			go io.WriteString(p.conn, bdat(rest[:n], last))
			p.expect("250 2.0.0")
			if rest = rest[n:]; last {
				break
			}
		}
		sent++
		all := d.accepted()
		if len(all) != sent || all[sent-1].Body != message {
			r.Fatalf("server has %d messages, the last %q, want %q", len(all), all[len(all)-1].Body, message)
		}
	})
}

func TestPipelinedChunksAreAnsweredOneByOne(t *testing.T) {
	t.Parallel()
	var d desk
	_, address := startServer(t, &d, smtp.Config{})
	p := connect(t, address)
	p.open()
	p.send(bdat("Subject: x\r\n", false) + "NOOP\r\n" + bdat("\r\nno line end", false) + bdat("", true) + "NOOP\r\n")
	p.expect("250 2.0.0 Chunk", "250 2.0.0 Ok", "250 2.0.0 Chunk", "250 2.0.0 queued as 42", "250 2.0.0 Ok")
	if got := d.accepted()[0].Body; got != "Subject: x\r\n\r\nno line end\r\n" {
		t.Errorf("message is %q", got)
	}
}

// What stands in a chunk is never read as a command, whatever became of the message.
func TestChunksAreNeverTakenForCommands(t *testing.T) {
	t.Parallel()
	attack := "NOOP\r\nMAIL FROM:<evil@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\nX\r\n.\r\n"
	for name, c := range map[string]struct {
		prepare, say string
		replies      []string
	}{
		"before MAIL":        {"", bdat(attack, true), []string{"503 5.5.1"}},
		"without recipients": {"MAIL FROM:<a@client.test>\r\n", bdat(attack, true), []string{"554 5.5.1"}},
		"after a refused chunk": {"MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\n",
			bdat("bare\nline\r\n", false) + bdat(attack, true), []string{"550 5.5.2", "503 5.5.1"}},
		"in a message too large": {"MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\n",
			bdat(strings.Repeat(attack, 100), false) + bdat(attack, true), []string{"552 5.3.4", "503 5.5.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d desk
			_, address := startServer(t, &d, smtp.Config{MaxMessageBytes: 4000})
			p := connect(t, address)
			p.send("EHLO client.test\r\n")
			p.skipReply()
			p.send(c.prepare)
			for range strings.Count(c.prepare, "\n") {
				p.skipReply()
			}
			p.send(c.say + "QUIT\r\n")
			p.expect(append(c.replies, "221 ")...)
			p.closed()
			if got := d.accepted(); len(got) > 0 {
				t.Errorf("accepted %q", got)
			}
		})
	}
}

func TestUnreadableChunksEndTheDialogue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ say, reply string }{
		"no size":           {"BDAT\r\n", "501 5.5.4"},
		"negative":          {"BDAT -1\r\n", "501 5.5.4"},
		"another word":      {"BDAT 5 FIRST\r\n", "501 5.5.4"},
		"over every limit":  {"BDAT 99999999999 LAST\r\n", "552 5.3.4"},
		"no number at all":  {"BDAT 99999999999999999999 LAST\r\n", "501 5.5.4"},
		"unreadable second": {bdat("x\r\n", false) + "BDAT x\r\n", "250 2.0.0 Chunk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d desk
			_, address := startServer(t, &d, smtp.Config{})
			p := connect(t, address)
			p.open()
			p.send(c.say + "NOOP\r\nNOOP\r\n")
			p.expect(c.reply)
			if strings.Contains(name, "second") {
				p.expect("501 5.5.4")
			}
			p.closed()
			if got := d.accepted(); len(got) > 0 {
				t.Errorf("accepted %q", got)
			}
		})
	}
}

func TestBetweenChunksOnlyChunksAreWelcome(t *testing.T) {
	t.Parallel()
	var d desk
	tls, _ := certificate(t)
	_, address := startServer(t, &d, smtp.Config{TLS: tls})
	p := connect(t, address)
	p.open()
	p.send(bdat("one\r\n", false))
	p.expect("250 2.0.0")
	for _, command := range []string{"DATA", "STARTTLS", "MAIL FROM:<c@client.test>", "RCPT TO:<c@mx.test>", "EHLO again.test"} {
		p.send(command + "\r\n")
		p.expect("503 5.5.1 More chunks")
	}
	p.send("RSET\r\n")
	p.expect("250 2.0.0 Ok")
	p.send(bdat("two\r\n", true))
	p.expect("503 5.5.1 Say MAIL")
	p.open()
	p.send("DATA\r\nthree\r\n.\r\n")
	p.expect("354 ", "250 2.0.0 queued")
	p.send(bdat("four\r\n", true))
	p.expect("503 5.5.1 Say MAIL")
	if got := d.accepted(); len(got) != 1 || got[0].Body != "three\r\n" {
		t.Errorf("accepted %q, want the third alone", got)
	}
}

func TestMessageCutOffInAChunkIsNotKept(t *testing.T) {
	t.Parallel()
	var d desk
	server := newServer(t, &d, smtp.Config{})
	conn := pipeTo(t, server)
	p := &peer{t: t, conn: conn, in: newReader(conn)}
	p.expect("220 ")
	p.open()
	p.send("BDAT 10 LAST\r\n12345")
	conn.Close()
	if got := d.accepted(); len(got) > 0 {
		t.Errorf("accepted %q", got)
	}
}
