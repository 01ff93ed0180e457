package logs_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"postrider/app/apptest"
)

// fields are parts of a request or an answer, by their name on the wire.
type fields = map[string]any

// settle lets the tape take up everything that has happened.
func settle(t testing.TB, in *apptest.Installation) {
	t.Helper()
	if err := in.App.Logs.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	in.CatchUp(in.App.Logs.Followers())
}

// list returns the entries that a query finds, as rows.
func list(t *testing.T, in *apptest.Installation, query string) []map[string]any {
	t.Helper()
	answer := in.Call(http.MethodGet, "/logs?"+query, nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("/logs?%s was answered with %d: %s", query, answer.Status, answer.Raw)
	}
	return rows(answer, "data")
}

func rows(answer apptest.Answer, name string) []map[string]any {
	all, _ := answer.Body[name].([]any)
	found := make([]map[string]any, len(all))
	for i := range all {
		found[i], _ = all[i].(map[string]any)
	}
	return found
}

// messages joins what entries say.
func messages(entries []map[string]any) string {
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = fmt.Sprint(e["message"])
	}
	return strings.Join(texts, "; ")
}

// get returns one entry.
func get(t *testing.T, in *apptest.Installation, id any) apptest.Answer {
	t.Helper()
	answer := in.Call(http.MethodGet, fmt.Sprintf("/logs/%v", id), nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("entry %v was answered with %d: %s", id, answer.Status, answer.Raw)
	}
	return answer
}
