package broadcast

import (
	"encoding/json"
	"errors"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience"
)

const columns = `id, workspace_id, name, status, list_id, segment_id, topic_id, sender, reply_to, subject, preview_text, html, text, template_id,
	template_version, variables, tags, track_opens, track_clicks, throttle, sending_window, created_by, api_key_id, test, failure, work, place, ceiling,
	next_at, scheduled_at, queued_at, started_at, expanded_at, handed_at, paused_at, sent_at, cancelled_at, created_at, updated_at`

func scan(s db.Scanner) (b Broadcast, err error) {
	var replyTo, variables, tags, window, failure string
	err = s.Scan(&b.ID, &b.Workspace, &b.Name, &b.Status, db.Text(&b.Target.List), db.Text(&b.Target.Segment), db.Text(&b.Target.Topic), &b.From, &replyTo,
		&b.Subject, &b.PreviewText, &b.HTML, &b.Text, db.Text(&b.Template), &b.TemplateVersion, &variables, &tags, &b.TrackOpens, &b.TrackClicks, &b.Throttle,
		&window, db.Text(&b.CreatedBy), db.Text(&b.KeyID), &b.Test, db.Text(&failure), db.Text(&b.work), &b.place, &b.ceiling, db.Time(&b.nextAt),
		db.Time(&b.ScheduledAt), db.Time(&b.QueuedAt), db.Time(&b.StartedAt), db.Time(&b.ExpandedAt), db.Time(&b.HandedAt), db.Time(&b.PausedAt),
		db.Time(&b.SentAt), db.Time(&b.CancelledAt), db.Time(&b.CreatedAt), db.Time(&b.UpdatedAt))
	if err != nil {
		return b, err
	}
	if failure != "" {
		err = json.Unmarshal([]byte(failure), &b.Failure)
	}
	return b, errors.Join(err, json.Unmarshal([]byte(replyTo), &b.ReplyTo), json.Unmarshal([]byte(variables), &b.Variables),
		json.Unmarshal([]byte(tags), &b.Tags), json.Unmarshal([]byte(window), &b.Window))
}

// values are what is stored of a broadcast, in the order of columns, with the text that searches look through after the name.
func (b Broadcast) values() []any {
	var failure any
	if b.Failure != nil {
		failure = db.JSON(b.Failure)
	}
	return []any{b.ID, b.Workspace, b.Name, strings.ToLower(b.Name + "\n" + b.Subject), b.Status, db.NullText(b.Target.List), db.NullText(b.Target.Segment),
		db.NullText(b.Target.Topic), b.From, db.JSON(b.ReplyTo), b.Subject, b.PreviewText, b.HTML, b.Text, db.NullText(b.Template), b.TemplateVersion,
		db.JSON(b.Variables), db.JSON(b.Tags), b.TrackOpens, b.TrackClicks, b.Throttle, db.JSON(b.Window), db.NullText(b.CreatedBy), db.NullText(b.KeyID),
		b.Test, failure, db.NullText(b.work), b.place, b.ceiling, b.nextAt, b.ScheduledAt, b.QueuedAt, b.StartedAt, b.ExpandedAt, b.HandedAt, b.PausedAt,
		b.SentAt, b.CancelledAt, b.CreatedAt, b.UpdatedAt}
}

func insert(tx *db.Tx, b Broadcast) error {
	_, err := tx.InsertRows(`
		INSERT INTO broadcast (id, workspace_id, name, search, status, list_id, segment_id, topic_id, sender, reply_to, subject, preview_text, html, text,
			template_id, template_version, variables, tags, track_opens, track_clicks, throttle, sending_window, created_by, api_key_id, test, failure, work,
			place, ceiling, next_at, scheduled_at, queued_at, started_at, expanded_at, handed_at, paused_at, sent_at, cancelled_at, created_at, updated_at)`,
		40, b.values(), ``)
	return err
}

// update writes a broadcast that the transaction has locked.
func update(tx *db.Tx, b Broadcast) error {
	_, err := tx.Exec(`
		UPDATE broadcast SET name = $3, search = $4, status = $5, list_id = $6, segment_id = $7, topic_id = $8, sender = $9, reply_to = $10, subject = $11,
			preview_text = $12, html = $13, text = $14, template_id = $15, template_version = $16, variables = $17, tags = $18, track_opens = $19,
			track_clicks = $20, throttle = $21, sending_window = $22, created_by = $23, api_key_id = $24, test = $25, failure = $26, work = $27,
			place = $28, ceiling = $29, next_at = $30, scheduled_at = $31, queued_at = $32, started_at = $33, expanded_at = $34, handed_at = $35,
			paused_at = $36, sent_at = $37, cancelled_at = $38, created_at = $39, updated_at = $40
		WHERE id = $1 AND workspace_id = $2`, b.values()...)
	return err
}

// updateProgress writes what changes page by page of a broadcast that the transaction has locked: its message is large.
func updateProgress(tx *db.Tx, b Broadcast) error {
	var failure any
	if b.Failure != nil {
		failure = db.JSON(b.Failure)
	}
	_, err := tx.Exec(`
		UPDATE broadcast SET status = $3, failure = $4, work = $5, place = $6, ceiling = $7, next_at = $8, started_at = $9, expanded_at = $10,
			handed_at = $11, paused_at = $12, sent_at = $13, cancelled_at = $14, updated_at = $15
		WHERE workspace_id = $1 AND id = $2`, b.Workspace, b.ID, b.Status, failure, db.NullText(b.work), b.place, b.ceiling, b.nextAt, b.StartedAt,
		b.ExpandedAt, b.HandedAt, b.PausedAt, b.SentAt, b.CancelledAt, b.UpdatedAt)
	return err
}

func find(tx *db.Tx, ws space.ID, id string) (b Broadcast, err error) {
	if !api.IsID(id) {
		return b, ErrNotFound
	}
	b, err = db.One(tx, scan, `
		SELECT `+columns+` FROM broadcast
		WHERE workspace_id = $1 AND id = $2 AND status <> 'deleting'`, ws, id)
	return b, db.OrMissing(err, ErrNotFound)
}

func lock(tx *db.Tx, ws space.ID, id string) (b Broadcast, err error) {
	if !api.IsID(id) {
		return b, ErrNotFound
	}
	b, err = db.One(tx, scan, `
		SELECT `+columns+` FROM broadcast
		WHERE workspace_id = $1 AND id = $2 AND status <> 'deleting'
		{for_update}`, ws, id)
	return b, db.OrMissing(err, ErrNotFound)
}

// selectForWork and lockForWork serve the worker and the follower, which work across workspaces.
func selectForWork(tx *db.Tx, id ID) (Broadcast, error) {
	return db.One(tx, scan, `
		SELECT `+columns+` FROM broadcast
		WHERE id = $1`, id)
}

func lockForWork(tx *db.Tx, ids []ID) ([]Broadcast, error) {
	return db.All(tx, scan, `
		SELECT `+columns+` FROM broadcast
		WHERE id {in $1}
		ORDER BY id
		{for_update}`, ids)
}

// remove deletes a broadcast whose recipients are gone, with all else that is known of it.
func remove(tx *db.Tx, b Broadcast) error {
	for _, text := range []string{`
		DELETE FROM broadcast_link
		WHERE broadcast_id = $1`, `
		DELETE FROM broadcast_part
		WHERE broadcast_id = $1`, `
		DELETE FROM broadcast_count
		WHERE broadcast_id = $1`, `
		DELETE FROM broadcast
		WHERE id = $1`} {
		if _, err := tx.Exec(text, b.ID); err != nil {
			return err
		}
	}
	return nil
}

const maxUses = 20

func selectUses(tx *db.Tx, ws space.ID, id string) ([]audience.Use, error) {
	return db.All(tx, func(s db.Scanner) (u audience.Use, err error) {
		u.Type = "broadcast"
		err = s.Scan(&u.ID)
		return u, err
	}, `
		SELECT id FROM broadcast
		WHERE workspace_id = $1 AND status IN ('scheduled', 'queued', 'sending') AND handed_at IS NULL AND (list_id = $2 OR segment_id = $2 OR topic_id = $2)
		ORDER BY id
		LIMIT $3`, ws, id, maxUses)
}
