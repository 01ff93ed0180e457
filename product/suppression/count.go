package suppression

import (
	"cmp"
	"maps"
	"slices"

	"postrider/platform/db"
	"postrider/platform/space"
)

// counts are changes to how many entries a workspace has of each reason.
type counts map[tally]int64

type tally struct {
	workspace space.ID
	reason    Reason
}

func (c counts) add(row *Suppression, by int64) { c[tally{row.Workspace, row.Reason}] += by }

// save writes the changes in one order, so that two transactions never wait for each other.
func (c counts) save(tx *db.Tx) error {
	byName := func(a, b tally) int {
		return cmp.Or(cmp.Compare(a.workspace, b.workspace), cmp.Compare(a.reason, b.reason))
	}
	for _, t := range slices.SortedFunc(maps.Keys(c), byName) {
		if c[t] == 0 {
			continue
		}
		if err := addTotal(tx, t, c[t]); err != nil {
			return err
		}
	}
	return nil
}
