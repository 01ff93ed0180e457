package web

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// sampleTag finds the tags of a template, with what they ask for and without their fallback.
var sampleTag = regexp.MustCompile(`\{\{\{?[~&]?\s*([#^/]?)\s*(each|if|unless|with|else)?\s*([A-Za-z_][\w.]*)?[^}]*\}\}`)

// sampleValues invents values for what a template asks for, so that a preview shows a mail and not its gaps. Loops get two rounds.
func sampleValues(parts ...string) map[string]any {
	root := map[string]any{}
	for _, part := range parts {
		scopes := []map[string]any{root} // where names are looked up, the innermost last
		for _, found := range sampleTag.FindAllStringSubmatch(part, -1) {
			mark, word, name := found[1], found[2], found[3]
			now := scopes[len(scopes)-1]
			switch {
			case mark == "/":
				if len(scopes) > 1 {
					scopes = scopes[:len(scopes)-1]
				}
			case mark == "" && word == "else" || name == "" && mark == "" || name == "this":
			case mark == "#" && (word == "each" || word == "with"):
				scopes = append(scopes, enterSample(now, name, word == "each"))
			case mark != "":
				setSample(now, name)
				scopes = append(scopes, now)
			default:
				setSample(now, name)
			}
		}
	}
	return root
}

// enterSample returns the object that a block is about. A list holds it twice, so that a change is seen in both rounds.
func enterSample(values map[string]any, name string, list bool) map[string]any {
	object := map[string]any{}
	switch known := values[name].(type) {
	case []any:
		return known[0].(map[string]any)
	case map[string]any:
		return known
	}
	if strings.Contains(name, ".") {
		return object
	}
	values[name] = any(object)
	if list {
		values[name] = []any{object, object}
	}
	return object
}

// setSample invents a value for a name; that of order.total is in an object order.
func setSample(values map[string]any, path string) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		inner, ok := values[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			values[name] = inner
		}
		values = inner
	}
	last := names[len(names)-1]
	if _, known := values[last]; !known && last != "" {
		values[last] = sampleOf(last)
	}
}

// sampleWords are what the end of a name usually means.
var sampleWords = []struct{ ending, value string }{
	{"FIRST_NAME", "Ada"}, {"LAST_NAME", "Lovelace"}, {"EMAIL", "ada@example.com"}, {"COMPANY", "Acme"}, {"PRODUCT", "Acme"}, {"NAME", "Ada Lovelace"},
	{"UNSUBSCRIBE_URL", "https://example.com/unsubscribe"}, {"URL", "https://example.com/start"}, {"LINK", "https://example.com/start"},
	{"TOTAL", "€ 58.00"}, {"AMOUNT", "€ 29.00"}, {"PRICE", "€ 29.00"}, {"QUANTITY", "1"}, {"DATE", "15 November 2026"}, {"MINUTES", "60"},
	{"CODE", "481 516"}, {"NUMBER", "A-1042"}, {"PLAN", "Pro"}, {"TITLE", "Notebook"}, {"ADDRESS", "12 Harbour Street"},
}

func sampleOf(name string) string {
	for _, known := range sampleWords {
		if strings.HasSuffix(strings.ToUpper(name), known.ending) {
			return known.value
		}
	}
	return words(strings.ToLower(name))
}

// sampleJSON writes values for people to change.
func sampleJSON(values map[string]any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(values) != nil {
		return "{}"
	}
	return strings.TrimSuffix(text.String(), "\n")
}
