package authres

import "strings"

// Parse reads the value of a field, unfolded or not.
func Parse(text string) (Header, error) {
	if len(text) > maxBytes {
		return Header{}, ErrSyntax
	}
	sc := scanner{s: text}
	h := Header{Server: sc.word()}
	if h.Server == "" {
		return Header{}, ErrSyntax
	}
	if sc.skip(); sc.peek() != ';' && sc.peek() != 0 {
		sc.word() // the version of the format, of which there is one
	}
	for sc.take(';') {
		if sc.skip(); sc.peek() == 0 {
			break // a final semicolon
		}
		if len(h.Results) == maxResults {
			return Header{}, ErrSyntax
		}
		r, none, err := sc.result()
		if err != nil {
			return Header{}, err
		}
		if !none {
			h.Results = append(h.Results, r)
		}
	}
	if sc.skip(); sc.peek() != 0 {
		return Header{}, ErrSyntax
	}
	return h, nil
}

// scanner reads the field from left to right and never goes back.
type scanner struct {
	s string
	i int
}

// peek returns the next byte, or 0 at the end; a 0 in the text ends it too, and is found out by that.
func (sc *scanner) peek() byte {
	if sc.i < len(sc.s) {
		return sc.s[sc.i]
	}
	return 0
}

// result reads method=value and what follows up to the semicolon. The word none alone means that nothing was checked.
func (sc *scanner) result() (r Result, none bool, err error) {
	r.Method = strings.ToLower(sc.word())
	if sc.take('/') {
		sc.word() // the version of the method
	}
	if !sc.take('=') {
		return r, r.Method == "none", errUnless(r.Method == "none")
	}
	r.Value = strings.ToLower(sc.word())
	if r.Method == "" || r.Value == "" {
		return r, false, ErrSyntax
	}
	for {
		if sc.skip(); sc.peek() == ';' || sc.peek() == 0 {
			return r, false, nil
		}
		name := sc.word()
		if name == "" || !sc.take('=') || len(r.Properties) == maxProperties {
			return r, false, ErrSyntax
		}
		said := sc.address()
		if strings.EqualFold(name, "reason") {
			r.Reason = said
			continue
		}
		kind, property, found := strings.Cut(strings.ToLower(name), ".")
		if !found {
			kind, property = "", strings.ToLower(name) // some leave the type out, such as Microsoft in action=none
		}
		r.Properties = append(r.Properties, Property{Type: kind, Name: property, Value: said})
	}
}

func errUnless(ok bool) error {
	if ok {
		return nil
	}
	return ErrSyntax
}

// take reads one character, if it comes next.
func (sc *scanner) take(c byte) bool {
	if sc.skip(); sc.peek() != c {
		return false
	}
	sc.i++
	return true
}

// skip passes blanks and comments, which may be nested. A comment that never ends is the rest of the text.
func (sc *scanner) skip() {
	for depth := 0; sc.i < len(sc.s); sc.i++ {
		switch c := sc.s[sc.i]; {
		case depth > 0 && c == '\\':
			sc.i++
		case c == '(':
			depth++
		case depth > 0 && c == ')':
			depth--
		case depth > 0 || c == ' ' || c == '\t' || c == '\r' || c == '\n':
		default:
			return
		}
	}
	sc.i = min(sc.i, len(sc.s))
}

// word reads a token or a quoted string.
func (sc *scanner) word() string {
	if sc.skip(); sc.peek() == '"' {
		return sc.quoted()
	}
	start := sc.i
	for sc.i < len(sc.s) && isWord(sc.s[sc.i]) {
		sc.i++
	}
	return sc.s[start:sc.i]
}

// isWord tells whether a byte belongs to a token. It takes more than the grammar: names with colons and UTF-8 occur.
func isWord(c byte) bool { return c > ' ' && c != 0x7f && !strings.ContainsRune(`;=()"/@`, rune(c)) }

// address reads a value: a word, words joined by an @, or anything else up to a blank, as many servers write identities.
func (sc *scanner) address() string {
	text := sc.word()
	for sc.i < len(sc.s) && strings.IndexByte("@/=", sc.s[sc.i]) >= 0 {
		text += string(sc.s[sc.i])
		if sc.i++; sc.i < len(sc.s) && (isWord(sc.s[sc.i]) || sc.s[sc.i] == '"') {
			text += sc.word()
		}
	}
	return text
}

func (sc *scanner) quoted() string {
	var b strings.Builder
	for sc.i++; sc.i < len(sc.s); sc.i++ {
		switch c := sc.s[sc.i]; {
		case c == '\\' && sc.i+1 < len(sc.s):
			sc.i++
			b.WriteByte(sc.s[sc.i])
		case c == '"':
			sc.i++
			return b.String()
		case c != '\r' && c != '\n':
			b.WriteByte(c)
		}
	}
	return b.String()
}
