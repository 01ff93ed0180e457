package render_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"postrider/product/template/internal/render"
)

func TestMistakesAreNamedWithTheirPlace(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"a\nbc {{#if x}}":                        "2:4 The block if is never closed: {{/if}} is missing.",
		"ä€𝄞{{":                                  "1:4 The tag is not closed: }} is missing.",
		"{{x":                                    "1:1 The tag is not closed: }} is missing.",
		"{{{x}}":                                 "1:1 The tag is not closed: }}} is missing.",
		"{{!-- x }}":                             "1:1 The tag is not closed: --}} is missing.",
		"{{!-- x -- }}":                          "1:1 The tag is not closed: --}} is missing.",
		"{{}}":                                   "1:1 The tag is empty.",
		"{{ }}":                                  "1:1 The tag is empty.",
		"{{/if}}":                                "1:1 {{/if}} closes a block that was not opened.",
		"{{else}}":                               "1:1 {{else}} is not inside a block.",
		"{{#if}}{{/if}}":                         "1:1 if needs a name: {{#if name}}.",
		"{{#if x}}{{/each}}":                     "1:10 {{/each}} stands where {{/if}} is expected.",
		"{{#if x}}{{else}}{{else}}":              "1:18 The block if has more than one {{else}}.",
		"{{#if x}}{{else if y}}{{/x}}":           "1:23 {{/x}} stands where {{/if}} is expected.",
		"{{#repeat 5}}{{/repeat}}":               "1:1 There is no block repeat: use if, unless, each or with.",
		"{{> header}}":                           "1:1 Partials are not supported.",
		"{{* x}}":                                "1:1 Decorators are not supported.",
		"{{{{raw}}}} {{{{/raw}}}}":               "1:1 Blocks in four braces are not supported.",
		`{{env "PATH"}}`:                         `1:1 Only names can stand between braces; there are no helpers to call: env "PATH".`,
		`{{printf "%s" .}}`:                      `1:1 Only names can stand between braces; there are no helpers to call: printf "%s" ..`,
		"{{call}}{{#each (x)}}{{/each}}":         "1:9 Only names can stand between braces; there are no helpers to call: (x).",
		"{{#each items as |i|}}{{/each}}":        "1:1 Only names can stand between braces; there are no helpers to call: items as |i|.",
		"{{7*7}}":                                "1:1 This is not a name: 7*7.",
		"{{a..b}}":                               "1:1 This is not a name: a..b.",
		"{{a.this.b}}":                           "1:1 This is not a name: a.this.b.",
		"{{a/../b}}":                             "1:1 This is not a name: a/../b.",
		"{{a.}}":                                 "1:1 This is not a name: a..",
		"{{.a}}":                                 "1:1 This is not a name: .a.",
		"{{[a}}":                                 "1:1 The bracket in [a is not closed.",
		"{{[a]b}}":                               "1:1 This is not a name: [a]b.",
		"{{|x}}":                                 "1:1 This is not a name: .",
		"{{@user}}":                              "1:1 There is no @user: use @index, @key, @first, @last or @root.",
		"{{@index.x}}":                           "1:1 There is no @index.x: use @index, @key, @first, @last or @root.",
		"{{" + strings.Repeat("x", 3000) + "}}":  "1:1 The tag has more than 2048 characters.",
		"{{" + strings.Repeat("x", 200) + "}}":   "1:1 A name in the path is too long.",
		"{{" + strings.Repeat("x.", 16) + "x}}":  "1:1 The path is too long.",
		"{{" + strings.Repeat("../", 60) + "x}}": "1:1 The path is too long.",
		strings.Repeat("{{#if x}}", 51) + strings.Repeat("{{/if}}", 51): "1:451 Blocks are nested more than 50 deep.",
		"{{#if x}}" + strings.Repeat("{{else if x}}", 60) + "{{/if}}":   "1:647 Blocks are nested more than 50 deep.",
		strings.Repeat("{{x}}", 60_000):                                 "1:250006 The source has more than 25000 tags.",
		strings.Repeat(`\{{`, 60_000):                                   "1:150005 The source has more than 25000 tags.",
	} {
		_, err := render.Parse(source, render.HTML)
		var wrong *render.SyntaxError
		if !errors.As(err, &wrong) {
			t.Errorf("%.60q: %v", source, err)
			continue
		}
		if got := fmt.Sprintf("%d:%d %s", wrong.Line, wrong.Column, wrong.Message); got != want {
			t.Errorf("%.60q:\ngot  %s\nwant %s", source, got, want)
		}
	}
}

func TestOtherLanguagesAreText(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"{% include '/etc/passwd' %}", "${7*7}", "<%= 7*7 %>", "#{7*7}", "{ {x} }", "a }} b", "{", "}", "[[x]]", "{x}", "\\", "body{a:b}"} {
		program, err := render.Parse(source, render.HTML)
		if err != nil {
			t.Errorf("%q: %v", source, err)
			continue
		}
		if got, err := program.Execute(nil); err != nil || got.Text != source {
			t.Errorf("%q: %q, %v", source, got.Text, err)
		}
	}
}

func TestWhatIsMissingIsToldOnceWithItsPlace(t *testing.T) {
	t.Parallel()
	source := "Hi {{name}},\n{{#if vip}}{{gift}}{{/if}}{{#each items}}{{price}}{{../total}}{{/each}}{{name}} {{null}} {{o.x}} {{fine|x}}{{#if maybe}}{{/if}}{{#each no}}{{/each}}"
	program, err := render.Parse(source, render.HTML)
	if err != nil {
		t.Fatal(err)
	}
	got, err := program.Execute(object{"vip": false, "items": list{object{}, object{}}, "null": nil, "o": object{}})
	if want := "[{name 1 4} {price 2 42} {../total 2 51} {null 2 81} {o.x 2 90}]"; err != nil || fmt.Sprint(got.Missing) != want {
		t.Errorf("%v, %v", got.Missing, err)
	}
	if line, column, ok := program.Find("o.x"); !ok || line != 2 || column != 90 {
		t.Errorf("o.x is at %d:%d", line, column)
	}
	if _, _, ok := program.Find("gone"); ok {
		t.Error("gone was found")
	}
}

func TestObjectsAreNotPrinted(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"a{{o}}b", "a{{{o}}}b", "a{{.}}b", "a{{mixed}}b", "a{{nested}}b", "a{{long}}b"} {
		program, err := render.Parse(source, render.Text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := program.Execute(object{"o": object{"a": 1.0}, "mixed": list{"a", object{}}, "nested": list{list{}}, "long": make(list, 10_001)})
		if err != nil || got.Text != "ab" || len(got.Removed) != 1 || got.Removed[0].Why != render.NotText {
			t.Errorf("%s: %+v, %v", source, got, err)
		}
	}
}
