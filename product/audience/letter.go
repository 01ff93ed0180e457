package audience

import (
	"bytes"
	"context"
	_ "embed" // the letter is a file beside this one
	"errors"
	"fmt"
	"html/template"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/domain"
	"postrider/product/email"
	mailtemplate "postrider/product/template"
)

var (
	//go:embed letter.html
	letterText     string
	letterTemplate = template.Must(template.New("letter").Parse(letterText))
)

// variableOfLink is the variable by which a template shows the link.
const variableOfLink = "CONFIRMATION_URL"

// letter writes the mail that asks a contact to confirm. It is not tracked: the link in it must stay as it is.
func (s *Service) letter(ctx context.Context, sender email.Sender, c Contact, l List, nonce string, way wayOfAsking) (d email.Draft, expires time.Time, err error) {
	url, expires := s.link(c, l, nonce, s.world.Clock.Now())
	off := false
	d = email.Draft{Subject: l.Confirmation.Subject, TrackOpens: &off, TrackClicks: &off}
	to, err := address.Parse(c.Address)
	if err != nil {
		return d, expires, fmt.Errorf("address of contact %s: %w", c.ID, err)
	}
	to.Name = strings.TrimSpace(c.FirstName + " " + c.LastName)
	d.To = []address.Address{to}
	from := first(way.From, l.Confirmation.From)
	if name := first(way.Template, l.Confirmation.Template); name != "" {
		made, err := s.fill(ctx, c, l, name, url)
		if err != nil {
			return d, expires, err
		}
		from, d.Subject = first(from, made.From), first(d.Subject, made.Subject)
		d.Content, d.Template, d.TemplateVersion = email.Content{HTML: made.HTML, Text: made.Text}, string(made.Template), made.Version
	} else if d.Content, err = s.plainLetter(ctx, c, l, url); err != nil {
		return d, expires, err
	}
	d.Subject = first(d.Subject, "Please confirm your subscription")
	if d.From, err = address.Parse(from); err != nil {
		return d, expires, ErrSenderDomain
	}
	err = s.parts.Emails.Permit(ctx, sender, d.From.Domain)
	if errors.Is(err, domain.ErrNotYours) || errors.Is(err, domain.ErrAuthBroken) {
		err = ErrSenderDomain.Because(err)
	}
	return d, expires, err
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// fill makes the letter from a template, which must show the link.
func (s *Service) fill(ctx context.Context, c Contact, l List, name, url string) (mailtemplate.Rendered, error) {
	made, err := s.parts.Templates.Render(ctx, c.Workspace, name, mailtemplate.Select{}, mailtemplate.Values{variableOfLink: url, "FIRST_NAME": c.FirstName,
		"LAST_NAME": c.LastName, "EMAIL": c.Address, "LIST_NAME": l.Name})
	if err == nil && (!strings.Contains(made.HTML, url) && made.HTML != "" || !strings.Contains(made.Text, url)) {
		err = api.Invalid("template_id", "The template must show the variable "+variableOfLink+" as a link.")
	}
	return made, err
}

// plainLetter is the letter of a list that has no template.
func (s *Service) plainLetter(ctx context.Context, c Contact, l List, url string) (email.Content, error) {
	var sender string
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		workspace, err := s.parts.Accounts.Workspace(tx, c.Workspace)
		sender = workspace.Name
		return err
	})
	if err != nil {
		return email.Content{}, err
	}
	var html bytes.Buffer
	if err := letterTemplate.Execute(&html, struct{ FirstName, List, Sender, URL string }{c.FirstName, l.Name, sender, url}); err != nil {
		return email.Content{}, fmt.Errorf("write a confirmation: %w", err)
	}
	hello := "Hello"
	if c.FirstName != "" {
		hello += " " + c.FirstName
	}
	text := fmt.Sprintf("%s,\n\nsomebody, hopefully you, asked for mail for %s from %s at this address.\nConfirm it here:\n\n%s\n\nIf it was not you, do nothing: you will get no more mail.\n",
		hello, l.Name, sender, url)
	return email.Content{HTML: html.String(), Text: text}, nil
}
