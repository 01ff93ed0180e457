package page_test

import (
	"testing"
	"unicode/utf8"

	"postrider/product/template/internal/page"
)

// Whatever a page and its style sheets say, styles are put inline, and that is done only once.
func FuzzStylesArePutInline(f *testing.F) {
	for _, seed := range []string{
		`<style>p{color:red}</style><p>Hi</p>`, `<style>@media (max-width:1px){p{color:red}} a:hover,p.x>b{margin:0 !important}</style><p class="x"><b style="a:b">x</b>`,
		`<style>p{`, `<style>}{</style><p style='"'>`, `<p style="color:red;;:x">`, "", `<style>/* </style><p>`, `<style>*{a:url(";")}</style>`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if !utf8.ValidString(source) {
			return
		}
		inlined := page.InlineStyles(source)
		if !utf8.ValidString(inlined) {
			t.Fatalf("%q became %q", source, inlined)
		}
		page.Check(page.Mail{HTML: source, Text: source, Bulk: true})
		page.WithPreheader(source, "preview")
	})
}
