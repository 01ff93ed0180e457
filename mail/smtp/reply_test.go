package smtp_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"postrider/mail/smtp"
)

func readReply(raw string) (smtp.Reply, error) {
	return smtp.ReadReply(bufio.NewReader(strings.NewReader(raw)))
}

func TestRepliesAreReadWithTheirCodes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		raw  string
		want smtp.Reply
		text string
	}{
		{"250 2.0.0 OK 17 - gsmtp\r\n", smtp.Reply{Code: 250, Enhanced: "2.0.0", Lines: []string{"OK 17 - gsmtp"}}, "250 2.0.0 OK 17 - gsmtp"},
		{"250\r\n", smtp.Reply{Code: 250, Lines: []string{""}}, "250"},
		{"220 hello\n", smtp.Reply{Code: 220, Lines: []string{"hello"}}, "220 hello"},
		{"550-5.7.1 one\r\n550 5.7.1 two\r\n", smtp.Reply{Code: 550, Enhanced: "5.7.1", Lines: []string{"one", "two"}}, "550 5.7.1 one two"},
		{"550-5.7.1 one\r\n550 two\r\n", smtp.Reply{Code: 550, Enhanced: "5.7.1", Lines: []string{"one", "two"}}, "550 5.7.1 one two"},
		{"550 4.7.1 odd\r\n", smtp.Reply{Code: 550, Lines: []string{"4.7.1 odd"}}, "550 4.7.1 odd"},
		{"550 5.7.1000 odd\r\n", smtp.Reply{Code: 550, Lines: []string{"5.7.1000 odd"}}, "550 5.7.1000 odd"},
		{"550 5.1.1\r\n", smtp.Reply{Code: 550, Enhanced: "5.1.1", Lines: []string{""}}, "550 5.1.1"},
		{"250 a\x1b[31m\x00b\r\n", smtp.Reply{Code: 250, Lines: []string{"a?[31m?b"}}, "250 a?[31m?b"},
		{"250 \xff ü\r\n", smtp.Reply{Code: 250, Lines: []string{"? ü"}}, "250 ? ü"},
	}
	for _, c := range cases {
		got, err := readReply(c.raw)
		if err != nil || !reflect.DeepEqual(got, c.want) || got.String() != c.text {
			t.Errorf("%q: got %+v (%s) error %v, want %+v", c.raw, got, got, err, c.want)
		}
	}
}

func TestRepliesThatBreakTheRulesAreProtocolErrors(t *testing.T) {
	t.Parallel()
	cases := []string{
		"hello\r\n", "\r\n", "25 x\r\n", "650 x\r\n", "150 x\r\n", "2500 x\r\n", "250x\r\n",
		"250-a\r\n550 b\r\n",
		strings.Repeat("250-a\r\n", 200),
		"250 " + strings.Repeat("a", 70<<10) + "\r\n",
		strings.Repeat("250-"+strings.Repeat("a", 1000)+"\r\n", 70),
	}
	for _, raw := range cases {
		_, err := readReply(raw)
		var broken *smtp.ProtocolError
		if !errors.As(err, &broken) {
			t.Errorf("%.40q: got %v, want a protocol error", raw, err)
		}
	}
}

func TestReplyCutOffIsUnexpectedEnd(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "250", "250-a\r\n", "250 a"} {
		if _, err := readReply(raw); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: got %v, want unexpected EOF", raw, err)
		}
	}
}

func TestReplyTextCannotBecomeASecondLine(t *testing.T) {
	t.Parallel()
	wire := smtp.AppendWire(smtp.Reply{Code: 550, Enhanced: "5.7.1", Lines: []string{"no\r\n250 yes", strings.Repeat("x", 2000)}}, nil)
	lines := strings.SplitAfter(string(wire), "\r\n")
	if len(lines) != 3 || lines[0] != "550-5.7.1 no??250 yes\r\n" || len(lines[1]) > 512 {
		t.Errorf("wire form is %q", lines)
	}
}

func FuzzReply(f *testing.F) {
	for _, seed := range []string{"250 2.0.0 ok\r\n", "550-5.7.1 a\r\n550 5.7.1 b\r\n", "220\n", "250-\xff\r\n250 \x00\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		reply, err := smtp.ReadReply(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return
		}
		if len(reply.Lines) > 100 || len(reply.Text()) > 64<<10*4 || reply.Code < 200 || reply.Code > 599 {
			t.Fatalf("over the limits: %+v", reply)
		}
		if text := reply.String(); !utf8.ValidString(text) || strings.ContainsAny(text, "\r\n\x00\x1b") {
			t.Fatalf("unsafe text %q", text)
		}
		again, err := smtp.ReadReply(bufio.NewReader(bytes.NewReader(smtp.AppendWire(reply, nil))))
		if err != nil || again.Code != reply.Code || len(again.Lines) != len(reply.Lines) {
			t.Fatalf("%+v became %+v (%v)", reply, again, err)
		}
	})
}
