package template

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"postrider/mail/address"
	"postrider/mail/blocked"
	"postrider/platform/api"
)

// Limits of a source. The body of a request bounds the rest.
const (
	maxName        = 120
	maxDescription = 500
	maxNote        = 500
	maxSubject     = 998
	maxPreview     = 500
	maxReplyTo     = 10
	maxBodyBytes   = 5 << 20
)

// Source is what a mail is made from. Empty fields are absent.
type Source struct {
	From        string     `json:"from"`
	Subject     string     `json:"subject"`
	ReplyTo     []string   `json:"reply_to"`
	PreviewText string     `json:"preview_text"`
	HTML        string     `json:"html"`
	Text        string     `json:"text"`
	Variables   []Variable `json:"variables"`
	// InlineCSS copies the rules of style sheets to the elements they are about, for mail programs that read no style sheets.
	InlineCSS bool `json:"inline_css"`
}

// checksum is equal for equal sources.
func (s Source) checksum() string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("template: source: %v", err))
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// sourceChange is what a request says about a source. What it does not say stays.
type sourceChange struct {
	From, Subject, PreviewText api.Optional[string]
	ReplyTo                    api.Optional[api.Strings]
	HTML, Text                 api.Optional[*string]
	Variables                  api.Optional[[]newVariable]
	InlineCSS                  api.Optional[bool]
}

// empty tells that nothing is said. Empty text is nothing: some SDKs always send it.
func (c sourceChange) empty() bool {
	return !c.From.Set && !c.Subject.Set && !c.PreviewText.Set && !c.ReplyTo.Set && !said(c.HTML) && !said(c.Text) &&
		!c.Variables.Set && !c.InlineCSS.Set
}

func said(field api.Optional[*string]) bool {
	return field.Set && (field.Value == nil || *field.Value != "")
}

// apply returns the source after the change, and notes what is wrong with it. The syntax of templates is not looked at.
func (c sourceChange) apply(wrong *api.Fields, s Source, now time.Time, newID func() string) Source {
	s.From = strings.TrimSpace(c.From.Or(s.From))
	s.Subject = strings.TrimSpace(c.Subject.Or(s.Subject))
	s.PreviewText = strings.TrimSpace(c.PreviewText.Or(s.PreviewText))
	s.ReplyTo = c.ReplyTo.Or(s.ReplyTo)
	s.InlineCSS = c.InlineCSS.Or(s.InlineCSS)
	for field, into := range map[*api.Optional[*string]]*string{&c.HTML: &s.HTML, &c.Text: &s.Text} {
		if !said(*field) {
			continue
		}
		*into = ""
		if field.Value != nil {
			*into = *field.Value
		}
	}
	if c.Variables.Set {
		s.Variables = checkVariables(wrong, c.Variables.Value, s.Variables, now, newID)
	}
	s.check(wrong)
	return s
}

func (s Source) check(wrong *api.Fields) {
	if s.From != "" {
		if _, err := address.Parse(s.From); err != nil {
			wrong.Add("from", fmt.Sprintf("Not an email address: %s.", err))
		}
	}
	if len(s.ReplyTo) > maxReplyTo {
		wrong.Add("reply_to", fmt.Sprintf("At most %d addresses are allowed.", maxReplyTo))
	}
	for i, text := range s.ReplyTo[:min(len(s.ReplyTo), maxReplyTo)] {
		if _, err := address.Parse(text); err != nil {
			wrong.Add(fmt.Sprintf("reply_to[%d]", i), fmt.Sprintf("Not an email address: %s.", err))
		}
	}
	checkLine(wrong, "subject", s.Subject, maxSubject)
	checkLine(wrong, "preview_text", s.PreviewText, maxPreview)
	for field, text := range map[string]string{"html": s.HTML, "text": s.Text} {
		if len(text) > maxBodyBytes || strings.ContainsRune(text, 0) {
			wrong.Add(field, "Must have at most 5 MB and no NUL characters.")
		}
	}
	if problem := blocked.Text(s.Text); problem != "" {
		wrong.Add("text", problem)
	}
	if s.HTML == "" && s.Text == "" {
		wrong.Add("html", "Either html or text is required.")
	}
}

func checkLine(wrong *api.Fields, field, text string, most int) {
	if utf8.RuneCountInString(text) > most || oneLine(text) != text {
		wrong.Add(field, fmt.Sprintf("Must be one line of at most %d characters.", most))
	}
}

// oneLine puts a space where a header would end, or a mail program would see something that people do not.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' {
			return ' '
		}
		return c
	}, text)
}
