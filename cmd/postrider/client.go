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

// request makes a request to the API; path may have a query. A nil body sends none.
func (f clientFlags) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	if server, err := url.Parse(f.URL); err != nil || !isAddress(server) {
		return nil, mistake("url", f.URL, "must be the address of a server, such as https://mail.example.org")
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
	if answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden {
		return nil, fmt.Errorf("%w: the server refused the key of --key or POSTRIDER_API_KEY (%d): %s", errUnauthorized, answer.StatusCode, bytes.TrimSpace(raw))
	}
	if answer.StatusCode/100 != 2 {
		return nil, fmt.Errorf("the server refused (%d): %s", answer.StatusCode, bytes.TrimSpace(raw))
	}
	return raw, nil
}
