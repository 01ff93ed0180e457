package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Info describes the API as a whole.
type Info struct {
	Title       string
	Version     string
	Description string
}

func (s *Server) ownRoutes() []Route {
	return []Route{{
		Method: http.MethodGet, Path: "/openapi.json", Access: Public, Bucket: BucketRead,
		Summary: "This API as an OpenAPI 3.1 document.",
		Handler: Handle(func(context.Context, Caller, None) (rawJSON, error) { return s.openapi, nil }),
	}}
}

// Document returns the OpenAPI 3.1 document of the public routes. It is the same bytes for the same routes.
func Document(info Info, routes []Route) []byte {
	types := &schemas{named: map[string]schema{}}
	paths := map[string]map[string]any{}
	for _, route := range routes {
		if route.Private {
			continue
		}
		if paths[route.fullPath()] == nil {
			paths[route.fullPath()] = map[string]any{}
		}
		paths[route.fullPath()][strings.ToLower(route.Method)] = operation(types, route)
	}
	types.of(reflect.TypeFor[wireError]())
	document := map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": info.Title, "version": info.Version, "description": info.Description},
		"paths":   paths,
		"components": map[string]any{
			"schemas": types.named,
			"securitySchemes": map[string]any{
				"key":     map[string]any{"type": "http", "scheme": "bearer", "description": "An API key."},
				"session": map[string]any{"type": "apiKey", "in": "cookie", "name": SessionCookie},
			},
		},
	}
	raw, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("api: document: %v", err))
	}
	return append(raw, '\n')
}

func operation(types *schemas, route Route) map[string]any {
	op := map[string]any{
		"operationId": operationID(route),
		"summary":     route.Summary,
		"tags":        []string{tag(route.Path)},
		"responses":   responses(types, route),
		"security":    security(route),
		"x-bucket":    route.Bucket,
	}
	if parameters := parametersOf(types, route); len(parameters) > 0 {
		op["parameters"] = parameters
	}
	if body := route.Handler.input.body; body != nil {
		accepted := content(types, body)
		if route.Upload {
			accepted[mediaMultipart] = accepted[mediaJSON]
		}
		if route.Form {
			accepted[mediaForm] = accepted[mediaJSON]
		}
		op["requestBody"] = map[string]any{"content": accepted}
	}
	if route.FreshTwoFactor {
		op["description"] = "Needs a dashboard session and, if the user has one, a fresh second factor."
	}
	return op
}

func content(types *schemas, t reflect.Type) map[string]any {
	return map[string]any{mediaJSON: map[string]any{"schema": types.of(t), "example": example(t, 0)}}
}

func security(route Route) []map[string][]string {
	scopes := []string{}
	for _, scope := range route.scopes() {
		scopes = append(scopes, string(scope))
	}
	switch route.Access {
	case Public:
		return []map[string][]string{}
	case SessionOnly:
		return []map[string][]string{{"session": scopes}}
	}
	return []map[string][]string{{"key": scopes}, {"session": scopes}}
}

func parametersOf(types *schemas, route Route) []map[string]any {
	var list []map[string]any
	for _, p := range route.Handler.input.parameters {
		entry := map[string]any{"name": p.name, "in": p.in, "schema": types.of(p.kind), "required": p.in == "path"}
		if p.doc != "" {
			entry["description"] = p.doc
		}
		if value, ok := exampleOf(p.kind, p.example); ok {
			entry["example"] = value
		}
		list = append(list, entry)
	}
	return list
}

// commonErrors can happen on every route that asks who calls.
var commonErrors = []*Error{ErrValidation, ErrMissingKey, ErrInvalidKey, ErrKeyExpired, ErrScope, ErrIP, ErrSuspended, ErrRateLimit, ErrInternal, ErrUnavailable}

func responses(types *schemas, route Route) map[string]any {
	success := route.Success
	if success == 0 {
		success = http.StatusOK
	}
	all := map[string]any{}
	codes := map[int][]string{}
	for _, e := range append(append([]*Error{}, commonErrors...), route.Errors...) {
		if route.Access == Public && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden) {
			continue
		}
		codes[e.Status] = append(codes[e.Status], e.Code)
	}
	for status, names := range codes {
		all[strconv.Itoa(status)] = map[string]any{
			"description": "`" + strings.Join(names, "`, `") + "`",
			"content":     map[string]any{"application/json": map[string]any{"schema": types.of(reflect.TypeFor[wireError]())}},
		}
	}
	answer := map[string]any{"description": http.StatusText(success)}
	if route.Handler.output.body != nil && success != http.StatusNoContent {
		given := content(types, route.Handler.output.body)
		if file, ok := reflect.Zero(route.Handler.output.body).Interface().(Downloaded); ok {
			kind, _ := file.File()
			given = map[string]any{kind: map[string]any{"schema": schema{"type": "string"}}}
		}
		if route.Page {
			given["text/html"] = map[string]any{"schema": schema{"type": "string"}}
		}
		answer["content"] = given
	}
	all[strconv.Itoa(success)] = answer
	return all
}

func tag(path string) string { return segments(path)[0] }

var wordBreak = regexp.MustCompile(`[^A-Za-z0-9]+`)

func operationID(route Route) string {
	words := wordBreak.Split(route.Path, -1)
	id := strings.ToLower(route.Method)
	for _, word := range words {
		id += capital(word)
	}
	return id
}
