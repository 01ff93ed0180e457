package api

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func parametersOf(types *schemas, route Route) []map[string]any {
	var list []map[string]any
	for _, p := range route.Handler.input.parameters {
		entry := map[string]any{"name": p.name, "in": p.in, "schema": types.ask(p.kind), "required": p.in == "path"}
		if p.least != 0 {
			entry["schema"].(schema)["minimum"] = p.least
		}
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
var commonErrors = []*Error{ErrValidation, ErrMissingKey, ErrInvalidKey, ErrKeyExpired, ErrScope, ErrIP, ErrSuspended, ErrRateLimit,
	ErrInternal, ErrUnavailable}

func responses(types *schemas, route Route) map[string]any {
	success := cmp.Or(route.Success, http.StatusOK)
	all := map[string]any{}
	codes := map[int][]string{}
	for _, e := range slices.Concat(commonErrors, route.Errors) {
		if route.Access == Public && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden) {
			continue
		}
		codes[e.Status] = append(codes[e.Status], e.Code)
	}
	for status, names := range codes {
		all[strconv.Itoa(status)] = map[string]any{
			"description": "`" + strings.Join(names, "`, `") + "`",
			"content":     map[string]any{mediaJSON: map[string]any{"schema": types.answer(reflect.TypeFor[wireError]())}},
		}
	}
	answer := map[string]any{"description": http.StatusText(success)}
	if route.Handler.output.body != nil && success != http.StatusNoContent {
		answer["content"] = answered(types, route)
	}
	all[strconv.Itoa(success)] = answer
	return all
}

// answered tells the media types of an answer: JSON, unless it is a file, a stream or a picture.
func answered(types *schemas, route Route) map[string]any {
	body := route.Handler.output.body
	text := func(kind string) map[string]any {
		return map[string]any{kind: map[string]any{"schema": schema{"type": "string"}}}
	}
	switch zero := reflect.Zero(body).Interface().(type) {
	case Downloaded:
		kind, _ := zero.File()
		return text(kind)
	case Streamed:
		return text("text/event-stream")
	case Shown:
		if kind, _ := zero.Show(); strings.HasPrefix(kind, "image/") {
			return text(kind)
		}
	}
	given := map[string]any{mediaJSON: map[string]any{"schema": types.answer(body), "example": exampleAnswer(body)}}
	if route.Page {
		given["text/html"] = text("text/html")["text/html"]
	}
	return given
}

var wordBreak = regexp.MustCompile(`[^A-Za-z0-9]+`)

// operationIDs names the routes the way a client would call them: listEmailAttempts, getDomain, cancelEmail. Of two with one name
// the deeper says of what: listDeliveriesOfWebhook beside listWebhookDeliveries.
func operationIDs(routes []Route) map[string]string {
	taken, ids := map[string]Route{}, map[string]string{}
	for _, route := range routes {
		if route.Private {
			continue
		}
		id := operationID(route)
		other, exists := taken[id]
		if exists && strings.Count(other.Path, "{") > strings.Count(route.Path, "{") {
			ids[other.Method+other.Path] = nestedID(other)
		} else if exists {
			id = nestedID(route)
		}
		taken[id] = route
		ids[route.Method+route.Path] = id
	}
	return ids
}

func operationID(route Route) string {
	parts := segments(strings.TrimSuffix(route.Path, ".json"))
	last := len(parts) - 1
	if route.Method != http.MethodPost {
		return verb(route) + nouns(parts)
	}
	if isParameter(parts[last]) {
		last--
	}
	plural := strings.HasSuffix(parts[last], "s") && !strings.Contains(parts[last], "-") || last == 0 && len(parts) == 1
	if plural && last < len(parts)-1 {
		return "add" + nouns(parts)
	}
	if plural {
		return "create" + nouns(parts[:last]) + singular(camel(parts[last]))
	}
	first := last
	for first > 1 && !isParameter(parts[first-1]) && !strings.HasSuffix(parts[first-1], "s") {
		first--
	}
	done := nouns(parts[first : last+1])
	return strings.ToLower(done[:1]) + done[1:] + nouns(parts[:first])
}

// nestedID says what first and of what after that.
func nestedID(route Route) string {
	parts := segments(route.Path)
	at := slices.IndexFunc(parts, isParameter) + 1
	tail := nouns(parts[at:])
	if route.Method == http.MethodPost {
		return "create" + singular(tail) + "Of" + nouns(parts[:at])
	}
	return verb(route) + tail + "Of" + nouns(parts[:at])
}

func verb(route Route) string {
	switch {
	case route.Method == http.MethodGet && isList(route.Handler.output.body):
		return "list"
	case route.Method == http.MethodPatch:
		return "update"
	}
	return strings.ToLower(route.Method)
}

// nouns joins the fixed segments of a path; one before a parameter is one of its kind.
func nouns(parts []string) string {
	var name strings.Builder
	for i, part := range parts {
		if isParameter(part) {
			continue
		}
		word := camel(part)
		if i+1 < len(parts) && isParameter(parts[i+1]) {
			word = singular(word)
		}
		name.WriteString(word)
	}
	return name.String()
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

// isList tells whether an answer is a page of a list.
func isList(answer reflect.Type) bool {
	if answer == nil || answer.Kind() != reflect.Struct {
		return false
	}
	_, pages := answer.FieldByName("HasMore")
	return pages
}

func camel(segment string) string {
	var name strings.Builder
	for _, word := range wordBreak.Split(segment, -1) {
		name.WriteString(capital(word))
	}
	return name.String()
}

func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "ss"):
		return word
	}
	return strings.TrimSuffix(word, "s")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
