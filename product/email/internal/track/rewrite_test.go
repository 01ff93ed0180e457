package track_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"postrider/product/email/internal/track"
)

const (
	ours  = "https://track.acme.test/v1/c/"
	pixel = "https://track.acme.test/v1/o/abc"
	image = `<img src="` + pixel + `" alt="" width="1" height="1" style="border:0;height:1px;width:1px">`
)

// plan replaces a target by its own text in letters that need no escape, so that a test can read it back.
var plan = track.Plan{
	Link:  func(target string) string { return ours + base64.RawURLEncoding.EncodeToString([]byte(target)) },
	Keep:  func(target string) bool { return strings.HasPrefix(target, ours) },
	Pixel: pixel,
}

var link = regexp.MustCompile(regexp.QuoteMeta(ours) + `([A-Za-z0-9_-]*)`)

// readable shows a rewritten page with targets in brackets in place of the links.
func readable(page string) string {
	return link.ReplaceAllStringFunc(page, func(found string) string {
		target, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(found, ours))
		if err != nil {
			return found
		}
		return "[" + string(target) + "]"
	})
}

func TestLinksAreReplacedAndNothingElse(t *testing.T) {
	t.Parallel()
	clicks := plan
	clicks.Pixel = ""
	for page, want := range map[string]string{
		`<a href="https://a.test/x">x</a>`:                              `<a href="[https://a.test/x]">x</a>`,
		`<A  class='b'	HREF = 'http://a.test' >x</A >`:                  `<A  class='b'	HREF = '[http://a.test]' >x</A >`,
		`<a href=https://a.test/?q=1>x</a>`:                             `<a href=[https://a.test/?q=1]>x</a>`,
		`<a href=https://a.test/x/>x</a>`:                               `<a href=[https://a.test/x/]>x</a>`,
		`<a/href="https://a.test"/>`:                                    `<a/href="[https://a.test]"/>`,
		`<area shape="rect" href="https://a.test">`:                     `<area shape="rect" href="[https://a.test]">`,
		`<a href="https://a.test/?a=1&amp;b=2">`:                        `<a href="[https://a.test/?a=1&b=2]">`,
		`<a href="https://a.test/?a=1&copy=2&amp">`:                     `<a href="[https://a.test/?a=1&copy=2&]">`,
		"<a href=\"\n https://a.test/\r\n long \">":                     "<a href=\"[https://a.test/%20long]\">",
		`<a href="https://bücher.test/ü?ü#ü">`:                          `<a href="[https://xn--bcher-kva.test/%C3%BC?%C3%BC#%C3%BC]">`,
		`<a href="https://a.test/%zz 100%">`:                            `<a href="[https://a.test/%zz%20100%]">`,
		`<a href="https://a.test/1" href="https://b.test/">`:            `<a href="[https://a.test/1]" href="https://b.test/">`,
		`<a title="a>b" href="https://a.test">`:                         `<a title="a>b" href="[https://a.test]">`,
		`<a title='href="https://x.test"' href="HTTPS://a.test:8443/">`: `<a title='href="https://x.test"' href="[HTTPS://a.test:8443/]">`,
		`<pre><a href="https://a.test">x</a></pre>`:                     `<pre><a href="[https://a.test]">x</a></pre>`,
		`<a href="https://[2001:db8::1]/x">`:                            `<a href="[https://[2001:db8::1]/x]">`,
	} {
		if got := readable(clicks.Rewrite(page)); got != want {
			t.Errorf("%s became\n%s, want\n%s", page, got, want)
		}
	}
}

func TestWhatIsNoLinkToFollowStaysAsItIs(t *testing.T) {
	t.Parallel()
	clicks := plan
	clicks.Pixel = ""
	for _, page := range []string{
		"", "plain text", `<a href="mailto:a@b.test">`, `<a href="tel:+491234">`, `<a href="#top">`, `<a href="">`, `<a href>`, `<a name="x">`,
		`<a href="/relative">`, `<a href="//host.test/x">`, `<a href="javascript:alert(1)">`, `<a href="data:text/html,x">`, `<a href="https:a.test">`,
		`<a href="https:///a.test">`, `<a href="https://">`, `<a href="https://a.test\@b.test/">`, `<a href="https://user:secret@a.test/">`,
		"<a href=\"https://a.test/\x00\">", "<a href=\"https://a.test/\x7f\">", "<a href=\"https://a.test/\xff\">", `<a href="https://a%2etest/">`,
		`<a href="{{url}}">`, `<a href="https://a.test/{{id}}">`, `<a href="*|UNSUB|*">`, `<a href="https://a.test/*|ID|*">`, `<a href="{% url %}">`,
		`<a href="` + ours + `abc">`, `<a href="https://a.test/` + strings.Repeat("x", track.MaxTarget) + `">`, `<a href="https://a.test:80a/">`,
		`<!-- <a href="https://a.test">x</a> -->`, `<!--[if mso]><v:roundrect href="https://a.test"><a href="https://a.test"><![endif]-->`,
		`<style>a[href="https://a.test"] { color: red }</style>`, `<script>"<a href='https://a.test'>"</script>`,
		`<textarea><a href="https://a.test"></textarea>`, `<title><a href="https://a.test"></title>`, `<base href="https://a.test/">`,
		`<link href="https://a.test/x.css">`, `<img src="https://a.test/x.png">`, `<abbr href="https://a.test">`, `<a href="https://a.test`,
		`<a data-href="https://a.test">`, `< a href="https://a.test">`, `&lt;a href="https://a.test"&gt;`, "<a href=\"https://a.test/\xc3\">",
	} {
		if got := clicks.Rewrite(page); got != page {
			t.Errorf("%s became\n%s", page, readable(got))
		}
	}
}

func TestThePixelStandsWhereTheBodyEnds(t *testing.T) {
	t.Parallel()
	opens := track.Plan{Pixel: pixel}
	for page, want := range map[string]string{
		`<html><body><a href="https://a.test">x</a></body></html>`: `<html><body><a href="https://a.test">x</a>` + image + `</body></html>`,
		`<p>x</p>`:                               `<p>x</p>` + image,
		`<p>x</p></HTML>`:                        `<p>x</p>` + image + `</HTML>`,
		`x<!-- </body> --></BODY ><p>footer</p>`: `x<!-- </body> -->` + image + `</BODY ><p>footer</p>`,
		`a</body>b</body>c`:                      `a</body>b` + image + `</body>c`,
		`x<!-- never closed`:                     `x` + image + `<!-- never closed`,
		`x<p class="never closed`:                `x` + image + `<p class="never closed`,
	} {
		if got := opens.Rewrite(page); got != want {
			t.Errorf("%s became\n%s", page, got)
		}
	}
	both := plan.Rewrite(`<body><a href="https://a.test">x</a></body><a href="https://b.test">y</a>`)
	if want := `<body><a href="[https://a.test]">x</a>` + image + `</body><a href="[https://b.test]">y</a>`; readable(both) != want {
		t.Errorf("%s", readable(both))
	}
}

func TestOnlySoManyLinksAreReplaced(t *testing.T) {
	t.Parallel()
	page := strings.Repeat(`<a href="https://a.test/x">x</a>`, 10_100)
	if got := strings.Count(plan.Rewrite(page), ours); got != 10_000 {
		t.Errorf("%d links replaced", got)
	}
}

// pages draws pages out of pieces that are hard to read.
func pages() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		pieces := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"<a", " href", "=", `"`, `'`, "https://a.test/", "http://b.test?x=1&amp;y=2", ">", "</a>", "<!--", "-->", "<![if !mso]>", "<![endif]>", "<script>",
			"</script>", "<style>", "</style>", "</body>", "</html>", "<body>", " ", "\n", "\r", "/", "<area href=https://c.test>", `<a href="https://d.test/é">`,
			"\x00", "\xff", "<a href='mailto:x@y.test'>", "<plaintext>", "<svg>", "<![CDATA[", "]]>", "&#x68;", "HREF", `<a href="&#104;ttps://e.test">`,
		})), 0, 40).Draw(t, "pieces")
		return strings.Join(pieces, "")
	})
}

func TestARewrittenPageIsTheSamePage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkRewrite(t, pages().Draw(t, "page")) })
}

func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		`<a href="https://a.test/x">x</a>`, `<a href=https://a.test/ href=b>`, `<!--[if mso]><a href="https://a.test"><![endif]--></body>`,
		`<a =href="https://a.test"/href='https://b.test'>`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) { checkRewrite(t, page) })
}

type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkRewrite holds a rewritten page against what was promised of it.
func checkRewrite(t failing, page string) {
	t.Helper()
	if strings.Contains(page, "track.acme.test") {
		return // the marks by which the test reads the page back
	}
	got := plan.Rewrite(page)
	if again := plan.Rewrite(got); again != got {
		t.Fatalf("not the same when done twice:\n%q\n%q", got, again)
	}
	if strings.Count(got, image) != 1 || len(got) > 3*len(page)+len(image)+strings.Count(got, ours)*len(ours) {
		t.Fatalf("%d pixels, %d bytes of %d", strings.Count(got, image), len(got), len(page))
	}
	before, after := tokens(page), tokens(strings.Replace(got, image, "", 1))
	if len(before) != len(after) {
		t.Fatalf("read otherwise:\n%q\n%q", page, got)
	}
	for i, tag := range after {
		at := strings.Index(tag, ours)
		if at < 0 {
			if tag != before[i] {
				t.Fatalf("changed beside links: %q became %q", before[i], tag)
			}
			continue
		}
		found := link.FindString(tag[at:])
		source, ok := strings.CutPrefix(before[i], tag[:at])
		source, ended := strings.CutSuffix(source, tag[at+len(found):])
		if !ok || !ended || !sameTarget(source, found) {
			t.Fatalf("%q became %q", before[i], tag)
		}
	}
}

// tokens cuts a page into pieces of source, the last of which may be a tag that never ends.
func tokens(page string) (pieces []string) {
	read := html.NewTokenizer(strings.NewReader(page))
	for rest := page; ; {
		if read.Next() == html.ErrorToken {
			return append(pieces, rest)
		}
		length := len(read.Raw())
		pieces, rest = append(pieces, rest[:length]), rest[length:]
	}
}

// sameTarget tells whether a piece of source is what a link stands for.
func sameTarget(source, found string) bool {
	tokens := html.NewTokenizer(strings.NewReader(`<a href="` + strings.NewReplacer(`"`, "&quot;").Replace(source) + `">`))
	tokens.Next()
	_, value, _ := tokens.TagAttr()
	target, ok := track.Target(string(value))
	return ok && plan.Link(target) == found
}

// newsletter is a page of 10 KB with as many links as such pages have.
func newsletter() string {
	var page strings.Builder
	page.WriteString(`<!doctype html><html><head><style>p { margin: 0 }</style></head><body>`)
	for i := 0; page.Len() < 10_000; i++ {
		fmt.Fprintf(&page, `<table role="presentation" width="100%%"><tr><td style="padding:12px 0;font-family:sans-serif;color:#333">
			<p>Story %d: what happened since the last letter, in two lines of text or so.</p>
			<a href="https://www.acme.test/stories/%d?utm_source=letter&amp;utm_medium=email" style="color:#06c">Read on</a></td></tr></table>`, i, i)
	}
	page.WriteString(`</body></html>`)
	return page.String()
}

func BenchmarkRewriteTenKilobytes(b *testing.B) {
	page := newsletter()
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		plan.Rewrite(page)
	}
}
