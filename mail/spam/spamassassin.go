package spam

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"postrider/world"
)

// SpamAssassin asks a spamd daemon by its own protocol, SPAMC/1.5. Use it by pointer; it is safe for use by several goroutines.
type SpamAssassin struct {
	// Address is host:port, or the path of a socket.
	Address string
	// User is whose preferences spamd applies, or empty for its own.
	User string
	// Timeout bounds each question; 0 means DefaultTimeout.
	Timeout time.Duration
	Dialer  world.Dialer
	// Clock dates the messages that have to be composed.
	Clock world.Clock

	// version is asked for once, since spamd tells it only together with a check.
	version atomic.Pointer[string]
}

// Check returns what the daemon thinks of a message. Its error is ErrDaemon, or about a From that no message can be made of.
func (s *SpamAssassin) Check(ctx context.Context, m Message) (Result, error) {
	raw, err := m.rfc5322(s.Clock.Now())
	if err != nil {
		return Result{}, fmt.Errorf("check by spamassassin: %w", err)
	}
	reply, err := s.ask(ctx, "REPORT", raw)
	if err != nil {
		return Result{}, fmt.Errorf("check by spamassassin at %s: %w", s.Address, err)
	}
	found := finding{engine: "spamassassin", version: s.askVersion(ctx), isSpam: reply.isSpam, score: reply.score, spamFrom: reply.threshold}
	found.rules = readReport(reply.body)
	return found.translate(m)
}

// spamdReply is an answer of spamd: its Spam header, and whatever the question asked for.
type spamdReply struct {
	isSpam           bool
	score, threshold float64
	body             string
}

func (s *SpamAssassin) ask(ctx context.Context, command string, raw []byte) (spamdReply, error) {
	var reply spamdReply
	err := line{dialer: s.Dialer, address: s.Address, timeout: s.Timeout}.talk(ctx, func(conn net.Conn) error {
		head := fmt.Sprintf("%s SPAMC/1.5\r\nContent-length: %d\r\n", command, len(raw))
		if s.User != "" {
			head += "User: " + strings.Map(printable, s.User) + "\r\n"
		}
		_, writeErr := io.WriteString(conn, head+"\r\n")
		if writeErr == nil {
			_, writeErr = conn.Write(raw)
		}
		var err error
		reply, err = readSpamd(conn)
		if err != nil {
			return errors.Join(writeErr, err) // a refusal that came before all was written is the better reason
		}
		return nil
	})
	return reply, err
}

func printable(r rune) rune {
	if r <= ' ' || r > '~' {
		return -1
	}
	return r
}

var (
	spamdStatus = regexp.MustCompile(`^SPAMD/[\d.]+ (\d+) (\S+)`)
	spamdSpam   = regexp.MustCompile(`(?i)^Spam:\s*(True|Yes|False|No)\s*;\s*(-?[\d.]+)\s*/\s*(-?[\d.]+)`)
)

func readSpamd(conn io.Reader) (spamdReply, error) {
	r := bufio.NewReader(io.LimitReader(conn, maxAnswer))
	status, err := r.ReadString('\n')
	if err != nil {
		return spamdReply{}, err
	}
	parts := spamdStatus.FindStringSubmatch(status)
	if parts == nil || parts[1] != "0" {
		return spamdReply{}, fmt.Errorf("answer %.100q", strings.TrimSpace(status))
	}
	var reply spamdReply
	judged, length := false, int64(maxAnswer)
	for {
		field, err := r.ReadString('\n')
		if err != nil {
			return spamdReply{}, err
		}
		field = strings.TrimSpace(field)
		if field == "" {
			break
		}
		if spam := spamdSpam.FindStringSubmatch(field); spam != nil {
			judged = true
			reply.isSpam = strings.EqualFold(spam[1], "true") || strings.EqualFold(spam[1], "yes")
			score, scoreErr := strconv.ParseFloat(spam[2], 64)
			threshold, thresholdErr := strconv.ParseFloat(spam[3], 64)
			if err := errors.Join(scoreErr, thresholdErr); err != nil {
				return spamdReply{}, err
			}
			reply.score, reply.threshold = score, threshold
		}
		if value, found := strings.CutPrefix(strings.ToLower(field), "content-length:"); found {
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
				return spamdReply{}, err
			}
		}
	}
	if !judged {
		return spamdReply{}, errors.New("answer without a score")
	}
	body, err := io.ReadAll(io.LimitReader(r, length))
	reply.body = string(body)
	return reply, err
}

// reportRow is a line of the report: points, the name of the rule, and what it means.
var reportRow = regexp.MustCompile(`^\s*(-?\d+(?:\.\d+)?)\s+([A-Z][A-Z0-9_]{1,99})\s*(.*)$`)

// readReport reads the table of rules. It begins after the last line of dashes: what comes before may quote the message, which
// must not be able to make up rules.
func readReport(report string) []Hit {
	start := strings.LastIndex(report, "\n---- -")
	if start < 0 {
		return nil
	}
	var rules []Hit
	for i, text := range strings.Split(report[start+1:], "\n") {
		text = strings.TrimRight(text, "\r ")
		if i == 0 {
			continue
		}
		if text == "" || len(rules) == maxRules {
			break
		}
		row := reportRow.FindStringSubmatch(text)
		switch {
		case row != nil:
			points, err := strconv.ParseFloat(row[1], 64)
			if err == nil {
				rules = append(rules, Hit{ID: row[2], Score: points, Description: row[3]})
			}
		case len(rules) > 0: // the description goes on
			last := &rules[len(rules)-1]
			last.Description = cut(last.Description+" "+strings.TrimSpace(text), maxDescription)
		}
	}
	return rules
}

var checkerVersion = regexp.MustCompile(`X-Spam-Checker-Version: SpamAssassin (\S{1,20})`)

// askVersion returns the version of SpamAssassin, or nothing if it cannot be learned: no reason to give up a check that worked.
func (s *SpamAssassin) askVersion(ctx context.Context) string {
	if known := s.version.Load(); known != nil {
		return *known
	}
	reply, err := s.ask(ctx, "HEADERS", []byte("\r\n"))
	if err != nil {
		return ""
	}
	version := ""
	if found := checkerVersion.FindStringSubmatch(reply.body); found != nil {
		version = found[1]
	}
	s.version.Store(&version)
	return version
}
