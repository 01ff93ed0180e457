// Package client is a typed Go client of the API. It needs nothing but the standard library, and there is a method for every
// route: the services, their methods and their types are generated from docs/openapi.json, which is made from the routes.
//
//	c := client.New("https://mail.example.com", key)
//	sent, err := c.Emails.Send(ctx, client.EmailSendBody{From: "hello@acme.test", To: []string{"ann@example.net"}, Subject: "Hello", Text: new("Hi")})
//
// What the server refuses is an [*Error] with its code, its message and the fields that are wrong. Requests that came too soon
// or at a bad moment (429 and 503) are made again, after as long as the server asks for; an idempotency key, made up where none is
// given, sees to it that they are done once. Lists can be read page by page or, with the All methods, to their end.
package client

//go:generate go test ./internal/generate -run TestGeneratedFilesAreThoseOfTheDocument -update

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"time"
)

// Client talks to one installation with one key. It may be used by many goroutines.
type Client struct {
	services
	base      string
	key       string
	userAgent string
	http      *http.Client
	retries   int
	patience  time.Duration
	wait      func(context.Context, time.Duration) error
	newKey    func() string
}

const (
	defaultRetries = 3
	// defaultPatience is the longest wait that is waited; a server that asks for more has told the caller to come another day.
	defaultPatience = time.Minute
	// defaultTimeout bounds one request; files and streams end with their context.
	defaultTimeout = time.Minute
)

// Option changes how a client works.
type Option func(*Client)

// WithHTTPClient makes requests with another HTTP client. Redirects are never followed, whatever it says.
func WithHTTPClient(given *http.Client) Option { return func(c *Client) { c.http = given } }

// WithRetries makes a request at most this many times again; 0 never does.
func WithRetries(times int) Option { return func(c *Client) { c.retries = times } }

// WithPatience waits at most this long before a request is made again.
func WithPatience(longest time.Duration) Option { return func(c *Client) { c.patience = longest } }

// WithWait replaces how the client waits; tests need not.
func WithWait(wait func(context.Context, time.Duration) error) Option {
	return func(c *Client) { c.wait = wait }
}

// WithUserAgent says who is calling.
func WithUserAgent(name string) Option { return func(c *Client) { c.userAgent = name } }

// New returns a client of the installation at the address, such as https://mail.example.com. An empty key is for public routes.
func New(address, key string, options ...Option) *Client {
	c := &Client{base: strings.TrimSuffix(strings.TrimSuffix(address, "/"), "/v1"), key: key, userAgent: "postrider-go/1", http: &http.Client{},
		retries: defaultRetries, patience: defaultPatience, wait: sleep, newKey: rand.Text}
	for _, option := range options {
		option(c)
	}
	own := *c.http
	// A key must go to nobody else, and what is behind a tracked link is the answer.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &own
	c.connect(c)
	return c
}

// sleep waits until the time has passed or ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
