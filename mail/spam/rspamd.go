package spam

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/world"
)

// rspamdSpamScore is the score from which on rspamd marks mail as spam unless it is told otherwise (action "add header").
const rspamdSpamScore = 6.0

// Rspamd asks an rspamd daemon by its HTTP protocol. It is safe for use by several goroutines.
type Rspamd struct {
	// Address is host:port of a normal or controller worker, or the path of its socket.
	Address string
	// Password is sent if it is not empty; controller workers ask for it.
	Password string
	// SpamScore is the score from which on the daemon marks mail, for daemons that do not tell (before 3.5). 0 means 6, as shipped.
	SpamScore float64
	// Timeout bounds a check; 0 means DefaultTimeout.
	Timeout time.Duration
	Dialer  world.Dialer
	// Clock dates the messages that have to be composed.
	Clock world.Clock
}

// rspamdAnswer is the part of the answer to /checkv2 that matters.
type rspamdAnswer struct {
	Skipped    bool               `json:"is_skipped"`
	Score      *float64           `json:"score"`
	Action     string             `json:"action"`
	Thresholds map[string]float64 `json:"thresholds"`
	Symbols    map[string]struct {
		Score       float64 `json:"score"`
		Description string  `json:"description"`
	} `json:"symbols"`
	Error string `json:"error"`
}

// Check returns what the daemon thinks of a message. Its error is ErrDaemon, or about a From that no message can be made of.
func (r Rspamd) Check(ctx context.Context, m Message) (Result, error) {
	raw, err := m.rfc5322(r.Clock.Now())
	if err != nil {
		return Result{}, fmt.Errorf("check by rspamd: %w", err)
	}
	var found finding
	err = line{dialer: r.Dialer, address: r.Address, timeout: r.Timeout}.talk(ctx, func(conn net.Conn) error {
		request, err := r.request(m, raw)
		if err != nil {
			return err
		}
		if err := request.Write(conn); err != nil {
			return err
		}
		found, err = r.read(conn, request)
		return err
	})
	if err != nil {
		return Result{}, fmt.Errorf("check by rspamd at %s: %w", r.Address, err)
	}
	return found.translate(m)
}

func (r Rspamd) request(m Message, raw []byte) (*http.Request, error) {
	request, err := http.NewRequest(http.MethodPost, "http://rspamd/checkv2", bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	request.Close = true
	request.Header.Set("Pass", "all") // no shortcuts: the author wants to see every rule
	if r.Password != "" {
		request.Header.Set("Password", r.Password)
	}
	if from, err := address.Parse(m.From); err == nil && !from.NeedsUTF8() {
		request.Header.Set("From", from.Addr())
	}
	for _, to := range m.recipients() {
		if !to.NeedsUTF8() {
			request.Header.Add("Rcpt", to.Addr())
		}
	}
	return request, nil
}

func (r Rspamd) read(conn io.Reader, request *http.Request) (finding, error) {
	response, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxAnswer)), request)
	if err != nil {
		return finding{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return finding{}, err
	}
	var answer rspamdAnswer
	err = json.Unmarshal(body, &answer)
	switch {
	case response.StatusCode != http.StatusOK:
		return finding{}, fmt.Errorf("status %d %.100q", response.StatusCode, answer.Error)
	case err != nil:
		return finding{}, err
	case answer.Score == nil:
		return finding{}, fmt.Errorf("answer without a score: %.100q", answer.Error)
	case answer.Skipped && answer.Action == "no action":
		return finding{}, fmt.Errorf("message was not looked at")
	}
	found := finding{engine: "rspamd", version: versionOf(response.Header.Get("Server")), score: *answer.Score, isSpam: marksSpam(answer.Action)}
	found.spamFrom = cmp.Or(answer.Thresholds["add header"], answer.Thresholds["rewrite subject"], r.SpamScore, rspamdSpamScore)
	for name, symbol := range answer.Symbols {
		found.rules = append(found.rules, Hit{ID: cut(name, 100), Score: symbol.Score, Description: symbol.Description})
	}
	return found, nil
}

// marksSpam tells whether an action keeps a message out of the inbox. Greylisting and delays do not.
func marksSpam(action string) bool {
	switch action {
	case "add header", "rewrite subject", "reject", "discard", "quarantine":
		return true
	}
	return false
}

// versionOf reads the version of a product from a header: rspamd/3.4.
func versionOf(server string) string {
	_, version, _ := strings.Cut(cut(server, 50), "/")
	return version
}
