package spam

import (
	"regexp"
	"strings"

	tokens "golang.org/x/net/html"
)

// with returns the look of an element inside one that looks like l.
func (l look) with(token tokens.Token, sheet bool) look {
	for _, a := range token.Attr {
		switch a.Key {
		case "class", "id":
			if sheet {
				l.background, l.colour = colour{}, colour{}
			}
		case "hidden":
			l.gone = true
		}
	}
	if token.Data == "a" {
		l.colour = colour{} // mail programs have their own for links
	}
	if sheet && (token.Data == "body" || token.Data == "table" || token.Data == "td") {
		l.background = colour{}
	}
	for _, a := range token.Attr { // what the element says itself outweighs the style sheet
		switch a.Key {
		case "style":
			l = l.styled(a.Val)
		case "bgcolor":
			l.background = readColour(strings.ToLower(strings.TrimSpace(a.Val)))
		case "background":
			l.background = colour{}
		case "color":
			if token.Data == "font" {
				l.colour = readColour(strings.ToLower(strings.TrimSpace(a.Val)))
			}
		}
	}
	return l
}

// inspect counts what an element is and does, and returns how it looks.
func (w *walker) inspect(token tokens.Token) look {
	p := &w.page
	inner := w.look.with(token, w.sheet)
	if inner.gone && !w.look.gone && w.hasVariant(token) {
		inner.gone, inner.variant = false, true
	}
	for _, a := range token.Attr {
		if len(a.Key) > 4 && strings.HasPrefix(a.Key, "on") && a.Val != "" {
			p.handlers++
		}
	}
	switch token.Data {
	case "a", "area":
		w.anchor(token)
	case "img":
		w.image(token, inner)
	case "style", "link":
		w.sheet = true
	case "script":
		p.scripts++
	case "form":
		p.forms++
	case "input", "textarea", "select":
		if kind, _ := attribute(token, "type"); !strings.EqualFold(kind, "hidden") {
			p.forms++
		}
	case "iframe", "frame", "frameset":
		p.frames++
	case "object", "embed", "applet":
		p.objects++
	case "base":
		p.bases++
	case "meta":
		if kind, _ := attribute(token, "http-equiv"); strings.EqualFold(strings.TrimSpace(kind), "refresh") {
			p.refreshes++
		}
	}
	return inner
}

// maxVariants bounds how many classes of a page are remembered; honest pages have dozens.
const maxVariants = 1000

var className = regexp.MustCompile(`\.([A-Za-z_-][\w-]*)`)

// readSheet remembers the classes that depend on the screen, as those do that show a telephone what they hide from others.
func (w *walker) readSheet(sheet string) {
	_, byScreen, _ := strings.Cut(sheet, "@media")
	for _, name := range className.FindAllStringSubmatch(byScreen, maxVariants) {
		if len(w.variants) < maxVariants {
			w.variants[name[1]] = true
		}
	}
}

func (w *walker) hasVariant(token tokens.Token) bool {
	classes, _ := attribute(token, "class")
	for class := range strings.FieldsSeq(classes) {
		if w.variants[class] {
			return true
		}
	}
	return false
}

func (w *walker) anchor(token tokens.Token) {
	href, has := attribute(token, "href")
	if !has {
		return
	}
	w.page.anchorCount++
	w.inAnchor = false
	if len(w.page.anchors) < maxLinks {
		w.page.anchors = append(w.page.anchors, anchor{href: href})
		w.inAnchor = token.Data == "a"
	}
}

func (w *walker) image(token tokens.Token, l look) {
	if l.gone || l.variant || isPixel(token) {
		return
	}
	p := &w.page
	p.images++
	if !isSmall(token) {
		p.large++
	}
	if _, named := attribute(token, "alt"); !named {
		p.unnamed++
	}
	if source, _ := attribute(token, "src"); strings.HasPrefix(strings.ToLower(strings.TrimSpace(source)), "data:") {
		p.inlined++
	}
}

// isPixel tells whether a picture is there to be loaded, not to be seen.
func isPixel(token tokens.Token) bool {
	for _, side := range []string{"width", "height"} {
		value, has := attribute(token, side)
		if pixels, ok := number(strings.TrimSpace(value)); has && ok && pixels <= 2 {
			return true
		}
	}
	return false
}

const (
	// A picture that is no wider or no higher than these, in pixels, is a logo, not a page of text.
	logoWidth  = 200
	logoHeight = 100
)

// isSmall tells whether a picture says that it has no room for what a message has to say.
func isSmall(token tokens.Token) bool {
	for side, most := range map[string]float64{"width": logoWidth, "height": logoHeight} {
		value, _ := attribute(token, side)
		if size, ok := number(strings.TrimSpace(value)); ok && size <= most && !strings.Contains(value, "%") {
			return true
		}
	}
	return false
}

func attribute(token tokens.Token, name string) (string, bool) {
	for _, a := range token.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}
