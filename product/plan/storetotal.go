package plan

import (
	"errors"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Total counts how many things of one kind a workspace has, for a plan that limits them. The table belongs to the slice whose
// things they are: a row a workspace, with the count in Column.
type Total struct{ Table, Column string }

// Up counts one more, unless that would pass the limit; nil is no limit. The condition is in the statement, so parallel creates
// cannot slip past it together.
func (t Total) Up(tx *db.Tx, ws space.ID, limit *int64) (bool, error) {
	most := mostOf(limit)
	if most < 1 { // the first row would not be compared
		return false, nil
	}
	n, err := tx.Exec(`
		INSERT INTO `+t.Table+` (workspace_id, `+t.Column+`)
		VALUES ($1, 1)
		ON CONFLICT (workspace_id) DO UPDATE
		SET `+t.Column+` = `+t.Table+`.`+t.Column+` + 1
		WHERE `+t.Table+`.`+t.Column+` < $2`, ws, most)
	return n == 1, err
}

// Down counts one less.
func (t Total) Down(tx *db.Tx, ws space.ID) error {
	_, err := tx.Exec(`
		UPDATE `+t.Table+` SET `+t.Column+` = `+t.Column+` - 1
		WHERE workspace_id = $1`, ws)
	return err
}

// Of returns how many there are.
func (t Total) Of(tx *db.Tx, ws space.ID) (int64, error) {
	count, err := db.One(tx, db.Value[int64], `
		SELECT `+t.Column+` FROM `+t.Table+`
		WHERE workspace_id = $1`, ws)
	if errors.Is(err, db.ErrNotFound) {
		return 0, nil
	}
	return count, err
}
