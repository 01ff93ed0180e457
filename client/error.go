package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Error is what the server answered instead of doing what was asked.
type Error struct {
	// Status is the HTTP status, Code the stable word for what went wrong.
	Status int
	Code   string
	// Message is a sentence for people.
	Message string
	// RequestID is what the operator finds the request by.
	RequestID string
	// Fields are the problems of each field of the request, such as to[1].
	Fields map[string][]string
	// Details are further facts, by name.
	Details map[string]any
	// RetryAfter is how long the server asks to wait; 0 if it does not say.
	RetryAfter time.Duration
}

// Error is the message with the problem of every field.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s, status %d)", e.Message, e.Code, e.Status)
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		fmt.Fprintf(&text, "; %s: %s", field, strings.Join(e.Fields[field], " "))
	}
	if e.RequestID != "" {
		text.WriteString("; request " + e.RequestID)
	}
	return text.String()
}

// Is makes errors.Is compare codes: errors.Is(err, &client.Error{Code: "not_found"}).
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// CodeOf returns the code of the server's refusal, or nothing if err is none.
func CodeOf(err error) string {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// maxRefusal bounds what is read of a refusal.
const maxRefusal = 1 << 20

// readError understands the error of an answer. One that is not ours, as of a proxy in between, is told by its status.
func readError(response *http.Response) *Error {
	e := &Error{Status: response.StatusCode, Code: "unexpected_answer", Message: "The server answered " + response.Status + ".",
		RequestID: response.Header.Get("X-Request-Id"), RetryAfter: retryAfter(response)}
	if target := sentTo(response); target != "" {
		e.Message = "The server sends requests on to " + target + ", and the client does not follow: give it that address."
	}
	var wire struct {
		Error struct {
			Code      string         `json:"code"`
			Message   string         `json:"message"`
			RequestID string         `json:"request_id"`
			Details   map[string]any `json:"details"`
		} `json:"error"`
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	if err != nil || json.Unmarshal(raw, &wire) != nil || wire.Error.Code == "" {
		return e
	}
	e.Code, e.Message, e.Details = wire.Error.Code, wire.Error.Message, wire.Error.Details
	if wire.Error.RequestID != "" {
		e.RequestID = wire.Error.RequestID
	}
	e.Fields = fieldsOf(wire.Error.Details)
	return e
}

func fieldsOf(details map[string]any) map[string][]string {
	given, ok := details["fieldErrors"].(map[string]any)
	if !ok {
		return nil
	}
	fields := map[string][]string{}
	for name, problems := range given {
		list, _ := problems.([]any)
		for _, problem := range list {
			fields[name] = append(fields[name], fmt.Sprint(problem))
		}
	}
	return fields
}
