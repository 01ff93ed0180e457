package automation

import (
	"context"
	"fmt"
	"strings"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
	"postrider/product/email"
	"postrider/product/plan"
	"postrider/product/suppression"
	"postrider/product/template"
)

// letter is a mail that a step sends, with its variables filled in.
type letter struct {
	workspace space.ID
	plan      plan.Name
	mail      *flow.Mail
	values    template.Values
	to        address.Address
}

// prepareMail makes the letter of a step, unless the contact is not to be mailed. It tells whether the run stays at the step.
func (w *walk) prepareMail(item queue.Item, node *flow.Node) (stays bool, err error) {
	r := w.run
	c, err := w.service.parts.Audience.Find(w.tx, r.Workspace, string(r.Contact))
	if isAnswer(err) {
		w.record(node, StepFailed, nil, "The contact is gone.")
		w.failRun(r, stepFailed, "The contact is gone.")
		return false, nil
	}
	if err != nil {
		return false, err
	}
	reason, err := w.service.unmailable(w, c, node.Config.Mail.TopicID)
	if err != nil {
		return false, err
	}
	if reason != "" {
		w.record(node, StepSkipped, map[string]any{"reason": reason}, "")
		w.leave(node, flow.Default, "")
		return false, nil
	}
	scope, err := w.scope()
	if err != nil {
		return false, err
	}
	workspace, err := w.service.parts.Accounts.Workspace(w.tx, r.Workspace)
	if err != nil {
		return false, err
	}
	if workspace.Status == account.Suspended {
		w.record(node, StepFailed, nil, "The workspace was suspended.")
		w.failRun(r, stepFailed, "The workspace was suspended.")
		return false, nil
	}
	l, err := w.service.newLetter(r.Workspace, workspace.Plan, node.Config.Mail, scope, c)
	if err != nil {
		return false, err
	}
	w.jobs = append(w.jobs, job{item: item, run: *r, began: w.began, mail: l})
	return true, nil
}

// unmailable is why a contact gets no mail of automations now; empty if it does.
func (s *Service) unmailable(w *walk, c audience.Contact, topic string) (string, error) {
	if w.run.answersBulk() {
		return "bulk", nil
	}
	if c.Unsubscribed {
		return string(audience.Unsubscribed), nil
	}
	if c.Status != audience.Subscribed {
		return string(c.Status), nil
	}
	if topic == "" {
		return "", nil
	}
	out, err := s.parts.Audience.OptedOut(w.tx, c.Workspace, topic, []string{c.Address})
	if err == nil && out[c.Address] {
		return "topic_opt_out", nil
	}
	return "", err
}

// newLetter fills in variables. Everything that a mail to many can say of its reader is at hand.
func (s *Service) newLetter(ws space.ID, on plan.Name, mail *flow.Mail, scope flow.Scope, c audience.Contact) (*letter, error) {
	to, err := address.Parse(c.Address)
	if err != nil {
		return nil, fmt.Errorf("address of contact %s: %w", c.ID, err)
	}
	to.Name = strings.TrimSpace(c.FirstName + " " + c.LastName)
	link := s.parts.Suppressions.Link("", suppression.Claims{Workspace: ws, Address: c.Address, Contact: string(c.ID), Topic: mail.TopicID})
	values := template.Values{"FIRST_NAME": c.FirstName, "LAST_NAME": c.LastName, "EMAIL": c.Address, "UNSUBSCRIBE_URL": link, "RESEND_UNSUBSCRIBE_URL": link,
		"event": scope["event"], "contact": scope["contact"]}
	if contact, ok := scope["contact"].(map[string]any); ok {
		if properties, ok := contact["properties"].(map[string]any); ok {
			for key, value := range properties {
				if _, taken := values[key]; !taken {
					values[key] = value
				}
			}
		}
	}
	filled, _ := scope.Resolve(orEmpty(mail.Variables)).(map[string]any)
	for name, value := range filled {
		values[name] = value
	}
	return &letter{workspace: ws, plan: on, mail: mail, values: values, to: to}, nil
}

// ownTexts are what a mail says itself; beside a template that is at most a sender and a subject.
func ownTexts(m *flow.Mail) template.Source {
	return template.Source{From: m.From, Subject: m.Subject, HTML: m.HTML, Text: m.Text}
}

// render makes the mail from its template or from its own texts. A sender or a subject of its own comes before those of the template.
func (s *Service) render(ctx context.Context, l *letter) (made template.Rendered, err error) {
	ready, err := template.Compile(ownTexts(l.mail))
	if err != nil {
		return made, err
	}
	own, err := ready.Render(l.values)
	if err != nil || l.mail.Template == "" {
		return own, err
	}
	made, err = s.parts.Templates.Render(ctx, l.workspace, l.mail.Template, template.Select{Version: l.mail.Version}, l.values)
	made.From, made.Subject = first(own.From, made.From), first(own.Subject, made.Subject)
	return made, err
}

// draft writes the mail.
func (s *Service) draft(ctx context.Context, l *letter) (d email.Draft, err error) {
	made, err := s.render(ctx, l)
	if err != nil {
		return d, err
	}
	d = email.Draft{To: []address.Address{l.to}, Subject: made.Subject, Content: email.Content{HTML: made.HTML, Text: made.Text},
		Template: string(made.Template), TemplateVersion: made.Version, ListUnsubscribe: true, Topic: l.mail.TopicID}
	if d.From, err = address.Parse(made.From); err != nil {
		return d, api.Invalid("from", "The step and its template name no sender.")
	}
	replies := l.mail.ReplyTo
	if len(replies) == 0 {
		replies = made.ReplyTo
	}
	for _, one := range replies {
		reply, err := address.Parse(one)
		if err != nil {
			return d, api.Invalid("reply_to", "Not an email address.")
		}
		d.ReplyTo = append(d.ReplyTo, reply)
	}
	return d, nil
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// hand hands the mail of a job in. Its key makes a second time the same mail.
func (s *Service) hand(ctx context.Context, j job) outcome {
	o := outcome{job: j}
	d, err := s.draft(ctx, j.mail)
	if err == nil {
		d.Contact, d.Run, d.Content.Headers = string(j.run.Contact), string(j.run.ID), j.run.answerHeaders()
		var receipt email.Receipt
		key := j.run.effectKey()
		receipt, _, err = s.parts.Emails.Accept(ctx, email.Sender{Workspace: j.run.Workspace, Plan: j.mail.plan, Source: email.SourceAutomation, Test: j.run.Simulated}, d,
			api.Idempotency{Workspace: j.run.Workspace, Operation: "automation", Key: key, Hash: key, For: keepRuns})
		o.output = map[string]any{"email_id": string(receipt.ID)}
	}
	if err != nil {
		o.output, o.failed, o.again = nil, sentence(err), !isAnswer(err)
	}
	if o.again {
		s.world.Log.Warn("mail of an automation not handed in", "run", j.run.ID, "step", j.run.Step, "tries", j.run.Tries, "error", err)
	}
	return o
}
