package render_test

import (
	"encoding/json"
	"testing"

	"postrider/product/template/internal/render"
)

type object = map[string]any

type list = []any

// people is the data most cases share.
var people = object{"people": list{object{"name": "Ann"}, object{"name": "Bo"}, object{"name": "Cy"}}, "team": "Blue"}

// handlebars are the cases of the public Handlebars specification (basic, blocks, builtins, whitespace control, data) that need
// no helpers, partials, decorators or functions, told in our own words.
var handlebars = []struct {
	title, source string
	values        object
	want          string
}{
	{"a name", "{{foo}}", object{"foo": "foo"}, "foo"},
	{"escaped braces", `\{{foo}}`, object{"foo": "food"}, "{{foo}}"},
	{"escaped braces between words", `a \{{foo}} b {{foo}}`, object{"foo": "food"}, "a {{foo}} b food"},
	{"escaped backslash", `\\{{foo}}`, object{"foo": "food"}, `\food`},
	{"backslashes away from braces", `\\ {{foo}}`, object{"foo": "food"}, `\\ food`},
	{"lines stay", "Bye\n{{a}}\n{{b}}!", object{"a": "cruel", "b": "world"}, "Bye\ncruel\nworld!"},
	{"comment", "{{! Bye}}Bye\n{{a}}", object{"a": "world"}, "Bye\nworld"},
	{"comment that strips left", "    {{~! Bye}}Bye", nil, "Bye"},
	{"comment that strips right", "Bye{{! x ~}}    you", nil, "Byeyou"},
	{"long comment with braces", "{{!-- }} {{a}} -- --}}Bye", nil, "Bye"},
	{"long comment that strips", "  {{~!-- x --~}}  Bye", nil, "Bye"},
	{"true section", "{{#bye}}BYE {{/bye}}{{world}}!", object{"bye": true, "world": "world"}, "BYE world!"},
	{"false section", "{{#bye}}BYE {{/bye}}{{world}}!", object{"bye": false, "world": "world"}, "world!"},
	{"zeros", "{{a}}, {{b}}", object{"a": 42.0, "b": 0.0}, "42, 0"},
	{"zero below", "{{a/b}}", object{"a": object{"b": 0.0}}, "0"},
	{"false is a word", "{{a}} {{b}}", object{"a": false, "b": true}, "false true"},
	{"line ends", "Ann's\rTest", nil, "Ann's\rTest"},
	{"quotes in text", ` " ' `, nil, ` " ' `},
	{"backslash in text", `Awesome\`, nil, `Awesome\`},
	{"three braces are raw", "{{{a}}}", object{"a": `&"\<>`}, `&"\<>`},
	{"ampersand is raw", "{{&a}}", object{"a": `&"\<>`}, `&"\<>`},
	{"two braces are escaped", "{{a}}", object{"a": "&\"'`\\<>"}, "&amp;&quot;&#x27;&#x60;\\&lt;&gt;"},
	{"entities are escaped again", "{{a}}", object{"a": "<b> is &lt;b&gt;"}, "&lt;b&gt; is &amp;lt;b&amp;gt;"},
	{"hyphens", "{{foo-bar}} {{a.foo-bar}} {{a/foo-bar}}", object{"foo-bar": "baz", "a": object{"foo-bar": "bat"}}, "baz bat bat"},
	{"nested path", "{{ann/mood}}", object{"ann": object{"mood": "beautiful"}}, "beautiful"},
	{"nested empty text", "a {{ann.mood}} b", object{"ann": object{"mood": ""}}, "a  b"},
	{"names in brackets", "{{[@ann]/mood}} {{[two words]}}", object{"@ann": object{"mood": "fine"}, "two words": "good"}, "fine good"},
	{"this", "{{#each words}}{{this}}{{.}}{{/each}}", object{"words": list{"a", "b"}}, "aabb"},
	{"this with a path", "{{#each people}}{{this/name}}{{this.name}}{{./name}}{{/each}}", people, "AnnAnnAnnBoBoBoCyCyCy"},
	{"list section", "{{#people}}{{name}}! {{/people}}{{team}}!", people, "Ann! Bo! Cy! Blue!"},
	{"empty list section", "{{#people}}{{name}}{{/people}}{{team}}", object{"people": list{}, "team": "Red"}, "Red"},
	{"index in a section", "{{#people}}{{@index}}. {{name}} {{/people}}", people, "0. Ann 1. Bo 2. Cy "},
	{"empty body", "{{#people}}{{/people}}{{team}}", people, "Blue"},
	{"parent", "{{#people}}{{name}} of {{../team}} {{/people}}", people, "Ann of Blue Bo of Blue Cy of Blue "},
	{"parent's parent", "{{#outer}}Bye {{#inner}}cruel {{../sibling}} {{../../omg}}{{/inner}}{{/outer}}",
		object{"omg": "OMG!", "outer": list{object{"sibling": "sad", "inner": list{object{"text": "x"}}}}}, "Bye cruel sad OMG!"},
	{"with inside each", "{{#each people}}{{#with .}}{{name}} {{/with}}{{/each}}", people, "Ann Bo Cy "},
	{"this is not deeper", "{{#with ann}}{{#with this}}{{name}} of {{../team}}{{/with}}{{/with}}", object{"ann": object{"name": "Ann"}, "team": "Blue"}, "Ann of Blue"},
	{"inverted, not set", "{{#x}}{{this}}{{/x}}{{^x}}Right{{/x}}", nil, "Right"},
	{"inverted, false", "{{#x}}{{this}}{{/x}}{{^x}}Right{{/x}}", object{"x": false}, "Right"},
	{"inverted, empty", "{{#x}}{{this}}{{/x}}{{^x}}Right{{/x}}", object{"x": list{}}, "Right"},
	{"inverted, set", "{{^x}}Wrong{{/x}}", object{"x": list{1.0}}, ""},
	{"else in a section", "{{#people}}{{name}}{{^}}{{none}}{{/people}}", object{"none": "Nobody"}, "Nobody"},
	{"chained else", "{{#people}}{{name}}{{else if none}}{{none}}{{/people}}", object{"none": "Nobody"}, "Nobody"},
	{"two chained elses", "{{#people}}{{name}}{{else if nothing}}wrong{{else unless nothing}}{{none}}{{/people}}", object{"none": "Nobody"}, "Nobody"},
	{"chain with an end", "{{#if a}}1{{else if b}}2{{else}}3{{/if}}", nil, "3"},
	{"lines of blocks vanish", "{{#people}}\n{{name}}\n{{^}}\n{{none}}\n{{/people}}\n", object{"none": "Nobody"}, "Nobody\n"},
	{"lines of a chain vanish", "{{#people}}\n{{name}}\n{{else if none}}\n{{none}}\n{{^}}\n{{/people}}\n", object{"none": "Nobody"}, "Nobody\n"},
	{"lines of nested blocks vanish", "{{#data}}\n{{#if true}}\n{{.}}\n{{/if}}\n{{/data}}\nOK.", object{"data": list{1.0, 3.0, 5.0}}, "1\n3\n5\nOK."},
	{"indented lines vanish", "a\n  {{#if x}}  \r\n  b\n\t{{/if}}\nc", object{"x": true}, "a\n  b\nc"},
	{"if true", "{{#if x}}BYE {{/if}}you", object{"x": true}, "BYE you"},
	{"if text", "{{#if x}}BYE {{/if}}you", object{"x": "dummy"}, "BYE you"},
	{"if false", "{{#if x}}BYE {{/if}}you", object{"x": false}, "you"},
	{"if not set", "{{#if x}}BYE {{/if}}you", nil, "you"},
	{"if list", "{{#if x}}BYE {{/if}}you", object{"x": list{"foo"}}, "BYE you"},
	{"if empty list", "{{#if x}}BYE {{/if}}you", object{"x": list{}}, "you"},
	{"if zero", "{{#if x}}BYE {{/if}}you", object{"x": 0.0}, "you"},
	{"if object", "{{#if x}}BYE {{/if}}you", object{"x": object{}}, "BYE you"},
	{"if keeps the context", "{{#with a}}{{#if b}}{{c}}{{../d}}{{/if}}{{/with}}", object{"a": object{"b": true, "c": "C"}, "d": "D"}, "CD"},
	{"inverted if", "{{^if x}}no{{else}}yes{{/if}}", object{"x": true}, "yes"},
	{"unless", "{{#unless x}}no{{else}}yes{{/unless}}", nil, "no"},
	{"with", "{{#with person}}{{first}} {{last}}{{/with}}", object{"person": object{"first": "Alan", "last": "J"}}, "Alan J"},
	{"with else", "{{#with person}}is{{else}}is not{{/with}}", nil, "is not"},
	{"with zero", "{{#with n}}{{this}}{{/with}}", object{"n": 0.0}, "0"},
	{"each", "{{#each people}}{{name}}! {{/each}}{{team}}", people, "Ann! Bo! Cy! Blue"},
	{"each of nothing", "{{#each people}}{{name}}{{else}}nobody{{/each}}", nil, "nobody"},
	{"each of an object", "{{#each o}}{{@key}}. {{text}}! {{/each}}", object{"o": object{"<b>": object{"text": "a"}, "c": object{"text": "d"}}}, "&lt;b&gt;. a! c. d! "},
	{"nested index", "{{#each people}}{{@index}}. {{name}}! {{#each ../people}}{{@index}} {{/each}}After {{@index}} {{/each}}", people,
		"0. Ann! 0 1 2 After 0 1. Bo! 0 1 2 After 1 2. Cy! 0 1 2 After 2 "},
	{"outer index", "{{#each people}}{{#each ../people}}{{@../index}}{{@index}} {{/each}}{{/each}}", people, "00 01 02 10 11 12 20 21 22 "},
	{"first", "{{#each people}}{{#if @first}}{{name}}! {{/if}}{{/each}}", people, "Ann! "},
	{"last", "{{#each people}}{{#if @last}}{{name}}! {{/if}}{{/each}}", people, "Cy! "},
	{"nested first", "{{#each people}}({{#if @first}}{{name}}! {{/if}}{{#each ../people}}{{#if @first}}{{name}}!{{/if}}{{/each}}{{#if @first}} {{name}}!{{/if}}) {{/each}}", people,
		"(Ann! Ann! Ann!) (Ann!) (Ann!) "},
	{"key of a list", "{{#each people}}{{@key}}{{/each}}", people, "012"},
	{"root", "{{#each people}}{{@root.team}}{{/each}}", people, "BlueBlueBlue"},
	{"place in a list", "{{people.1.name}} {{people.[2].name}} {{people.length}}", people, "Bo Cy 3"},
	{"list of words", "{{words}}", object{"words": list{"a", 1.0, true}}, "a,1,true"},
	{"strip around a name", " {{~foo~}} | {{~foo}} | {{foo~}} ", object{"foo": "bar<"}, "bar&lt;|bar&lt; | bar&lt;"},
	{"strip around raw names", " {{~&foo~}} | {{~{foo}~}} ", object{"foo": "bar<"}, "bar<|bar<"},
	{"strip around blocks", " {{~#if foo~}} bar {{~/if~}} ", object{"foo": "x"}, "bar"},
	{"strip inside blocks", " {{#if foo~}} bar {{/if~}} ", object{"foo": "x"}, " bar "},
	{"strip outside blocks", " {{~#if foo}} bar {{~/if}} ", object{"foo": "x"}, " bar "},
	{"strip nothing", " {{#if foo}} bar {{/if}} ", object{"foo": "x"}, "  bar  "},
	{"strip around inverted blocks", " {{~^if foo~}} bar {{~/if~}} ", nil, "bar"},
	{"strip around else", "{{#if foo~}} bar {{~^~}} baz {{~/if}}", object{"foo": "x"}, "bar"},
	{"strip around a word else", "{{#if foo~}} bar {{~else~}} baz {{~/if}}", nil, "baz"},
	{"strip after else", "{{#if foo}} bar {{~^~}} baz {{/if}}", nil, "baz "},
	{"strip before else", "{{#if foo~}} bar {{~^}} baz {{~/if}}", nil, " baz"},
	{"strip lines", "\n\n{{~foo~}}\n\n", object{"foo": "x"}, "x"},
	{"strip only once", " {{~foo~}} {{foo}} {{foo}} ", object{"foo": "bar"}, "barbar bar "},
}

func TestSharesTheBehaviourOfHandlebars(t *testing.T) {
	t.Parallel()
	for _, c := range handlebars {
		program, err := render.Parse(c.source, render.HTML)
		if err != nil {
			t.Errorf("%s: %v", c.title, err)
			continue
		}
		if got, err := program.Execute(c.values); err != nil || got.Text != c.want {
			t.Errorf("%s: %q, %v; want %q", c.title, got.Text, err, c.want)
		}
	}
}

// TestFallbacksStandIn covers what Handlebars does not have.
func TestFallbacksStandIn(t *testing.T) {
	t.Parallel()
	values := object{"name": "Ann", "none": "", "null": nil, "zero": 0.0, "markup": "<i>", "deep": object{"name": "Bo"}}
	for source, want := range map[string]string{
		"{{name|there}}":          "Ann",
		"{{gone|there}}":          "there",
		"{{{gone|there}}}":        "there",
		"{{ gone | there }}":      "there",
		"{{gone|my friend}}":      "my friend",
		`{{gone|"my friend "}}`:   "my friend ",
		"{{gone|'it is'}}":        "it is",
		"{{gone|}}":               "",
		"{{gone|a|b}}":            "a|b",
		"{{none|there}}":          "there",
		"{{null|there}}":          "there",
		"{{zero|there}}":          "0",
		"{{none}}":                "",
		"{{gone|<b>}}":            "&lt;b&gt;",
		"{{{gone|<b>}}}":          "<b>",
		"{{deep.name|x}}":         "Bo",
		"{{deep.gone.gone|x}}":    "x",
		"{{name.gone|x}}":         "x",
		"{{../name|x}}":           "x",
		"{{gone|{{name}}":         "{{name",
		"{{~gone|there~}} !":      "there!",
		"{{&gone|<b>}}":           "<b>",
		"{{@index|none}}":         "none",
		"{{this.name|x}} {{.|x}}": "Ann ",
	} {
		program, err := render.Parse(source, render.HTML)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := program.Execute(values); err != nil || got.Text != want {
			t.Errorf("%s: %q, %v; want %q", source, got.Text, err, want)
		}
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	program, err := render.Parse("{{a}} {{b}} {{c}} {{d}} {{e}} {{f}}{{#if f}}!{{/if}}{{#if g}}?{{/if}}", render.Text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := program.Execute(object{"a": json.Number("1234567890123456789"), "b": json.Number("19.90"), "c": 0.1, "d": 12345678.0, "e": int64(7),
		"f": json.Number("1e999"), "g": json.Number("-0.0")})
	if want := "1234567890123456789 19.90 0.1 12345678 7 1e999!"; err != nil || got.Text != want {
		t.Errorf("%q, %v", got.Text, err)
	}
}

func TestVariablesAreNamedOnceInTheirOrder(t *testing.T) {
	t.Parallel()
	program, err := render.Parse(`{{b}}{{#if a}}{{b.c}}{{/if}}{{#each items}}{{name}}{{../d}}{{#with x}}{{../../e}}{{../y}}{{/with}}{{else}}{{f}}{{/each}}{{@root.g}}
		{{#each h}}{{@index}}{{@root.i.j}}{{/each}}{{^k}}{{l}}{{/k}}{{! m }}`, render.Text)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(program.Names())
	if want := `["b","a","items","d","e","f","g","h","i","k","l"]`; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
