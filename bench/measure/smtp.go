package measure

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"time"
)

// SMTP is how to hand in mail: the server, and the key if it asks for one.
type SMTP struct {
	Address string
	// Encrypted sessions begin with STARTTLS.
	Encrypted bool
	Key       string
	From      string
	// Domain is where the recipients are; example.net if empty.
	Domain string
}

func (server SMTP) domain() string {
	if server.Domain == "" {
		return "example.net"
	}
	return server.Domain
}

// LoadSMTP hands in messages over and over, one session per connection, the envelope in one write as programs with PIPELINING do.
func LoadSMTP(ctx context.Context, server SMTP, sessions int, during time.Duration, message func(worker, n int) []byte) (Result, error) {
	domain := server.domain()
	return gather(ctx, sessions, during, func(ctx context.Context, worker int) (seen own, err error) {
		s, err := server.open()
		if err != nil {
			return seen, err
		}
		defer s.conn.Close()
		for n := 0; ctx.Err() == nil; n++ {
			start := time.Now()
			if err := s.hand(server.From, fmt.Sprintf("user-%d-%d@%s", worker, n, domain), message(worker, n)); err != nil {
				return seen, err
			}
			seen.took = append(seen.took, time.Since(start))
		}
		return seen, nil
	})
}

type smtpSession struct {
	conn net.Conn
	in   *bufio.Reader
}

func (server SMTP) open() (*smtpSession, error) {
	conn, err := net.Dial("tcp", server.Address)
	if err != nil {
		return nil, err
	}
	s := &smtpSession{conn, bufio.NewReader(conn)}
	if err := s.say("", "EHLO bench.test\r\n"); err != nil {
		return s, err
	}
	if server.Encrypted {
		if err := s.encrypt(); err != nil {
			return s, err
		}
	}
	if server.Key == "" {
		return s, nil
	}
	return s, s.say("AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00postrider\x00"+server.Key)) + "\r\n")
}

func (s *smtpSession) encrypt() error {
	if err := s.say("STARTTLS\r\n"); err != nil {
		return err
	}
	s.conn = tls.Client(s.conn, &tls.Config{InsecureSkipVerify: true}) // a self-signed certificate on loopback
	s.in = bufio.NewReader(s.conn)
	return s.say("EHLO bench.test\r\n")
}

// say sends each command and waits for its answer; the empty one only waits.
func (s *smtpSession) say(commands ...string) error {
	for _, command := range commands {
		if command != "" {
			if _, err := s.conn.Write([]byte(command)); err != nil {
				return err
			}
		}
		if err := s.hear("2"); err != nil {
			return err
		}
	}
	return nil
}

// hear reads one answer, which must begin as wished.
func (s *smtpSession) hear(begin string) error {
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return err
		}
		if len(line) > 3 && line[3] == '-' {
			continue
		}
		if !strings.HasPrefix(line, begin) {
			return fmt.Errorf("server said %q", line)
		}
		return nil
	}
}

func (s *smtpSession) hand(from, to string, message []byte) error {
	if _, err := fmt.Fprintf(s.conn, "MAIL FROM:<%s>\r\nRCPT TO:<%s>\r\nDATA\r\n", from, to); err != nil {
		return err
	}
	for _, begin := range []string{"2", "2", "354"} {
		if err := s.hear(begin); err != nil {
			return err
		}
	}
	if _, err := s.conn.Write(message); err != nil {
		return err
	}
	return s.hear("2")
}
