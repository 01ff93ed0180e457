package smtp_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"postrider/mail/smtp"
)

// fakeEnds are the sequences that some server somewhere takes for the end of a message.
var fakeEnds = map[string]string{
	"lf dot lf":         "\n.\n",
	"cr dot cr":         "\r.\r",
	"lf dot crlf":       "\n.\r\n",
	"crlf dot lf":       "\r\n.\n",
	"crlf dot cr":       "\r\n.\r",
	"cr dot crlf":       "\r.\r\n",
	"cr dot lf":         "\r.\n",
	"lf dot cr":         "\n.\r",
	"nul before dot":    "\r\n\x00.\r\n",
	"nul after dot":     "\r\n.\x00\r\n",
	"nul before end":    "\r\n.\r\x00\n",
	"lf cr dot crlf":    "\n\r.\r\n",
	"crlf dot crcrlf":   "\r\n.\r\r\n",
	"crlf dot space":    "\r\n. \r\n",
	"crlf dot dot crlf": "\r\n..\r\n",
}

func TestNothingButCRLFDotCRLFEndsAMessage(t *testing.T) {
	t.Parallel()
	smuggled := "MAIL FROM:<evil@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\nsmuggled\r\n.\r\n"
	for name, end := range fakeEnds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d desk
			_, address := startServer(t, &d, smtp.Config{})
			p := connect(t, address)
			p.begin()

			p.send("first" + end + smuggled + "QUIT\r\n")

			harmless := end == "\r\n. \r\n" || end == "\r\n..\r\n"
			if harmless {
				p.expect("250 2.0.0 queued", "221 ")
			} else {
				p.expect("550 5.", "221 ")
			}
			p.closed()
			for _, message := range d.accepted() {
				if !harmless || message.From.Local == "evil" {
					t.Errorf("accepted %+v", message)
				}
			}
		})
	}
}

// The end of a line may fall between two reads of the server; wherever it does, the verdict is the same.
func TestBareEndingsAreFoundAtTheEdgeOfTheBuffer(t *testing.T) {
	t.Parallel()
	var d desk
	_, address := startServer(t, &d, smtp.Config{})
	p := connect(t, address)
	p.begin()
	for length := smtp.ReadBuffer - 4; length < smtp.ReadBuffer+4; length++ {
		line := strings.Repeat("x", length)
		for _, end := range []string{"\r\n", "\n", "\r", "\r\r\n", "\r.\r\n"} {
			p.send(line + end + "y\r\n.\r\n")
			if end == "\r\n" {
				p.expect("250 ")
			} else {
				p.expect("550 5.5.2 Bare")
			}
			p.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\n")
			p.expect("250 ", "250 ", "354 ")
		}
	}
	for i, message := range d.accepted() {
		if want := strings.Repeat("x", smtp.ReadBuffer-4+i) + "\r\ny\r\n"; message.Body != want {
			t.Errorf("message %d has %d bytes, want %d", i, len(message.Body), len(want))
		}
	}
}

// A session that answers before it has read everything cannot know what it accepts.
func TestAcceptanceWithoutReadingToTheEndIsNotPassedOn(t *testing.T) {
	t.Parallel()
	d := desk{onData: func(context.Context, io.Reader) *smtp.Reply { return nil }}
	_, address := startServer(t, &d, smtp.Config{})
	p := connect(t, address)
	p.begin()
	p.send("clean\r\n.\r\n")
	p.expect("451 4.3.0")
	p.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\n")
	p.expect("250 ", "250 ", "354 ")
	p.send("bare\nending\r\n.\r\nNOOP\r\n")
	p.expect("550 5.5.2 Bare", "250 2.0.0 Ok")
}

func ExampleReply_String() {
	fmt.Println(smtp.NewReply(550, "5.1.1", "No such user"))
	// Output: 550 5.1.1 No such user
}
