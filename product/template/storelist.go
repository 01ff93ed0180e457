package template

import (
	"fmt"

	"postrider/platform/db"
	"postrider/platform/space"
)

// selectPage returns a page of templates, newest first, without their sources, and one more if there are more.
func selectPage(tx *db.Tx, ws space.ID, q listQuery, place *Template) ([]Template, error) {
	condition, args := q.where(ws)
	order := "created_at DESC, id DESC"
	if place != nil {
		comparison := "<"
		if q.Before != "" {
			comparison, order = ">", "created_at, id"
		}
		args = append(args, place.CreatedAt, place.ID)
		condition += fmt.Sprintf(" AND (created_at, id) %s ($%d, $%d)", comparison, len(args)-1, len(args))
	}
	args = append(args, q.Limit+1, q.Offset)
	return db.All(tx, scanTemplate, fmt.Sprintf(`
		SELECT `+columns+` FROM template
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, condition, order, len(args)-1, len(args)), args...)
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
