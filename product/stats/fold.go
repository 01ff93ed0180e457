package stats

import (
	"context"
	"fmt"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

const (
	// foldAfter is how long after a day its counts are packed. Until then most of what happens to its mail has happened.
	foldAfter = 2 * day
	// foldDays is how many days of one facet a step packs at once, foldFacets of how many facets.
	foldDays   = 8
	foldFacets = 20
	foldEvery  = time.Hour
)

// ledger is a table of counts, of which each row has a name and some numbers. Of a day that is over, stats_past has them packed.
type ledger struct {
	// kind is how the rows are called in stats_past; a ledger of lists has a column for it.
	kind, kindColumn string
	table, at        string
	// name is the column of names; without one the name of a row is which quarter of its day it counts.
	name    string
	columns []string
	// latest is the number that two rows have the greater of; all others are added up. It is -1 if there is none.
	latest int
}

const (
	countKind = "count"
	// totalKind is the sum of all quarters of a day, which is told more often than they are.
	totalKind = "total"
	ispKind   = "isp"
	stateKind = "state"
	// lastBlockNumber is where the time of the last block is among the numbers of a provider.
	lastBlockNumber = 7
)

var ledgers = []ledger{
	{kind: countKind, table: "stats_count", at: "bucket", columns: names[:], latest: -1},
	{kind: ispKind, table: "stats_isp", at: "day", name: "isp", latest: lastBlockNumber,
		columns: []string{"sent", "delivered", "bounced", "blocked", "deferred", "complained", "waited_ms", "COALESCE(last_block_at, 0)"}},
	{kind: stateKind, table: "stats_state", at: "day", name: "state", columns: []string{"recipients"}, latest: -1},
	{kindColumn: "kind", table: "stats_rank", at: "day", name: "name", columns: []string{"sent"}, latest: -1},
}

// ledgerOf returns the ledger of a kind of count.
func ledgerOf(kind string) ledger {
	for _, l := range ledgers {
		if l.kind == kind {
			return l
		}
	}
	return ledgers[len(ledgers)-1]
}

// fold packs the oldest counts that are still in rows of their own.
func (s *Service) fold(ctx context.Context) (more bool, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		more = false
		before := dayOf(tx.Now().Add(-foldAfter))
		for _, l := range ledgers {
			for range foldFacets {
				some, err := l.fold(tx, before)
				if err != nil {
					return fmt.Errorf("fold %s: %w", l.table, err)
				}
				if !some {
					break
				}
				more = true
			}
		}
		return nil
	})
	return more, err
}

// page is some days of one facet in a ledger.
type page struct {
	workspace   space.ID
	facet       facet
	kind        string
	from, until time.Time
}

// fold moves some days of the facet with the oldest counts. Rows are read as they are deleted: what the follower adds meanwhile is in
// them, or in new ones.
func (l ledger) fold(tx *db.Tx, before time.Time) (some bool, err error) {
	p, some, err := l.selectOldest(tx, before)
	if err != nil || !some {
		return false, err
	}
	rows, err := l.deleteRows(tx, p)
	if err != nil {
		return false, err
	}
	days := map[time.Time]map[string]Counts{}
	for _, row := range rows {
		date := dayOf(row.at)
		if days[date] == nil {
			days[date] = map[string]Counts{}
		}
		l.add(days[date], row.name, row.numbers[:])
	}
	return true, l.merge(tx, p, days)
}

// merge adds days to what is packed of them.
func (l ledger) merge(tx *db.Tx, p page, days map[time.Time]map[string]Counts) error {
	if err := insertPast(tx, p, days); err != nil { // so that there is a row to lock
		return err
	}
	known, err := lockPast(tx, p)
	if err != nil {
		return err
	}
	for _, old := range known {
		if days[old.day] == nil {
			continue
		}
		if err := old.packed.each(func(name []byte, numbers []int64) { l.add(days[old.day], string(name), numbers) }); err != nil {
			return err
		}
	}
	if err := updatePast(tx, p, days); err != nil || p.kind != countKind {
		return err
	}
	p.kind = totalKind
	return updatePast(tx, p, totalsOf(days))
}

// totalsOf sums up the entries of each day.
func totalsOf(days map[time.Time]map[string]Counts) map[time.Time]map[string]Counts {
	totals := make(map[time.Time]map[string]Counts, len(days))
	for date, entries := range days {
		var total Counts
		for _, numbers := range entries {
			total.add(numbers[:])
		}
		totals[date] = map[string]Counts{"": total}
	}
	return totals
}

// add adds numbers under a name.
func (l ledger) add(to map[string]Counts, name string, numbers []int64) {
	sum := to[name]
	l.addTo(&sum, numbers)
	to[name] = sum
}

func (l ledger) addTo(sum *Counts, numbers []int64) {
	for i, number := range numbers {
		if i == l.latest {
			sum[i] = max(sum[i], number)
		} else {
			sum[i] += number
		}
	}
}

// numbered is a row of a ledger.
type numbered struct {
	at      time.Time
	name    string
	numbers Counts
}

// nameOfQuarter is the name of a quarter of an hour among those of its day.
func nameOfQuarter(at time.Time) string { return string([]byte{byte(at.Sub(dayOf(at)) / quarter)}) }

// quarterOf is the start of the quarter with a name.
func quarterOf(date time.Time, name []byte) time.Time {
	if len(name) != 1 {
		return date
	}
	return date.Add(time.Duration(name[0]) * quarter)
}
