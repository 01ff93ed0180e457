package email

import (
	"encoding/json"
	"errors"
	"time"

	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/domain"
)

func insertEmails(tx *db.Tx, all []acceptance) error {
	var values []any
	for _, a := range all {
		e := a.email
		values = append(values, e.ID, e.Workspace, e.Domain, db.NullText(e.Tenant), db.NullText(e.KeyID), e.Source, e.MessageID, e.Status, e.From,
			e.FromDomain, db.JSON(e.Addresses), e.Subject, db.JSON(e.Tags), string(orEmptyObject(e.Metadata)), searchText(e),
			db.NullText(e.IdempotencyKey), e.SizeBytes, e.Attachments, e.Recipients, e.TrackOpens, e.TrackClicks, e.ListUnsubscribe, db.NullText(e.Topic), db.NullText(e.Template), e.TemplateVersion, e.Test, e.Provider, db.NullText(e.ReturnPath),
			db.NullText(e.Broadcast), db.NullText(e.Contact), db.NullText(e.List), db.NullText(e.Run), e.CreatedAt, e.UpdatedAt, e.ScheduledAt, e.QueuedAt, e.ExpiresAt)
	}
	_, err := tx.InsertRows(`
		INSERT INTO email (id, workspace_id, domain_id, tenant_id, api_key_id, source, message_id, status, sender, sender_domain,
			addresses, subject, tags, metadata, search, idempotency_key, size_bytes, attachment_count, recipient_count,
			track_opens, track_clicks, list_unsubscribe, topic_id, template_id, template_version, test, provider, return_path, broadcast_id, contact_id, list_id, automation_run_id, created_at, updated_at,
			scheduled_at, queued_at, expires_at)`, 37, values, ``)
	return err
}

const emailColumns = `email.id, email.workspace_id, domain_id, tenant_id, api_key_id, source, message_id, status, delayed, sender,
	sender_domain, addresses, subject, tags, metadata, idempotency_key, size_bytes, attachment_count, recipient_count, track_opens,
	track_clicks, email.opens, email.clicks, list_unsubscribe, topic_id, template_id, template_version, test, provider, return_path,
	email.broadcast_id, email.contact_id, email.list_id, email.automation_run_id, email.sending_node_id, failure, created_at, updated_at, scheduled_at, queued_at, sent_at, email.delivered_at, expires_at`

func scanEmail(s db.Scanner) (Email, error) {
	var e Email
	var addresses, tags, metadata, failure string
	err := s.Scan(&e.ID, &e.Workspace, &e.Domain, db.Text(&e.Tenant), db.Text(&e.KeyID), &e.Source, &e.MessageID, &e.Status, &e.Delayed, &e.From,
		&e.FromDomain, &addresses, &e.Subject, &tags, &metadata, db.Text(&e.IdempotencyKey), &e.SizeBytes, &e.Attachments, &e.Recipients,
		&e.TrackOpens, &e.TrackClicks, &e.Opens, &e.Clicks, &e.ListUnsubscribe, db.Text(&e.Topic), db.Text(&e.Template), &e.TemplateVersion, &e.Test, &e.Provider, db.Text(&e.ReturnPath),
		db.Text(&e.Broadcast), db.Text(&e.Contact), db.Text(&e.List), db.Text(&e.Run), db.Text(&e.SentBy), db.Text(&failure), db.Time(&e.CreatedAt), db.Time(&e.UpdatedAt), db.Time(&e.ScheduledAt),
		db.Time(&e.QueuedAt), db.Time(&e.SentAt), db.Time(&e.DeliveredAt), db.Time(&e.ExpiresAt))
	if err != nil {
		return e, err
	}
	e.Metadata = json.RawMessage(metadata)
	return e, errors.Join(db.FromJSON(addresses, &e.Addresses), db.FromJSON(tags, &e.Tags), db.FromJSON(failure, &e.Failure))
}

// lockEmailsOfRecipients serves delivery, which works across workspaces.
func lockEmailsOfRecipients(tx *db.Tx, recipients []string) ([]Email, error) {
	return db.All(tx, scanEmail, `
		SELECT `+emailColumns+` FROM email
		WHERE email.id IN (SELECT email_id FROM email_recipient WHERE email_recipient.id {in $1})
		ORDER BY email.id
		{for_update}`, recipients)
}

func selectEmail(tx *db.Tx, ws space.ID, id ID) (Email, error) {
	return db.One(tx, scanEmail, `
		SELECT `+emailColumns+` FROM email
		WHERE workspace_id = $1 AND id = $2`, ws, id)
}

func lockEmail(tx *db.Tx, ws space.ID, id ID) (Email, error) {
	return db.One(tx, scanEmail, `
		SELECT `+emailColumns+` FROM email
		WHERE workspace_id = $1 AND id = $2
		{for_update}`, ws, id)
}

// updateEmails writes what follows from the recipients; the rows are locked by the transaction.
func updateEmails(tx *db.Tx, emails ...*Email) error {
	rows := make([][]any, len(emails))
	for i, e := range emails {
		var failure any
		if e.Failure != nil {
			failure = db.JSON(e.Failure)
		}
		rows[i] = []any{e.Status, e.Delayed, failure, e.UpdatedAt, e.ScheduledAt, e.QueuedAt, e.SentAt, e.DeliveredAt, e.ExpiresAt, db.NullText(e.SentBy), e.Workspace, e.ID}
	}
	return tx.ExecEach(`
		UPDATE email SET status = $1, delayed = $2, failure = $3, updated_at = $4, scheduled_at = $5, queued_at = $6, sent_at = $7,
			delivered_at = $8, expires_at = $9, sending_node_id = $10
		WHERE workspace_id = $11 AND id = $12`, rows)
}

func insertContents(tx *db.Tx, all []acceptance) error {
	var values []any
	for _, a := range all {
		c := a.content
		if a.contentBlob != "" {
			c = Content{Headers: c.Headers}
		}
		var raw []byte
		var rawBlob blob.Ref
		if a.posted != nil {
			raw, rawBlob = a.posted.raw, a.posted.blob
		}
		values = append(values, a.email.ID, a.email.Workspace, db.NullText(c.HTML), db.NullText(c.Text), db.JSON(c.Headers), db.NullText(a.contentBlob),
			raw, db.NullText(string(rawBlob)))
	}
	_, err := tx.InsertRows(`INSERT INTO email_content (email_id, workspace_id, html, text, headers, blob, raw, raw_blob)`, 8, values, ``)
	return err
}

// storedContent is what an email says as far as the database has it, and where the rest is.
type storedContent struct {
	Content
	blob blob.Ref // the whole content, if it is large
	// raw or rawBlob is the message itself, if it came ready made.
	raw     []byte
	rawBlob blob.Ref
	// forgotten means that its time is over.
	forgotten bool
}

func (c storedContent) readyMade() bool { return c.raw != nil || c.rawBlob != "" }

func selectContent(tx *db.Tx, ws space.ID, id ID) (storedContent, error) {
	return db.One(tx, func(s db.Scanner) (c storedContent, err error) {
		var headers, ref, rawRef string
		if err := s.Scan(db.Text(&c.HTML), db.Text(&c.Text), &headers, db.Text(&ref), &c.raw, db.Text(&rawRef)); err != nil {
			return c, err
		}
		c.blob, c.rawBlob, c.forgotten = blob.Ref(ref), blob.Ref(rawRef), headers == ""
		return c, db.FromJSON(headers, &c.Headers)
	}, `
		SELECT html, text, headers, blob, raw, raw_blob FROM email_content
		WHERE workspace_id = $1 AND email_id = $2`, ws, id)
}

func insertRecipients(tx *db.Tx, recipients []Recipient) error {
	values := make([]any, 0, 8*len(recipients))
	for _, r := range recipients {
		values = append(values, r.ID, r.Workspace, r.Email, r.Position, r.Kind, r.Address, r.State, r.ISP)
	}
	_, err := tx.InsertRows(`
		INSERT INTO email_recipient (id, workspace_id, email_id, position, kind, address, state, isp)`, 8, values, ``)
	return err
}

const recipientColumns = `id, workspace_id, email_id, position, kind, address, state, attempts, soft_bounces, isp, smtp_code,
	enhanced_code, response, bounce, delay_told_at, unnamed_since, delivered_at, next_attempt_at, taken_at`

func scanRecipient(s db.Scanner) (Recipient, error) {
	var r Recipient
	var bounce string
	var code *int
	err := s.Scan(&r.ID, &r.Workspace, &r.Email, &r.Position, &r.Kind, &r.Address, &r.State, &r.Attempts, &r.SoftBounces, db.Text(&r.ISP), &code,
		db.Text(&r.Enhanced), db.Text(&r.Response), db.Text(&bounce), db.Time(&r.DelayToldAt), db.Time(&r.UnnamedSince),
		db.Time(&r.DeliveredAt), db.Time(&r.NextAttemptAt), db.Time(&r.TakenAt))
	if err != nil {
		return r, err
	}
	if code != nil {
		r.SMTPCode = *code
	}
	return r, db.FromJSON(bounce, &r.Bounce)
}

// selectRecipientsByID serves delivery, which works across workspaces.
func selectRecipientsByID(tx *db.Tx, ids []string) ([]Recipient, error) {
	return db.All(tx, scanRecipient, `
		SELECT `+recipientColumns+` FROM email_recipient
		WHERE id {in $1}`, ids)
}

func selectRecipients(tx *db.Tx, ws space.ID, id ID) ([]Recipient, error) {
	return db.All(tx, scanRecipient, `
		SELECT `+recipientColumns+` FROM email_recipient
		WHERE workspace_id = $1 AND email_id = $2
		ORDER BY position`, ws, id)
}

type recipientState struct {
	email ID
	state State
}

// selectStates serves delivery, which works across workspaces.
func selectStates(tx *db.Tx, emails []ID) ([]recipientState, error) {
	return db.All(tx, func(s db.Scanner) (r recipientState, err error) {
		err = s.Scan(&r.email, &r.state)
		return r, err
	}, `
		SELECT email_id, state FROM email_recipient
		WHERE email_id {in $1}`, emails)
}

// updateRecipients writes recipients whose emails the transaction has locked.
func updateRecipients(tx *db.Tx, recipients []*Recipient) error {
	rows := make([][]any, len(recipients))
	for i, r := range recipients {
		var bounce, code any
		if r.Bounce != nil {
			bounce = db.JSON(r.Bounce)
		}
		if r.SMTPCode != 0 {
			code = r.SMTPCode
		}
		rows[i] = []any{r.State, r.Attempts, r.SoftBounces, code, db.NullText(r.Enhanced), db.NullText(r.Response), bounce, r.DelayToldAt,
			r.UnnamedSince, r.DeliveredAt, r.NextAttemptAt, r.TakenAt, r.ISP, r.Workspace, r.ID}
	}
	return tx.ExecEach(`
		UPDATE email_recipient SET state = $1, attempts = $2, soft_bounces = $3, smtp_code = $4, enhanced_code = $5, response = $6,
			bounce = $7, delay_told_at = $8, unnamed_since = $9, delivered_at = $10, next_attempt_at = $11, taken_at = $12, isp = $13
		WHERE workspace_id = $14 AND id = $15`, rows)
}

func insertAttachments(tx *db.Tx, e Email, attachments []Attachment) error {
	values := make([]any, 0, 10*len(attachments))
	for i, a := range attachments {
		values = append(values, a.ID, e.Workspace, e.ID, i, a.Filename, a.ContentType, db.NullText(a.ContentID), a.Inline, a.SizeBytes, a.Blob)
	}
	_, err := tx.InsertRows(`
		INSERT INTO email_attachment (id, workspace_id, email_id, position, filename, content_type, content_id, inline, size_bytes, blob)`,
		10, values, ``)
	return err
}

func selectAttachments(tx *db.Tx, ws space.ID, id ID) ([]Attachment, error) {
	return db.All(tx, func(s db.Scanner) (a Attachment, err error) {
		err = s.Scan(&a.ID, &a.Filename, &a.ContentType, db.Text(&a.ContentID), &a.Inline, &a.SizeBytes, &a.Blob)
		return a, err
	}, `
		SELECT id, filename, content_type, content_id, inline, size_bytes, blob FROM email_attachment
		WHERE workspace_id = $1 AND email_id = $2
		ORDER BY position`, ws, id)
}

// insertAttempts may meet attempts that are there: the answer to a commit can be lost, and then it is tried again.
func insertAttempts(tx *db.Tx, rows []attemptRow) error {
	values := make([]any, 0, 12*len(rows))
	for _, row := range rows {
		r, a := row.recipient, row.attempt
		values = append(values, a.ID, r.Workspace, r.Email, r.ID, a.Number, r.Address, a.Outcome, a.Stage, a.StartedAt, a.FinishedAt, a.NextAt,
			db.JSON(a.AttemptDetails))
	}
	_, err := tx.InsertRows(`
		INSERT INTO email_attempt (id, workspace_id, email_id, recipient_id, number, recipient, outcome, stage, started_at,
			finished_at, next_at, details)`, 12, values, `ON CONFLICT (id) DO NOTHING`)
	return err
}

type storedAttempt struct {
	Attempt
	recipient string
}

func selectAttempts(tx *db.Tx, ws space.ID, id ID, recipients []string, part db.Keyset, limit, offset int) ([]storedAttempt, error) {
	condition, args := part.Where("workspace_id = $1 AND email_id = $2 AND ($3 = 0 OR recipient {in $4})",
		[]any{ws, id, len(recipients), recipients, limit, offset}, "started_at", "id")
	return db.All(tx, func(s db.Scanner) (a storedAttempt, err error) {
		var details string
		if err := s.Scan(&a.ID, &a.Number, &a.recipient, &a.Outcome, &a.Stage, db.Time(&a.StartedAt), db.Time(&a.FinishedAt), db.Time(&a.NextAt),
			&details); err != nil {
			return a, err
		}
		return a, json.Unmarshal([]byte(details), &a.AttemptDetails)
	}, `
		SELECT id, number, recipient, outcome, stage, started_at, finished_at, next_at, details FROM email_attempt
		WHERE `+condition+`
		ORDER BY `+part.Order("started_at", "id")+`
		LIMIT $5 OFFSET $6`, args...)
}

func selectAttemptStart(tx *db.Tx, ws space.ID, id ID, attempt string) (time.Time, error) {
	return db.One(tx, db.Moment, `
		SELECT started_at FROM email_attempt
		WHERE workspace_id = $1 AND email_id = $2 AND id = $3`, ws, id, attempt)
}

func countAttempts(tx *db.Tx, ws space.ID, id ID, recipients []string) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM email_attempt
		WHERE workspace_id = $1 AND email_id = $2 AND ($3 = 0 OR recipient {in $4})`, ws, id, len(recipients), recipients)
}

func cancelRecipients(tx *db.Tx, ws space.ID, id ID) error {
	_, err := tx.Exec(`
		UPDATE email_recipient SET state = 'cancelled'
		WHERE workspace_id = $1 AND email_id = $2 AND state = 'scheduled'`, ws, id)
	return err
}

// selectReferenced looks across workspaces: equal contents are one blob.
func selectReferenced(tx *db.Tx, refs []blob.Ref) ([]blob.Ref, error) {
	return db.All(tx, db.Value[blob.Ref], `
		SELECT blob FROM email_attachment
		WHERE blob {in $1}
		UNION
		SELECT blob FROM email_content
		WHERE blob {in $1}
		UNION
		SELECT raw_blob FROM email_content
		WHERE raw_blob {in $1}`, refs)
}

func selectScheduledFrom(tx *db.Tx, ws space.ID, from domain.ID, limit int) ([]resource, error) {
	return db.All(tx, func(s db.Scanner) (r resource, err error) {
		r.Type = "email"
		err = s.Scan(&r.ID)
		return r, err
	}, `
		SELECT id FROM email
		WHERE workspace_id = $1 AND domain_id = $2 AND status = 'scheduled'
		ORDER BY id
		LIMIT $3`, ws, from, limit)
}
