package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// call is one request, as the generated methods describe it.
type call struct {
	method, path string
	query        url.Values
	body         any
	// once is true for routes that take an idempotency key.
	once bool
	// leads is true for routes whose answer is where to go on.
	leads  bool
	accept string
	header http.Header
}

// CallOption changes one request.
type CallOption func(*call)

// IdempotencyKey names the request: made again with the same key and body it is done once, and answered alike. Send, and all other
// methods that can be, are given a key even without this option, which serves to make a request again after a crash.
func IdempotencyKey(key string) CallOption { return Header("Idempotency-Key", key) }

// Header adds a header, such as If-Match.
func Header(name, value string) CallOption {
	return func(c *call) { c.header.Set(name, value) }
}

const (
	mediaJSON = "application/json"
	// maxAnswer bounds an answer that is read into memory.
	maxAnswer = 64 << 20
)

// do makes a request and decodes its answer into a new T.
func do[T any](ctx context.Context, c *Client, request call, options []CallOption) (*T, error) {
	response, done, err := c.exchange(ctx, request, options)
	if err != nil {
		return nil, err
	}
	defer done()
	answer := new(T)
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s %s: read the answer: %w", request.method, request.path, err)
	}
	if request.method == http.MethodHead || len(bytes.TrimSpace(raw)) == 0 {
		return answer, nil
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return nil, fmt.Errorf("%s %s: the answer is not what was documented: %w", request.method, request.path, err)
	}
	return answer, nil
}

// open makes a request whose answer is a file or a stream. The caller closes it.
func (c *Client) open(ctx context.Context, request call, options []CallOption) (io.ReadCloser, error) {
	response, done, err := c.exchange(ctx, request, options)
	if err != nil {
		return nil, err
	}
	return body{response.Body, done}, nil
}

// body is the body of an answer that is read by somebody else.
type body struct {
	io.Reader
	done func()
}

// Close ends the exchange.
func (b body) Close() error {
	b.done()
	return nil
}

// exchange makes a request until it is answered for good. done must be called when the answer has been read.
func (c *Client) exchange(ctx context.Context, request call, options []CallOption) (response *http.Response, done func(), err error) {
	// Without its id, the address of a thing is that of the list, or of something else that is done.
	if strings.HasSuffix(request.path, "/") || strings.Contains(request.path, "//") {
		return nil, nil, fmt.Errorf("%s %s: a part of the path is empty", request.method, request.path)
	}
	request.header = http.Header{}
	for _, option := range options {
		option(&request)
	}
	if request.once && request.header.Get("Idempotency-Key") == "" {
		request.header.Set("Idempotency-Key", c.newKey())
	}
	var payload []byte
	if request.body != nil {
		if payload, err = json.Marshal(request.body); err != nil {
			return nil, nil, fmt.Errorf("%s %s: %w", request.method, request.path, err)
		}
	}
	for tries := 0; ; tries++ {
		response, done, err = c.once(ctx, request, payload)
		if err != nil {
			return nil, nil, err
		}
		if response.StatusCode < http.StatusBadRequest && (request.leads || sentTo(response) == "") {
			return response, done, nil
		}
		refused := readError(response)
		done()
		if tries >= c.retries || !request.again(refused) || refused.RetryAfter > c.patience {
			return nil, nil, refused
		}
		if err := c.wait(ctx, pause(refused, tries)); err != nil {
			return nil, nil, fmt.Errorf("waited to try again: %w (%w)", err, refused)
		}
	}
}

// once sends the request a single time.
func (c *Client) once(ctx context.Context, request call, payload []byte) (*http.Response, func(), error) {
	cancel := func() {}
	if request.accept == "" {
		ctx, cancel = context.WithTimeout(ctx, defaultTimeout)
		request.accept = mediaJSON
	}
	target := c.base + request.path
	if len(request.query) > 0 {
		target += "?" + request.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, request.method, target, bytes.NewReader(payload))
	if err != nil {
		cancel()
		return nil, nil, err
	}
	r.Header = request.header.Clone()
	r.Header.Set("Accept", request.accept)
	r.Header.Set("User-Agent", c.userAgent)
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	if payload != nil {
		r.Header.Set("Content-Type", mediaJSON)
	}
	response, err := c.http.Do(r)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return response, func() { response.Body.Close(); cancel() }, nil
}

// sentTo is where the server wants the request to be made instead, as a door does that is only there to lead to the encrypted one.
// Nothing has been done yet, so it is no answer.
func sentTo(response *http.Response) string {
	if response.StatusCode/100 != 3 {
		return ""
	}
	return response.Header.Get("Location")
}

// again tells whether a refused request may be made again: one that came too soon always, one that met a server in trouble if
// doing it twice is doing it once.
func (c call) again(refused *Error) bool {
	switch refused.Status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		return c.method != http.MethodPost && c.method != http.MethodPatch || c.header.Get("Idempotency-Key") != ""
	}
	return false
}

// pause is how long to wait: what the server asks for, or twice as long every time.
func pause(refused *Error, tries int) time.Duration {
	if refused.RetryAfter > 0 {
		return refused.RetryAfter
	}
	return time.Second << min(tries, 5)
}

// retryAfter reads the header, in seconds or as a date.
func retryAfter(response *http.Response) time.Duration {
	text := response.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(int64(seconds), math.MaxInt64/int64(time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	from, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil || at.Before(from) {
		return 0
	}
	return at.Sub(from)
}

// Call makes any request, for what has no method: the path begins with /v1. A nil body sends none. The answer is returned as it came.
func (c *Client) Call(ctx context.Context, method, path string, body any, options ...CallOption) (json.RawMessage, error) {
	path, rest, _ := strings.Cut(path, "?")
	asked, err := url.ParseQuery(rest)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	answer, err := do[json.RawMessage](ctx, c, call{method: method, path: path, query: asked, body: body}, options)
	if err != nil {
		return nil, err
	}
	return *answer, nil
}
