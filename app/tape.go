package app

import (
	"fmt"
	"net/url"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/email"
	"postrider/product/logs"
	"postrider/product/submission"
	"postrider/product/webhook"
)

// maxSteps is how many attempts of a mail its entry in the log shows.
const maxSteps = 200

// stepsOf tells the log, which stands below mail, what was done for one: attempts, and posts to webhooks.
func (a *App) stepsOf(tx *db.Tx, ws space.ID, id string, events []event.Event) ([]logs.Step, error) {
	tried, err := a.Emails.Tried(tx, ws, id, maxSteps)
	if err != nil {
		return nil, err
	}
	var steps []logs.Step
	for _, t := range tried {
		steps = append(steps, stepOfAttempt(t))
	}
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	told, err := a.Webhooks.DeliveriesOf(tx, ws, ids)
	if err != nil {
		return nil, err
	}
	for _, e := range events { // many are told in the same moment: only their order tells which came first
		for _, d := range told[e.ID] {
			steps = append(steps, logs.Step{Type: "webhook." + string(d.Status), At: d.CreatedAt, Recipient: e.Recipient,
				Message: fmt.Sprintf("%s to a webhook: %s after %d attempts.", e.Type, d.Status, d.Attempts),
				Data:    map[string]any{"delivery_id": d.ID, "webhook_id": d.Webhook}})
		}
	}
	return steps, nil
}

func stepOfAttempt(t email.Tried) logs.Step {
	return logs.Step{Type: "smtp.attempt", At: t.FinishedAt, Recipient: t.Recipient, Message: t.Response,
		Data: map[string]any{"attempt": t.Number, "outcome": t.Outcome, "mx_host": t.MXHost, "smtp_code": t.Code, "took_ms": t.FinishedAt.Sub(t.StartedAt).Milliseconds()}}
}

// noteRequest counts a request, and notes it in the log.
func (a *App) noteRequest(f api.Finished) {
	a.meters.request(f)
	a.Logs.Request(f)
}

// notePost counts a post to a webhook, and notes it in the log.
func (a *App) notePost(p webhook.Posted) {
	a.meters.post(p)
	host := p.Delivery.URL
	if parsed, err := url.Parse(host); err == nil {
		host = parsed.Host // a path may hold a secret
	}
	e := logs.Entry{Workspace: p.Workspace, Kind: logs.Webhook, Level: logs.Info, CreatedAt: p.Attempt.StartedAt, Took: p.Attempt.Took, Status: "delivered",
		Subject: string(p.Delivery.Webhook), Message: fmt.Sprintf("%s: %d from %s", p.Delivery.EventType, p.Attempt.Status, host)}
	if p.Attempt.Error != "" {
		e.Level, e.Status = logs.Warning, "retrying"
		if p.Next.IsZero() {
			e.Level, e.Status = logs.Error, "failed"
		}
		if p.Attempt.Status == 0 {
			e.Message = fmt.Sprintf("%s: no answer from %s (%s)", p.Delivery.EventType, host, p.Attempt.Error)
		}
	}
	a.Logs.Note(e)
}

// noteSubmission notes a message that came over SMTP in the log.
func (a *App) noteSubmission(s submission.Submitted) {
	recipients := "1 recipient"
	if s.Recipients != 1 {
		recipients = fmt.Sprintf("%d recipients", s.Recipients)
	}
	e := logs.Entry{Workspace: s.Caller.Workspace, Kind: logs.Submission, Level: logs.Info, CreatedAt: s.At, Took: s.Took, KeyID: s.Caller.KeyID, Email: string(s.Receipt.ID),
		Domain: string(s.Receipt.Domain), Tenant: s.Receipt.Tenant, Status: "accepted", Message: strings.TrimSpace(fmt.Sprintf("Message to %s: %s", recipients, s.Reply))}
	if s.From.IsValid() {
		e.Details.IP = s.From.String()
	}
	if !s.Reply.Positive() {
		e.Level, e.Status = logs.Warning, "refused"
	}
	a.Logs.Note(e)
}
