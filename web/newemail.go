package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
)

// newEmailPage writes one email by hand, or has a template write it.
type newEmailPage struct {
	shell
	From, To, Subject, HTML, Text, ScheduledAt string
	Cc, Bcc, ReplyTo                           string
	TemplateID, Variables, Tags                string
	Opens, Clicks                              []choice
	Templates                                  []choice
	// Own tells that the words are written here and not in a template; More that something rarer is said, which is then shown.
	Own, More bool
	// Unverified tells that there is no domain to send from.
	Unverified bool
	// Once names the form, so that pressing its button twice sends one email.
	Once    string
	Problem *problem
}

func (v *visit) newEmail() newEmailPage {
	return newEmailPage{shell: v.shell("New email", "emails").under(crumb{"Emails", v.link("emails")}).with("audience.css", "broadcast.css", "unsaved.js")}
}

func showNewEmail(v *visit) error {
	p := v.newEmail()
	p.Once, p.From, p.To, p.TemplateID = rand.Text(), v.query("from"), v.query("to"), v.query("template_id")
	if p.Own = p.TemplateID == ""; p.Own {
		p.Subject, p.Text = "It works", "Hello from Postrider."
	}
	return v.writeEmail(http.StatusOK, p)
}

// writeEmail draws the form with what can be chosen in it.
func (v *visit) writeEmail(status int, p newEmailPage) error {
	senders, err := v.knownSenders()
	if err != nil {
		return err
	}
	p.Unverified = len(senders) == 0 && v.can("domain:read")
	if p.From == "" && p.Own && len(senders) > 0 && v.r.Method == http.MethodGet {
		p.From = "hello@" + senders[0]
	}
	if p.Templates, err = v.templateChoices("Choose a template", p.TemplateID); err != nil {
		return err
	}
	p.Opens, p.Clicks = trackingChoices(v.value("track_opens")), trackingChoices(v.value("track_clicks"))
	p.More = strings.TrimSpace(p.Cc+p.Bcc+p.ReplyTo+p.Tags+p.ScheduledAt+v.value("track_opens")+v.value("track_clicks")) != ""
	for _, field := range []string{"cc", "bcc", "reply_to", "tags", "tracking", "scheduled_at"} {
		p.More = p.More || p.Problem.Field(field) != ""
	}
	return v.showStatus(status, "emails/new", p)
}

// postedEmail is the email as the form has it.
func (v *visit) postedEmail() newEmailPage {
	p := v.newEmail()
	p.From, p.To, p.Subject, p.ScheduledAt = v.value("from"), v.value("to"), v.value("subject"), v.value("scheduled_at")
	p.Cc, p.Bcc, p.ReplyTo, p.Tags = v.value("cc"), v.value("bcc"), v.value("reply_to"), newlines(v.value("tags"))
	p.HTML, p.Text, p.Own = newlines(v.value("html")), newlines(v.value("text")), v.value("content") != "template"
	p.TemplateID, p.Variables, p.Once = v.value("template_id"), newlines(v.value("variables")), v.value("once")
	return p
}

// body is the email as the API takes it. What was left empty is left out.
func (p newEmailPage) body(v *visit) (map[string]any, *problem) {
	body := map[string]any{"to": addresses(p.To)}
	texts := map[string]string{"from": p.From, "subject": p.Subject, "scheduled_at": v.instant(p.ScheduledAt)}
	if p.Own {
		texts["html"], texts["text"] = p.HTML, p.Text
	} else {
		values, wrong := objectIn(p.Variables, "variables")
		if wrong != nil {
			return nil, wrong
		}
		if p.TemplateID == "" {
			return nil, &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "Choose a template, or write the message here.",
				Fields: map[string]string{"template": "Choose one."}}
		}
		body["template"] = map[string]any{"id": p.TemplateID, "variables": values}
	}
	for name, value := range texts {
		if value != "" {
			body[name] = value
		}
	}
	for name, line := range map[string]string{"cc": p.Cc, "bcc": p.Bcc, "reply_to": p.ReplyTo} {
		if all := addresses(line); len(all) > 0 {
			body[name] = all
		}
	}
	if tags := tagsIn(p.Tags); len(tags) > 0 {
		body["tags"] = tags
	}
	if tracking := v.postedTracking(); tracking.said() {
		body["tracking"] = tracking
	}
	return once(p.Once, body), nil
}

// once gives a request the name of the form that it was posted with, and of what it says: the same again is not done again, and
// what was changed in between is.
func once(form string, body map[string]any) map[string]any {
	raw, err := json.Marshal(body)
	if form != "" && err == nil {
		sum := sha256.Sum256(append(raw, form...))
		body["idempotency_key"] = "dashboard:" + hex.EncodeToString(sum[:16])
	}
	return body
}

func sendEmail(v *visit) error {
	p := v.postedEmail()
	if v.value("do") == "edit" { // back from a look at it
		return v.writeEmail(http.StatusOK, p)
	}
	body, wrong := p.body(v)
	var sent struct{ ID string }
	var err error
	if wrong == nil {
		err = v.send(http.MethodPost, "/v1/emails", body, &sent)
		wrong = refusal(err)
	}
	if wrong != nil {
		p.Problem = wrong
		return v.writeEmail(wrong.Status, p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("emails", sent.ID), "Accepted. What happens to it appears below.")
}
