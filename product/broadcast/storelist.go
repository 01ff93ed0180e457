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

// argument returns the place of another argument.
func (c *conditions) argument(value any) string {
	c.args = append(c.args, value)
	return fmt.Sprintf("$%d", len(c.args))
}

func (q listQuery) conditions(ws space.ID) *conditions {
	c := &conditions{}
	c.add("workspace_id = ?", ws)
	if len(q.Status) > 0 {
		c.add("status {in ?}", q.Status)
	}
	if q.Audience != "" {
		c.add("(list_id = ? OR segment_id = ?)", q.Audience)
	}
	if q.Segment != "" {
		c.add("segment_id = ?", q.Segment)
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
func selectPage(tx *db.Tx, ws space.ID, q listQuery, place *Broadcast) ([]Broadcast, error) {
	c, order := q.conditions(ws), "created_at DESC, id DESC"
	if place != nil {
		comparison := "<"
		if q.Before != "" {
			comparison, order = ">", "created_at, id"
		}
		c.where = append(c.where, "(created_at, id) "+comparison+" ("+c.argument(place.CreatedAt)+", "+c.argument(place.ID)+")")
	}
	return db.All(tx, scan, db.Composed+`
		SELECT `+columns+` FROM broadcast
		WHERE `+c.text()+`
		ORDER BY `+order+`
		LIMIT `+c.argument(q.Limit+1)+` OFFSET `+c.argument(q.Offset), c.args...)
}

func countPage(tx *db.Tx, ws space.ID, q listQuery) (int64, error) {
	c := q.conditions(ws)
	return db.One(tx, db.Value[int64], db.Composed+`
		SELECT COUNT(*) FROM broadcast
		WHERE `+c.text(), c.args...)
}

func countByStatus(tx *db.Tx, ws space.ID) (map[Status]int64, error) {
	type row struct {
		status Status
		count  int64
	}
	rows, err := db.All(tx, func(s db.Scanner) (r row, err error) {
		err = s.Scan(&r.status, &r.count)
		return r, err
	}, `
		SELECT status, COUNT(*) FROM broadcast
		WHERE workspace_id = $1
		GROUP BY status`, ws)
	counts := map[Status]int64{}
	for _, r := range rows {
		counts[r.status] = r.count
	}
	return counts, err
}

// rosterQuery are the filters and the place of a page of recipients.
type rosterQuery struct {
	pageQuery
	states     []string
	email      string
	bounceType string
	reasons    []string
	failures   bool // only those that have a reason
}

func (q rosterQuery) conditions(b Broadcast) *conditions {
	c := &conditions{}
	c.add("broadcast_id = ?", b.ID)
	if len(q.states) > 0 {
		c.add("state {in ?}", q.states)
	}
	if q.email != "" {
		c.add(`address LIKE ? ESCAPE '\'`, db.Contains(q.email))
	}
	if q.bounceType != "" {
		c.add("bounce_type = ?", q.bounceType)
	}
	if q.failures {
		c.where = append(c.where, "reason IS NOT NULL")
	}
	if len(q.reasons) > 0 {
		c.add("reason {in ?}", q.reasons)
	}
	return c
}

func selectRoster(tx *db.Tx, b Broadcast, q rosterQuery) ([]recipient, error) {
	c, order := q.conditions(b), "contact DESC"
	if id := q.After + q.Before; id != "" {
		place, err := placeInRoster(tx, b, id)
		if err != nil {
			return nil, err
		}
		condition := "contact < ?"
		if q.Before != "" {
			condition, order = "contact > ?", "contact"
		}
		c.add(condition, place)
	}
	return db.All(tx, scanRecipient, db.Composed+`
		SELECT `+recipientColumns+` FROM broadcast_recipient
		WHERE `+c.text()+`
		ORDER BY `+order+`
		LIMIT `+c.argument(q.Limit+1)+` OFFSET `+c.argument(q.Offset), c.args...)
}

func placeInRoster(tx *db.Tx, b Broadcast, id string) (int64, error) {
	if !api.IsID(id) {
		return 0, api.ErrInvalidCursor
	}
	found, err := db.All(tx, db.Value[int64], `
		SELECT contact FROM broadcast_recipient
		WHERE broadcast_id = $1 AND id = $2`, b.ID, id)
	if err == nil && len(found) == 0 {
		err = api.ErrInvalidCursor
	}
	if err != nil {
		return 0, err
	}
	return found[0], nil
}

func countRoster(tx *db.Tx, b Broadcast, q rosterQuery) (int64, error) {
	c := q.conditions(b)
	return db.One(tx, db.Value[int64], db.Composed+`
		SELECT COUNT(*) FROM broadcast_recipient
		WHERE `+c.text(), c.args...)
}
