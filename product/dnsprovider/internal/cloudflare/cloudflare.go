// Package cloudflare speaks the few words of Cloudflare's API that publishing DNS records takes.
package cloudflare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"postrider/platform/httpout"
)

// callTimeout is how long one call may take; the API answers within a second or is in trouble.
const callTimeout = 10 * time.Second

// Client acts for one API token. It is safe for concurrent use.
type Client struct {
	http  *httpout.Client
	base  string
	token string
}

// New returns a client of the API at base, such as https://api.cloudflare.com/client/v4.
func New(http *httpout.Client, base, token string) *Client {
	return &Client{http: http, base: strings.TrimRight(base, "/"), token: token}
}

// Codes of problems that the callers of this package treat in their own way.
const (
	codeExists    = 81057
	codeIdentical = 81058
	codeAddress   = 81053 // an A, AAAA or CNAME record is there
	codeAlias     = 81054 // a CNAME record is there
	codeNS        = 81056 // NS records are there
)

// Failure is the error of a call that was not carried out.
type Failure struct {
	// Status is that of the HTTP answer; 0 means that none came.
	Status int
	// Code and Message are the first problem that the answer names; both may be empty.
	Code    int
	Message string
	// RetryAfter is how long the API asks to wait; 0 says nothing.
	RetryAfter time.Duration
	cause      error
}

// Error tells what happened, without the token.
func (f *Failure) Error() string {
	if f.cause != nil {
		return "cloudflare: " + f.cause.Error()
	}
	return fmt.Sprintf("cloudflare: status %d, code %d: %s", f.Status, f.Code, f.Message)
}

// Unwrap returns what kept an answer from coming.
func (f *Failure) Unwrap() error { return f.cause }

// Denied tells that the token is not good for the call.
func (f *Failure) Denied() bool {
	return f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden
}

// Twin tells that the very record is there already.
func (f *Failure) Twin() bool { return f.Code == codeExists || f.Code == codeIdentical }

// Occupied tells that another record keeps this one out.
func (f *Failure) Occupied() bool {
	return f.Code == codeAddress || f.Code == codeAlias || f.Code == codeNS
}

// Refused tells that the API understood the call and will not do it, today or tomorrow. Everything else is trouble with the API
// or the token, and has nothing to do with the record.
func (f *Failure) Refused() bool {
	return f.Status >= 400 && f.Status < 500 && !f.Denied() && f.Status != http.StatusTooManyRequests
}

type envelope[T any] struct {
	Success bool `json:"success"`
	Errors  []struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"errors"`
	Result     T        `json:"result"`
	ResultInfo pageInfo `json:"result_info"`
}

type pageInfo struct {
	Page       int `json:"page"`
	TotalPages int `json:"total_pages"`
}

type call struct {
	method string
	path   string
	query  url.Values
	body   any
}

// do makes a call and returns its result. The error is a Failure, whatever went wrong.
func do[T any](ctx context.Context, c *Client, what call) (result T, info pageInfo, err error) {
	ctx, done := context.WithTimeout(ctx, callTimeout)
	defer done()
	response, err := c.send(ctx, what)
	if err != nil {
		return result, info, &Failure{cause: fmt.Errorf("%s %s: %w", what.method, what.path, err)}
	}
	var answer envelope[T]
	err = json.Unmarshal(response.Body, &answer)
	if err == nil && answer.Success && response.Status < 300 {
		return answer.Result, answer.ResultInfo, nil
	}
	failure := &Failure{Status: response.Status, RetryAfter: retryAfter(response.Header)}
	switch {
	case len(answer.Errors) > 0:
		failure.Code, failure.Message = answer.Errors[0].Code, answer.Errors[0].Message
	case response.Truncated:
		failure.cause = errors.New("answer is too long")
	case response.Status < 300 && err != nil:
		failure.cause = fmt.Errorf("read answer: %w", err)
	}
	return result, info, failure
}

func (c *Client) send(ctx context.Context, what call) (*httpout.Response, error) {
	target := c.base + what.path
	if len(what.query) > 0 {
		target += "?" + what.query.Encode()
	}
	var body []byte
	if what.body != nil {
		var err error
		if body, err = json.Marshal(what.body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, what.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Accept", "application/json")
	if what.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return c.http.Do(ctx, request)
}

// maxRetryAfter bounds what is believed; the longest window of the API is five minutes.
const maxRetryAfter = 5 * time.Minute

func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, int(maxRetryAfter/time.Second))) * time.Second
}
