package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// fieldNames returns the names of the fields of a struct, and whether it embeds the shell.
func fieldNames(s *ast.StructType) (names []string, isPage bool) {
	for _, field := range s.Fields.List {
		if embedded, ok := field.Type.(*ast.Ident); ok && len(field.Names) == 0 {
			isPage = isPage || embedded.Name == "shell"
		}
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names, isPage
}

// A page that had a field of the same name as one of its shell gave it to the layout: the page of an email listened to no events.
func TestNoPageHidesAFieldOfItsShell(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	shells, pages := map[string]bool{}, map[string][]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				names, isPage := fieldNames(s)
				if isPage {
					pages[spec.Name.Name] = names
				}
				if spec.Name.Name == "shell" {
					for _, name := range names {
						shells[name] = true
					}
				}
			}
			return true
		})
	}
	if len(shells) < 5 || len(pages) < 20 {
		t.Fatalf("%d fields of the shell, %d pages", len(shells), len(pages))
	}
	for page, names := range pages {
		for _, name := range names {
			if shells[name] {
				t.Errorf("%s.%s hides that of the shell from the layout", page, name)
			}
		}
	}
}
