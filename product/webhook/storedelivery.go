package webhook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

func insertDeliveries(tx *db.Tx, deliveries []Delivery) error {
	values := make([]any, 0, 15*len(deliveries))
	for _, d := range deliveries {
		values = append(values, d.ID, d.Workspace, d.Webhook, d.EventID, d.EventType, d.URL, d.Status, d.Test, db.NullText(d.ReplayOf), d.Attempts,
			d.MaxAttempts, d.DueAt, d.CreatedAt, d.DeliveredAt, d.FailedAt)
	}
	_, err := tx.InsertRows(`
		INSERT INTO webhook_delivery (id, workspace_id, webhook_id, event_id, event_type, url, status, test, replay_of, attempts, max_attempts, due_at,
			created_at, delivered_at, failed_at)`, 15, values, ``)
	return err
}

// payload is what is posted about an event, and until when it is kept.
type payload struct {
	event     string
	workspace space.ID
	body      string
	expiresAt time.Time
}

func insertPayloads(tx *db.Tx, payloads []payload) error {
	values := make([]any, 0, 4*len(payloads))
	for _, p := range payloads {
		values = append(values, p.event, p.workspace, p.body, p.expiresAt)
	}
	_, err := tx.InsertRows(`INSERT INTO webhook_payload (event_id, workspace_id, body, expires_at)`, 4, values, ``)
	return err
}

// selectPayloads serves workers, which work across workspaces.
func selectPayloads(tx *db.Tx, events []string) (map[string]string, error) {
	bodies := make(map[string]string, len(events))
	_, err := db.All(tx, func(s db.Scanner) (none struct{}, err error) {
		var id, body string
		err = s.Scan(&id, &body)
		bodies[id] = body
		return none, err
	}, `
		SELECT event_id, body FROM webhook_payload
		WHERE event_id {in $1}`, events)
	return bodies, err
}

func keepPayload(tx *db.Tx, ws space.ID, event string, until time.Time) error {
	_, err := tx.Exec(`
		UPDATE webhook_payload SET expires_at = $1
		WHERE workspace_id = $2 AND event_id = $3 AND expires_at < $1`, until, ws, event)
	return err
}

const deliveryColumns = `d.id, d.workspace_id, d.webhook_id, d.event_id, d.event_type, d.url, d.status, d.test, d.replay_of, d.attempts, d.max_attempts,
	d.due_at, d.created_at, d.delivered_at, d.failed_at`

// shownColumns are those of whoever wants to know where a delivery goes: while it waits, to the address that its endpoint has now.
var shownColumns = strings.Replace(deliveryColumns, "d.url", `CASE WHEN d.due_at IS NULL THEN d.url ELSE
	COALESCE((SELECT w.url FROM webhook w WHERE {beside w.workspace_id} = d.workspace_id AND w.id = d.webhook_id), d.url) END`, 1)

func deliveryFields(d *Delivery) []any {
	return []any{&d.ID, &d.Workspace, &d.Webhook, &d.EventID, &d.EventType, &d.URL, &d.Status, &d.Test, db.Text(&d.ReplayOf), &d.Attempts, &d.MaxAttempts,
		db.Time(&d.DueAt), db.Time(&d.CreatedAt), db.Time(&d.DeliveredAt), db.Time(&d.FailedAt)}
}

func scanDelivery(s db.Scanner) (Delivery, error) {
	var d Delivery
	err := s.Scan(deliveryFields(&d)...)
	return d, err
}

// selectDue returns deliveries that wait for an attempt of the endpoint and are due, those that never had one first.
func selectDue(tx *db.Tx, id ID, limit int) ([]Delivery, error) {
	var due []Delivery
	for _, status := range []DeliveryStatus{Pending, Retrying} {
		if len(due) == limit {
			break
		}
		more, err := db.All(tx, scanDelivery, `
			SELECT `+deliveryColumns+` FROM webhook_delivery d
			WHERE d.webhook_id = $1 AND d.status = $2 AND d.due_at IS NOT NULL AND d.due_at <= $3
			ORDER BY d.due_at
			LIMIT $4`, id, status, tx.Now(), limit-len(due))
		if err != nil {
			return nil, err
		}
		due = append(due, more...)
	}
	return due, nil
}

// selectNextDue returns when the first delivery that waits for the endpoint is due; the zero time means none. Each status is asked
// for by itself: the index has the first of one at its beginning, but not that of both.
func selectNextDue(tx *db.Tx, id ID) (time.Time, error) {
	var next time.Time
	for _, status := range []DeliveryStatus{Pending, Retrying} {
		found, err := db.All(tx, db.Moment, `
			SELECT due_at FROM webhook_delivery
			WHERE webhook_id = $1 AND status = $2 AND due_at IS NOT NULL
			ORDER BY due_at
			LIMIT 1`, id, status)
		if err != nil {
			return time.Time{}, err
		}
		if len(found) > 0 && (next.IsZero() || found[0].Before(next)) {
			next = found[0]
		}
	}
	return next, nil
}

// markDelivered ends deliveries that the endpoint has taken, even if they were cancelled while they were on their way.
func markDelivered(tx *db.Tx, ids []DeliveryID) error {
	_, err := tx.Exec(`
		UPDATE webhook_delivery SET status = 'delivered', attempts = attempts + 1, due_at = NULL, delivered_at = $1, failed_at = NULL
		WHERE id {in $2} AND status <> 'delivered'`, tx.Now(), ids)
	return err
}

// markFailed writes an attempt that failed, and when the next one is due; the zero time means that there is none. An attempt that
// others have gone on from, because the process that made it had lost its lease, changes nothing.
func markFailed(tx *db.Tx, id DeliveryID, attempts int, status DeliveryStatus, due time.Time) error {
	var failedAt time.Time
	if status == Failed {
		failedAt = tx.Now()
	}
	_, err := tx.Exec(`
		UPDATE webhook_delivery SET status = $1, attempts = $2, due_at = $3, failed_at = $4
		WHERE id = $5 AND due_at IS NOT NULL AND attempts < $2`, status, attempts, due, failedAt, id)
	return err
}

// cancelDeliveries cancels up to limit of what waits for an endpoint. What is delivered in this moment, as nobody locks an endpoint that is
// deleted, stays so.
func cancelDeliveries(tx *db.Tx, of leftover, limit int) (int64, error) {
	return tx.Exec(`
		UPDATE webhook_delivery SET status = 'cancelled', due_at = NULL, failed_at = $1
		WHERE id IN (
			SELECT id FROM webhook_delivery
			WHERE {beside workspace_id} = $2 AND webhook_id = $3 AND due_at IS NOT NULL
			LIMIT $4) AND due_at IS NOT NULL`, tx.Now(), of.Workspace, of.Webhook, limit)
}

// markMoved writes where a delivery was posted to, if that is another address than when it was made.
func markMoved(tx *db.Tx, id DeliveryID, url string) error {
	_, err := tx.Exec(`
		UPDATE webhook_delivery SET url = $1
		WHERE id = $2`, url, id)
	return err
}

func selectDelivery(tx *db.Tx, ws space.ID, id DeliveryID) (Delivery, error) {
	return db.One(tx, scanDelivery, `
		SELECT `+shownColumns+` FROM webhook_delivery d
		WHERE d.workspace_id = $1 AND d.id = $2`, ws, id)
}

// selectOfEvents returns what was sent of some events, in order. They are few, and sorted here: asked for the order, SQLite would
// read all deliveries of the workspace in it.
func selectOfEvents(tx *db.Tx, ws space.ID, events []string) ([]Delivery, error) {
	found, err := db.All(tx, scanDelivery, `
		SELECT `+shownColumns+` FROM webhook_delivery d
		WHERE {beside d.workspace_id} = $1 AND d.event_id {in $2}`, ws, events)
	slices.SortFunc(found, func(a, b Delivery) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	return found, err
}

// selectPage returns the deliveries of a page with their last attempts, and one more if there are more.
func selectPage(tx *db.Tx, ws space.ID, q deliveryQuery, part db.Keyset) ([]deliveryRow, error) {
	text, args := q.page(ws, part)
	return db.All(tx, func(s db.Scanner) (row deliveryRow, err error) {
		err = s.Scan(append(deliveryFields(&row.Delivery), lastFields(&row.last)...)...)
		return row, err
	}, text, args...)
}

// page returns the statement of selectPage and its arguments.
func (q deliveryQuery) page(ws space.ID, part db.Keyset) (string, []any) {
	condition, args := q.where(ws)
	condition, args = part.Where(condition, args, "d.created_at", "d.id")
	args = append(args, q.Limit+1, q.Offset)
	return fmt.Sprintf(`
		SELECT `+shownColumns+`, `+lastColumns+` FROM webhook_delivery d
		LEFT JOIN webhook_attempt a ON a.delivery_id = d.id AND a.number = d.attempts
		WHERE `+condition+`
		ORDER BY `+part.Order("d.created_at", "d.id")+`
		LIMIT $%d OFFSET $%d`, len(args)-1, len(args)), args
}

// where returns the condition and its arguments. Filters are arguments, never text.
func (q deliveryQuery) where(ws space.ID) (string, []any) {
	workspace, webhook := "d.workspace_id", "d.webhook_id {in $%d}"
	var webhooks any = q.Webhook
	switch {
	case len(q.EventID) > 0: // an event has few deliveries, which are found by it alone
		workspace, webhook = "{beside d.workspace_id}", "{beside d.webhook_id} {in $%d}"
	case len(q.Webhook) == 1: // its deliveries lie in their order, as those of several do not
		webhook, webhooks = "d.webhook_id = $%d", q.Webhook[0]
		if !q.failedOnly() {
			workspace = "{beside d.workspace_id}"
		}
	}
	conditions, args := []string{workspace + " = $1"}, []any{ws}
	add := func(text string, value any) {
		args = append(args, value)
		conditions = append(conditions, fmt.Sprintf(text, len(args)))
	}
	if len(q.Webhook) > 0 {
		add(webhook, webhooks)
	}
	for _, filter := range []struct {
		column string
		values []string
	}{{"status", q.Status}, {"event_type", q.Event}, {"event_id", q.EventID}} {
		if len(filter.values) > 0 {
			add("d."+filter.column+" {in $%d}", filter.values)
		}
	}
	if q.failedOnly() {
		conditions = append(conditions, "d.failed_at IS NOT NULL") // lets the engine use the index of the few that failed
	}
	if !q.Since.IsZero() {
		add("d.created_at >= $%d", q.Since)
	}
	if !q.Until.IsZero() {
		add("d.created_at < $%d", q.Until)
	}
	return strings.Join(conditions, " AND "), args
}

// deleteExpired removes what nobody may look at any more: up to limit payloads with the deliveries and attempts of their events.
// What still waits for an attempt stays, and so does what a replay has just begun to keep for longer: the lock looks again.
func deleteExpired(tx *db.Tx, limit int) (int64, error) {
	events, err := db.All(tx, db.Value[string], `
		SELECT event_id FROM webhook_payload
		WHERE expires_at < $1 AND NOT EXISTS (
			SELECT 1 FROM webhook_delivery d
			WHERE d.event_id = webhook_payload.event_id AND d.due_at IS NOT NULL)
		ORDER BY expires_at
		LIMIT $2
		{for_update}`, tx.Now(), limit)
	if err != nil || len(events) == 0 {
		return 0, err
	}
	for _, statement := range []string{
		`DELETE FROM webhook_attempt WHERE delivery_id IN (SELECT id FROM webhook_delivery WHERE event_id {in $1})`,
		`DELETE FROM webhook_delivery WHERE event_id {in $1}`,
		`DELETE FROM webhook_payload WHERE event_id {in $1}`,
	} {
		if _, err := tx.Exec(statement, events); err != nil {
			return 0, err
		}
	}
	return int64(len(events)), nil
}

// redactPayloads leaves of payloads only that they were.
func redactPayloads(tx *db.Tx, ws space.ID, events []string) error {
	_, err := tx.Exec(`
		UPDATE webhook_payload SET body = '{"erased":true}'
		WHERE {beside workspace_id} = $1 AND event_id {in $2}`, ws, events)
	return err
}
