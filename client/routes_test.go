package client_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"postrider/client"
	"postrider/client/internal/generate"
)

// exchangeOf is what a server saw of one call.
type exchangeOf struct {
	method, path string
	query        map[string][]string
	body         map[string]any
}

func operations(t *testing.T) []generate.Operation {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := generate.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return document.Operations()
}

// Every operation of the document has a method that makes the right request, sends all that can be sent, and understands the
// documented answer to its last field.
func TestEveryRouteHasAMethodThatMakesItsRequestAndReadsItsAnswer(t *testing.T) {
	t.Parallel()
	all := operations(t)
	if len(all) < 164 {
		t.Fatalf("%d operations", len(all))
	}
	for _, op := range all {
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			_, _, example := op.Answer()
			var seen exchangeOf
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = exchangeOf{method: r.Method, path: r.URL.EscapedPath(), query: r.URL.Query()}
				_ = json.NewDecoder(r.Body).Decode(&seen.body) // some routes take a list, others nothing
				_, _ = w.Write(example)
			}))
			defer server.Close()
			answer := callWithEverything(t, client.New(server.URL, "key"), op)
			path := op.Path
			for _, p := range op.Parameters {
				if p.In == "path" {
					path = strings.ReplaceAll(path, "{"+p.Name+"}", "a%2Fb")
				}
				if p.In == "query" && len(seen.query[p.Name]) != 1 {
					t.Errorf("parameter %s was not sent: %v", p.Name, seen.query)
				}
			}
			if seen.method != op.Method || seen.path != path {
				t.Errorf("asked %s %s, want %s %s", seen.method, seen.path, op.Method, path)
			}
			if op.Method != http.MethodHead && len(example) > 0 && string(example) != "null" {
				compareWithExample(t, answer, example)
			}
		})
	}
}

// callWithEverything calls the method of an operation, with something in every argument.
func callWithEverything(t *testing.T, c *client.Client, op generate.Operation) any {
	t.Helper()
	method := reflect.ValueOf(c).Elem().FieldByName(generate.Service(op.Tags[0])).MethodByName(op.MethodName())
	if !method.IsValid() {
		t.Fatalf("%s.%s is missing", generate.Service(op.Tags[0]), op.MethodName())
	}
	arguments := []reflect.Value{reflect.ValueOf(context.Background())}
	for i := 1; i < method.Type().NumIn()-1; i++ {
		arguments = append(arguments, filled(method.Type().In(i), 0))
	}
	results := method.Call(arguments)
	if err, failed := results[1].Interface().(error); failed {
		t.Fatalf("%s: %v", op.MethodName(), err)
	}
	if stream, ok := results[0].Interface().(io.ReadCloser); ok {
		stream.Close()
	}
	return results[0].Interface()
}

// filled returns a value of the type that is nowhere empty.
func filled(t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case depth > 5:
	case t == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	case t.Kind() == reflect.String:
		v.SetString("a/b")
	case v.CanInt():
		v.SetInt(7)
	case v.CanFloat():
		v.SetFloat(7)
	case t.Kind() == reflect.Bool:
		v.SetBool(true)
	case t.Kind() == reflect.Pointer:
		v.Set(filled(t.Elem(), depth).Addr())
	case t.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem(), depth+1)))
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			v.Field(i).Set(filled(t.Field(i).Type, depth+1))
		}
	}
	return v
}

// compareWithExample writes what was read again: nothing of the example may have been lost, but for what says nothing.
func compareWithExample(t *testing.T, answer any, example json.RawMessage) {
	t.Helper()
	raw, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(example, &want); err != nil {
		t.Fatal(err)
	}
	if lost := missing("", want, got); lost != "" {
		t.Errorf("lost of the documented answer: %s\nread %s\nfrom %s", lost, raw, example)
	}
}

func missing(at string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for name, value := range w {
			// A second spelling of a field is read by its first one.
			if _, second := w[snake(name)]; second && snake(name) != name {
				continue
			}
			if lost := missing(at+"."+name, value, g[name]); lost != "" {
				return lost
			}
		}
	case []any:
		g, _ := got.([]any)
		for i, value := range w {
			if i >= len(g) {
				return at
			}
			if lost := missing(at, value, g[i]); lost != "" {
				return lost
			}
		}
	case nil:
	default:
		if zero := reflect.ValueOf(want).IsZero(); !zero && !reflect.DeepEqual(want, got) {
			return at
		}
	}
	return ""
}

func snake(name string) string {
	var out strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			out.WriteByte('_')
			r += 'a' - 'A'
		}
		out.WriteRune(r)
	}
	return out.String()
}
