package api

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"postrider/platform/limit"
)

// SessionCookie holds the dashboard session. The prefix makes browsers insist on a secure, host-only cookie.
const SessionCookie = "__Host-session"

// failedKeys is how often one address may present a bad key before it is turned away without a look.
var failedKeys = limit.Rate{Count: 60, Per: time.Minute, Burst: 60}

// publicRate limits what callers without a name may do, per address.
var publicRate = limit.Rate{Count: 20, Per: time.Second, Burst: 40}

// authenticate finds out who calls.
func (x *exchange) authenticate() error {
	route := x.endpoint.Route
	authorization := x.r.Header.Get("Authorization")
	scheme, key, _ := strings.Cut(authorization, " ")
	bearer := strings.EqualFold(scheme, "bearer")
	if route.Access == Public {
		if route.Private && bearer {
			return ErrSessionRequired
		}
		return x.checkOrigin(route)
	}
	if route.Access == SessionOnly && bearer && route.Private {
		return ErrSessionRequired
	}
	if bearer {
		return x.authenticateKey(key)
	}
	if authorization != "" {
		return ErrInvalidKey
	}
	cookie, err := x.r.Cookie(SessionCookie)
	if err != nil {
		if route.Private {
			return ErrSessionExpired
		}
		return ErrMissingKey
	}
	return x.authenticateSession(cookie.Value)
}

func (x *exchange) authenticateKey(key string) error {
	from := "bad-key/" + x.caller.IP.String()
	if before := x.server.limiter.Peek(from, failedKeys); !before.Allowed {
		return ErrRateLimit.With("bucket", "auth").With("limit", before.Limit).With("retry_after_sec", WholeSeconds(before.RetryAfter)).After(before.RetryAfter)
	}
	principal, err := x.server.config.Keys.CheckKey(x.r.Context(), key, x.caller.IP)
	if err != nil {
		if errors.Is(err, ErrInvalidKey) {
			x.server.limiter.Take(from, failedKeys)
		}
		return err
	}
	x.caller.Principal = principal
	if len(principal.Networks) > 0 && !slices.ContainsFunc(principal.Networks, containing(x.caller.IP)) {
		return ErrIP
	}
	if x.endpoint.Access == SessionOnly {
		return ErrSessionRequired
	}
	return nil
}

func (x *exchange) authenticateSession(cookie string) error {
	principal, err := x.server.config.Sessions.CheckSession(x.r.Context(), cookie)
	if err != nil {
		return err
	}
	x.caller.Principal = principal
	if isSafe(x.r.Method) {
		return nil
	}
	if err := x.checkOrigin(x.endpoint.Route); err != nil {
		return err
	}
	token := x.r.Header.Get("X-CSRF-Token")
	if subtle.ConstantTimeCompare([]byte(token), []byte(principal.CSRFToken)) != 1 {
		return ErrCSRF
	}
	return nil
}

// checkOrigin refuses changes that another site makes a browser send.
func (x *exchange) checkOrigin(route Route) error {
	if !route.Private && route.Access == Public {
		return nil // proof is a token in the request; a mail program may post it from anywhere
	}
	if err := x.server.origin.Check(x.r); err != nil {
		return ErrCSRF.Because(err)
	}
	return nil
}

func isSafe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// authorise decides whether the caller may do this at all.
func (x *exchange) authorise() error {
	route := x.endpoint.Route
	if route.Access == Public {
		return nil
	}
	if x.caller.Suspended != "" && !route.Private {
		return ErrSuspended.With("reason", x.caller.Suspended)
	}
	if len(route.Roles) > 0 && !slices.Contains(route.Roles, x.caller.Role) {
		return ErrRole.With("required", route.Roles)
	}
	if route.Scope != "" && !slices.Contains(x.caller.Scopes, route.Scope) {
		if x.caller.KeyID == "" {
			return ErrRole.With("required", []Scope{route.Scope})
		}
		return ErrScope.With("required", []Scope{route.Scope}).With("granted", x.caller.Scopes)
	}
	if route.FreshTwoFactor && x.caller.TwoFactorStale {
		return ErrTwoFactor
	}
	return nil
}

// countRequest takes one from the caller's bucket and tells how much is left.
func (x *exchange) countRequest() error {
	route := x.endpoint.Route
	key, rate := "public/"+x.caller.IP.String(), publicRate
	if x.caller.Workspace != "" {
		key, rate = string(x.caller.Workspace)+"/"+string(route.Bucket), x.server.config.Rates(x.caller.Plan, route.Bucket)
	}
	taken := x.server.limiter.Take(key, rate)
	if !route.Private {
		header := x.w.Header()
		header.Set("Ratelimit-Limit", strconv.Itoa(taken.Limit))
		header.Set("Ratelimit-Remaining", strconv.Itoa(taken.Remaining))
		header.Set("Ratelimit-Reset", strconv.Itoa(int((taken.Reset+time.Second-1)/time.Second)))
		header.Set("Ratelimit-Policy", fmt.Sprintf("%d;w=%d", rate.Count, max(1, int(rate.Per/time.Second))))
	}
	if !taken.Allowed {
		return ErrRateLimit.With("bucket", route.Bucket).With("limit", taken.Limit).
			With("retry_after_sec", WholeSeconds(taken.RetryAfter)).After(taken.RetryAfter)
	}
	return nil
}

// smallBody is what every request may bring without asking the budget.
const smallBody = 64 << 10

// readBody reads the body up to the cap of the route. release must be called when nothing refers to it any more.
func (x *exchange) readBody() (body []byte, release func(), err error) {
	release = func() {}
	maxBody := x.endpoint.MaxBody
	if maxBody == 0 {
		maxBody = DefaultMaxBody
	}
	tooLarge := ErrTooLarge.With("max_bytes", maxBody)
	if x.r.ContentLength > maxBody {
		return nil, release, tooLarge
	}
	if x.r.ContentLength == 0 {
		return nil, release, nil
	}
	if err := x.checkMediaType(); err != nil {
		return nil, release, err
	}
	expected := x.r.ContentLength
	if expected < 0 || expected > smallBody {
		claim := min(maxBody, bodyBudget)
		if expected > 0 {
			claim = expected
		}
		if err := x.server.bodies.Acquire(x.r.Context(), claim); err != nil {
			return nil, release, err
		}
		release = func() { x.server.bodies.Release(claim) }
	}
	limited := http.MaxBytesReader(x.w, x.r.Body, maxBody)
	if expected > 0 {
		body = make([]byte, expected)
		_, err = io.ReadFull(limited, body)
	} else {
		body, err = readUnsized(limited)
	}
	if err != nil {
		release()
		var over *http.MaxBytesError
		if errors.As(err, &over) {
			return nil, func() {}, tooLarge
		}
		var public *Error
		if errors.As(err, &public) {
			return nil, func() {}, public
		}
		return nil, func() {}, Invalid("_body", "The body ended too early.")
	}
	return body, release, nil
}

// readUnsized reads a body that did not say how long it is. What does not fit the usual cap goes to disk until its end has been seen,
// so that one that turns out to be too large has cost no memory.
func readUnsized(r io.Reader) ([]byte, error) {
	start, err := io.ReadAll(io.LimitReader(r, DefaultMaxBody))
	if err != nil || len(start) < DefaultMaxBody {
		return start, err
	}
	spool, err := os.CreateTemp("", "postrider-body-*")
	if err != nil {
		return nil, ErrUnavailable.Because(err)
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	rest, err := io.Copy(spool, r)
	if err != nil {
		return nil, err
	}
	body := make([]byte, int64(len(start))+rest)
	copy(body, start)
	if _, err := spool.ReadAt(body[len(start):], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, ErrUnavailable.Because(err)
	}
	return body, nil
}

func (x *exchange) checkMediaType() error {
	if x.endpoint.Method == http.MethodGet || x.endpoint.Method == http.MethodDelete {
		return nil
	}
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return ErrMediaType
	}
	if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return ErrMediaType
	}
	return nil
}

func containing(ip netip.Addr) func(netip.Prefix) bool {
	return func(network netip.Prefix) bool { return network.Contains(ip) }
}
