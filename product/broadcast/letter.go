package broadcast

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"postrider/mail/message"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/audience"
	"postrider/product/email"
	"postrider/product/template"
)

// press makes the letters of one broadcast.
type press struct {
	broadcast Broadcast
	// head has the subject, body what the mail says; they are one unless the body is a template's.
	head, body *template.Ready
	// texted is the body with a text of its own, made from its page; nil if there is none. compared is whether a letter has shown that
	// both say the same.
	texted   *template.Ready
	compared bool
}

// newPress reads the message of a broadcast. Its error is for the sender.
func (s *Service) newPress(tx *db.Tx, b Broadcast) (p *press, err error) {
	p = &press{broadcast: b}
	if b.Template == "" {
		return p, p.compile()
	}
	if p.head, err = template.Compile(template.Source{Subject: b.Subject}); err != nil {
		return nil, err
	}
	p.body, err = s.parts.Templates.Load(tx, b.Workspace, b.Template, template.Select{Version: b.TemplateVersion})
	return p, err
}

// compile reads the message of a broadcast without a template.
func (p *press) compile() (err error) {
	b := p.broadcast
	source := template.Source{Subject: b.Subject, PreviewText: b.PreviewText, HTML: b.HTML, Text: b.Text}
	if p.body, err = template.Compile(source); err != nil {
		return err
	}
	if p.head = p.body; b.Text == "" && b.HTML != "" {
		source.Text = textTemplate(b.HTML)
		p.texted, _ = template.Compile(source) // a page that is too unusual for that has each text made for itself
	}
	return nil
}

// render makes a mail. The text beside a page is made once from the page with its variables in it: making it from every letter would
// cost more than all the rest. The first letter of each press is made both ways, and decides.
func (p *press) render(values template.Values) (template.Rendered, error) {
	if p.texted == nil {
		return p.body.Render(values)
	}
	made, err := p.texted.Render(values)
	if p.compared {
		return made, err
	}
	p.compared = true
	plain, plainErr := p.body.Render(values)
	if err != nil || plainErr != nil || !sameWords(plain.Text, made.Text) {
		p.texted = nil
		return plain, plainErr
	}
	return made, nil
}

var templateTag = regexp.MustCompile(`(?s)\{\{\{.*?\}\}\}|\{\{.*?\}\}`)

// Characters that stand for the tags of a template while a page becomes text. They are for private use, so no page means anything by them.
const firstMark, lastMark = '\uE000', '\uF8FF'

// textTemplate makes the text beside a page with the page's variables in it.
func textTemplate(page string) string {
	var tags []string
	marked := templateTag.ReplaceAllStringFunc(page, func(tag string) string {
		tags = append(tags, tag)
		return string(firstMark + rune(len(tags)-1)%(lastMark-firstMark+1))
	})
	if len(tags) > lastMark-firstMark {
		return ""
	}
	var text strings.Builder
	for _, c := range message.TextFromHTML(marked) {
		if i := int(c - firstMark); i >= 0 && i < len(tags) {
			text.WriteString(tags[i])
			continue
		}
		text.WriteRune(c)
	}
	return text.String()
}

// sameWords compares texts as readers do: rules around headings are as long as the headings are, and lines may end elsewhere.
func sameWords(a, b string) bool { return strings.EqualFold(wordsOf(a), wordsOf(b)) }

func wordsOf(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool { return strings.Trim(word, "*-=_") == "" }), " ")
}

// print makes the letter of one person. link is where they unsubscribe; one that the message does not have is put below it.
func (p *press) print(l email.BulkLetter, to audience.Recipient, link string) (email.BulkLetter, error) {
	values := p.valuesFor(to, link)
	made, err := p.render(values)
	if err != nil {
		return l, err
	}
	l.Subject, l.HTML, l.Text = made.Subject, made.HTML, made.Text
	if p.head != p.body {
		head, err := p.head.Render(values)
		if err != nil {
			return l, err
		}
		l.Subject = head.Subject
	}
	if l.Subject == "" {
		return l, template.ErrRender.Saying("The subject is empty for this recipient.")
	}
	if l.HTML != "" && !strings.Contains(l.HTML, link) {
		l.HTML = withFooter(l.HTML, link)
	}
	if l.Text != "" && !strings.Contains(l.Text, link) {
		l.Text = strings.TrimRight(l.Text, "\r\n") + "\n\n-- \nUnsubscribe: " + link + "\n"
	}
	return l, nil
}

// valuesFor is what a message can say about somebody. The broadcast's own variables go before properties, and nothing before the
// reserved names.
func (p *press) valuesFor(to audience.Recipient, link string) template.Values {
	values := template.Values{}
	maps.Copy(values, to.Properties)
	maps.Copy(values, p.broadcast.Variables)
	contact := map[string]any{}
	maps.Copy(contact, to.Properties)
	contact["id"], contact["email"], contact["properties"] = string(to.ID), to.Address, to.Properties
	values["EMAIL"], values["UNSUBSCRIBE_URL"], values["RESEND_UNSUBSCRIBE_URL"] = to.Address, link, link
	for name, value := range map[string]string{"first_name": to.FirstName, "last_name": to.LastName} {
		delete(values, strings.ToUpper(name))
		delete(contact, name)
		if value != "" {
			values[strings.ToUpper(name)], contact[name] = value, value
		}
	}
	values["contact"] = contact
	return values
}

// withFooter puts a way to unsubscribe at the end of a page. The link is of our own making and has nothing to escape.
func withFooter(page, link string) string {
	footer := `<p style="margin:32px 0 0;font-size:12px;color:#666666;text-align:center"><a href="` + link + `" style="color:#666666">Unsubscribe</a></p>`
	const end = "</body>"
	for at := len(page) - len(end); at >= 0; at-- {
		if page[at] == '<' && strings.EqualFold(page[at:at+len(end)], end) {
			return page[:at] + footer + page[at:]
		}
	}
	return page + footer
}

// sentenceOf returns what the sender is told of an error.
func sentenceOf(err error) string {
	var public *api.Error
	if errors.As(err, &public) {
		return public.Summary()
	}
	return "Something went wrong on our side."
}
