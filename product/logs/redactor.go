package logs

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// redactor copies JSON that is known to be valid, without spaces and without what may not be kept. It looks at every byte once and
// makes no values of them: every request comes by here.
type redactor struct {
	in  []byte
	at  int
	out []byte

	names []string
	id    string
}

// next skips white space and returns what follows.
func (r *redactor) next() byte {
	for r.in[r.at] == ' ' || r.in[r.at] == '\n' || r.in[r.at] == '\t' || r.in[r.at] == '\r' {
		r.at++
	}
	return r.in[r.at]
}

// value copies the value of a field, so deep inside the whole. The depth is bounded by whoever found it valid.
func (r *redactor) value(field string, depth int) {
	first := r.next()
	if verdict := judge(field); verdict != harmless && first != 'n' {
		r.hide(verdict, first)
		return
	}
	switch first {
	case '{':
		r.object(depth)
	case '[':
		r.list('[', ']', func() { r.value("", depth+1) })
	case '"':
		text := r.text()
		if depth == 1 && field == "id" {
			r.id = plain(text)
		}
		r.out = append(r.out, withoutSecrets(text)...)
	default:
		r.out = append(r.out, r.literal()...)
	}
}

func (r *redactor) object(depth int) {
	r.list('{', '}', func() {
		r.next()
		raw := r.text()
		name, shown := plain(raw), withoutSecrets(raw)
		if depth == 0 {
			r.names = append(r.names, plain(shown))
		}
		r.out = append(append(r.out, shown...), ':')
		r.next()
		r.at++ // the colon
		r.value(name, depth+1)
	})
}

// list copies what stands between two brackets, separated by commas.
func (r *redactor) list(open, end byte, item func()) {
	r.out = append(r.out, open)
	r.at++
	for r.next() != end {
		if r.in[r.at] == ',' {
			r.out = append(r.out, ',')
			r.at++
		}
		item()
	}
	r.out = append(r.out, end)
	r.at++
}

// hide passes a value that may not be kept. Of what a mail says the length is.
func (r *redactor) hide(why verdict, first byte) {
	if first == '"' && why == mail {
		r.out = append(r.out, `"[redacted `...)
		r.out = strconv.AppendInt(r.out, int64(len(plain(r.text()))), 10)
		r.out = append(r.out, ` bytes]"`...)
		return
	}
	kept := len(r.out)
	r.value("", 2) // to find its end
	r.out = append(append(append(r.out[:kept], '"'), hidden...), '"')
}

// text returns a string with its quotes.
func (r *redactor) text() []byte {
	start := r.at
	for r.at++; ; r.at++ {
		r.at += bytes.IndexAny(r.in[r.at:], `"\`)
		if r.in[r.at] == '"' {
			r.at++
			return r.in[start:r.at]
		}
		r.at++ // what follows a backslash
	}
}

// literal returns a number, true, false or null.
func (r *redactor) literal() []byte {
	start := r.at
	for r.at < len(r.in) && bytes.IndexByte([]byte(",]} \n\t\r"), r.in[r.at]) < 0 {
		r.at++
	}
	return r.in[start:r.at]
}

// plain returns what a string with quotes says.
func plain(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return ""
	}
	return text
}

// withoutSecrets returns a string with quotes that holds no key and no secret. What was written with escapes is written plainly: some
// libraries write "Ann \u003cann@example.net\u003e", and people look for what that says.
func withoutSecrets(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') >= 0 {
		return write(conceal(plain(quoted)))
	}
	if !bytes.Contains(quoted, []byte("pr_")) && !bytes.Contains(quoted, []byte("whsec_")) && !bytes.Contains(quoted, []byte("://")) {
		return quoted
	}
	return []byte(conceal(string(quoted)))
}
