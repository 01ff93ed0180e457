package spam

const (
	// maxPage is how much of a page or a text is looked at. Mail programs show a twentieth of it.
	maxPage = 2 << 20
	// maxLinks is how many links are looked at one by one; all are counted.
	maxLinks = 1000
	// maxDepth is how many elements inside each other are told apart; all are counted.
	maxDepth = 256
	// maxShown bounds the text of a link that is kept.
	maxShown = 256
	// maxPreheader is the length in letters of a hidden text that is the summary mail programs show next to the subject.
	maxPreheader = 300
)

// page is what one pass over the HTML of a message finds out.
type page struct {
	// bytes is the size of the whole page, looked at or not.
	bytes int
	// visible is the text that a reader sees.
	visible string
	// letters counts the letters of visible; hidden and tiny those that cannot be seen or read. A preheader is not hidden.
	letters, hidden, tiny int
	// images counts pictures without tracking pixels, large those that do not say that they are small, unnamed those without an
	// alternative text, inlined those inside the page.
	images, large, unnamed, inlined int
	anchors                         []anchor
	// anchorCount counts all links, kept in anchors or not.
	anchorCount                                          int
	scripts, forms, frames, objects, handlers, refreshes int
	bases                                                int
	// broken counts end tags that are missing or have no start.
	broken int
	depth  int
	// commentBytes are those that no mail program shows.
	commentBytes int
	// splits are words that are cut by tags or comments that show nothing.
	splits int
	// references are plain letters that are written as character references.
	references int
}

// maxLogos is how many small pictures honest mail has around a few words; a poster that is cut into pieces has more.
const maxLogos = 3

// pictured tells whether the pictures of the page may be what it says.
func (p page) pictured() bool { return p.large > 0 || p.images > maxLogos }

// anchor is a link and the words it hides behind.
type anchor struct {
	href, shown string
}

// voidElements have no end tag.
var voidElements = set("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")

// optionalEnds are elements whose end tag may be left out (HTML standard, §13.1.2.4) or is by custom.
var optionalEnds = set("html", "head", "body", "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option",
	"optgroup", "colgroup", "center", "font", "br")

// inlineElements do not end a word.
var inlineElements = set("a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "ins", "kbd", "label", "mark", "q",
	"s", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr", "o:p")

// unshownElements have a content that is not text for readers.
var unshownElements = set("script", "style", "title", "iframe", "noembed", "noframes", "noscript")

func set(names ...string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}

// impliedEnds lists what the start of an element ends if it is innermost.
var impliedEnds = map[string]map[string]bool{
	"p": set("p"), "div": set("p"), "table": set("p"), "ul": set("p"), "ol": set("p"), "h1": set("p"), "h2": set("p"), "h3": set("p"),
	"blockquote": set("p"), "hr": set("p"), "li": set("p", "li"), "dt": set("p", "dt", "dd"), "dd": set("p", "dt", "dd"),
	"tr": set("p", "td", "th", "tr"), "td": set("p", "td", "th"), "th": set("p", "td", "th"),
	"tbody": set("p", "td", "th", "tr", "thead", "tbody"), "option": set("option"),
}
