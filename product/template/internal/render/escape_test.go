package render_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"postrider/product/template/internal/render"
)

func execute(t testing.TB, source string, values object) render.Result {
	t.Helper()
	program, err := render.Parse(source, render.HTML)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	result, err := program.Execute(values)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return result
}

func TestValuesAreEscapedForTheirPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, value, want string }{
		{"<p>{{x}}</p>", "<img src=x onerror=1>", "<p>&lt;img src=x onerror=1&gt;</p>"},
		{`<p title="{{x}}">`, `" onclick="a`, `<p title="&quot; onclick=&quot;a">`},
		{"<p title='{{x}}'>", "' onclick='a", "<p title='&#x27; onclick=&#x27;a'>"},
		{"<p title={{x}}>", "a onclick=b", "<p title=a&#32;onclick&#x3D;b>"},
		{"<p title={{x}} b>", "", `<p title="" b>`},
		{"<p title=a{{x}}>", "b c", "<p title=ab&#32;c>"},
		{"<a href=https://a.test/?q={{x}}>", "", "<a href=https://a.test/?q=>"},
		{`<a href="{{x}}">`, "https://a.test/?a=1&b=2", `<a href="https://a.test/?a=1&amp;b=2">`},
		{`<a href="{{x}}">`, "javascript:alert(1)", `<a href="#">`},
		{`<a href="{{x}}">`, " JaVa\tScRiPt\n:alert(1)", `<a href="#">`},
		{`<a href="{{x}}">`, "\u200bjavascript:alert(1)", `<a href="#">`},
		{`<a href='{{x}}'>`, "vbscript:x", `<a href='#'>`},
		{`<a href={{x}}>`, "javascript:x", `<a href=#>`},
		{`<a HREF = "{{x}}">`, "javascript:x", `<a HREF = "#">`},
		{`<a href="java{{x}}">`, "script:alert(1)", `<a href="java#">`},
		{`<a href="{{x}}{{y|:alert(1)}}">`, "javascript", `<a href="javascript#">`},
		{"<a href={{x}}{{y|script:alert(1)}}>", "java\n", "<a href=java&#10;#>"},
		{`<a href="https://a.test/{{x}}">`, "javascript:b", `<a href="https://a.test/javascript:b">`},
		{`<a href="{{x}}">`, "myapp://open?x=1", `<a href="myapp://open?x=1">`},
		{`<a href="{{x}}">`, "mailto:a@b.test", `<a href="mailto:a@b.test">`},
		{`<a href="{{x}}">`, "/a:b", `<a href="/a:b">`},
		{`<img src="{{x}}">`, "data:text/html,<script>", `<img src="#">`},
		{`<img src="{{x}}">`, "data:image/png;base64,AAAA", `<img src="data:image/png;base64,AAAA">`},
		{`<img src="{{x}}">`, "data:image/svg+xml,<svg onload=1>", `<img src="#">`},
		{`<a href="{{{x}}}">`, "javascript:alert(1)", `<a href="#">`},
		{`<a href="{{{x}}}">`, "java&#115;cript&colon;alert(1)", `<a href="#">`},
		{`<a href={{{x}}}>`, `"javascript:alert(1)"`, `<a href=#>`},
		{`<a href="{{{x}}}">`, "https://a.test/?a=1&b=2", `<a href="https://a.test/?a=1&b=2">`},
		{`<a href="{{x|javascript:a}}">`, "", `<a href="#">`},
		{`<p style="color:{{x}}">`, "#ff0000", `<p style="color:#ff0000">`},
		{`<p style="color:{{x}}">`, "rgb(1, 2, 3) !important", `<p style="color:rgb(1, 2, 3) !important">`},
		{`<p style="color:{{x}}">`, "red;background:url(x)", `<p style="color:">`},
		{`<p style="width:{{x}}">`, "expression(alert(1))", `<p style="width:">`},
		{`<td style="background:url('{{x}}')">`, "https://a.test/a.png?b=1", `<td style="background:url('https://a.test/a.png?b=1')">`},
		{`<td style="background:url({{x}})">`, "https://a.test/) ;x:y", `<td style="background:url()">`},
		{"<style>a{color:{{x}}}</style>{{y|<}}", "red", "<style>a{color:red}</style>&lt;"},
		{"<style>a{color:{{x}} }</style>", "</style><script>", "<style>a{color: }</style>"},
		{`<script>{"a":"{{x}}"}</script>`, `"</script>` + "\n", `<script>{"a":"\"\u003c/script\u003e\n"}</script>`},
		{`<p onclick="a('{{x}}')">`, "');b('", `<p onclick="a('\u0027);b(\u0027')">`},
		{`<iframe srcdoc="<p>{{x}}">`, "<script>a</script>", `<iframe srcdoc="<p>&amp;lt;script&amp;gt;a&amp;lt;/script&amp;gt;">`},
		{`<iframe SrcDoc={{x}}>`, "<b>", `<iframe SrcDoc=&amp;lt;b&amp;gt;>`},
		{"<iframe {{x}}='{{y|<b>}}'>", "srcdoc", "<iframe =''>"},
		{"<title>{{x}}</title>", "</title><b>", "<title>&lt;/title&gt;&lt;b&gt;</title>"},
		{"<!-- {{x}} -->{{y|<}}", "--><b>", "<!-- --&gt;&lt;b&gt; -->&lt;"},
		{`<!--[if mso]><v:rect href="{{x}}"><![endif]-->`, "javascript:a", `<!--[if mso]><v:rect href="#"><![endif]-->`},
		{`<!--[if !mso]><!--><a href="{{x}}"><!--<![endif]-->{{y|<}}`, "javascript:a", `<!--[if !mso]><!--><a href="#"><!--<![endif]-->&lt;`},
		{"<td {{x}}>", "nowrap", "<td nowrap>"},
		{"<td {{x}}>", "onclick", "<td >"},
		{"<td {{x}}='color:red'>", "style", "<td ='color:red'>"},
		{"<td on{{x}}=1>", "click", "<td on=1>"},
		{"<td {{x}}ef='{{y|javascript:1}}'>", "hr", "<td href='#'>"},
		{"<td {{x}}>", "a=b", "<td >"},
		{"<{{x}}>", "script", "<>"},
		{"<h{{x}}>", "2", "<h2>"},
		{"1 <{{x}}", "2", "1 <2"},
		{"<br/>{{x}}", "<", "<br/>&lt;"},
		{"</p >{{x}}", "<", "</p >&lt;"},
		{"</style>{{x}}", "a;b", "</style>a;b"},
		{"<?xml?>{{x}}", "<", "<?xml?>&lt;"},
		{"<!doctype html>{{x}}", "<", "<!doctype html>&lt;"},
		{"<p a=b/c>{{x}}", "<", "<p a=b/c>&lt;"},
		{"<script>a</scripty></script>{{x}}", "<", "<script>a</scripty></script>&lt;"},
		{"{{x}}", "\x00a\x00b", "\ufffda\ufffdb"},
		{"{{x}}", "{{y}} {{{y}}} {{#if y}}", "{{y}} {{{y}}} {{#if y}}"},
		{`{{#if x}}<a href="{{else}}<p title="{{/if}}{{x}}">`, "javascript:a", `<a href="#">`},
		{`{{#unless x}}<a href="{{else}}<p title="{{/unless}}{{x}}">`, "javascript:a", `<p title="javascript:a">`},
	} {
		if got := execute(t, c.source, object{"x": c.value}).Text; got != c.want {
			t.Errorf("%s with %q:\ngot  %s\nwant %s", c.source, c.value, got, c.want)
		}
	}
}

func TestValuesThatWereLeftOutAreTold(t *testing.T) {
	t.Parallel()
	got := execute(t, `<a href="{{x}}"><a href="{{x}}"><p style="color:{{y}}"><p {{y}}>`, object{"x": "javascript:a", "y": "a;b"})
	if want := "[{x unsafe_url} {y unsafe_style} {y unsafe_name}]"; fmt.Sprint(got.Removed) != want {
		t.Errorf("%v", got.Removed)
	}
}

// shapes are pages with a value in every kind of place.
var shapes = []string{
	"<p>{{x}}</p>", `<p title="{{x}}">a</p>`, "<p title='{{x}}'>a</p>", "<p title={{x}}>a</p>", "<p title={{x}} class=b>a</p>", `<a href="{{x}}">a</a>`,
	"<a href={{x}}>a</a>", `<a href="https://a.test/{{x}}">a</a>`, `<p style="color:{{x}}">a</p>`, "<style>a{b:{{x}}}</style>",
	`<script>a("{{x}}")</script>`, "<title>{{x}}</title>", "<textarea>{{x}}</textarea>", "<!-- {{x}} --><b>a</b>",
	`<a href="{{x}}{{y}}">a</a>`, "{{#each list}}<p title='{{this}}'>{{this}}</p>{{/each}}", "<!--[if mso]><b title='{{x}}'><![endif]-->a", `<img src='{{x}}' alt={{y}}>`,
}

var pieces = []string{"<", ">", `"`, "'", "`", "=", " ", "\n", "/", "&", ";", "#", "--", "-->", "<!--", "</script>", "</style>", "</title>", "</textarea>", "<script>",
	"javascript", ":", "alert(1)", "on", "click", "onload=x", "style", "expression(", "url(", "{{y}}", "}}", "{{{", "\\", "\x00", "&#58;", "&colon;", "java\tscript:", "x", "é",
	"\u2028", "data:", "text/html,", "//", "?", "src", "href", "]]>", "<![endif]"}

func hostile() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8), func(list []string) string { return strings.Join(list, "") })
}

func TestNoValueChangesTheStructureOfAPage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom(shapes).Draw(t, "shape")
		x, y := hostile().Draw(t, "x"), hostile().Draw(t, "y")
		program, err := render.Parse(shape, render.HTML)
		if err != nil {
			t.Fatal(err)
		}
		tame, err := program.Execute(object{"x": "x", "y": "y", "list": list{"x", "y"}})
		if err != nil {
			t.Fatal(err)
		}
		wild, err := program.Execute(object{"x": x, "y": y, "list": list{x, y}})
		if err != nil {
			t.Fatal(err)
		}
		want, got := skeleton(tame.Text), skeleton(wild.Text)
		if want != got {
			t.Fatalf("%q, %q in %s became %s:\n%s\n%s", x, y, shape, wild.Text, got, want)
		}
	})
}

// skeleton is the structure of a page: its tags and the names of their attributes. It fails links that run something.
func skeleton(page string) string {
	var b strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(page))
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
		case html.CommentToken:
			b.WriteString("<!>")
		default:
			token := tokens.Token()
			b.WriteString("<" + kind.String() + token.Data)
			for _, a := range token.Attr {
				b.WriteString(" " + a.Key)
				link := strings.ToLower(strings.Map(func(c rune) rune {
					if c <= ' ' {
						return -1
					}
					return c
				}, a.Val))
				if (a.Key == "href" || a.Key == "src") && (strings.HasPrefix(link, "javascript:") || strings.HasPrefix(link, "data:")) {
					b.WriteString("!" + link)
				}
			}
			b.WriteString(">")
		}
	}
}
