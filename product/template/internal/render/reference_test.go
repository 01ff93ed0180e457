package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"postrider/product/template/internal/render"
)

// templates is how many templates are rendered by both.
const templates = 4000

// given is a template with its values.
type given struct {
	Source string `json:"source"`
	Values object `json:"values"`
}

type answered struct {
	Text  string `json:"text"`
	Error string `json:"error"`
}

// TestHandlebarsItselfWritesTheSame renders templates that nobody has thought of with the program that people know the language from.
func TestHandlebarsItselfWritesTheSame(t *testing.T) {
	t.Parallel()
	examples := make([]given, templates)
	maker := rapid.Custom(drawTemplate)
	for i := range examples {
		examples[i] = maker.Example(i)
	}
	answers := askHandlebars(t, examples)
	compared := 0
	var different []string
	for i, example := range examples {
		got, err := renderHTML(example)
		switch {
		case err != nil && answers[i].Error != "":
			continue // a backslash has made a text of the end of a block
		case len(got.Removed) > 0 || strings.Contains(answers[i].Text, "[object"):
			continue // objects and lists of lists have no text here, and nothing is no object
		}
		if compared++; err == nil && answers[i].Error == "" && same(example.Source, got.Text, answers[i].Text) {
			continue
		}
		values, _ := json.Marshal(example.Values)
		different = append(different, fmt.Sprintf("%q\nof %s\nis         %q %v\nHandlebars %q %s", example.Source, values, got.Text, err, answers[i].Text, answers[i].Error))
	}
	if compared < templates/2 {
		t.Errorf("only %d of %d were compared", compared, templates)
	}
	slices.SortFunc(different, func(a, b string) int { return len(a) - len(b) })
	for _, shortest := range different[:min(len(different), 5)] {
		t.Errorf("%d differ: %s", len(different), shortest)
	}
}

// same compares two texts. Before the end of a chain Handlebars leaves the blanks that it takes away before the end of any other block.
func same(source, got, want string) bool {
	if strings.Contains(source, "else if") {
		return strings.Join(strings.Fields(got), "") == strings.Join(strings.Fields(want), "")
	}
	return got == want
}

func renderHTML(example given) (render.Result, error) {
	program, err := render.Parse(example.Source, render.HTML)
	if err != nil {
		return render.Result{}, err
	}
	return program.Execute(example.Values)
}

func askHandlebars(t *testing.T, examples []given) []answered {
	t.Helper()
	manifest, err := filepath.Abs("../../../../test/clients/package.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(manifest), "node_modules/handlebars")); err != nil {
		t.Skip("Handlebars is not installed; scripts/setup installs it where it may")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	var in bytes.Buffer
	encoder := json.NewEncoder(&in)
	for _, example := range examples {
		if err := encoder.Encode(example); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/handlebars.mjs", manifest)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]answered, len(examples))
	decoder := json.NewDecoder(bytes.NewReader(out))
	for i := range answers {
		if err := decoder.Decode(&answers[i]); err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
	return answers
}

func drawTemplate(t *rapid.T) given {
	values := object{}
	for _, name := range names {
		if rapid.IntRange(0, 3).Draw(t, "given") > 0 {
			values[name] = drawValue(t, 3)
		}
	}
	return given{drawNodes(t, 2, false), values}
}

// names are those of variables and of fields alike, so that paths lead somewhere.
var names = []string{"a", "b", "c", "items"}

func drawValue(t *rapid.T, depth int) any {
	most := 4
	if depth > 0 {
		most = 6
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return float64(rapid.IntRange(-2, 20).Draw(t, "number"))
	case 3, 4:
		return rapid.SampledFrom([]string{"", "Ann", "<b>&'\"`", "{{a}}", " x\n", "ä"}).Draw(t, "text")
	case 5:
		items := make(list, rapid.IntRange(0, 3).Draw(t, "items"))
		for i := range items {
			items[i] = drawValue(t, depth-1)
		}
		return items
	}
	fields := object{}
	for _, name := range names {
		if rapid.Bool().Draw(t, "field") {
			fields[name] = drawValue(t, depth-1)
		}
	}
	return fields
}

func drawNodes(t *rapid.T, depth int, looping bool) string {
	var b strings.Builder
	for range rapid.IntRange(0, 3).Draw(t, "nodes") {
		b.WriteString(drawNode(t, depth, looping))
	}
	return b.String()
}

func drawNode(t *rapid.T, depth int, looping bool) string {
	kinds := 2
	if depth > 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds).Draw(t, "node") {
	case 0:
		return rapid.SampledFrom([]string{"word", " ", "\n", "\n  ", "a b\n", " \n\n", "\r\n", "\\"}).Draw(t, "text")
	case 1:
		path := drawPath(t, looping)
		// Raw values stand between texts: Handlebars adds up those that follow each other if they are numbers.
		return rapid.SampledFrom([]string{"{{" + path + "}}", "{{ " + path + " }}", "{{~" + path + "}}", "{{" + path + "~}}", "({{{" + path + "}}})", "({{&" + path + "}})",
			"( {{~{" + path + "}~}} )"}).Draw(t, "output")
	case 2:
		return rapid.SampledFrom([]string{"{{! note }}", "{{!-- a }} note --}}", "{{~! note ~}}", `\{{a}}`}).Draw(t, "note")
	}
	return drawBlock(t, depth, looping)
}

func drawBlock(t *rapid.T, depth int, looping bool) string {
	path := drawPath(t, looping)
	kind := rapid.SampledFrom([]string{"if ", "unless ", "each ", "with ", "", "^"}).Draw(t, "block")
	open, name := "#"+kind+path, strings.TrimSpace(kind)
	switch kind {
	case "":
		name = path
	case "^":
		open, name = "^"+path, path
	}
	body := drawNodes(t, depth-1, looping || kind == "each ")
	otherwise := ""
	if kind != "^" { // with an else in it, Handlebars takes the space away from the other half than the one that the tag stands at
		otherwise = rapid.SampledFrom([]string{"", "else", "^", "else if " + drawPath(t, looping)}).Draw(t, "else")
	}
	if otherwise != "" {
		otherwise = drawTag(t, otherwise) + drawNodes(t, depth-1, looping)
	}
	return drawTag(t, open) + body + otherwise + drawTag(t, "/"+name)
}

// drawTag is a tag, that may take away the space around it.
func drawTag(t *rapid.T, inside string) string {
	left := rapid.SampledFrom([]string{"", "", "", "~"}).Draw(t, "left")
	right := rapid.SampledFrom([]string{"", "", "", "~"}).Draw(t, "right")
	line := rapid.SampledFrom([]string{"", "", "\n"}).Draw(t, "line") // blocks that stand alone take their line with them
	return line + "{{" + left + inside + right + "}}" + line
}

func drawPath(t *rapid.T, looping bool) string {
	if looping && rapid.IntRange(0, 4).Draw(t, "data") == 0 {
		return rapid.SampledFrom([]string{"@index", "@key", "@first", "@last"}).Draw(t, "word")
	}
	name := func() string { return rapid.SampledFrom(names).Draw(t, "name") }
	return rapid.SampledFrom([]string{name(), name(), name(), "this", ".", "this." + name(), name() + "." + name(), name() + "/" + name(), "../" + name(),
		"@root." + name(), "[" + name() + "]"}).Draw(t, "path")
}
