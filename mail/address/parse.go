package address

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxBytes bounds one address with its name; what is longer was not typed by a person.
	maxBytes = 1 << 10
	// maxListBytes bounds a list; fifty recipients with long names need a tenth of it.
	maxListBytes = 64 << 10
	// maxLocalBytes is the limit of RFC 5321 §4.5.3.1.1.
	maxLocalBytes = 64
	// maxAddrBytes is what fits into the 256 octets of a path with its angle brackets (RFC 5321 §4.5.3.1.3).
	maxAddrBytes = 254
)

// Parse reads exactly one address, a@b.c or Name <a@b.c>. Its error is an *InvalidError.
func Parse(s string) (Address, error) {
	if len(s) > maxBytes {
		return Address{}, invalid("the address is too long")
	}
	list, err := parseList(s)
	if err != nil {
		return Address{}, err
	}
	if len(list) != 1 {
		return Address{}, invalid("only one address is allowed")
	}
	return list[0], nil
}

// ParseList reads one or more addresses separated by commas. Its error is an *InvalidError.
func ParseList(s string) ([]Address, error) {
	if len(s) > maxListBytes {
		return nil, invalid("the list of addresses is too long")
	}
	return parseList(s)
}

func parseList(s string) ([]Address, error) {
	if !utf8.ValidString(s) {
		return nil, invalid("the address is not valid UTF-8")
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && isControl(r) }) {
		return nil, invalid("the address contains a control character")
	}
	sc := scanner{s: s}
	var list []Address
	for {
		a, err := sc.mailbox()
		if err != nil {
			return nil, err
		}
		list = append(list, a)
		sc.skipSpace()
		if sc.i == len(s) {
			return list, nil
		}
		if s[sc.i] != ',' {
			return nil, invalid("there is text after the address")
		}
		sc.i++
	}
}

// scanner reads a list from left to right and never goes back.
type scanner struct {
	s string
	i int
}

// peek returns the next byte, or 0 at the end; 0 itself was refused before.
func (sc *scanner) peek() byte {
	if sc.i < len(sc.s) {
		return sc.s[sc.i]
	}
	return 0
}

func (sc *scanner) skipSpace() {
	for sc.peek() == ' ' || sc.peek() == '\t' {
		sc.i++
	}
}

// mailbox reads one address in either form. The first word decides: directly before an "@" it is a local part, otherwise it
// begins a name.
func (sc *scanner) mailbox() (Address, error) {
	start := sc.i
	sc.skipSpace()
	if c := sc.peek(); c == 0 || c == ',' {
		return Address{}, invalid("the address is empty")
	}
	var name phrase
	for sc.peek() != '<' {
		w, err := sc.word()
		if err != nil {
			return Address{}, err
		}
		if sc.peek() == '@' {
			if name.words > 0 {
				return Address{}, invalid("an address after a name needs angle brackets")
			}
			return sc.domainOf(w, "")
		}
		if sc.i-start > maxBytes { // before the name is decoded: decoding is not worth its time on junk
			return Address{}, invalid("the address is too long")
		}
		name.add(w)
		sc.skipSpace()
		if c := sc.peek(); c == 0 || c == ',' {
			return Address{}, invalid("the address needs an @ sign")
		}
	}
	display, err := name.text()
	if err != nil {
		return Address{}, err
	}
	return sc.angle(display)
}

// angle reads <local@domain>.
func (sc *scanner) angle(name string) (Address, error) {
	sc.i++
	w, err := sc.word()
	if err != nil {
		return Address{}, err
	}
	if sc.peek() != '@' {
		return Address{}, invalid("the address needs an @ sign")
	}
	a, err := sc.domainOf(w, name)
	if err != nil {
		return Address{}, err
	}
	if sc.peek() != '>' {
		return Address{}, invalid("the address needs a closing angle bracket")
	}
	sc.i++
	if len(a.String()) > maxBytes { // which a name can become when it is decoded, or put in quotes
		return Address{}, invalid("the name is too long")
	}
	return a, nil
}

// domainOf reads what follows the local part. Everything up to a separator counts as domain, so that no odd character can hide
// a second one.
func (sc *scanner) domainOf(local word, name string) (Address, error) {
	sc.i++ // the "@"
	start := sc.i
	for sc.i < len(sc.s) && strings.IndexByte(" \t,<>", sc.s[sc.i]) < 0 {
		sc.i++
	}
	if sc.i-start > maxBytes {
		return Address{}, invalid("the domain is too long")
	}
	if err := checkLocal(local); err != nil {
		return Address{}, err
	}
	text := sc.s[start:sc.i]
	if strings.HasSuffix(text, ".") {
		return Address{}, invalid("the domain ends with a dot")
	}
	domain, err := ParseDomain(text)
	if err != nil {
		return Address{}, err
	}
	a := Address{Name: name, Local: local.text, Domain: domain}
	if len(a.Local)+1+len(a.Domain) > maxAddrBytes {
		return Address{}, invalid("the address is too long")
	}
	return a, nil
}

// word is an atom (dots and UTF-8 included) or the content of a quoted string.
type word struct {
	text    string
	quoted  bool
	escaped bool
}

func (sc *scanner) word() (word, error) {
	if sc.peek() == '"' {
		return sc.quotedString()
	}
	start := sc.i
	for sc.i < len(sc.s) && isPhraseByte(sc.s[sc.i]) {
		sc.i++
	}
	if sc.i > start {
		return word{text: sc.s[start:sc.i]}, nil
	}
	switch sc.peek() {
	case '(', ')':
		return word{}, invalid("comments are not allowed; put the name in quotes")
	case ':', ';':
		return word{}, invalid("address groups are not allowed; put the name in quotes")
	case '@':
		return word{}, invalid("the part before the @ sign is empty")
	case '[', ']', '\\', '>', '<', ' ', '\t', ',':
		return word{}, invalid("the address contains a misplaced character")
	}
	return word{}, invalid("the address is incomplete")
}

func (sc *scanner) quotedString() (word, error) {
	var b strings.Builder
	w := word{quoted: true}
	for sc.i++; sc.i < len(sc.s); sc.i++ {
		c := sc.s[sc.i]
		if c == '"' {
			sc.i++
			w.text = b.String()
			return w, nil
		}
		if c == '\\' && sc.i+1 < len(sc.s) {
			sc.i++
			w.escaped = true
			c = sc.s[sc.i]
		}
		b.WriteByte(c)
	}
	return word{}, invalid("a quotation mark is missing")
}

// checkLocal allows a dot-atom, also in needless quotes, with the letters of RFC 6532.
func checkLocal(w word) error {
	local := w.text
	switch {
	case local == "":
		return invalid("the part before the @ sign is empty")
	case len(local) > maxLocalBytes:
		return invalid("the part before the @ sign is longer than 64 bytes")
	case w.escaped || !isDotAtom(local):
		return invalid("the part before the @ sign contains a misplaced dot or character")
	}
	// Software that decodes such a local part finds another address in it.
	if _, rest, found := strings.Cut(local, "=?"); found && strings.Contains(rest, "?=") {
		return invalid("the part before the @ sign must not be an encoded word")
	}
	// Compatibility forms (a full-width "@", say) turn into syntax in software that normalises.
	if !isASCII(local) && !isDotAtom(norm.NFKC.String(local)) {
		return invalid("the part before the @ sign contains a misleading character")
	}
	return nil
}

func isDotAtom(s string) bool {
	previous := '.'
	for _, r := range s {
		switch {
		case r == '.' && previous == '.':
			return false
		case r < utf8.RuneSelf && r != '.' && !isAtext(byte(r)):
			return false
		case r >= utf8.RuneSelf && (!unicode.IsGraphic(r) || unicode.IsSpace(r)):
			return false
		}
		previous = r
	}
	return previous != '.'
}
