package page_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"postrider/product/template/internal/page"
)

func TestAPreviewTextStandsHiddenAtTheBeginning(t *testing.T) {
	t.Parallel()
	for source, before := range map[string]string{
		"<p>a</p>": "",
		"<!doctype html><html><head><title>x</title></head><body class=b><p>a</p></body></html>": "<!doctype html><html><head><title>x</title></head><body class=b>",
		"<html><head><style>a{}</style></head><p>a</p></html>":                                   "<html><head><style>a{}</style></head>",
		"<!DOCTYPE html><p>a</p>": "<!DOCTYPE html>",
		"a":                       "",
		"<BODY\nx='>'>a":          "<BODY\nx='>'>",
	} {
		got := page.WithPreheader(source, `Soon & "now"`)
		if !strings.HasPrefix(got, before+`<div style="display:none;`) || !strings.Contains(got, ">Soon &amp; &#34;now&#34;&#847;") || !strings.HasSuffix(got, "</div>"+source[len(before):]) {
			t.Errorf("%s became %s", source, got)
		}
	}
	if got := page.WithPreheader("<p>", "") + page.WithPreheader("", "a"); got != "<p>" {
		t.Errorf("nothing became %q", got)
	}
	if got := page.WithPreheader("<p>", strings.Repeat("x", 200)); strings.Contains(got, "&zwnj;") {
		t.Error("a long preview text was filled up")
	}
}

func codes(warnings []page.Warning) string {
	var all []string
	for _, w := range warnings {
		all = append(all, w.Code)
	}
	return strings.Join(all, " ")
}

func TestWarningsNameWhatMailProgramsDoNotLike(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"<p>fine</p>":                              "",
		strings.Repeat("x", 102<<10):               "",
		strings.Repeat("x", 102<<10+1):             "html_too_large",
		"<img src=a><img src=b><img src=c alt=''>": "image_without_alt",
		"<script>a</script>":                       "unsupported_html",
		`<script type="application/ld+json">{"display":"flex"}</script>`: "",
		"<form><input></form>":                                                                    "unsupported_html unsupported_html",
		`<link rel="stylesheet" href=x><link rel=icon>`:                                           "unsupported_html",
		"<p style='display: flex'>a<p style='display:inline-flex'>":                               "unsupported_css",
		"<style>@import url(x); a{position:absolute;color:var(--x)}</style>":                      "unsupported_css unsupported_css unsupported_css",
		"<p style='background-position:left;text-transform:none'>":                                "",
		"<style>a{transform:none}</style><p>display:flex @import</p>":                             "unsupported_css",
		"<p style='" + strings.Repeat("display:grid;", 9) + "'>" + "<p style='display:grid'></p>": "unsupported_css",
	} {
		if got := codes(page.Check(page.Mail{HTML: source})); got != want {
			t.Errorf("%.60s: %s, want %s", source, got, want)
		}
	}
}

func TestBulkMailMustOfferAWayOut(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"<p>a</p>": "no_unsubscribe_link",
		`<a href="https://a.test/unsubscribe/x">b</a>`: "",
		"<p>Unsubscribe here</p>":                      "",
		`<p title="unsubscribe">a</p>`:                 "no_unsubscribe_link",
	} {
		if got := codes(page.Check(page.Mail{HTML: source, Bulk: true})); got != want {
			t.Errorf("%s: %s", source, got)
		}
	}
	if got := codes(page.Check(page.Mail{Text: "To unsubscribe, …", Bulk: true})); got != "" {
		t.Errorf("text: %s", got)
	}
}

func TestStylesAreCopiedToTheirElements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ css, body, want string }{
		{"p{color:red}", "<p>a</p><b>c</b>", `<p style="color:red">a</p><b>c</b>`},
		{"P , .a{color:red}", "<p>a</p><b class='x a'>c</b>", `<p style="color:red">a</p><b style="color:red" class='x a'>c</b>`},
		{"#i{color:red} .a{color:blue} p{color:green;margin:0}", "<p id=i class=a>", `<p style="margin:0;color:red" id=i class=a>`},
		{".a{color:red} div p{color:blue}", "<div><p class=a>", `<div><p style="color:red" class=a>`},
		{".a{color:blue} .a{color:red}", "<p class=a>", `<p style="color:red" class=a>`},
		{"p{color:red;margin:0}", `<p style="color:blue">`, `<p style="margin:0;color:blue">`},
		{"p{color:red !important}", `<p style="color:blue; padding:0">`, `<p style="padding:0;color:red !important">`},
		{"p{color:red !important}", `<p style="color:blue!important">`, `<p style="color:blue!important">`},
		{"p{color:red ! IMPORTANT}", `<p style="color:blue">`, `<p style="color:red ! IMPORTANT">`},
		{"p{font-family:unimportant}", `<p style="font-family:serif">`, `<p style="font-family:serif">`},
		{"td p{color:red}", "<td><div><p>a</p></div></td><p>b</p>", `<td><div><p style="color:red">a</p></div></td><p>b</p>`},
		{"td>p{color:red}", "<td><div><p>a</p></div><p>b</p></td>", `<td><div><p>a</p></div><p style="color:red">b</p></td>`},
		{".a .b{color:red}", "<i class=a><br><img src=x><i class=b>", `<i class=a><br><img src=x><i style="color:red" class=b>`},
		{"a:hover,a{color:red}", "<a>", `<a style="color:red">`},
		{"p+p,p~p,p[x],p::before,*|p{color:red}", "<p x>", `<p x>`},
		{"*{margin:0}", "<p/>", `<p style="margin:0"/>`},
		{"@media (max-width:9px){p{color:red}} @font-face{src:url(x)} @import url(y); p{margin:0}", "<p>", `<p style="margin:0">`},
		{"/* p{color:red} */p{/* x */margin:0}", "<p>", `<p style="margin:0">`},
		{`p{font-family:"Open Sans",sans-serif;background:url(a;b)}`, "<p>", `<p style="font-family:&quot;Open Sans&quot;,sans-serif;background:url(a;b)">`},
		{"p{color:{{colour}}}", "<p>{{x}}</p>", `<p style="color:{{colour}}">{{x}}</p>`},
		{"p{color:{{{colour|" + `"red"` + "}}}}", "<p>", `<p style="color:{{{colour|"red"}}}">`},
		{"{{#if a}}p{color:red}{{/if}}", "<p>", `<p>`},
		{"{{#if a}}i{margin:0}p{color:red}{{/if}}", "<p>", `<p>`},
		{"p{color:red}", "<p>\ue000 {{x}} \ue001</p>", "<p style=\"color:red\">\ue000 {{x}} \ue001</p>"},
		{"p{color:red}", `<p {{#if a}}class="x"{{/if}}>{{#each b}}<p>{{/each}}`, `<p style="color:red" {{#if a}}class="x"{{/if}}>{{#each b}}<p style="color:red">{{/each}}`},
		{"p{color:red}", `<p style="margin:{{m}}" title="{{"}}">`, `<p style="color:red;margin:{{m}}" title="{{"}}">`},
		{"p{color:red}", `<p style="{{#if a}}margin:0{{/if}}">`, `<p style="{{#if a}}margin:0{{/if}}">`},
		{"p{color:red}", `<p title=" style='x'" style=margin:0>`, `<p title=" style='x'" style=margin:0>`},
		{"p{color:red}", "<!--[if mso]><p><![endif]--><P\nid=x>", "<!--[if mso]><p><![endif]--><P style=\"color:red\"\nid=x>"},
		{"p{color:red", "<p>", "<p>"},
		{"}{;:,>", "<p>", "<p>"},
		{"html,head,title{color:red}", "<title>x</title>", "<title>x</title>"},
	} {
		sheet := "<style>" + c.css + "</style>"
		if got := page.InlineStyles(sheet + c.body); got != sheet+c.want {
			t.Errorf("%s on %s:\ngot  %s\nwant %s", c.css, c.body, strings.TrimPrefix(got, sheet), c.want)
		}
	}
	for _, untouched := range []string{"<p>a</p>", "<style media=print>p{color:red}</style><p>", "", "<style>"} {
		if got := page.InlineStyles(untouched); got != untouched {
			t.Errorf("%s became %s", untouched, got)
		}
	}
}

func TestHostilePagesAreInlinedInTime(t *testing.T) {
	t.Parallel()
	for title, source := range map[string]string{
		"many rules, many elements": "<style>" + strings.Repeat(".a{color:red}", 2000) + "</style>" + strings.Repeat("<p class=b>", 100_000),
		"deep and long selectors":   "<style>" + strings.Repeat("p ", 8) + "b{color:red}</style>" + strings.Repeat("<p>", 1000) + "<b>",
		"long styles":               "<style>p{" + strings.Repeat("color:red;", 1000) + strings.Repeat("x", 10_000) + ":y}</style>" + strings.Repeat("<p>", 10_000),
		"open braces":               "<style>" + strings.Repeat("@a{", 100_000) + "</style><p>",
		"open tags":                 "<style>p{color:red}</style>" + strings.Repeat("{{", 100_000) + "<p>",
		"open comments":             "<style>" + strings.Repeat("/*", 100_000) + "</style><p>",
	} {
		if got := page.InlineStyles(source); len(got) > len(source)+1<<20 {
			t.Errorf("%s: %d bytes became %d", title, len(source), len(got))
		}
	}
}

func TestInliningChangesOnlyStyles(t *testing.T) {
	t.Parallel()
	pieces := []string{"<p>", "</p>", "<b class=a>", `<i id="x" style="margin:0">`, "<br>", "text", "{{x}}", "{{#if a}}", "{{/if}}", "<style>", "</style>", "p{color:red}", ".a{margin:0}", "#x b{c:d}", "<!-- ", " -->",
		"<", ">", `"`, "'", "&amp;", "{", "}", "<p style='a:b'", " class=a>", "<script>", "</script>", "\ue000", "\n"}
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), "")
		if got, want := withoutStyles(page.InlineStyles(source)), withoutStyles(strings.ReplaceAll(source, "\ue000", "")); got != want && got != withoutStyles(source) {
			t.Fatalf("%q\nbecame %q\nfrom   %q", source, got, want)
		}
	})
}

func withoutStyles(source string) string {
	var b strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(source))
	for tokens.Next() != html.ErrorToken {
		token := tokens.Token()
		b.WriteString("[" + token.Type.String() + token.Data)
		for _, a := range token.Attr {
			if a.Key != "style" {
				b.WriteString(" " + a.Key + "=" + a.Val)
			}
		}
		b.WriteString("]")
	}
	return b.String()
}
