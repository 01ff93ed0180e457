package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// Finished is a request that has been answered, for whoever keeps a record of them. Its bytes are shared and must not be changed.
type Finished struct {
	At     time.Time
	Took   time.Duration
	Caller Caller
	Method string
	// Path is what was asked for; where a secret stands in it, it is Route.
	Path string
	// Route is the path as it was declared, without version; empty if there is none.
	Route   string
	Private bool
	// Values are the parameters of the path.
	Values map[string]string
	Status int
	// BodyBytes is how long the body was; Body is nil if it was too long to be kept. Answer is nil for what was only read.
	BodyBytes int
	Body      []byte
	Answer    []byte

	endpoint *endpoint
}

const (
	// maxObserved is the longest body that is handed to an observer. It is one that no budget of memory is asked for.
	maxObserved = smallBody
	// maxObservedAnswer is the longest answer: errors, and the short ones that name what was made.
	maxObservedAnswer = 4 << 10
)

// observe hands the request to the observer, which must not wait for anything.
func (x *exchange) observe(started time.Time, took time.Duration) {
	if x.server.config.Observe == nil || x.status == 0 {
		return
	}
	f := Finished{At: started, Took: took, Caller: x.caller, Method: x.r.Method, Path: strings.TrimPrefix(x.path(), "/v1"),
		Values: x.named, Status: x.status, BodyBytes: len(x.received), endpoint: x.endpoint}
	if len(x.received) <= maxObserved {
		f.Body = x.received
	}
	if x.status >= http.StatusBadRequest || !isSafe(x.r.Method) {
		f.Answer = x.answered
	}
	if x.endpoint != nil {
		f.Route, f.Private = x.endpoint.Path, x.endpoint.Private
	}
	x.server.config.Observe(f)
}

// KnownFields returns the names that the route reads from the top of a body. ok is false if it may read any.
func (f Finished) KnownFields() (names []string, ok bool) {
	if f.endpoint == nil {
		return nil, false
	}
	return f.endpoint.fields, f.endpoint.fields != nil
}

// fieldsOf returns the names that a body is read from, or nil for a type that reads by itself, and may read anything.
func fieldsOf(t reflect.Type) []string {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	pointer := reflect.PointerTo(t)
	if pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) || pointer.Implements(reflect.TypeFor[BodyReader]()) {
		return nil
	}
	names := []string{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			inner := fieldsOf(field.Type)
			if inner == nil {
				return nil
			}
			names = append(names, inner...)
		case name != "" && name != "-":
			names = append(names, name)
		case name == "" && field.IsExported():
			names = append(names, field.Name)
		}
	}
	return names
}
