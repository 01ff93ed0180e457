package api

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
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

// trackingRate is higher: the readers of a mailbox provider come from the few addresses of its proxies.
var trackingRate = limit.Rate{Count: 2000, Per: time.Second, Burst: 4000}

// sessionRate limits what one signed-in person may look at and change. It is apart from what the plan gives to programs, so that a
// page never takes from them; what costs more than a look, such as sending, is still counted with them.
var sessionRate = limit.Rate{Count: 50, Per: time.Second, Burst: 300}

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
		return x.checkOrigin()
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
	principal, err := x.server.CheckKey(x.r.Context(), key, x.caller.IP)
	x.caller.Principal = principal
	if err == nil && x.endpoint.Access == SessionOnly {
		return ErrSessionRequired
	}
	return err
}

// CheckKey returns whom a key stands for, if it may be used from the address. An address that presents many bad keys is turned
// away without a look.
func (s *Server) CheckKey(ctx context.Context, key string, from netip.Addr) (Principal, error) {
	guesser := guesserAt(from)
	if before := s.limiter.Peek(guesser, failedKeys); !before.Allowed {
		return Principal{}, tooMany("auth", before)
	}
	principal, err := s.config.Keys.CheckKey(ctx, key, from)
	if err != nil {
		if errors.Is(err, ErrInvalidKey) {
			s.limiter.Take(guesser, failedKeys)
		}
		return Principal{}, err
	}
	if len(principal.Networks) > 0 && !slices.ContainsFunc(principal.Networks, containing(from)) {
		return principal, ErrIP
	}
	return principal, nil
}

func guesserAt(from netip.Addr) string { return "bad-key/" + limit.Site(from) }

func tooMany(bucket Bucket, d limit.Decision) error {
	return ErrRateLimit.With("bucket", bucket).With("limit", d.Limit).With("retry_after_sec", WholeSeconds(d.RetryAfter)).After(d.RetryAfter)
}

// Count takes one from a bucket of the principal's workspace, or tells how long to wait.
func (s *Server) Count(ctx context.Context, p Principal, bucket Bucket) error {
	taken := s.callers.Take(ctx, string(p.Workspace)+"/"+string(bucket), s.config.Rates(p.Plan, bucket))
	if !taken.Allowed {
		return tooMany(bucket, taken)
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
		return x.checkReader()
	}
	if err := x.checkOrigin(); err != nil {
		return err
	}
	if principal.CheckCSRF == nil || !principal.CheckCSRF(x.r.Header.Get("X-CSRF-Token")) {
		return ErrCSRF
	}
	return nil
}

// checkOrigin refuses changes that another site makes a browser send.
func (x *exchange) checkOrigin() error {
	if !x.endpoint.Private && x.endpoint.Access == Public {
		return nil // proof is a token in the request; a mail program may post it from anywhere
	}
	if err := x.server.origin.Check(x.r); err != nil {
		return ErrCSRF.Because(err)
	}
	return nil
}

// checkReader refuses a session to programs of other sites, which would listen to the stream of events with it.
func (x *exchange) checkReader() error {
	if x.r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		return nil // a person followed a link
	}
	asked := *x.r
	asked.Method = http.MethodPost // the check lets every safe method pass
	if err := x.server.origin.Check(&asked); err != nil {
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
	needed := route.scopes()
	lacking := slices.ContainsFunc(needed, func(s Scope) bool { return !slices.Contains(x.caller.Scopes, s) })
	if lacking && !slices.ContainsFunc(route.OrScopes, func(s Scope) bool { return slices.Contains(x.caller.Scopes, s) }) {
		if x.caller.KeyID == "" {
			return ErrRole.With("required", needed)
		}
		return ErrScope.With("required", needed).With("granted", x.caller.Scopes)
	}
	if route.FreshTwoFactor && x.caller.TwoFactorStale {
		return ErrTwoFactor
	}
	return nil
}

// scopes are all that a caller must carry.
func (r Route) scopes() []Scope {
	var needed []Scope
	for _, scope := range []Scope{r.Scope, r.AndScope} {
		if scope != "" {
			needed = append(needed, scope)
		}
	}
	return needed
}

// countRequest takes one from the caller's bucket and tells how much is left.
func (x *exchange) countRequest() error {
	route := x.endpoint.Route
	taken, rate := x.take(route.Bucket)
	if !route.Private {
		x.tellRate(taken, rate)
	}
	if !taken.Allowed {
		return tooMany(route.Bucket, taken)
	}
	return nil
}

func (x *exchange) tellRate(d limit.Decision, rate limit.Rate) {
	header := x.w.Header()
	header.Set("Ratelimit-Limit", strconv.Itoa(d.Limit))
	header.Set("Ratelimit-Remaining", strconv.Itoa(d.Remaining))
	header.Set("Ratelimit-Reset", strconv.Itoa(int((d.Reset+time.Second-1)/time.Second)))
	header.Set("Ratelimit-Policy", fmt.Sprintf("%d;w=%d", rate.Count, max(1, int(rate.Per/time.Second))))
}

// tellGuesses tells who was turned away before being counted how many bad keys their address may still present: nothing else limits
// them, and every answer of the API names a limit.
func (x *exchange) tellGuesses() {
	public := x.r.URL.Path == "/v1" || strings.HasPrefix(x.r.URL.Path, "/v1/")
	if x.endpoint != nil {
		public = !x.endpoint.Private
	}
	if public && x.w.Header().Get("Ratelimit-Limit") == "" {
		x.tellRate(x.server.limiter.Peek(guesserAt(x.caller.IP), failedKeys), failedKeys)
	}
}

// take takes one from the bucket that the request belongs to: the caller's, or that of the address it comes from.
func (x *exchange) take(bucket Bucket) (limit.Decision, limit.Rate) {
	ctx, server := x.r.Context(), x.server
	switch {
	case x.caller.SessionID != "" && (bucket == BucketRead || bucket == BucketWrite):
		return server.callers.Take(ctx, "session/"+x.caller.SessionID, sessionRate), sessionRate
	case x.caller.Workspace != "":
		rate := server.config.Rates(x.caller.Plan, bucket)
		return server.callers.Take(ctx, string(x.caller.Workspace)+"/"+string(bucket), rate), rate
	case bucket == BucketTracking:
		return server.limiter.Take("tracking/"+limit.Site(x.caller.IP), trackingRate), trackingRate
	}
	return server.limiter.Take("public/"+limit.Site(x.caller.IP), publicRate), publicRate
}

func (x *exchange) checkMediaType() error {
	if x.endpoint.Method == http.MethodGet || x.endpoint.Method == http.MethodDelete {
		return nil
	}
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil || kind != mediaJSON && !(x.endpoint.Form && isForm(kind)) && !(x.endpoint.Upload && kind == mediaMultipart) {
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
