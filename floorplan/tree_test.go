package floorplan

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// module is the name that go.mod gives the house.
const module = "postrider"

// source is one file that is built into a program; test files are not.
type source struct {
	path   string
	syntax *ast.File
	files  *token.FileSet
}

func (s source) dir() string { return path.Dir(s.path) }

func (s source) line(node ast.Node) int { return s.files.Position(node.Pos()).Line }

// readTree parses every Go file under root that is not a test. A test may import anything that makes no cycle, and the
// compiler sees to that. Files for other systems count, so the law is the same on all of them.
func readTree(root fs.FS) ([]source, error) {
	var sources []source
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (base == "testdata" || base == "node_modules" || strings.ContainsAny(base[:1], "._")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		syntax, err := parser.ParseFile(files, name, text, 0)
		if err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		sources = append(sources, source{path: name, syntax: syntax, files: files})
		return nil
	})
	return sources, err
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// inHouse returns the directory of an import, if it is one of ours.
func inHouse(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}
