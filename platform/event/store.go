package event

import (
	"errors"
	"math"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

func insert(tx *db.Tx, events []Event) error {
	values := make([]any, 0, 9*len(events))
	for _, e := range events {
		data := string(e.Data)
		if data == "" {
			data = "{}"
		}
		values = append(values, e.ID, e.Workspace, e.Type, e.Subject, db.NullText(e.Domain), db.NullText(e.Tenant),
			db.NullText(e.Recipient), e.OccurredAt, data)
	}
	_, err := tx.InsertRows(`
		INSERT INTO event (id, workspace_id, type, subject_id, domain_id, tenant_id, recipient, occurred_at, data)`, 9, values, ``)
	return err
}

const columns = `id, workspace_id, type, subject_id, domain_id, tenant_id, recipient, occurred_at, data, tx_id, seq`

func scanEvent(s db.Scanner) (Event, error) {
	var e Event
	var data string
	err := s.Scan(&e.ID, &e.Workspace, &e.Type, &e.Subject, db.Text(&e.Domain), db.Text(&e.Tenant), db.Text(&e.Recipient),
		db.Time(&e.OccurredAt), &data, &e.position.txID, &e.position.seq)
	e.Data = []byte(data)
	return e, err
}

func selectNewest(tx *db.Tx) (int64, error) {
	return db.One(tx, db.Value[int64], `SELECT COALESCE(MAX(seq), 0) FROM event`)
}

func selectSubject(tx *db.Tx, ws space.ID, subject string, recipients []string, part db.Keyset, limit, offset int) ([]Event, error) {
	condition, args := part.Where("workspace_id = $1 AND subject_id = $2 AND ($3 = 0 OR recipient {in $4})",
		[]any{ws, subject, len(recipients), recipients, limit, offset}, "seq")
	return db.All(tx, scanEvent, `
		SELECT `+columns+` FROM event
		WHERE `+condition+`
		ORDER BY `+part.Order("seq")+`
		LIMIT $5 OFFSET $6`, args...)
}

func selectOwners(tx *db.Tx, subjects []string) ([]Owner, error) {
	return db.All(tx, func(s db.Scanner) (o Owner, err error) {
		err = s.Scan(&o.Workspace, &o.Subject, db.Text(&o.Domain), db.Text(&o.Tenant))
		return o, err
	}, `
		SELECT DISTINCT workspace_id, subject_id, domain_id, tenant_id FROM event
		WHERE subject_id {in $1}`, subjects)
}

func selectSeq(tx *db.Tx, ws space.ID, subject, id string) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT seq FROM event
		WHERE workspace_id = $1 AND subject_id = $2 AND id = $3`, ws, subject, id)
}

func hasOfType(tx *db.Tx, ws space.ID, subject, recipient, kind string) (bool, error) {
	return db.One(tx, db.Value[bool], `
		SELECT EXISTS (SELECT 1 FROM event
			WHERE workspace_id = $1 AND subject_id = $2 AND recipient = $3 AND type = $4)`, ws, subject, recipient, kind)
}

// selectAfter reads across workspaces: followers serve all of them. The comparison of pairs is written out in two halves, because
// SQLite would use the index for tx_id alone, which is the same in all its rows.
func selectAfter(tx *db.Tx, at position, horizon int64, limit int) ([]Event, error) {
	return db.All(tx, scanEvent, `
		SELECT `+columns+` FROM (
			SELECT `+columns+` FROM event
			WHERE tx_id = $1 AND seq > $2 AND tx_id < $3
			ORDER BY seq
			LIMIT $4) AS same
		UNION ALL
		SELECT `+columns+` FROM (
			SELECT `+columns+` FROM event
			WHERE tx_id > $1 AND tx_id < $3
			ORDER BY tx_id, seq
			LIMIT $4) AS later
		ORDER BY tx_id, seq
		LIMIT $4`, at.txID, at.seq, horizon, limit)
}

// queryAfter has an order although none is needed: without it PostgreSQL expects to meet a later event soon in the whole table, and
// reads all of it when there is none.
const queryAfter = `
		SELECT seq FROM (
			SELECT seq FROM event
			WHERE tx_id = $1 AND seq > $2
			ORDER BY seq
			LIMIT 1) AS same
		UNION ALL
		SELECT seq FROM (
			SELECT seq FROM event
			WHERE tx_id > $1
			ORDER BY tx_id, seq
			LIMIT 1) AS later`

// hasAfter may see what is still beyond the horizon; the step that follows will not.
func hasAfter(tx *db.Tx, at position) (bool, error) {
	found, err := db.All(tx, db.Value[int64], queryAfter, at.txID, at.seq)
	return len(found) > 0, err
}

// selectOf reads the events of one workspace between two places.
func selectOf(tx *db.Tx, ws space.ID, at, end position, limit int) ([]Event, error) {
	return db.All(tx, scanEvent, `
		SELECT `+columns+` FROM (
			SELECT `+columns+` FROM event
			WHERE workspace_id = $1 AND tx_id = $2 AND seq > $3 AND (tx_id, seq) <= ($4, $5)
			ORDER BY seq
			LIMIT $6) AS same
		UNION ALL
		SELECT `+columns+` FROM (
			SELECT `+columns+` FROM event
			WHERE workspace_id = $1 AND tx_id > $2 AND (tx_id, seq) <= ($4, $5)
			ORDER BY tx_id, seq
			LIMIT $6) AS later
		ORDER BY tx_id, seq
		LIMIT $6`, ws, at.txID, at.seq, end.txID, end.seq, limit)
}

// lastBefore returns the newest place below the horizon.
func lastBefore(tx *db.Tx, horizon int64) (last position, found bool, err error) {
	rows, err := db.All(tx, scanPosition, `
		SELECT tx_id, seq FROM event
		WHERE tx_id < $1
		ORDER BY tx_id DESC, seq DESC
		LIMIT 1`, horizon)
	if err != nil || len(rows) == 0 {
		return position{}, false, err
	}
	return rows[0], true, nil
}

func scanPosition(s db.Scanner) (position, error) {
	var p position
	err := s.Scan(&p.txID, &p.seq)
	return p, err
}

// place is where a follower stands, and how often facts had been taken out of events when it was read.
type place struct {
	position
	redactions int64
}

func scanPlace(s db.Scanner) (place, error) {
	var p place
	err := s.Scan(&p.txID, &p.seq, &p.redactions)
	return p, err
}

// unplaced is where a follower stands that has handled nothing yet: it does not know what was taken out of events.
var unplaced = place{beginning, -1}

func readPlace(tx *db.Tx, name string) (place, error) {
	p, err := db.One(tx, scanPlace, `SELECT tx_id, seq, redactions FROM event_follower WHERE name = $1`, name)
	if errors.Is(err, db.ErrNotFound) {
		return unplaced, nil
	}
	return p, err
}

// beginning is before every event; those from before a Rebase have negative transaction ids.
var beginning = position{txID: math.MinInt64}

// lockPlace makes this transaction the only one that moves the follower, and lets nobody take facts out of events before it has ended. free is
// false if another node is at it, or facts are being taken out.
func lockPlace(tx *db.Tx, name string, known place) (at place, free bool, err error) {
	if known == unplaced {
		if err := insertPlace(tx, name); err != nil {
			return place{}, false, err
		}
	}
	at, err = db.One(tx, scanPlace, `SELECT tx_id, seq, redactions FROM event_follower WHERE name = $1 {skip_locked}`, name)
	if errors.Is(err, db.ErrNotFound) {
		return place{}, false, nil
	}
	return at, err == nil, err
}

// insertPlace gives a new follower a place. Whoever takes facts out of events now waits, and then finds it.
func insertPlace(tx *db.Tx, name string) error {
	redactions, err := countRedactions(tx, 0)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`
		INSERT INTO event_follower (name, tx_id, seq, redactions)
		VALUES ($1, $2, 0, $3)
		ON CONFLICT DO NOTHING`, name, beginning.txID, redactions)
	return err
}

// countRedactions counts more times that facts are taken out of events, and returns how many there were. It locks the counter, which stands
// in one row.
func countRedactions(tx *db.Tx, more int64) (int64, error) {
	return db.One(tx, db.Value[int64], `
		INSERT INTO event_redaction (one, redactions)
		VALUES (1, $1)
		ON CONFLICT (one) DO UPDATE
		SET redactions = event_redaction.redactions + excluded.redactions
		RETURNING redactions`, more)
}

// holdFollowers waits for the followers that are writing, lets no other write before the transaction has ended, and tells all of them how often
// facts were taken out of events.
func holdFollowers(tx *db.Tx, redactions int64) error {
	_, err := tx.Exec(`
		WITH held AS (
			SELECT name FROM event_follower
			ORDER BY name
			{for_update})
		UPDATE event_follower SET redactions = $1
		WHERE name IN (SELECT name FROM held)`, redactions)
	return err
}

func movePosition(tx *db.Tx, name string, to position) error {
	_, err := tx.Exec(`UPDATE event_follower SET tx_id = $1, seq = $2 WHERE name = $3`, to.txID, to.seq, name)
	return err
}

// queryCount has an order for the same reason as queryAfter.
const queryCount = `
		SELECT COUNT(*) FROM (
			SELECT seq FROM (
				SELECT seq FROM event
				WHERE tx_id = $1 AND seq > $2
				ORDER BY seq
				LIMIT $3) AS same
			UNION ALL
			SELECT seq FROM (
				SELECT seq FROM event
				WHERE tx_id > $1
				ORDER BY tx_id, seq
				LIMIT $3) AS later
			LIMIT $3) AS open`

func countAfter(tx *db.Tx, at position, most int) (int64, error) {
	return db.One(tx, db.Value[int64], queryCount, at.txID, at.seq, most)
}

// countWanted counts the events of some types among the next ones, of which it looks at a bounded number.
func countWanted(tx *db.Tx, at position, types []string, most int) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM (
			SELECT type FROM (
				SELECT type FROM event
				WHERE tx_id = $1 AND seq > $2
				ORDER BY seq
				LIMIT $3) AS same
			UNION ALL
			SELECT type FROM (
				SELECT type FROM event
				WHERE tx_id > $1
				ORDER BY tx_id, seq
				LIMIT $3) AS later
			LIMIT $3) AS open
		WHERE type {in $4}`, at.txID, at.seq, most, types)
}

// newestTransaction returns the highest transaction id that an event or a follower knows.
func newestTransaction(tx *db.Tx) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COALESCE(MAX(newest), 0) FROM (
			SELECT MAX(tx_id) AS newest FROM event
			UNION ALL
			SELECT MAX(tx_id) FROM event_follower) AS known`)
}

// shiftTransactions lowers all transaction ids; a follower that has seen nothing stays at the beginning.
func shiftTransactions(tx *db.Tx, by int64) error {
	if _, err := tx.Exec(`UPDATE event SET tx_id = tx_id - $1`, by); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE event_follower SET tx_id = tx_id - $1 WHERE tx_id > $2`, by, beginning.txID)
	return err
}

// updateRedacted leaves alone what has no facts any more.
func updateRedacted(tx *db.Tx, ws space.ID, subjects []string, recipient string, before time.Time) ([]string, error) {
	return db.All(tx, db.Value[string], `
		UPDATE event SET recipient = NULL, data = '{}'
		WHERE subject_id {in $1} AND workspace_id = $2 AND (recipient IS NULL OR recipient = $3) AND occurred_at < $4
			AND (recipient IS NOT NULL OR data <> '{}')
		RETURNING id`, subjects, ws, recipient, before)
}
