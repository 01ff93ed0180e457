package page

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// Warning is something about a mail that its author may want to change.
type Warning struct {
	Code    string `json:"code" example:"html_too_large"`
	Message string `json:"message" example:"Gmail clips messages above 102 KB."`
}

// Mail is what warnings are about.
type Mail struct {
	HTML, Text string
	// Bulk mail goes to many who did not ask for this very mail.
	Bulk bool
}

// gmailClip is the size of a page above which Gmail shows a link to the rest.
const gmailClip = 102 << 10

// Check returns what mail programs will not like, each kind once.
func Check(m Mail) []Warning {
	var c checker
	if len(m.HTML) > gmailClip {
		c.warn("html_too_large", "Gmail clips messages above 102 KB.")
	}
	c.read(m.HTML)
	if c.withoutAlt > 0 {
		c.warn("image_without_alt", fmt.Sprintf("Images without alt text: %d. Many mail programs hide images at first.", c.withoutAlt))
	}
	if m.Bulk && !c.unsubscribe && !mentionsUnsubscribe(m.Text) {
		c.warn("no_unsubscribe_link", "Bulk mail must have a visible way to unsubscribe. Link to {{{UNSUBSCRIBE_URL}}}.")
	}
	return c.warnings
}

type checker struct {
	warnings    []Warning
	withoutAlt  int
	unsubscribe bool
}

func (c *checker) warn(code, message string) {
	c.warnings = append(c.warnings, Warning{Code: code, Message: message})
}

// once warns unless it has been said.
func (c *checker) once(code, message string) {
	for _, w := range c.warnings {
		if w.Code == code && w.Message == message {
			return
		}
	}
	c.warn(code, message)
}

// unsupportedTags are elements that the large mail programs remove.
var unsupportedTags = map[string]bool{"script": true, "form": true, "input": true, "button": true, "iframe": true, "video": true,
	"audio": true, "object": true, "embed": true, "svg": true, "canvas": true, "link": true}

func (c *checker) read(page string) {
	tokens := html.NewTokenizer(strings.NewReader(page))
	for inStyle := false; ; {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return
		case html.TextToken:
			if text := string(tokens.Text()); inStyle {
				c.readStyle(text)
			} else {
				c.unsubscribe = c.unsubscribe || mentionsUnsubscribe(text)
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			token := tokens.Token()
			inStyle = kind == html.StartTagToken && token.Data == "style"
			if kind != html.EndTagToken {
				c.readTag(token)
			}
		}
	}
}

func (c *checker) readTag(token html.Token) {
	attributes := map[string]string{}
	for _, a := range token.Attr {
		attributes[a.Key] = a.Val
	}
	structured := token.Data == "script" && strings.EqualFold(attributes["type"], "application/ld+json")
	if unsupportedTags[token.Data] && !structured && (token.Data != "link" || strings.EqualFold(attributes["rel"], "stylesheet")) {
		c.once("unsupported_html", "Most mail programs remove <"+token.Data+">.")
	}
	if _, ok := attributes["alt"]; token.Data == "img" && !ok {
		c.withoutAlt++
	}
	c.unsubscribe = c.unsubscribe || token.Data == "a" && mentionsUnsubscribe(attributes["href"])
	c.readStyle(attributes["style"])
}

func mentionsUnsubscribe(text string) bool {
	return strings.Contains(strings.ToLower(text), "unsubscribe")
}

// unsupportedStyles are what Outlook or Gmail ignore, in the words in which they are told.
var unsupportedStyles = []struct {
	pattern *regexp.Regexp
	what    string
}{
	{regexp.MustCompile(`(?i)display\s*:\s*(inline-)?flex`), "display: flex"},
	{regexp.MustCompile(`(?i)display\s*:\s*(inline-)?grid`), "display: grid"},
	{regexp.MustCompile(`(?i)position\s*:\s*(absolute|fixed|sticky|relative)`), "position"},
	{regexp.MustCompile(`(?i)var\s*\(\s*--`), "custom properties"},
	{regexp.MustCompile(`(?i)@import`), "@import"},
	{regexp.MustCompile(`(?i)(^|[;{\s])(animation|transition|transform|filter)\s*:`), "animation, transition, transform and filter"},
}

func (c *checker) readStyle(style string) {
	if style == "" {
		return
	}
	for _, s := range unsupportedStyles {
		if s.pattern.MatchString(style) {
			c.once("unsupported_css", "Not all mail programs know "+s.what+".")
		}
	}
}
