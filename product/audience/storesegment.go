package audience

import (
	"encoding/json"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

var segments = shelf[Segment]{table: "segment", name: "name_folded", scan: scanSegment, missing: ErrSegmentNotFound,
	columns: `number, id, workspace_id, name, description, type, filter, contact_count, counted_at, created_at, updated_at`}

func scanSegment(s db.Scanner) (g Segment, err error) {
	var rules string
	err = s.Scan(&g.Number, &g.ID, &g.Workspace, &g.Name, db.Text(&g.Description), &g.Type, db.Text(&rules), &g.Contacts, db.Time(&g.CountedAt),
		db.Time(&g.CreatedAt), db.Time(&g.UpdatedAt))
	if rules != "" {
		g.Filter = json.RawMessage(rules)
	}
	return g, err
}

// insertSegment returns false if another segment has the name.
func insertSegment(tx *db.Tx, g Segment) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO segment (id, workspace_id, name, name_folded, description, type, filter, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (workspace_id, name_folded) DO NOTHING`,
		g.ID, g.Workspace, g.Name, filter.Fold(g.Name), db.NullText(g.Description), g.Type, db.NullText(string(g.Filter)), g.CreatedAt, g.UpdatedAt)
	return n == 1, err
}

func updateSegment(tx *db.Tx, g Segment) error {
	_, err := tx.Exec(`
		UPDATE segment SET name = $1, name_folded = $2, description = $3, type = $4, filter = $5, counted_at = $6, updated_at = $7
		WHERE workspace_id = $8 AND id = $9`,
		g.Name, filter.Fold(g.Name), db.NullText(g.Description), g.Type, db.NullText(string(g.Filter)), g.CountedAt, g.UpdatedAt, g.Workspace, g.ID)
	return err
}

// lockSegments keeps others from changing any segment of a workspace until the transaction ends.
func lockSegments(tx *db.Tx, ws space.ID) error {
	_, err := db.All(tx, db.Value[int64], `
		SELECT number FROM segment
		WHERE workspace_id = $1
		ORDER BY number
		{for_update}`, ws)
	return err
}

// updateCount keeps a count, unless the segment has changed since.
func updateCount(tx *db.Tx, g Segment) error {
	_, err := tx.Exec(`
		UPDATE segment SET contact_count = $1, counted_at = $2
		WHERE workspace_id = $3 AND id = $4 AND updated_at = $5`, g.Contacts, g.CountedAt, g.Workspace, g.ID, g.UpdatedAt)
	return err
}

// staleCount makes the next look at a segment count it.
func staleCount(tx *db.Tx, g Segment) error {
	_, err := tx.Exec(`
		UPDATE segment SET counted_at = NULL
		WHERE workspace_id = $1 AND id = $2`, g.Workspace, g.ID)
	return err
}

// countSegment counts those in a segment now.
func countSegment(tx *db.Tx, ws space.ID, g *filter.Segment) (int64, error) {
	w := &filter.Writer{Style: filter.Whole, Now: tx.Now(), Args: []any{ws}}
	condition := w.Segment(g)
	return db.One(tx, db.Value[int64], db.Composed+`
		SELECT COUNT(*) FROM contact
		WHERE workspace_id = $1 AND `+condition, w.Args...)
}

// placement is a contact that was put into a segment by hand, or taken out of it.
type placement struct {
	segment, contact int64
	excluded         bool
}

func scanPlacement(s db.Scanner) (p placement, err error) {
	err = s.Scan(&p.segment, &p.contact, &p.excluded)
	return p, err
}

// selectPlaced returns the placements of contacts that the caller has found in its workspace.
func selectPlaced(tx *db.Tx, contacts []int64) ([]placement, error) {
	return db.All(tx, scanPlacement, `
		SELECT segment, contact, excluded FROM segment_contact
		WHERE contact {in $1}
		ORDER BY segment, contact`, contacts)
}

func selectPlacedIn(tx *db.Tx, segment int64, contacts []int64) ([]placement, error) {
	return db.All(tx, scanPlacement, `
		SELECT segment, contact, excluded FROM segment_contact
		WHERE segment = $1 AND contact {in $2}`, segment, contacts)
}

func savePlaced(tx *db.Tx, rows []placement) error {
	const width = 3
	values := make([]any, 0, width*len(rows))
	for _, p := range rows {
		values = append(values, p.segment, p.contact, p.excluded)
	}
	_, err := tx.InsertRows(`
		INSERT INTO segment_contact (segment, contact, excluded)`, width, values, `
		ON CONFLICT (segment, contact) DO UPDATE
		SET excluded = excluded.excluded`)
	return err
}

func deletePlaced(tx *db.Tx, segment, contact int64) error {
	_, err := tx.Exec(`
		DELETE FROM segment_contact
		WHERE segment = $1 AND contact = $2`, segment, contact)
	return err
}
