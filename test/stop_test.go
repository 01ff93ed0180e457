package test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopsWithin is less than clients are given to finish: nobody who is idle may use that up.
const stopsWithin = 9500 * time.Millisecond

// knock opens a connection, which ends with the test.
func knock(t *testing.T, address string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(startWithin)); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

// line reads one line and fails if it does not begin as it must.
func line(t *testing.T, from *bufio.Reader, want string) {
	t.Helper()
	got, err := from.ReadString('\n')
	if err != nil || !strings.HasPrefix(got, want) {
		t.Fatalf("%q %v, want %q", got, err, want)
	}
}

// closes waits until nobody is let in any more.
func (p *process) closes(address string) {
	p.t.Helper()
	until(p.t, stopsWithin, "the end of the doors", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

func TestARequestInFlightIsAnsweredWhenTheProgramStops(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, "dev", "--data", data, "--http", "127.0.0.1:0")
	host := strings.TrimPrefix(p.HTTP, "http://")

	// A request whose body is yet to come: 100 tells that it has been taken up.
	body := `{"from":"hello@acme.test","to":"late@example.net","subject":"Late","text":"Just in time"}`
	request, answer := knock(t, host)
	fmt.Fprintf(request, "POST /v1/emails HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", host, p.APIKey, len(body))
	line(t, answer, "HTTP/1.1 100 Continue")
	line(t, answer, "\r\n")

	// Others that have nothing to say: an idle connection that was used, a stream of events, and mail sessions at every door.
	idle, kept := knock(t, host)
	fmt.Fprintf(idle, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", host)
	line(t, kept, "HTTP/1.1 200 OK")
	stream, events := knock(t, host)
	fmt.Fprintf(stream, "GET /v1/events/stream HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", host, p.APIKey)
	line(t, events, "HTTP/1.1 200 OK")
	_, mx := knock(t, p.MX)
	line(t, mx, "220 ")
	_, submission := knock(t, p.Submission)
	line(t, submission, "220 ")

	stopped := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.closes(host)
	line(t, mx, "421 ")
	line(t, submission, "421 ")
	if _, err := io.Copy(io.Discard, events); err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
	if _, err := io.WriteString(request, body); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatalf("the request in flight was not answered: %v", err)
	}
	defer response.Body.Close()
	var accepted struct{ ID string }
	if err := json.NewDecoder(response.Body).Decode(&accepted); err != nil || response.StatusCode != http.StatusAccepted {
		t.Fatalf("%s %v", response.Status, err)
	}
	err = <-p.exited
	p.exited <- err
	if took := time.Since(stopped); err != nil || took > stopsWithin {
		t.Errorf("ended with %v after %s: %s", err, took, p.stderr.String())
	}

	again := start(t, "dev", "--data", data, "--http", "127.0.0.1:0")
	if status := again.status(accepted.ID); status == "" {
		t.Error("what was accepted while it stopped is not known afterwards")
	}
}

func TestASecondSignalEndsTheProgramAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	host := strings.TrimPrefix(p.HTTP, "http://")
	// Somebody who has begun a request and never ends it would be waited for.
	slow, answer := knock(t, host)
	fmt.Fprintf(slow, "POST /v1/emails HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n", host, p.APIKey)
	line(t, answer, "HTTP/1.1 100 Continue")
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.closes(host)
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := <-p.exited
	p.exited <- err
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("ended with %v: %s", err, p.stderr.String())
	}
}

func TestTheReadyFileOfTheLastRunIsNotBelieved(t *testing.T) {
	t.Parallel()
	p := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, stderr, err := run(t, "dev", "--data", t.TempDir(), "--http", taken.Addr().String(), "--ready-file", p.readyFile); err == nil || !strings.Contains(stderr, "another program uses this address") {
		t.Fatalf("%v %s", err, stderr)
	}
	if raw, err := os.ReadFile(p.readyFile); err == nil {
		t.Errorf("a program that did not come up is said to be ready: %s", bytes.TrimSpace(raw))
	}
}

func TestMailUnderWayIsDeliveredBeforeTheProgramEnds(t *testing.T) {
	t.Parallel()
	data, clock := t.TempDir(), filepath.Join(t.TempDir(), "clock")
	args := []string{"dev", "--data", data, "--http", "127.0.0.1:0"}
	p := startWith(t, []string{"env", "POSTRIDER_CLOCK_FILE=" + clock}, args...)
	id, status, err := p.send("slow@example.net") // its server takes twenty seconds for its answer
	if err != nil || status != http.StatusAccepted {
		t.Fatal(status, err)
	}
	until(t, startWithin, "a conversation", func() bool { return p.status(id) == "sending" })
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.closes(strings.TrimPrefix(p.HTTP, "http://"))
	if err := os.WriteFile(clock, []byte("+21s"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = <-p.exited
	p.exited <- err
	if err != nil {
		t.Errorf("ended with %v: %s", err, p.stderr.String())
	}

	again := startWith(t, []string{"env", "POSTRIDER_CLOCK_FILE=" + clock}, args...)
	if status := again.status(id); status != "delivered" {
		t.Errorf("the email is %s", status)
	}
}

// killedAfter is when supervisors kill (deploy/): a program that has not ended by then was not told apart from one that is stuck.
const killedAfter = 45 * time.Second

func TestAFrozenDatabaseDoesNotKeepTheProgramFromEnding(t *testing.T) {
	t.Parallel()
	server := startPostgres(t, "127.0.0.1")
	patient := strings.ReplaceAll(server.url(), "&connect_timeout=5", "") // as most addresses are written
	p := start(t, "serve", "--data", t.TempDir(), "--database-url", patient, "--secret", longSecret, "--http", "127.0.0.1:0", "--mx", "127.0.0.1:0", "--insecure-test-network")
	server.signal(syscall.SIGSTOP)
	server.signal(syscall.SIGSTOP) // those, too, that it had just made
	asked := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.closes(strings.TrimPrefix(p.HTTP, "http://"))
	err := <-p.exited
	p.exited <- err
	if took := time.Since(asked); code(err) != 1 || took > killedAfter {
		t.Errorf("ended with %v after %s: %s", err, took, p.stderr.String())
	}
}
