package template

import (
	"fmt"

	"postrider/platform/db"
	"postrider/platform/space"
)

// selectPage returns a page of templates without their sources, and one more if there are more.
func selectPage(tx *db.Tx, ws space.ID, q listQuery, part db.Keyset) ([]Template, error) {
	where, args := q.where(ws)
	where, args = part.Where(where, args, "created_at", "id")
	return db.All(tx, scanTemplate, fmt.Sprintf(`
		SELECT `+columns+` FROM template
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, where, part.Order("created_at", "id"), len(args)+1, len(args)+2), append(args, q.Limit+1, q.Offset)...)
}

func countTemplates(tx *db.Tx, ws space.ID, q listQuery) (int64, error) {
	condition, args := q.where(ws)
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM template
		WHERE `+condition, args...)
}

// where returns the condition and its arguments. Filters are arguments, never text.
func (q listQuery) where(ws space.ID) (string, []any) {
	condition, args := "workspace_id = $1 AND status {in $2}", []any{ws, q.Status}
	if q.Search != "" {
		args = append(args, db.Contains(q.Search))
		condition += fmt.Sprintf(` AND search LIKE $%d ESCAPE '\'`, len(args))
	}
	return condition, args
}
