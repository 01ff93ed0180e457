package web

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"strings"
)

//go:embed all:templates
var templateFiles embed.FS

//go:embed icons/*.svg
var iconFiles embed.FS

// templates are the pages, by their path below templates/ without the ending. Each stands on a copy of the layout and the parts.
type templates map[string]*template.Template

// shared are the files every page may use.
const shared = "templates/_*.html"

func parseTemplates(assets assets) templates {
	icons := loadIcons()
	functions := template.FuncMap{
		"asset": assets.address,
		"icon": func(name string) (template.HTML, error) {
			svg, ok := icons[name]
			if !ok {
				return "", fmt.Errorf("there is no icon %q", name)
			}
			return svg, nil
		},
		"badge": newBadge,
		"field": newField,
		"join":  strings.Join,
		"list":  func(items ...string) []string { return items },
		"pick":  newChooser,
		"box":   newBox,
	}
	base := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, shared))
	pages := templates{}
	err := fs.WalkDir(templateFiles, "templates", func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimSuffix(strings.TrimPrefix(path, "templates/"), ".html")
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), "_") {
			return err
		}
		pages[name] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, path))
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return pages
}

func (t templates) draw(w io.Writer, name string, page any) error {
	parsed, ok := t[name]
	if !ok {
		return fmt.Errorf("there is no page %q", name)
	}
	return parsed.ExecuteTemplate(w, "layout", page)
}

// iconFrame is around the lines of every picture. They take the colour of the text beside them and are silent to screen readers.
const iconFrame = `<svg class="i" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">`

func loadIcons() map[string]template.HTML {
	icons := map[string]template.HTML{}
	entries, err := iconFiles.ReadDir("icons")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, entry := range entries {
		raw, err := iconFiles.ReadFile("icons/" + entry.Name())
		if err != nil {
			panic(err)
		}
		_, lines, _ := strings.Cut(string(raw), ">")
		lines, _, _ = strings.Cut(lines, "</svg>")
		icons[strings.TrimSuffix(entry.Name(), ".svg")] = template.HTML(iconFrame + lines + "</svg>")
	}
	return icons
}
