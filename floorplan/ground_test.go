package floorplan

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// grounded are the districts that take time, chance, names, connections and settings only from their constructors.
var grounded = []string{"product", "platform", "mail"}

// forbidden lists, by import path, what reaches past world; a name ending in * stands for all that begin so. An empty
// list forbids the package.
var forbidden = map[string][]string{
	"time":         {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"math/rand":    nil,
	"math/rand/v2": nil,
	"net":          {"Dial*", "Lookup*", "Resolver", "DefaultResolver"},
	"crypto/tls":   {"Dial*"},
	"net/http":     {"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
	"os":           {"Getenv", "LookupEnv", "Environ", "ExpandEnv"},
}

// shortcuts says where a grounded source reaches past world.
func shortcuts(s source) []string {
	if !isGrounded(s.dir()) {
		return nil
	}
	var found []string
	report := func(node ast.Node, what string) {
		found = append(found, fmt.Sprintf("%s:%d: %s reaches past world; take a clock, a source of chance, a dialer or a setting as an argument",
			s.path, s.line(node), what))
	}
	imported := map[string][]string{} // by the name it has in this file
	for _, spec := range s.syntax.Imports {
		p := importPath(spec)
		names, listed := forbidden[p]
		switch {
		case !listed:
		case len(names) == 0:
			report(spec, p)
		case spec.Name != nil && spec.Name.Name == ".":
			report(spec, "dot import of "+p)
		case spec.Name != nil:
			imported[spec.Name.Name] = names
		default:
			imported[path.Base(p)] = names
		}
	}
	ast.Inspect(s.syntax, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// A name that the file itself declares (ident.Obj) hides the package.
		if ident, ok := selector.X.(*ast.Ident); ok && ident.Obj == nil && matches(imported[ident.Name], selector.Sel.Name) {
			report(selector, ident.Name+"."+selector.Sel.Name)
		}
		return true
	})
	return found
}

// isGrounded leaves out test kits (platform/db/dbtest), which are test code in a folder of its own.
func isGrounded(dir string) bool {
	if path.Base(dir) == path.Base(path.Dir(dir))+"test" {
		return false
	}
	return slices.ContainsFunc(grounded, func(district string) bool { return under(dir, district) })
}

func matches(names []string, name string) bool {
	return slices.ContainsFunc(names, func(known string) bool {
		prefix, open := strings.CutSuffix(known, "*")
		return name == known || open && strings.HasPrefix(name, prefix)
	})
}

func TestNobodyReachesPastWorld(t *testing.T) {
	t.Parallel()
	sources, err := readTree(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, s := range sources {
		if isGrounded(s.dir()) {
			seen++
		}
		for _, shortcut := range shortcuts(s) {
			t.Error(shortcut)
		}
	}
	if seen < 10 {
		t.Fatalf("only %d files under %v: the test looks at the wrong tree", seen, grounded)
	}
}

func TestShortcutsPastWorldAreReported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file, imports, body string
		want                string // part of the one report; empty for none
	}{
		{"product/x/a.go", `"time"`, `time.Now()`, "product/x/a.go:3: time.Now"},
		{"platform/x/a.go", `"time"`, `time.Sleep(1)`, "time.Sleep"},
		{"mail/x/a.go", `"time"`, `<-time.After(1)`, "time.After"},
		{"mail/x/internal/y/a.go", `"time"`, `time.NewTimer(1)`, "time.NewTimer"},
		{"mail/x/a.go", `"time"`, `time.Tick(1)`, "time.Tick"},
		{"mail/x/a.go", `"time"`, `time.Since(t)`, "time.Since"},
		{"mail/x/a.go", `"time"`, `f := time.Now; f()`, "time.Now"},
		{"mail/x/a.go", `clock "time"`, `clock.Now()`, "clock.Now"},
		{"mail/x/a.go", `. "time"`, `Now()`, "dot import of time"},
		{"mail/x/a.go", `"math/rand"`, ``, "math/rand"},
		{"mail/x/a.go", `"math/rand/v2"`, `rand.Int()`, "math/rand/v2"},
		{"mail/x/a.go", `"net"`, `net.Dial("tcp", "a:1")`, "net.Dial"},
		{"mail/x/a.go", `"net"`, `net.DialTimeout("tcp", "a:1", 1)`, "net.DialTimeout"},
		{"mail/x/a.go", `"net"`, `d := net.Dialer{}; _ = d`, "net.Dialer"},
		{"mail/x/a.go", `"net"`, `net.LookupMX("a")`, "net.LookupMX"},
		{"mail/x/a.go", `"net"`, `net.DefaultResolver.LookupHost(ctx, "a")`, "net.DefaultResolver"},
		{"mail/x/a.go", `"crypto/tls"`, `tls.Dial("tcp", "a:1", nil)`, "tls.Dial"},
		{"mail/x/a.go", `"net/http"`, `http.Get("a")`, "http.Get"},
		{"mail/x/a.go", `"net/http"`, `http.Post("a", "b", nil)`, "http.Post"},
		{"mail/x/a.go", `"net/http"`, `http.DefaultClient.Do(r)`, "http.DefaultClient"},
		{"mail/x/a.go", `"os"`, `os.Getenv("A")`, "os.Getenv"},
		{"mail/latest/a.go", `"os"`, `os.LookupEnv("A")`, "os.LookupEnv"},

		{"product/x/a.go", `"time"`, `_ = time.Second; _ = time.Unix(1, 0)`, ""},
		{"product/x/a.go", `"net/http"`, `_ = http.MethodGet; http.NewRequest("GET", "a", nil)`, ""},
		{"product/x/a.go", `"net"`, `net.JoinHostPort("a", "1"); net.Listen("tcp", "a")`, ""},
		{"product/x/a.go", `"os"`, `os.Open("a")`, ""},
		{"product/x/a.go", `"crypto/rand"`, `rand.Read(nil)`, ""},
		{"product/x/a.go", `"example.com/time"`, `time.Now()`, ""},
		{"product/x/a.go", `"time"`, `var time struct{ Now func() }; time.Now()`, ""},
		{"product/x/a.go", `"fmt"`, `w.Clock.Now(); tx.Now()`, ""},
		{"product/x/a_test.go", `"time"`, `time.Sleep(1)`, ""},
		{"platform/db/dbtest/a.go", `"os"`, `os.Getenv("A")`, ""},
		{"world/a.go", `"time"`, `time.Now()`, ""},
		{"cmd/postrider/main.go", `"os"`, `os.Getenv("A")`, ""},
	} {
		text := "package x\nimport " + test.imports + "\nfunc f() { " + test.body + " }\n"
		sources, err := readTree(fstest.MapFS{test.file: {Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}

		var found []string
		for _, s := range sources {
			found = append(found, shortcuts(s)...)
		}

		switch {
		case test.want == "" && len(found) != 0:
			t.Errorf("%s %s: %q", test.file, test.body, found)
		case test.want != "" && (len(found) != 1 || !strings.Contains(found[0], test.want+" reaches past world")):
			t.Errorf("%s %s: %q, want %q", test.file, test.body, found, test.want)
		}
	}
}
