// Package api serves endpoints that are data: a slice lists its routes, each with its rights, limits, errors and documents on the
// lines beside it, and everything else follows from that list: routing, authorisation, rate limits, OpenAPI, and the test
// that walks every route.
//
//	Owns     api_idempotency
package api

import (
	"context"
	"net/netip"
	"slices"

	"postrider/platform/limit"
	"postrider/platform/space"
)

// Route is one endpoint.
type Route struct {
	Method string
	// Path is relative to /v1, or absolute if the route is Private. {name} stands for one segment.
	Path string
	// Private routes serve the dashboard: they live outside /v1 and make no promise of stability.
	Private bool
	Access  Access
	// Scope is what a key, or the role of a session, must carry. Empty means any authenticated caller.
	Scope Scope
	// AndScope is a second one that is needed too.
	AndScope Scope
	// OrScopes are others of which one is enough instead; the handler then answers with less.
	OrScopes []Scope
	// Roles are the roles a session must have one of. Empty means any.
	Roles []Role
	// FreshTwoFactor asks for a recent second factor if the user has one.
	FreshTwoFactor bool
	Bucket         Bucket
	// Form routes also take the body as a web form, which is how browsers and mail programs post.
	Form bool
	// Upload routes also take a multipart form, whose bytes their Body reads by itself; see BodyReader.
	Upload bool
	// Page routes answer people with a page and programs with JSON; see Shown.
	Page bool
	// MaxBody is the largest body in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// MaxValues is how many values a body may have; 0 means DefaultMaxValues.
	MaxValues int
	// Success is the status of an answer that does not choose its own.
	Success int
	// Errors lists what can go wrong here, apart from what can go wrong everywhere.
	Errors  []*Error
	Summary string
	Handler Handler
}

// DefaultMaxBody is the largest body of a route that does not say otherwise.
const DefaultMaxBody = 1 << 20

// DefaultMaxValues bounds the values of a body on a route that does not say otherwise, because each takes a hundred times the memory of the
// two bytes it can be written with.
const DefaultMaxValues = 100_000

// Access says how a caller proves who they are.
type Access int

const (
	// Keyed routes take an API key, or a dashboard session acting with the scopes of its role.
	Keyed Access = iota
	// SessionOnly routes take a dashboard session; a key is refused.
	SessionOnly
	// Public routes take anyone; a token in the path or body may stand for proof.
	Public
)

// Scope is one right of a key.
type Scope string

// Scopes are all rights a key can carry, in the order in which they are shown.
var Scopes = []Scope{
	"tenant:read", "tenant:manage", "domain:read", "domain:manage", "email:send", "email:read", "webhook:read", "webhook:manage",
	"template:read", "template:manage", "audience:read", "audience:manage", "automation:read", "automation:manage",
	"automation:run", "suppression:read", "suppression:manage", "analytics:read", "logs:read",
}

// Role is what a member may do in a workspace.
type Role string

// Roles from the most to the least powerful.
const (
	Owner     Role = "owner"
	Admin     Role = "admin"
	Developer Role = "developer"
	Marketer  Role = "marketer"
	Viewer    Role = "viewer"
)

// Managers are the roles that decide who and what gets into a workspace: its members, keys, secrets and connections.
var Managers = []Role{Owner, Admin}

// Bucket names a rate limit.
type Bucket string

// Buckets that requests are counted in.
const (
	BucketSend          Bucket = "email_send"
	BucketBatch         Bucket = "email_batch"
	BucketSpamCheck     Bucket = "spam_check"
	BucketRead          Bucket = "read"
	BucketWrite         Bucket = "write"
	BucketWebhookTest   Bucket = "webhook_test"
	BucketAutomationRun Bucket = "automation_run"
	BucketPublicToken   Bucket = "public_token"
	BucketTracking      Bucket = "tracking"
	BucketAuth          Bucket = "auth"
)

// Principal is who a key or a session stands for.
type Principal struct {
	Workspace space.ID
	Plan      string
	Scopes    []Scope
	// KeyID is set for keys, SessionID, UserID and Role for sessions.
	KeyID, SessionID, UserID string
	Role                     Role
	// Test is true for keys whose mail never leaves the machine.
	Test bool
	// DomainIDs restricts a key to these domains; empty means all.
	DomainIDs []string
	// Networks restricts a key to callers from these networks; empty means all.
	Networks []netip.Prefix
	// CheckCSRF tells whether a token is that of a session. One must accompany every change made with it.
	CheckCSRF func(token string) bool
	// TwoFactorStale is true if the user has a second factor and has not shown it recently.
	TwoFactorStale bool
	// Suspended says why the operator stopped the workspace of a session; empty means it is active. Private routes stay open, so
	// that people can still look after their account.
	Suspended string
}

// Caller is a principal making a request. A public route has an empty principal.
type Caller struct {
	Principal
	IP        netip.Addr
	UserAgent string
	RequestID string
	// Head is true for a request that wants only the headers of the answer.
	Head bool
}

// MayUseDomain tells whether the caller's key is free to act on the domain.
func (c Caller) MayUseDomain(id string) bool {
	return len(c.DomainIDs) == 0 || slices.Contains(c.DomainIDs, id)
}

// KeyChecker knows API keys. Errors are *Error values: ErrInvalidKey, ErrKeyExpired, ErrWorkspaceSuspended.
type KeyChecker interface {
	CheckKey(ctx context.Context, key string, from netip.Addr) (Principal, error)
	// Forget makes the next check of the key ask the database, if the answer was remembered.
	Forget(key string)
}

// SessionChecker knows dashboard sessions. It returns ErrSessionExpired for a cookie that is not (or no longer) good.
type SessionChecker interface {
	CheckSession(ctx context.Context, cookie string) (Principal, error)
}

// Rates says how many requests a plan may make in a bucket.
type Rates func(plan string, bucket Bucket) limit.Rate

// Handler answers a request; make one with Handle.
type Handler struct {
	input, output shape
	invoke        func(ctx context.Context, caller Caller, in input) (any, error)
}

// Handle turns a function of a request into a handler. The request is a struct: fields tagged path, query or header are
// filled from there, and a field named Body from the JSON of the body. The response is what is written as JSON.
func Handle[Request, Response any](answer func(context.Context, Caller, Request) (Response, error)) Handler {
	plan := newBinding[Request]()
	return Handler{
		input:  plan.shape(),
		output: shapeOf[Response](),
		invoke: func(ctx context.Context, caller Caller, in input) (any, error) {
			var request Request
			if err := plan.bind(&request, in); err != nil {
				return nil, err
			}
			return answer(ctx, caller, request)
		},
	}
}

// None is the request of a route that reads nothing.
type None struct{}
