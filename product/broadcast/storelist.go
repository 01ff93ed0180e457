package broadcast

import (
	"fmt"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// conditions grow with the filters of a list. Filters are arguments, never text.
type conditions struct {
	where []string
	args  []any
}

func (c *conditions) add(condition string, value any) {
	c.args = append(c.args, value)
	c.where = append(c.where, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(c.args))))
}

func (c *conditions) text() string { return strings.Join(c.where, " AND ") }

// keepTo leaves the rows of a part, which the columns order.
func (c *conditions) keepTo(part db.Keyset, columns ...string) {
	text, args := part.Where(c.text(), c.args, columns...)
	c.where, c.args = []string{text}, args
}

// argument returns the place of another argument.
func (c *conditions) argument(value any) string {
	c.args = append(c.args, value)
	return fmt.Sprintf("$%d", len(c.args))
}

func (q listQuery) conditions(ws space.ID) *conditions {
	c := &conditions{}
	c.add("workspace_id = ? AND status <> 'deleting'", ws)
	if len(q.Status) > 0 {
		c.add("status {in ?}", q.Status)
	}
	if len(q.Audience) > 0 {
		c.add("(list_id {in ?} OR segment_id {in ?})", q.Audience)
	}
	if len(q.Segment) > 0 {
		c.add("segment_id {in ?}", q.Segment)
	}
	if q.senders != nil {
		c.add("sender {in ?}", q.senders)
	}
	if q.Search != "" {
		c.add(`search LIKE ? ESCAPE '\'`, db.Contains(q.Search))
	}
	if !q.Since.IsZero() {
		c.add("created_at >= ?", q.Since)
	}
	if !q.Until.IsZero() {
		c.add("created_at < ?", q.Until)
	}
	return c
}

// selectPage returns the broadcasts of a page, and one more if there are more.
func selectPage(tx *db.Tx, ws space.ID, q listQuery, part db.Keyset) ([]Broadcast, error) {
	c := q.conditions(ws)
	c.keepTo(part, "created_at", "id")
	return db.All(tx, scan, db.Composed+`
		SELECT `+columns+` FROM broadcast
		WHERE `+c.text()+`
		ORDER BY `+part.Order("created_at", "id")+`
		LIMIT `+c.argument(q.Limit+1)+` OFFSET `+c.argument(q.Offset), c.args...)
}

func countPage(tx *db.Tx, ws space.ID, q listQuery) (int64, error) {
	c := q.conditions(ws)
	return db.One(tx, db.Value[int64], db.Composed+`
		SELECT COUNT(*) FROM broadcast
		WHERE `+c.text(), c.args...)
}

// selectSenders returns what the broadcasts of a workspace have as their senders.
func selectSenders(tx *db.Tx, ws space.ID) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT DISTINCT sender FROM broadcast
		WHERE workspace_id = $1`, ws)
}

// countByStatus counts the broadcasts that a query finds.
func countByStatus(tx *db.Tx, ws space.ID, q listQuery) (map[Status]int64, error) {
	c := q.conditions(ws)
	type row struct {
		status Status
		count  int64
	}
	rows, err := db.All(tx, func(s db.Scanner) (r row, err error) {
		err = s.Scan(&r.status, &r.count)
		return r, err
	}, db.Composed+`
		SELECT status, COUNT(*) FROM broadcast
		WHERE `+c.text()+`
		GROUP BY status`, c.args...)
	counts := map[Status]int64{}
	for _, r := range rows {
		counts[r.status] = r.count
	}
	return counts, err
}

// rosterQuery are the filters and the place of a page of recipients.
type rosterQuery struct {
	api.PageQuery
	states []string
	// opened and clicked ask for whoever did, whatever came after: a complaint is a state of its own.
	opened, clicked bool

	emails      []string // parts of addresses, one of which is enough
	bounceTypes []string
	reasons     []string
	failures    bool // only those that have a reason
}

func (q rosterQuery) conditions(b Broadcast) *conditions {
	c := &conditions{}
	c.add("broadcast_id = ?", b.ID)
	if len(q.states) > 0 {
		c.add(q.anyState(), q.states)
	}
	var parts []string
	for _, part := range q.emails {
		parts = append(parts, `address LIKE `+c.argument(db.Contains(part))+` ESCAPE '\'`)
	}
	if len(parts) > 0 {
		c.where = append(c.where, "("+strings.Join(parts, " OR ")+")")
	}
	if len(q.bounceTypes) > 0 {
		c.add("bounce_type {in ?}", q.bounceTypes)
	}
	if q.failures {
		c.where = append(c.where, "reason IS NOT NULL")
	}
	if len(q.reasons) > 0 {
		c.add("reason {in ?}", q.reasons)
	}
	return c
}

// anyState is the condition of rows in one of the states, or with what was asked for in their past.
func (q rosterQuery) anyState() string {
	switch {
	case q.opened:
		return "(state {in ?} OR opens > 0 OR clicks > 0)"
	case q.clicked:
		return "(state {in ?} OR clicks > 0)"
	}
	return "state {in ?}"
}

func selectRoster(tx *db.Tx, b Broadcast, q rosterQuery, part db.Keyset) ([]recipient, error) {
	c := q.conditions(b)
	c.keepTo(part, "contact")
	return db.All(tx, scanRecipient, db.Composed+`
		SELECT `+recipientColumns+` FROM broadcast_recipient
		WHERE `+c.text()+`
		ORDER BY `+part.Order("contact")+`
		LIMIT `+c.argument(q.Limit+1)+` OFFSET `+c.argument(q.Offset), c.args...)
}

// selectPlace returns the contact of a row.
func selectPlace(tx *db.Tx, id ID, row string) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT contact FROM broadcast_recipient
		WHERE broadcast_id = $1 AND id = $2`, id, row)
}

func countRoster(tx *db.Tx, b Broadcast, q rosterQuery) (int64, error) {
	c := q.conditions(b)
	return db.One(tx, db.Value[int64], db.Composed+`
		SELECT COUNT(*) FROM broadcast_recipient
		WHERE `+c.text(), c.args...)
}
