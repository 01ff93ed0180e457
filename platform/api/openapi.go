package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

// Info describes the API as a whole.
type Info struct {
	Title       string
	Version     string
	Description string
	// License is the name and the SPDX identifier of the program's licence.
	License, LicenseID string
	// Contact says whom to ask.
	Contact string
	// Tags say what the groups of routes are about. A route's group is the first segment of its path.
	Tags []Tag
}

// Tag describes a group of routes.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

func (s *Server) ownRoutes() []Route {
	return []Route{{
		Method: http.MethodGet, Path: "/openapi.json", Access: Public, Bucket: BucketRead,
		Summary: "This API as an OpenAPI 3.1 document.",
		Handler: Handle(func(context.Context, Caller, None) (rawJSON, error) { return s.openapi(), nil }),
	}}
}

// Document returns the OpenAPI 3.1 document of the public routes. It is the same bytes for the same routes.
func Document(info Info, routes []Route) []byte {
	types, ids := newSchemas(routes), operationIDs(routes)
	paths := map[string]map[string]any{}
	used := map[string]bool{}
	for _, route := range routes {
		if route.Private {
			continue
		}
		if paths[route.fullPath()] == nil {
			paths[route.fullPath()] = map[string]any{}
		}
		paths[route.fullPath()][strings.ToLower(route.Method)] = operation(types, route, ids[route.Method+route.Path])
		used[tag(route.Path)] = true
	}
	types.answer(reflect.TypeFor[wireError]())
	document := map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": info.Title, "version": info.Version, "description": info.Description,
			"license": map[string]any{"name": info.License, "identifier": info.LicenseID}, "contact": map[string]any{"name": info.Contact},
		},
		// Paths are relative to wherever the document was fetched from.
		"servers": []any{map[string]any{"url": "/", "description": "The installation that serves this document."}},
		"tags":    usedTags(info.Tags, used),
		"paths":   paths,
		"components": map[string]any{
			"schemas": types.named,
			"securitySchemes": map[string]any{
				"key":     map[string]any{"type": "http", "scheme": "bearer", "description": "An API key."},
				"session": map[string]any{"type": "apiKey", "in": "cookie", "name": SessionCookie, "description": "A session of the dashboard."},
			},
		},
	}
	raw, err := plainJSON(document, "  ")
	if err != nil {
		panic(fmt.Sprintf("api: document: %v", err))
	}
	return append(raw, '\n')
}

// usedTags returns the tags that routes have, as described, and without a description those that nobody described.
func usedTags(described []Tag, used map[string]bool) []Tag {
	tags := []Tag{}
	for _, t := range described {
		if used[t.Name] {
			tags = append(tags, t)
			delete(used, t.Name)
		}
	}
	for _, name := range sortedKeys(used) {
		tags = append(tags, Tag{Name: name, Description: capital(name)})
	}
	return tags
}

func operation(types *schemas, route Route, id string) map[string]any {
	summary, rest, _ := strings.Cut(route.Summary, ". ")
	op := map[string]any{
		"operationId": id,
		"summary":     strings.TrimSuffix(summary, "."),
		"description": describe(route, rest),
		"tags":        []string{tag(route.Path)},
		"responses":   responses(types, route),
		"security":    security(route),
		"x-bucket":    route.Bucket,
	}
	if scopes := route.scopes(); len(scopes) > 0 {
		op["x-scopes"] = scopes
	}
	if parameters := parametersOf(types, route); len(parameters) > 0 {
		op["parameters"] = parameters
	}
	if body := route.Handler.input.body; body != nil {
		accepted := map[string]any{mediaJSON: map[string]any{"schema": types.ask(body), "example": exampleRequest(body)}}
		if route.Upload {
			accepted[mediaMultipart] = accepted[mediaJSON]
		}
		if route.Form {
			accepted[mediaForm] = accepted[mediaJSON]
		}
		op["requestBody"] = map[string]any{"content": accepted}
	}
	return op
}

// describe tells what a summary has no room for: who may call, and how often.
func describe(route Route, rest string) string {
	var lines []string
	if rest != "" {
		lines = append(lines, rest)
	}
	scopes := quoted(route.scopes())
	switch {
	case route.Access == Public:
		lines = append(lines, "Needs no key.")
	case route.Access == SessionOnly:
		lines = append(lines, "Needs a session of the dashboard; a key is refused.")
	case len(scopes) == 0:
		lines = append(lines, "Needs a key with any scope, or a session.")
	default:
		lines = append(lines, "Needs the scope "+strings.Join(scopes, " and ")+".")
	}
	if len(route.OrScopes) > 0 {
		lines = append(lines, "Without it, one of "+strings.Join(quoted(route.OrScopes), ", ")+" is enough, and the answer holds what those allow to read.")
	}
	if len(route.Roles) > 0 {
		lines = append(lines, "The role must be "+alternatives(route.Roles)+".")
	}
	if route.FreshTwoFactor {
		lines = append(lines, "Asks for a fresh second factor of users who have one.")
	}
	return strings.Join(append(lines, fmt.Sprintf("Counted in the rate limit `%s`.", route.Bucket)), " ")
}

func alternatives(roles []Role) string { return strings.Join(quoted(roles), " or ") }

func quoted[T ~string](names []T) []string {
	var all []string
	for _, name := range names {
		all = append(all, "`"+string(name)+"`")
	}
	return all
}

// security names the schemes alone: only OAuth has scopes there. Ours are in the description and in x-scopes.
func security(route Route) []map[string][]string {
	switch route.Access {
	case Public:
		return []map[string][]string{}
	case SessionOnly:
		return []map[string][]string{{"session": {}}}
	}
	return []map[string][]string{{"key": {}}, {"session": {}}}
}

func tag(path string) string { return strings.TrimSuffix(segments(path)[0], ".json") }
