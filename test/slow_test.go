package test

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	slowClients = 200
	// slowSent is how much of its large message each client has sent when it pauses; promised is how large it says it will be.
	slowSent = 2 << 20
	promised = 34 << 20
	// memoryFor is what all of them together may cost; what they have sent is four times as much.
	memoryFor = 100 << 20
)

// memory is what the process holds now, in bytes.
func (p *process) memory() int64 {
	p.t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return kilobytes << 10
}

// checkUnmoved sends an honest email while the slow clients wait, and looks at the memory.
func (p *process) checkUnmoved(before int64) {
	p.t.Helper()
	start := time.Now()
	id, status, err := p.send("honest@example.net")
	if err != nil || status != http.StatusAccepted {
		p.t.Fatalf("%d %v", status, err)
	}
	if took := time.Since(start); took > 30*time.Second { // behind the slow ones he waits for as long as they please
		p.t.Errorf("an honest client waited %s", took)
	}
	until(p.t, deliveredWithin, "delivery", func() bool { return p.status(id) == "delivered" })
	grown := p.memory() - before
	p.t.Logf("%d slow clients, each with %d MB of its message sent, cost %d MB", slowClients, slowSent>>20, grown>>20)
	if grown > memoryFor {
		p.t.Errorf("that is more than %d MB", memoryFor>>20)
	}
}

// together runs one function per client and waits for all.
func together(t *testing.T, begin func(n int) error) {
	t.Helper()
	var all sync.WaitGroup
	errs := make(chan error, slowClients)
	for n := range slowClients {
		all.Go(func() {
			if err := begin(n); err != nil {
				errs <- err
			}
		})
	}
	all.Wait()
	select {
	case err := <-errs:
		t.Fatal(err)
	default:
	}
}

func TestSlowClientsOfTheAPICostNoMemory(t *testing.T) {
	p := dev(t)
	before := p.memory()
	filler := strings.Repeat("QUJD", 16<<10)
	together(t, func(int) error {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.HTTP, "http://"))
		if err != nil {
			return err
		}
		t.Cleanup(func() { conn.Close() })
		_, err = fmt.Fprintf(conn, "POST /v1/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"+
			`{"from":"hello@acme.test","to":"a@example.net","subject":"x","text":"x","attachments":[{"filename":"a.bin","content":"`, p.APIKey, promised)
		for sent := 0; sent < slowSent && err == nil; sent += len(filler) {
			_, err = io.WriteString(conn, filler)
		}
		return err
	})
	p.checkUnmoved(before)
}

func TestSlowClientsOfSubmissionCostNoMemory(t *testing.T) {
	p := dev(t)
	before := p.memory()
	filler := strings.Repeat(strings.Repeat("QUJD", 19)+"\r\n", 800)
	together(t, func(int) error {
		conn, err := tls.Dial("tcp", p.Submissions, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			return err
		}
		t.Cleanup(func() { conn.Close() })
		text := textproto.NewConn(conn)
		auth := base64.StdEncoding.EncodeToString([]byte("\x00postrider\x00" + p.APIKey))
		for _, line := range []string{"", "EHLO x", "AUTH PLAIN " + auth, "MAIL FROM:<hello@acme.test>", "RCPT TO:<a@example.net>", "DATA"} {
			if line != "" {
				if err := text.PrintfLine("%s", line); err != nil {
					return err
				}
			}
			if code, message, err := text.ReadResponse(0); err != nil || code >= 400 {
				return fmt.Errorf("%s: %d %s %v", line, code, message, err)
			}
		}
		_, err = io.WriteString(conn, "From: hello@acme.test\r\nContent-Type: application/octet-stream; name=a.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n")
		for sent := 0; sent < slowSent && err == nil; sent += len(filler) {
			_, err = io.WriteString(conn, filler)
		}
		return err
	})
	p.checkUnmoved(before)
}
