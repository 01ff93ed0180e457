package message

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// contentKind is what a Content-Type field says.
type contentKind struct {
	name   string
	params map[string]string
}

// readContentType reads the field as leniently as mail programs do: what cannot be understood is left out.
func readContentType(fields []Field, usual string) contentKind {
	value := fieldValue(fields, "Content-Type")
	kind := contentKind{name: mediaType(value, usual), params: map[string]string{}}
	params := scanParams(value)
	for _, p := range params {
		if _, repeated := kind.params[p.name]; !repeated {
			kind.params[p.name] = p.value
		}
	}
	if edges := boundaries(params); len(edges) > 0 {
		kind.params["boundary"] = edges[0]
	}
	return kind
}

// mediaType is the type that a field names, in lower case, or the usual one.
func mediaType(value, usual string) string {
	name, _, _ := strings.Cut(withoutComments(value), ";")
	kind, rest, _ := strings.Cut(name, "/")
	sub, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kind = strings.TrimSpace(kind)
	if kind == "" || sub == "" || strings.ContainsAny(kind+sub, " \t\"") {
		return usual
	}
	return strings.ToLower(kind + "/" + sub)
}

// boundaries returns the boundary that the parameters name, and a second one if they name several. None ends with a space: a line would lose
// it on its way.
func boundaries(params []param) []string {
	encoded, plain := paramValues(params, "boundary")
	var edges []string
	for _, edge := range append(plain, encoded...) {
		if edge = strings.TrimRight(edge, " \t"); edge != "" && len(edges) < 2 && !slices.Contains(edges, edge) {
			edges = append(edges, edge)
		}
	}
	return edges
}

func fieldValue(fields []Field, name string) string {
	for _, f := range fields {
		if f.Is(name) {
			return f.Value
		}
	}
	return ""
}

func newPart(fields []Field, kind contentKind, parent string) *Part {
	p := &Part{Fields: fields, Type: kind.name, Parent: parent, Charset: strings.ToLower(kind.params["charset"]),
		ContentID: strings.Trim(fieldValue(fields, "Content-ID"), " <>")}
	disposition, _, _ := strings.Cut(fieldValue(fields, "Content-Disposition"), ";")
	var typed []string
	for _, f := range fields {
		switch {
		case f.Is("Content-Disposition"):
			p.Names = append(p.Names, fileNames(scanParams(spaced(f)))...)
		case f.Is("Content-Type"):
			typed = append(typed, fileNames(scanParams(spaced(f)))...)
		}
	}
	p.Names = append(p.Names, typed...)
	text := p.Type == "text/plain" || p.Type == "text/html"
	p.Attached = !text || len(p.Names) > 0 || strings.EqualFold(strings.TrimSpace(disposition), "attachment")
	return p
}

// IsText tells by its header whether a message is a text and nothing else, so that there is nothing in it to look for.
func IsText(fields []Field) bool {
	kind := readContentType(fields, "text/plain")
	return !newPart(fields, kind, "").Attached && !isAmbiguous(fields)
}

// param is one parameter of a header field, its name in lower case.
type param struct{ name, value string }

// scanParams splits what follows the first word. Unlike the standard library it keeps parameters that are given twice or
// are malformed, and reads them with and without comments: a name that one program overlooks is shown by the next.
func scanParams(value string) []param {
	found := scanPlainly(value)
	bare := withoutComments(value)
	if bare == value {
		return found
	}
	known := map[param]bool{} // a hostile field has a hundred thousand
	for _, p := range found {
		known[p] = true
	}
	for _, p := range scanPlainly(bare) {
		if !known[p] {
			found = append(found, p)
		}
	}
	return found
}

func scanPlainly(value string) []param {
	head, rest, _ := strings.Cut(value, ";")
	if before, after, ok := strings.Cut(head, "="); ok { // the semicolon is forgotten, or what belongs before it
		words := strings.Fields(before)
		rest = strings.Join(words[min(1, max(len(words)-1, 0)):], " ") + "=" + after + ";" + rest
	}
	var found []param
	for rest != "" {
		name, after, ok := strings.Cut(rest, "=")
		if !ok {
			break
		}
		if i := strings.LastIndexByte(name, ';'); i >= 0 {
			name = name[i+1:]
		}
		var text string
		after = strings.TrimLeft(after, " \t")
		text, rest = scanValue(after)
		name = strings.ToLower(strings.Join(strings.Fields(name), ""))
		found = append(found, param{name, text})
		if end := strings.IndexAny(text, " \t"); end >= 0 && !strings.HasPrefix(after, `"`) && !strings.Contains(name, "*") {
			found = append(found, param{name, text[:end]}) // as those read it who hold to the rules
		}
	}
	return found
}

// withoutComments leaves out what stands in brackets and not in quotes (RFC 2045 §5.1).
func withoutComments(value string) string {
	if strings.IndexByte(value, '(') < 0 {
		return value
	}
	var b strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\' && (quoted || depth > 0) && i+1 < len(value):
			i++
			if depth == 0 {
				b.WriteString(value[i-1 : i+1])
			}
		case c == '(' && !quoted:
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0:
			quoted = quoted != (c == '"')
			b.WriteByte(c)
		}
	}
	return b.String()
}

// scanValue takes a token or a quoted string, and all that follows up to the next semicolon.
func scanValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ";")
		return strings.TrimSpace(value), rest
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			_, rest, _ = strings.Cut(s[i+1:], ";")
			return b.String(), rest
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}

// fileNames returns every name that the parameters give a file, the encoded ones (RFC 2231) first: they are the whole truth.
func fileNames(params []param) []string {
	named, plainly := paramValues(params, "filename")
	typed, typedPlainly := paramValues(params, "name")
	plainly = append(plainly, typedPlainly...)
	for i, name := range plainly {
		plainly[i] = DecodeHeader(name)
	}
	return slices.Concat(named, typed, plainly)
}

// fold is the end of a line that goes on, with the blanks before the rest of it.
var fold = regexp.MustCompile(`\n[ \t]+`)

// spaced is the value of a field with spaces for the tabs by which its lines go on: they are there for the line's sake (RFC 5322 §2.2.3)
// and part of no name. Other tabs stay, as all that may make a name look like another.
func spaced(f Field) string {
	if !strings.Contains(f.Value, "\t") {
		return f.Value
	}
	_, value, _ := bytes.Cut(f.Raw, []byte(":"))
	return unfold(fold.ReplaceAllFunc(value, func(blanks []byte) []byte { return bytes.ReplaceAll(blanks, []byte("\t"), []byte(" ")) }))
}

// paramValues returns every value that a parameter is given, those that are encoded or in pieces (RFC 2231) apart.
func paramValues(params []param, base string) (encoded, plain []string) {
	var pieces []piece
	set := ""
	for _, p := range params {
		word, star, extended := strings.Cut(p.name, "*")
		if word != base {
			continue
		}
		number, escaped := strings.CutSuffix(star, "*")
		index, err := strconv.Atoi(number)
		switch {
		case !extended:
			plain = append(plain, p.value)
		case star == "":
			charset, text := cutCharset(p.value)
			encoded = append(encoded, toUTF8([]byte(percentDecode(text)), charset))
		case err == nil && index == 0 && escaped:
			charset, text := cutCharset(p.value)
			pieces, set = append(pieces, piece{0, percentDecode(text)}), charset
		case err == nil && escaped:
			pieces = append(pieces, piece{index, percentDecode(p.value)})
		case err == nil:
			pieces = append(pieces, piece{index, p.value})
		}
	}
	for _, value := range joinPieces(pieces) {
		encoded = append(encoded, toUTF8([]byte(value), set)) // a character may be cut in two
	}
	return encoded, plain
}

// piece is a part of a parameter's value.
type piece struct {
	index int
	text  string
}

// joinPieces returns every value that programs may make of the pieces: if one comes twice, they take the first, the last or both, and if one
// is missing, some end there.
func joinPieces(pieces []piece) []string {
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.index, b.index) })
	var first, last, all, unbroken strings.Builder
	next := 0
	for i, p := range pieces {
		all.WriteString(p.text)
		if i == len(pieces)-1 || pieces[i+1].index != p.index {
			last.WriteString(p.text)
		}
		if i > 0 && pieces[i-1].index == p.index {
			continue
		}
		first.WriteString(p.text)
		if p.index == next {
			unbroken.WriteString(p.text)
			next++
		}
	}
	var values []string
	for _, value := range []string{first.String(), last.String(), all.String(), unbroken.String()} {
		if value != "" && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// cutCharset splits charset'language'text.
func cutCharset(s string) (set, text string) {
	set, rest, ok := strings.Cut(s, "'")
	if !ok {
		return "", s
	}
	if _, text, ok = strings.Cut(rest, "'"); !ok {
		return "", s
	}
	return set, text
}

func percentDecode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if code, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(code))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
