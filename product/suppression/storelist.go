package suppression

import (
	"fmt"
	"strings"

	"postrider/platform/db"
	"postrider/platform/space"
)

// A list of a million rows is never read through. Every page is cut from a few ranges that an index has in the order of the list:
//
//   - all entries, and those of one reason, newest first (suppression_newest, suppression_reason);
//   - addresses with a beginning (suppression_address), and addresses at a domain (suppression_host), by address.
//
// Several ranges are merged: each gives as many rows as the page could take from it.
type ranges struct {
	conditions []string
	shared     string // what rows of every range must also be
	args       []any
	keys       []string // the columns that a page is sorted by
}

func (r *ranges) argument(value any) string {
	r.args = append(r.args, value)
	return fmt.Sprintf("$%d", len(r.args))
}

func (want wanted) ranges(tx *db.Tx, ws space.ID) *ranges {
	r := &ranges{keys: []string{"created_at", "id"}}
	r.shared = "workspace_id = " + r.argument(ws) + " AND (expires_at IS NULL OR expires_at > " + r.argument(tx.Now()) + ")"
	if !want.since.IsZero() {
		r.shared += " AND created_at >= " + r.argument(want.since)
	}
	if !want.until.IsZero() {
		r.shared += " AND created_at < " + r.argument(want.until)
	}
	switch {
	case want.searching():
		r.keys = []string{"address"}
		if want.reasons != nil {
			r.shared += " AND reason {in " + r.argument(want.reasons) + "}"
		}
		want.search(r)
	case want.reasons == nil:
		r.conditions = []string{"1 = 1"}
	default:
		for _, reason := range want.reasons {
			r.conditions = append(r.conditions, "reason = "+r.argument(reason))
		}
	}
	return r
}

// search adds the ranges of a search: addresses that begin with the text, and the others at a domain of that name.
func (want wanted) search(r *ranges) {
	begins := ""
	if want.prefix != "" {
		// No byte of UTF-8 is 0xFF, so every address with the prefix sorts below.
		begins = fmt.Sprintf("address >= %s AND address < %s", r.argument([]byte(want.prefix)), r.argument([]byte(want.prefix+"\xff")))
		r.conditions = append(r.conditions, begins)
	}
	if want.host != "" {
		at := "host = " + r.argument(want.host)
		if begins != "" {
			at += " AND NOT (" + begins + ")"
		}
		r.conditions = append(r.conditions, at)
	}
}

// selectPage returns one row more than the page has, if there are more.
func selectPage(tx *db.Tx, ws space.ID, want wanted) ([]Suppression, error) {
	query, args := want.page(tx, ws)
	if query == "" {
		return nil, nil
	}
	return db.All(tx, scanSuppression, query, args...)
}

// page returns the query of a page and its arguments; an empty one means that nothing can be found.
func (want wanted) page(tx *db.Tx, ws space.ID) (string, []any) {
	r := want.ranges(tx, ws)
	if len(r.conditions) == 0 {
		return "", nil
	}
	r.shared, r.args = want.part.Where(r.shared, r.args, r.keys...)
	enough, order := r.argument(want.Offset+want.Limit+1), want.part.Order(r.keys...)
	sources := make([]string, len(r.conditions))
	for i, condition := range r.conditions {
		sources[i] = fmt.Sprintf(`
			SELECT id, %[1]s FROM (
				SELECT id, %[1]s FROM suppression
				WHERE %[2]s AND %[3]s
				ORDER BY %[4]s
				LIMIT %[5]s) AS range_%[6]d`, r.keys[0], r.shared, condition, order, enough, i)
	}
	query := `
		SELECT ` + columns + ` FROM (` + strings.Join(sources, `
			UNION ALL`) + `
			ORDER BY ` + order + `
			LIMIT ` + r.argument(want.Limit+1) + ` OFFSET ` + r.argument(want.Offset) + `) AS page
		CROSS JOIN suppression
		WHERE suppression.workspace_id = $1 AND suppression.id = page.id
		ORDER BY page.` + strings.Replace(order, ", id", ", page.id", 1)
	return query, r.args
}

// countMatches stops counting at most.
func countMatches(tx *db.Tx, ws space.ID, want wanted, most int) (int64, error) {
	r := want.ranges(tx, ws)
	if len(r.conditions) == 0 {
		return 0, nil
	}
	sources := make([]string, len(r.conditions))
	for i, condition := range r.conditions {
		sources[i] = `
			SELECT id FROM suppression
			WHERE ` + r.shared + ` AND ` + condition
	}
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM (`+strings.Join(sources, `
			UNION ALL`)+`
			LIMIT `+r.argument(most)+`) AS matches`, r.args...)
}

// selectTotals returns how many rows the workspace has of each reason.
func selectTotals(tx *db.Tx, ws space.ID) (map[Reason]int64, error) {
	totals := map[Reason]int64{}
	_, err := db.All(tx, func(s db.Scanner) (reason Reason, err error) {
		var entries int64
		err = s.Scan(&reason, &entries)
		totals[reason] = entries
		return reason, err
	}, `
		SELECT reason, entries FROM suppression_total
		WHERE workspace_id = $1`, ws)
	return totals, err
}

// expiredReasons is the question for the rows that wait to be swept, which are few.
const expiredReasons = `
		SELECT reason FROM suppression
		WHERE workspace_id = $1 AND expires_at <= $2`

func selectExpiredReasons(tx *db.Tx, ws space.ID) ([]Reason, error) {
	return db.All(tx, db.Value[Reason], expiredReasons, ws, tx.Now())
}
