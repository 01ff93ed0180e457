// Package httpout makes HTTP requests to addresses that customers choose, and cannot be talked into reaching our own
// network.
//
// A name is resolved once, every address it has is checked, and the connection goes to a checked address and nowhere else,
// so an answer that changes between check and use changes nothing. Redirects are not followed, proxies from the environment
// are not used, certificates are verified, and time and size of an answer are bounded.
package httpout

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"time"

	"postrider/world"
)

// What a client does unless its Config says otherwise.
const (
	// defaultMaxResponseBytes is plenty for an acknowledgement or a small document, and little enough for a thousand at once.
	defaultMaxResponseBytes = 64 << 10
	// defaultConnectTimeout covers look-up and connection; a server that needs longer is down for all purposes.
	defaultConnectTimeout = 5 * time.Second
	// defaultTimeout covers the whole exchange, so that a slow endpoint gives its worker back.
	defaultTimeout = 15 * time.Second
)

const (
	// maxHeaderBytes bounds the header of an answer; servers themselves seldom take more than a quarter of it.
	maxHeaderBytes = 32 << 10
	// maxIdlePerHost and maxIdle keep connections for the next request: as many as one target is sent at once, or every
	// burst would begin with handshakes. idleLife is short because the check of the address is as old as the connection.
	maxIdlePerHost = 10
	maxIdle        = 500
	idleLife       = 30 * time.Second
)

// Config is what a Client stands on.
type Config struct {
	Policy
	Resolver world.Resolver
	Dialer   world.Dialer
	Clock    world.Clock
	// Self is the name that requests are made under, if what answers them makes requests in turn; see CameBack.
	Self string
	// Roots are the certificate authorities to trust; nil means those of the machine.
	Roots *x509.CertPool
	// MaxResponseBytes is how much of a body is read; zero means 64 KB.
	MaxResponseBytes int64
	// ConnectTimeout covers look-up and connection; zero means 5 seconds.
	ConnectTimeout time.Duration
	// Timeout covers the whole exchange; zero means 15 seconds.
	Timeout time.Duration
	// HeadIsEnough takes an answer whose body does not end well as far as it came: its status counts.
	HeadIsEnough bool
}

// Response is a whole answer.
type Response struct {
	// Status is the code of the answer; a redirect is an answer like any other.
	Status int
	Header http.Header
	// Body is the beginning of the body, up to the limit.
	Body []byte
	// Truncated tells that the body was longer, or did not come to its end.
	Truncated bool
	// RemoteAddr is where the answer came from.
	RemoteAddr netip.AddrPort
}

// Client makes requests. It is safe for concurrent use.
type Client struct {
	config Config
	// plain and secure differ in what the check of an address must know: whether the connection will be encrypted.
	plain, secure *http.Transport
}

// New returns a client.
func New(config Config) *Client {
	if config.MaxResponseBytes == 0 {
		config.MaxResponseBytes = defaultMaxResponseBytes
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = defaultConnectTimeout
	}
	if config.Timeout == 0 {
		config.Timeout = defaultTimeout
	}
	c := &Client{config: config}
	c.plain, c.secure = c.newTransport("http"), c.newTransport("https")
	return c
}

func (c *Client) newTransport(scheme string) *http.Transport {
	return &http.Transport{
		Proxy: nil, // a proxy would resolve names anew, behind the check
		DialContext: func(ctx context.Context, network, target string) (net.Conn, error) {
			return c.dial(ctx, scheme, network, target)
		},
		TLSClientConfig:        &tls.Config{RootCAs: c.config.Roots, Time: c.config.Clock.Now, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    c.config.ConnectTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleLife,
		DisableCompression:     true, // a few bytes on the wire must not become many in memory
	}
}

// Do makes one request and reads the answer. A target that is against the policy gives a Refusal; an exchange that takes
// too long an error that is context.DeadlineExceeded. Any answer of the server, whatever its status, is no error.
func (c *Client) Do(ctx context.Context, request *http.Request) (*Response, error) {
	if err := c.config.checkTarget(request.URL); err != nil {
		closeBody(request)
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()

	var remote netip.AddrPort
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		remote, _ = netip.ParseAddrPort(got.Conn.RemoteAddr().String())
	}})
	request = request.Clone(ctx)
	request.Host = "" // the server that is asked is the server that was checked
	if c.config.Self != "" {
		request.Header.Set(loopHeader, c.config.Self)
	}

	// The transport, unlike a client, follows no redirect, keeps no cookies and puts no URL into its errors.
	transport := c.secure
	if request.URL.Scheme == "http" {
		transport = c.plain
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return nil, explain(ctx, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, c.config.MaxResponseBytes+1))
	if err != nil && !c.config.HeadIsEnough {
		return nil, explain(ctx, err)
	}
	response := &Response{Status: answer.StatusCode, Header: answer.Header, Body: body, Truncated: err != nil, RemoteAddr: remote}
	if int64(len(body)) > c.config.MaxResponseBytes {
		response.Body, response.Truncated = body[:c.config.MaxResponseBytes], true
	}
	return response, nil
}

// Close ends the connections that wait for another request.
func (c *Client) Close() {
	c.plain.CloseIdleConnections()
	c.secure.CloseIdleConnections()
}

func explain(ctx context.Context, err error) error {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal
	}
	if ctx.Err() != nil {
		return fmt.Errorf("http request ended without a whole answer: %w", ctx.Err())
	}
	return fmt.Errorf("http request: %w", err)
}

// closeBody keeps the promise of the standard library that a request's body is closed whatever becomes of it.
func closeBody(request *http.Request) {
	if request.Body != nil {
		request.Body.Close()
	}
}
