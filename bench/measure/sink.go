package measure

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"
)

// Sink is a mail server that takes everything and keeps nothing.
type Sink struct {
	Port     int
	listener net.Listener
	taken    atomic.Int64
	last     atomic.Int64 // when the last message was taken, in nanoseconds since 1970
	watch    atomic.Pointer[func(recipient string, at time.Time)]
}

// StartSink opens a sink on loopback until Close.
func StartSink() (*Sink, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Sink{Port: listener.Addr().(*net.TCPAddr).Port, listener: listener}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s, nil
}

// Close ends the sink.
func (s *Sink) Close() error { return s.listener.Close() }

// Reset forgets what was taken.
func (s *Sink) Reset() { s.taken.Store(0) }

// Taken is how many messages were taken.
func (s *Sink) Taken() int64 { return s.taken.Load() }

// Watch calls seen with the recipient of every message, from many goroutines at once.
func (s *Sink) Watch(seen func(recipient string, at time.Time)) { s.watch.Store(&seen) }

// Await waits until so many messages were taken, and returns when the last of them was.
func (s *Sink) Await(ctx context.Context, count int) (time.Time, error) {
	for s.taken.Load() < int64(count) {
		select {
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("the sink has %d of %d messages: %w", s.taken.Load(), count, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	return time.Unix(0, s.last.Load()), nil
}

// AwaitQuiet waits until no message was taken for a while.
func (s *Sink) AwaitQuiet(ctx context.Context, quiet time.Duration) error {
	for before := int64(-1); before != s.taken.Load(); {
		before = s.taken.Load()
		select {
		case <-ctx.Done():
			return fmt.Errorf("the sink still takes messages: %w", ctx.Err())
		case <-time.After(quiet):
		}
	}
	return nil
}

func (s *Sink) serve(conn net.Conn) {
	defer conn.Close()
	in, out := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriter(conn)
	fmt.Fprint(out, "220 sink.test ESMTP\r\n")
	recipient := ""
	for {
		if in.Buffered() == 0 && out.Flush() != nil {
			return
		}
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		switch verb := string(bytes.ToUpper(line[:min(4, len(line))])); verb {
		case "RCPT":
			if s.watch.Load() != nil {
				recipient, _, _ = strings.Cut(string(line[bytes.IndexByte(line, '<')+1:]), ">")
			}
			fmt.Fprint(out, "250 2.1.5 OK\r\n")
		case "EHLO":
			fmt.Fprint(out, "250-sink.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n250 SIZE 100000000\r\n")
		case "DATA":
			fmt.Fprint(out, "354 go on\r\n")
			if out.Flush() != nil || !skipMessage(in) {
				return
			}
			now := time.Now()
			s.last.Store(now.UnixNano())
			s.taken.Add(1)
			if seen := s.watch.Load(); seen != nil {
				(*seen)(recipient, now)
			}
			fmt.Fprint(out, "250 2.0.0 taken\r\n")
		case "QUIT":
			fmt.Fprint(out, "221 2.0.0 bye\r\n")
			out.Flush()
			return
		default:
			fmt.Fprint(out, "250 2.0.0 OK\r\n")
		}
	}
}

// skipMessage reads to the final dot.
func skipMessage(in *bufio.Reader) bool {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return false
		}
		if string(line) == ".\r\n" {
			return true
		}
	}
}
