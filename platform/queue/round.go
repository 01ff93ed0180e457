package queue

import (
	"context"
	"errors"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Round visits workspaces one after the other, over and over. It belongs to one worker.
type Round struct {
	at space.ID // visited last
}

// beforeAll comes before every workspace.
const beforeAll space.ID = "00000000-0000-0000-0000-000000000000"

// Step visits a workspace in a transaction. next returns the first after another, or db.ErrNotFound after the last; visit does some of its
// work, and tells whether to come again at once. The step ends with false when all were visited.
func (r *Round) Step(
	ctx context.Context,
	d *db.DB,
	next func(tx *db.Tx, after space.ID) (space.ID, error),
	visit func(tx *db.Tx, ws space.ID) (more bool, err error),
) (busy bool, err error) {
	after := r.at
	if after == "" {
		after = beforeAll
	}
	var ws space.ID
	var over, more bool
	err = d.Write(ctx, func(tx *db.Tx) (err error) {
		ws, err = next(tx, after)
		if over = errors.Is(err, db.ErrNotFound); over {
			return nil
		}
		if err != nil {
			return err
		}
		more, err = visit(tx, ws)
		return err
	})
	switch {
	case err != nil:
		return false, err
	case over:
		r.at = ""
	case !more:
		r.at = ws
	}
	return !over, nil
}
