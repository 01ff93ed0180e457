package spam

import (
	"html"
	"strings"
	"unicode/utf8"

	tokens "golang.org/x/net/html"
)

// readPage reads HTML. It goes from tag to tag instead of building a tree, so that it takes time in proportion to the length
// and no page is too deep for it.
func readPage(source string) page {
	w := walker{look: usual, variants: map[string]bool{}}
	w.page.bytes = len(source)
	source = cut(source, maxPage)
	z := tokens.NewTokenizer(strings.NewReader(source))
	for {
		kind := z.Next()
		if kind == tokens.ErrorToken {
			break
		}
		w.step(kind, z)
	}
	return w.finish()
}

type walker struct {
	page    page
	visible strings.Builder
	// stack has the open elements with their looks; over counts those beyond maxDepth.
	stack []element
	over  int
	// look is that of the innermost element.
	look look
	// sheet means the page has a style sheet, so that an element with a class may be of any colour.
	sheet bool
	// variants are the classes that a style sheet shows in another way on some screens.
	variants map[string]bool
	// unshown is the element whose content, the next text, is not for readers.
	unshown string
	// opened is the element whose start tag was the token before.
	opened string
	// seam means that something without content came since the last text.
	seam bool
	// endsInLetter tells whether the visible text so far does.
	endsInLetter bool
	// preheader counts hidden letters before the first visible one.
	preheader int
	// inAnchor means the last of page.anchors is open.
	inAnchor bool
}

type element struct {
	name string
	look look // of the elements around it
}

func (w *walker) step(kind tokens.TokenType, z *tokens.Tokenizer) {
	switch kind {
	case tokens.TextToken:
		switch w.unshown {
		case "":
			w.text(string(z.Raw()))
		case "style":
			w.readSheet(string(z.Raw()))
		}
		w.unshown, w.opened = "", ""
	case tokens.CommentToken:
		raw := z.Raw()
		if !strings.HasPrefix(string(raw[:min(len(raw), 5)]), "<!--[") { // conditional comments are for Outlook
			w.page.commentBytes += len(raw)
		}
		w.seam = true
	case tokens.StartTagToken, tokens.SelfClosingTagToken:
		token := z.Token()
		w.start(token, kind == tokens.SelfClosingTagToken)
	case tokens.EndTagToken:
		name, _ := z.TagName()
		w.end(string(name))
	}
}

// text takes a text as it stands in the page.
func (w *walker) text(raw string) {
	text := html.UnescapeString(raw)
	letters := countLetters(text)
	if letters > 0 {
		w.page.references += letterReferences(raw)
	}
	if w.look.variant {
		return
	}
	if w.look.hides() {
		if w.page.letters == 0 {
			w.preheader += letters
		} else {
			w.page.hidden += letters
		}
		return
	}
	if text == "" {
		return
	}
	first, _ := utf8.DecodeRuneInString(text)
	if w.seam && w.endsInLetter && isLetter(first) {
		w.page.splits++
	}
	w.seam = false
	last, _ := utf8.DecodeLastRuneInString(text)
	w.endsInLetter = isLetter(last)
	w.page.letters += letters
	if w.look.tiny() {
		w.page.tiny += letters
	}
	w.visible.WriteString(text)
	if w.inAnchor {
		a := &w.page.anchors[len(w.page.anchors)-1]
		a.shown += text[:min(len(text), max(maxShown-len(a.shown), 0))]
	}
}

// letterReferences counts the ASCII letters that are written as &#118; or &#x76;, which no editor does.
func letterReferences(raw string) int {
	n := 0
	for {
		at := strings.Index(raw, "&#")
		if at < 0 {
			return n
		}
		raw = raw[at:]
		end := strings.IndexByte(raw[:min(len(raw), 12)], ';')
		if end < 0 {
			raw = raw[2:]
			continue
		}
		if c := html.UnescapeString(raw[:end+1]); len(c) == 1 && isLatin(rune(c[0])) {
			n++
		}
		raw = raw[end+1:]
	}
}

func (w *walker) start(token tokens.Token, selfClosing bool) {
	name := token.Data
	w.breakWord(name)
	w.closeImplied(name)
	inner := w.inspect(token)
	w.unshown = ""
	if voidElements[name] || selfClosing {
		w.opened = ""
		return
	}
	if unshownElements[name] {
		w.unshown = name
	}
	w.opened = name
	if len(w.stack) == maxDepth {
		w.over++
	} else {
		w.stack = append(w.stack, element{name: name, look: w.look})
		w.look = inner
	}
	w.page.depth = max(w.page.depth, len(w.stack)+w.over)
}

// closeImplied ends what the start of an element ends without saying so.
func (w *walker) closeImplied(name string) {
	ends := impliedEnds[name]
	for w.over == 0 && len(w.stack) > 0 && ends[w.stack[len(w.stack)-1].name] {
		w.pop()
	}
}

// breakWord puts a space between the texts on both sides of an element that is not in the line.
func (w *walker) breakWord(name string) {
	if inlineElements[name] {
		return
	}
	w.visible.WriteByte('\n')
	w.endsInLetter = false
	if !w.inAnchor {
		return
	}
	if a := &w.page.anchors[len(w.page.anchors)-1]; a.shown != "" && len(a.shown) < maxShown && !strings.HasSuffix(a.shown, "\n") {
		a.shown += "\n"
	}
}

func (w *walker) end(name string) {
	w.breakWord(name)
	w.seam = w.seam || w.opened == name
	w.opened, w.unshown = "", ""
	if name == "a" {
		w.inAnchor = false
	}
	if w.over > 0 {
		w.over--
		return
	}
	// Honest mistakes are close by; looking further would make a page of stray end tags take time without bound.
	const nearby = 32
	for i := len(w.stack) - 1; i >= max(0, len(w.stack)-nearby); i-- {
		if w.stack[i].name != name {
			continue
		}
		for len(w.stack) > i+1 {
			w.countBroken(w.stack[len(w.stack)-1].name)
			w.pop()
		}
		w.pop()
		return
	}
	w.countBroken(name)
}

func (w *walker) pop() {
	last := len(w.stack) - 1
	w.look = w.stack[last].look
	w.stack = w.stack[:last]
}

func (w *walker) countBroken(name string) {
	if !optionalEnds[name] && !voidElements[name] {
		w.page.broken++
	}
}

func (w *walker) finish() page {
	for _, open := range w.stack {
		w.countBroken(open.name)
	}
	if w.preheader > maxPreheader {
		w.page.hidden += w.preheader
	}
	w.page.visible = w.visible.String()
	return w.page
}
