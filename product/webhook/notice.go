package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

// NoticeLane holds mails to owners that wait to be handed to the postman.
const NoticeLane queue.Lane = "webhook_notice"

const (
	noticeBatch = 20
	// noticeLease outlives the slowest postman; a mail that is still on its way then goes out twice.
	noticeLease = time.Minute
	// maxNoticeTries and noticeRetry give a postman an hour and a half to recover.
	maxNoticeTries = 10
	noticeRetry    = 10 * time.Minute
)

// notice is a mail to one owner.
type notice struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// warning tells that an endpoint has been failing for a day.
func warning(e *Endpoint) (subject, text string) {
	return "A webhook is failing", fmt.Sprintf(`Your webhook

  %s

has taken no event since %s.
Each event is tried again for three days. If none is taken until
%s, the webhook will be disabled.

What it answered is in the dashboard, and at
GET /v1/webhooks/%s/deliveries
`, e.URL, minute(e.firstFailureAt), minute(e.firstFailureAt.Add(disableAfter)), e.ID)
}

// farewell tells that an endpoint has been disabled.
func farewell(e *Endpoint) (subject, text string) {
	why := "has taken no event since " + minute(e.firstFailureAt)
	if e.DisabledReason == Gone {
		why = "answered that it is gone (410)"
	}
	return "A webhook has been disabled", fmt.Sprintf(`Your webhook

  %s

has been disabled, because it %s.
What was waiting for it has been cancelled and can be replayed.

Enable it again in the dashboard, or send {"status":"enabled"} to
PATCH /v1/webhooks/%s
`, e.URL, why, e.ID)
}

func minute(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

// notify queues a mail to each owner of the endpoint's workspace.
func (s *Service) notify(tx *db.Tx, e *Endpoint, write func(*Endpoint) (subject, text string)) error {
	owners, err := s.parts.Accounts.VerifiedOwners(tx, e.Workspace)
	if err != nil {
		return err
	}
	subject, text := write(e)
	items := make([]queue.Item, len(owners))
	for i, owner := range owners {
		items[i] = queue.Item{ID: s.world.NewID(), Lane: NoticeLane, Rank: queue.Urgent, Due: tx.Now(),
			Payload: string(mustMarshal(notice{To: owner, Subject: subject, Text: text}))}
	}
	return queue.Add(tx, items...)
}

// postNotices claims queued mails, hands them to the postman, and settles.
func (s *Service) postNotices(ctx context.Context) (bool, error) {
	return s.holder.Run(ctx, queue.Errand{Lane: NoticeLane, Lease: noticeLease, Batch: noticeBatch, Retry: noticeRetry, Tries: maxNoticeTries, Do: s.postNotice,
		Failing: "webhook notice not posted"})
}

func (s *Service) postNotice(ctx context.Context, item queue.Item) error {
	var n notice
	if err := json.Unmarshal([]byte(item.Payload), &n); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	if s.config.Postman == nil {
		s.world.Log.Warn("webhook notice has no postman", "subject", n.Subject)
		return nil
	}
	return s.config.Postman.Post(ctx, n.To, n.Subject, n.Text)
}
