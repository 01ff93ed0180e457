package api

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Error is what a caller is told when a request fails. Codes are stable; the cause stays with us.
type Error struct {
	Status int
	Code   string
	// Name is the word that SDKs of the older vocabulary read.
	Name    string
	Message string
	Details map[string]any
	// RetryAfter is how long the caller should wait before trying again; 0 says nothing.
	RetryAfter time.Duration
	cause      error
}

// NewError declares an error. The message is one sentence with a full stop.
func NewError(status int, code, name, message string) *Error {
	return &Error{Status: status, Code: code, Name: name, Message: message}
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %v", e.Code, e.cause)
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.cause }

// Is makes every variant of an error equal to its declaration.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// With returns the error with a detail added.
func (e *Error) With(key string, value any) *Error {
	with := *e
	with.Details = maps.Clone(e.Details)
	if with.Details == nil {
		with.Details = map[string]any{}
	}
	with.Details[key] = value
	return &with
}

// Saying returns the error with another sentence.
func (e *Error) Saying(message string) *Error {
	with := *e
	with.Message = message
	return &with
}

// Because returns the error with its private cause.
func (e *Error) Because(cause error) *Error {
	with := *e
	with.cause = cause
	return &with
}

// After returns the error with a time to wait.
func (e *Error) After(wait time.Duration) *Error {
	with := *e
	with.RetryAfter = wait
	return &with
}

// Errors that any route can answer.
var (
	ErrValidation       = NewError(400, "validation_error", "validation_error", "The request is not valid.")
	ErrInvalidCursor    = NewError(400, "invalid_cursor", "invalid_parameter", "The cursor is not valid for this query. Start again without it.")
	ErrMissingKey       = NewError(401, "missing_api_key", "missing_api_key", "Send an API key in the Authorization header as 'Bearer <key>'.")
	ErrInvalidKey       = NewError(401, "invalid_api_key", "invalid_api_key", "The API key is not valid.")
	ErrKeyExpired       = NewError(401, "api_key_expired", "invalid_api_key", "The API key has expired.")
	ErrSessionExpired   = NewError(401, "session_expired", "invalid_access", "The session has ended. Sign in again.")
	ErrScope            = NewError(403, "insufficient_scope", "restricted_api_key", "The API key lacks the scope this request needs.")
	ErrIP               = NewError(403, "ip_not_allowed", "invalid_access", "The API key may not be used from this address.")
	ErrDomainNotAllowed = NewError(403, "domain_not_allowed", "invalid_access", "The API key may not be used for this domain.")
	ErrSessionRequired  = NewError(403, "dashboard_session_required", "invalid_access", "This action needs a dashboard session; an API key cannot do it.")
	ErrRole             = NewError(403, "workspace_role_required", "invalid_access", "Your role in this workspace does not allow this action.")
	ErrTwoFactor        = NewError(403, "two_factor_required", "security_error", "Confirm this action with your second factor.").
				With("max_age_sec", 600).With("methods", []string{"totp", "recovery_code"})
	ErrSuspended     = NewError(403, "workspace_suspended", "security_error", "This workspace has been suspended.")
	ErrCSRF          = NewError(403, "csrf_failed", "security_error", "The request did not come from the dashboard.")
	ErrLoop          = NewError(403, "loop_detected", "security_error", "The request was made by this service itself, which would make events of events.")
	ErrNotFound      = NewError(404, "not_found", "not_found", "The requested resource was not found.")
	ErrMethod        = NewError(405, "method_not_allowed", "method_not_allowed", "This method is not allowed here.")
	ErrKeyReused     = NewError(409, "idempotency_key_reused", "invalid_idempotent_request", "This idempotency key was used with a different request body.")
	ErrInvalidState  = NewError(409, "invalid_state", "validation_error", "The resource is not in a state that allows this.")
	ErrAlreadyExists = NewError(409, "already_exists", "validation_error", "It already exists in this workspace.")
	ErrTooLarge      = NewError(413, "payload_too_large", "validation_error", "The request body is too large.")
	ErrMediaType     = NewError(415, "unsupported_media_type", "validation_error", "Send the body as application/json.")
	ErrRateLimit     = NewError(429, "rate_limit_exceeded", "rate_limit_exceeded", "Too many requests. Try again later.")
	ErrInternal      = NewError(500, "internal_error", "internal_server_error", "Something went wrong on our side.")
	ErrUnavailable   = NewError(503, "service_unavailable", "application_error", "The service cannot take this request right now. Try again shortly.").
				After(5 * time.Second)
)

// NotFound returns the not-found error for a kind of resource.
func NotFound(resource string) *Error { return ErrNotFound.With("resource", resource) }

// DomainNotAllowed returns the error of a key that is restricted to other domains. The domain is named as the caller named it.
func DomainNotAllowed(domain string) *Error { return ErrDomainNotAllowed.With("domain", domain) }

// Fields collects what is wrong with the fields of a request.
type Fields map[string][]string

// Add notes a problem of a field. The path is like to[1] or tags[0].name.
func (f *Fields) Add(field, message string) {
	if *f == nil {
		*f = Fields{}
	}
	(*f)[field] = append((*f)[field], message)
}

// Err returns nil if nothing is wrong, else a validation error that names every field.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	message := "The request has 1 invalid field."
	if len(f) > 1 {
		message = fmt.Sprintf("The request has %d invalid fields.", len(f))
	}
	return ErrValidation.Saying(message).With("fieldErrors", f)
}

// Invalid returns the validation error of a single field.
func Invalid(field, message string) error { return Fields{field: {message}}.Err() }

// wireError is the body of an error: the error object of this API, and beside it the three words other SDKs read.
type wireError struct {
	Error struct {
		Code      string         `json:"code"`
		Message   string         `json:"message"`
		Details   map[string]any `json:"details,omitempty"`
		RequestID string         `json:"request_id"`
	} `json:"error"`
	Name       string `json:"name"`
	Message    string `json:"message"`
	StatusCode int    `json:"statusCode"`
}

// Summary is the message with the first wrong field, for readers who see only one line.
func (e *Error) Summary() string {
	fields, ok := e.Details["fieldErrors"].(Fields)
	if !ok || len(fields) == 0 {
		return e.Message
	}
	first := slices.Sorted(maps.Keys(fields))[0]
	return e.Message + " " + first + ": " + fields[first][0]
}

func (e *Error) body(requestID string) []byte {
	var w wireError
	w.Error.Code, w.Error.Message, w.Error.RequestID = e.Code, e.Message, requestID
	w.Error.Details = e.Details
	w.Name, w.Message, w.StatusCode = e.Name, e.Summary(), e.Status
	return encode(w)
}
