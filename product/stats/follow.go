package stats

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// tally is what a batch of events adds up to: a handful of rows, however many events there were.
type tally struct {
	counts map[cell]Counts
	isps   map[ispCell]ispCounts
	states map[stateCell]int64
	ranks  map[rankCell]int64
}

// cell is where something is counted: for whom, as what, and when.
type cell struct {
	workspace space.ID
	facet     facet
	at        time.Time
}

type ispCell struct {
	cell
	isp string
}

type ispCounts struct {
	sent, delivered, bounced, blocked, deferred, complained, waitedMs int64
	lastBlock                                                         time.Time
}

type stateCell struct {
	cell
	state string
}

type rankCell struct {
	cell
	kind rankKind
	name string
}

// rankKind is what a list is of.
type rankKind string

const (
	rankDomain  rankKind = "domain"
	rankSubject rankKind = "subject"
	rankTag     rankKind = "tag"
)

func newTally() *tally {
	return &tally{counts: map[cell]Counts{}, isps: map[ispCell]ispCounts{}, states: map[stateCell]int64{}, ranks: map[rankCell]int64{}}
}

func (c Counts) plus(which Counter, by int64) Counts {
	c[which] += by
	return c
}

// follow reads a batch of events and returns what counts it.
func follow(events []event.Event) func(tx *db.Tx) error {
	var notes []note
	for _, e := range events {
		if strings.HasPrefix(e.Type, "email.") {
			notes = append(notes, newNote(e))
		}
	}
	return func(tx *db.Tx) error { return count(tx, notes) }
}

func count(tx *db.Tx, notes []note) error {
	apart, err := tagsOf(tx, notes)
	if err != nil {
		return err
	}
	t := newTally()
	for _, n := range notes {
		n.tally, n.facts.Tags = t, apart.of(n)
		if n.late() {
			if err := n.recall(tx); err != nil {
				return err
			}
		}
		n.add()
	}
	if err := addCounts(tx, t.counts); err != nil {
		return err
	}
	if err := addISPs(tx, t.isps); err != nil {
		return err
	}
	if err := addStates(tx, t.states); err != nil {
		return err
	}
	return t.addRanks(tx)
}

// maxNames is how many names of a list are kept apart on one day. Whoever sends much to somebody meets them early in the day; those
// who come later are many, and each is rare.
const maxNames = 64

// addRanks adds to the lists. Names that find no room are counted together, under no name.
func (t *tally) addRanks(tx *db.Tx) error {
	lists := map[rankCell]map[string]int64{}
	days := map[cell][]facet{}
	for c, sent := range t.ranks {
		list := rankCell{cell: c.cell, kind: c.kind}
		if lists[list] == nil {
			lists[list] = map[string]int64{}
			of := cell{workspace: c.workspace, at: c.at}
			days[of] = append(days[of], c.facet)
		}
		lists[list][c.name] += sent
	}
	used := map[rankCell]int{}
	for _, of := range slices.SortedFunc(maps.Keys(days), cell.compare) {
		if err := countNames(tx, of, days[of], used); err != nil {
			return err
		}
	}
	kept := map[rankCell]int64{}
	for list, byName := range lists {
		names, err := roomFor(tx, list, slices.Sorted(maps.Keys(byName)), used[list])
		if err != nil {
			return err
		}
		for name, sent := range byName {
			one := list
			if names[name] {
				one.name = name
			}
			kept[one] += sent
		}
	}
	return addRanks(tx, kept)
}

// roomFor tells which names are kept apart in a list that has some already.
func roomFor(tx *db.Tx, list rankCell, names []string, used int) (map[string]bool, error) {
	kept := map[string]bool{}
	if used+len(names) > maxNames {
		known, err := selectNames(tx, list, names)
		if err != nil {
			return nil, err
		}
		for _, name := range known {
			kept[name] = true
		}
	}
	for _, name := range names {
		if !kept[name] && used < maxNames {
			kept[name] = true
			used++
		}
	}
	return kept, nil
}

// compare orders cells, so that rows are always written in one order.
func (c cell) compare(other cell) int {
	return cmp.Or(cmp.Compare(c.workspace, other.workspace), cmp.Compare(c.facet, other.facet), c.at.Compare(other.at))
}
