package apptest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Problems returns what a validation error says of each field, as "field: message; field: message".
func (a Answer) Problems() string {
	refused, _ := a.Body["error"].(map[string]any)
	details, _ := refused["details"].(map[string]any)
	named, _ := details["fieldErrors"].(map[string]any)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(named)) {
		messages, _ := named[name].([]any)
		all = append(all, fmt.Sprintf("%s: %v", name, messages[0]))
	}
	return strings.Join(all, "; ")
}

// Pick returns some fields of an answer as JSON.
func (a Answer) Pick(names ...string) string {
	picked := make([]any, len(names))
	for i, name := range names {
		picked[i] = a.Body[name]
	}
	raw, _ := json.Marshal(picked)
	return string(raw)
}

// Column returns one field of each row of a list, in its order.
func (a Answer) Column(name string) string {
	rows, _ := a.Body["data"].([]any)
	texts := make([]string, len(rows))
	for i, row := range rows {
		record, _ := row.(map[string]any)
		texts[i] = fmt.Sprint(record[name])
	}
	return strings.Join(texts, " ")
}

// Must makes a request with the key of the installation, whose status is certain.
func (in *Installation) Must(status int, method, path string, body any) Answer {
	in.t.Helper()
	answer := in.Call(method, path, body)
	if answer.Status != status {
		in.t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Status, status, answer.Raw)
	}
	return answer
}
