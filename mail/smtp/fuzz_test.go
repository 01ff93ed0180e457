package smtp_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postrider/mail/smtp"
)

// FuzzServer says anything to a server. Whatever it says, a message is accepted only if its bytes stood between DATA and
// CRLF.CRLF in just that form, and every line of the server is a reply.
func FuzzServer(f *testing.F) {
	for _, seed := range serverSeeds(f) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		if bytes.Contains(bytes.ToUpper(said), []byte("BDAT")) {
			t.Skip("chunks have a fuzz test of their own")
		}
		var d desk
		server := newServer(t, &d, smtp.Config{Auth: true, MaxMessageBytes: 64 << 10, MaxTextLineBytes: 32 << 10})
		conn := &tape{Reader: bytes.NewReader(said)}
		smtp.ServeConn(server, context.Background(), conn)

		messages := d.accepted()
		if ends := bytes.Count(said, []byte("\r\n.\r\n")); len(messages) > ends {
			t.Fatalf("%d messages from %d ends", len(messages), ends)
		}
		for _, message := range messages {
			checkAccepted(t, said, message)
		}
		if d.opened != 1 || d.closed != 1 {
			t.Fatalf("%d sessions opened, %d closed", d.opened, d.closed)
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(conn.heard.String(), "\r\n"), "\r\n") {
			if len(line) < 4 || line[0] < '2' || line[0] > '5' || line[3] != ' ' && line[3] != '-' || len(line) > 510 {
				t.Fatalf("server said %q", line)
			}
		}
	})
}

// FuzzChunks cuts anything into two chunks. It is accepted as it is if its lines are clean, and nothing else is ever accepted.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("a\r\n.\r\nMAIL FROM:<evil@client.test>\r\n"), 3)
	f.Add([]byte("bare\nending\r\n"), 5)
	f.Add([]byte("cut\r\n"), 4)
	f.Add([]byte("no end"), 0)
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		at = min(max(at, 0), len(text))
		said := "EHLO x\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\n" + bdat(string(text[:at]), false) + bdat(string(text[at:]), true)
		var d desk
		server := newServer(t, &d, smtp.Config{})
		smtp.ServeConn(server, context.Background(), &tape{Reader: strings.NewReader(said)})

		want := string(text)
		if want != "" && !strings.HasSuffix(want, "\r\n") {
			want += "\r\n"
		}
		clean := !strings.ContainsAny(strings.ReplaceAll(want, "\r\n", ""), "\r\n\x00")
		got := d.accepted()
		if clean != (len(got) == 1) || clean && got[0].Body != want {
			t.Fatalf("%q in two chunks became %q", text, got)
		}
	})
}

func checkAccepted(t *testing.T, said []byte, message received) {
	t.Helper()
	if !wasSaid(string(said), message.Body) {
		t.Fatalf("accepted %q, which was not said", message.Body)
	}
	rest := strings.ReplaceAll(message.Body, "\r\n", "")
	if strings.ContainsAny(rest, "\r\n\x00") {
		t.Fatalf("accepted a bare ending or NUL in %q", message.Body)
	}
	if len(message.To) == 0 {
		t.Fatal("accepted a message to nobody")
	}
}

// wasSaid reports whether body stands somewhere in said: from the start of a line to the first CRLF.CRLF after it, with
// one dot taken from each line that starts with one.
func wasSaid(said, body string) bool {
	for start := 2; start <= len(said); start++ {
		if said[start-2:start] != "\r\n" {
			continue
		}
		text, _, ended := strings.Cut(said[start-2:], "\r\n.\r\n")
		if ended && strings.ReplaceAll(text+"\r\n", "\r\n.", "\r\n") == "\r\n"+body {
			return true
		}
	}
	return false
}

// serverSeeds returns what the clients say in the scripts, and all ways to smuggle.
func serverSeeds(f *testing.F) (seeds []string) {
	begin := "EHLO x\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nDATA\r\n"
	for _, end := range fakeEnds {
		seeds = append(seeds, begin+"first"+end+begin+"second\r\n.\r\n")
	}
	seeds = append(seeds, begin+".needless dot\r\n..needed\r\n.\r\n", begin+".\r\n")
	seeds = append(seeds, begin+strings.Repeat("x", smtp.ReadBuffer-1)+"\r\n.\r\n", strings.Repeat("x", smtp.ReadBuffer+1))
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		var said strings.Builder
		for line := range strings.SplitSeq(string(raw), "\n") {
			if text, ok := strings.CutPrefix(line, "C: "); ok {
				said.WriteString(text + "\r\n")
			}
		}
		seeds = append(seeds, said.String())
	}
	return seeds
}
