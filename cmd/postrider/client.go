package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// clientFlags say which server a developer's verb talks to, and as whom.
type clientFlags struct {
	Key string `help:"API key." required:"" env:"POSTRIDER_API_KEY"`
	URL string `name:"url" help:"Address of the server." default:"http://127.0.0.1:8025" env:"POSTRIDER_URL"`
}

const (
	// callTimeout is how long the server may take to answer one call.
	callTimeout = 30 * time.Second
	// maxAnswer is more than any answer of the API has.
	maxAnswer = 32 << 20
)

// base is where the API begins, however the address was written.
func (f clientFlags) base() string {
	return strings.TrimSuffix(strings.TrimRight(f.URL, "/"), "/v1") + "/v1"
}

func (f clientFlags) check() error {
	if server, err := url.Parse(f.URL); err != nil || !isAddress(server) {
		return mistake("url", f.URL, "must be the address of a server, such as https://mail.example.org")
	}
	return nil
}

// request makes a request to the API; path may have a query. A nil body sends none.
func (f clientFlags) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, f.base()+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+f.Key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// call returns the answer to a request, or why there is none.
func (f clientFlags) call(ctx context.Context, method, path string, body any) (json.RawMessage, error) {
	ctx, done := context.WithTimeout(ctx, callTimeout)
	defer done()
	request, err := f.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("no server answers at %s: %w; is it running? --url or POSTRIDER_URL names another", f.URL, errors.Unwrap(err))
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		return nil, refusal(answer.StatusCode, raw)
	}
	return raw, nil
}

// errRefused means that the server has not done it.
var errRefused = errors.New("the server refused")

// refusal is an answer that is not what was asked for, in the words of the server.
func refusal(status int, raw []byte) error {
	var told struct {
		Message string
		Error   struct {
			Code      string
			RequestID string `json:"request_id"`
		}
	}
	refused := errRefused
	if status == http.StatusUnauthorized {
		refused = fmt.Errorf("%w the key of --key or POSTRIDER_API_KEY", errRefused)
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		refused = fmt.Errorf("%w: %w", errUnauthorized, refused)
	}
	switch err := json.Unmarshal(raw, &told); {
	case err == nil && told.Message != "":
		return fmt.Errorf("%w: %s (%d %s, request %s)", refused, told.Message, status, told.Error.Code, told.Error.RequestID)
	case status/100 == 5:
		return fmt.Errorf("%w: %d %s", refused, status, http.StatusText(status))
	}
	return fmt.Errorf("%w: %d %s; is --url or POSTRIDER_URL the address of a Postrider?", refused, status, http.StatusText(status))
}
