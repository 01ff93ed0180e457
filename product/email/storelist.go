package email

import (
	"fmt"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// selectPage reads one row more than the page has, to know whether another follows. Filters are arguments, never text.
func selectPage(tx *db.Tx, ws space.ID, q listQuery, place *api.Cursor) ([]Email, error) {
	where := []string{"workspace_id = $1"}
	args := []any{ws}
	add := func(condition string, value any) {
		args = append(args, value)
		where = append(where, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(args))))
	}
	if len(q.Status) > 0 {
		add("status {in ?}", q.Status)
	}
	if q.Domain != "" {
		if _, err := space.Parse(q.Domain); err == nil {
			add("domain_id = ?", q.Domain)
		} else {
			add("sender_domain = ?", strings.ToLower(q.Domain))
		}
	}
	if q.Search != "" {
		add(`search LIKE ? ESCAPE '\'`, db.Contains(q.Search))
	}
	if q.To != "" {
		add(`EXISTS (
			SELECT 1 FROM email_recipient
			WHERE email_recipient.email_id = email.id AND LOWER(address) LIKE ? ESCAPE '\')`, db.Contains(q.To))
	}
	if q.From != "" {
		add(`LOWER(sender) LIKE ? ESCAPE '\'`, db.Contains(q.From))
	}
	if name, value, ok := strings.Cut(q.Tag, ":"); ok {
		add(`REPLACE(tags, ?, '') <> tags`, encode(Tag{name, value})) // unlike LIKE, it minds the case on both engines
	}
	if !q.Since.IsZero() {
		add("created_at >= ?", q.Since)
	}
	if !q.Until.IsZero() {
		add("created_at < ?", q.Until)
	}
	ascending := (q.Order == "asc") != (q.Before != "")
	order, beyond := "DESC", "<"
	if ascending {
		order, beyond = "ASC", ">"
	}
	if place != nil {
		args = append(args, place.At, place.ID)
		where = append(where, fmt.Sprintf("(created_at, id) %s ($%d, $%d)", beyond, len(args)-1, len(args)))
	}
	args = append(args, q.Limit+1)
	return db.All(tx, scanEmail, fmt.Sprintf(`
		SELECT `+emailColumns+` FROM email
		WHERE %s
		ORDER BY created_at %s, id %s
		LIMIT $%d`, strings.Join(where, " AND "), order, order, len(args)), args...)
}
