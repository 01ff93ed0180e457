package address

import (
	"mime"
	"strings"
	"unicode/utf8"
)

// phrase collects the words of a display name.
type phrase struct {
	words   int
	done    []string
	pending []string // unquoted words, still to be decoded together
}

func (p *phrase) add(w word) {
	p.words++
	if !w.quoted {
		p.pending = append(p.pending, w.text)
		return
	}
	p.flush()
	p.done = append(p.done, w.text)
}

// flush decodes a run of unquoted words at once, because the space between two encoded words does not count (RFC 2047 §6.2).
func (p *phrase) flush() {
	if len(p.pending) == 0 {
		return
	}
	run := strings.Join(p.pending, " ")
	p.pending = p.pending[:0]
	if decoded, err := new(mime.WordDecoder).DecodeHeader(run); err == nil {
		run = decoded
	}
	p.done = append(p.done, run)
}

func (p *phrase) text() (string, error) {
	p.flush()
	name := collapse(strings.Join(p.done, " "))
	if !utf8.ValidString(name) || strings.ContainsFunc(name, isControl) {
		return "", invalid("the name contains a control character")
	}
	return name, nil
}

// maxPlainWord keeps a name foldable: a longer word is sent as several encoded words, between which a line may break.
const maxPlainWord = 60

func longestWord(s string) int {
	longest, start := 0, 0
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == ' ' {
			longest = max(longest, i-start)
			start = i + 1
		}
	}
	return longest
}

// cleanName makes one line of a name that did not come from Parse.
func cleanName(name string) string {
	dirty := strings.ContainsFunc(name, isControl)
	if !dirty && !strings.Contains(name, "  ") && !strings.HasPrefix(name, " ") && !strings.HasSuffix(name, " ") {
		return name
	}
	return collapse(strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, name))
}

func collapse(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' }), " ")
}

func quote(name string) string {
	var b strings.Builder
	b.Grow(len(name) + 2)
	b.WriteByte('"')
	for i := range len(name) {
		if name[i] == '"' || name[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	b.WriteByte('"')
	return b.String()
}
