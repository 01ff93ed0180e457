package message

import (
	"html"
	"strings"

	"github.com/inbucket/html2text"
)

// maxConverted bounds what is converted with all its structure. Mail programs cut pages at half of it, and nested quotes can
// make a converted page hundreds of times its size.
const maxConverted = 256 << 10

// TextFromHTML returns the words of a page for readers without HTML. It always returns something: where the page is too large
// or too deep to be laid out, its tags are just dropped.
func TextFromHTML(page string) (text string) {
	if len(page) > maxConverted {
		return stripTags(page)
	}
	defer func() {
		if recover() != nil { // a page must not be able to stop us, whatever it does to the converter
			text = stripTags(page)
		}
	}()
	text, err := html2text.FromString(page)
	if err != nil || len(text) > 2*maxConverted {
		return stripTags(page)
	}
	return text
}

// stripTags drops tags, scripts and style sheets and puts a line end where a block may have ended.
func stripTags(page string) string {
	var b strings.Builder
	for page != "" {
		i := strings.IndexByte(page, '<')
		if i < 0 {
			b.WriteString(page)
			break
		}
		b.WriteString(page[:i])
		page = skipTag(page[i:])
		b.WriteByte('\n')
	}
	var lines []string
	for line := range strings.Lines(html.UnescapeString(b.String())) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// skipTag returns what follows the tag at the start of page, or its end tag if its content is not for reading.
func skipTag(page string) string {
	end := strings.IndexByte(page, '>')
	if end < 0 {
		return ""
	}
	name := strings.ToLower(page[1:min(end, len("<script"))])
	for _, hidden := range []string{"script", "style", "title"} {
		if !strings.HasPrefix(name, hidden) {
			continue
		}
		endTag := strings.Index(page, "</")
		if endTag < 0 {
			return ""
		}
		return page[endTag:]
	}
	return page[end+1:]
}
