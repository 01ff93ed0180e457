package track

import "strings"

const blanks = " \t\n\f\r"

// findHref tells where the value of the first href stands in a start tag, without its quotes. It reads the tag as browsers do
// (WHATWG HTML §13.2.5.32 to 13.2.5.38).
func findHref(tag string) (start, end int, ok bool) {
	s := tagScanner{tag: tag, at: 1}
	s.skipUntil(blanks + "/>") // the name of the element
	for {
		s.skipWhile(blanks + "/")
		if s.ended() {
			return 0, 0, false
		}
		from := s.at
		s.at++ // even an equals sign begins a name
		s.skipUntil(blanks + "/>=")
		name := tag[from:s.at]
		start, end = s.value()
		if strings.EqualFold(name, "href") {
			return start, end, start < end
		}
	}
}

type tagScanner struct {
	tag string
	at  int
}

func (s *tagScanner) ended() bool { return s.at >= len(s.tag) || s.tag[s.at] == '>' }

func (s *tagScanner) skipWhile(set string) {
	for s.at < len(s.tag) && strings.IndexByte(set, s.tag[s.at]) >= 0 {
		s.at++
	}
}

func (s *tagScanner) skipUntil(set string) {
	for s.at < len(s.tag) && strings.IndexByte(set, s.tag[s.at]) < 0 {
		s.at++
	}
}

// value reads what follows the name of an attribute; without an equals sign that is nothing.
func (s *tagScanner) value() (start, end int) {
	s.skipWhile(blanks)
	if s.ended() || s.tag[s.at] != '=' {
		return s.at, s.at
	}
	s.at++
	s.skipWhile(blanks)
	if s.ended() {
		return s.at, s.at
	}
	if quote := s.tag[s.at]; quote == '"' || quote == '\'' {
		start = s.at + 1
		s.at = start
		s.skipUntil(string(quote))
		end = s.at
		s.at = min(s.at+1, len(s.tag))
		return start, end
	}
	start = s.at
	s.skipUntil(blanks + ">")
	return start, s.at
}
