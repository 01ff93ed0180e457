package stats

import (
	"maps"
	"slices"
	"strings"
	"time"

	"postrider/platform/db"
)

// The functions that fold serve a worker, which works across workspaces.

func (l ledger) selectOldest(tx *db.Tx, before time.Time) (p page, some bool, err error) {
	kind := "'" + l.kind + "'"
	if l.kindColumn != "" {
		kind = l.kindColumn
	}
	found, err := db.All(tx, func(row db.Scanner) (p page, err error) {
		err = row.Scan(&p.workspace, &p.facet, &p.kind, db.Time(&p.from))
		p.from = dayOf(p.from)
		p.until = p.from.Add(foldDays * day)
		if before.Before(p.until) {
			p.until = before
		}
		return p, err
	}, `
		SELECT workspace_id, facet, `+kind+`, `+l.at+` FROM `+l.table+`
		WHERE `+l.at+` < $1
		ORDER BY `+l.at+`
		LIMIT 1`, before)
	if err != nil || len(found) == 0 {
		return p, false, err
	}
	return found[0], true, nil
}

func (l ledger) deleteRows(tx *db.Tx, p page) ([]numbered, error) {
	name, where, args := "''", "", []any{p.workspace, string(p.facet), p.from, p.until}
	if l.name != "" {
		name = l.name
	}
	if l.kindColumn != "" {
		where, args = " AND "+l.kindColumn+" = $5", append(args, p.kind)
	}
	return db.All(tx, func(row db.Scanner) (r numbered, err error) {
		into := []any{db.Time(&r.at), &r.name}
		for i := range l.columns {
			into = append(into, &r.numbers[i])
		}
		if err = row.Scan(into...); l.name == "" {
			r.name = nameOfQuarter(r.at)
		}
		return r, err
	}, `
		DELETE FROM `+l.table+`
		WHERE workspace_id = $1 AND facet = $2 AND `+l.at+` >= $3 AND `+l.at+` < $4`+where+`
		RETURNING `+strings.Join(append([]string{l.at, name}, l.columns...), ", "), args...)
}

// pastDay is a row of stats_past.
type pastDay struct {
	facet  facet
	day    time.Time
	packed packed
}

func scanPastDay(row db.Scanner) (p pastDay, err error) {
	err = row.Scan(&p.facet, db.Time(&p.day), (*[]byte)(&p.packed))
	return p, err
}

func insertPast(tx *db.Tx, p page, days map[time.Time]map[string]Counts) error {
	values := make([]any, 0, 5*len(days))
	for _, date := range slices.SortedFunc(maps.Keys(days), time.Time.Compare) {
		values = append(values, p.workspace, string(p.facet), p.kind, date, []byte{})
	}
	_, err := tx.InsertRows(`
		INSERT INTO stats_past (workspace_id, facet, kind, day, packed)`, 5, values, `
		ON CONFLICT DO NOTHING`)
	return err
}

// lockPast reads what is packed of a page. Nobody else changes it before the transaction ends.
func lockPast(tx *db.Tx, p page) ([]pastDay, error) {
	return db.All(tx, scanPastDay, `
		SELECT facet, day, packed FROM stats_past
		WHERE workspace_id = $1 AND facet = $2 AND kind = $3 AND day >= $4 AND day < $5
		ORDER BY day
		{for_update}`, p.workspace, string(p.facet), p.kind, p.from, p.until)
}

func updatePast(tx *db.Tx, p page, days map[time.Time]map[string]Counts) error {
	values := make([]any, 0, 5*len(days))
	for _, date := range slices.SortedFunc(maps.Keys(days), time.Time.Compare) {
		values = append(values, p.workspace, string(p.facet), p.kind, date, []byte(pack(days[date])))
	}
	_, err := tx.InsertRows(`
		INSERT INTO stats_past (workspace_id, facet, kind, day, packed)`, 5, values, `
		ON CONFLICT (workspace_id, facet, kind, day) DO UPDATE SET packed = excluded.packed`)
	return err
}

// eachPast calls a function with every entry of one kind that is packed, of all days that a span touches. They are read one by one: a
// year of a hundred domains is more than one wants to hold.
func eachPast(tx *db.Tx, s span, kind string, do func(p pastDay, name []byte, numbers []int64)) error {
	_, err := db.All(tx, func(row db.Scanner) (none struct{}, err error) {
		p, err := scanPastDay(row)
		if err != nil {
			return none, err
		}
		return none, p.packed.each(func(name []byte, numbers []int64) { do(p, name, numbers) })
	}, `
		SELECT facet, day, packed FROM stats_past
		WHERE workspace_id = $1 AND facet {in $2} AND day >= $3 AND day < $4 AND kind = $5`, s.in(s.period().wholeDays()).args(kind)...)
	return err
}

// eachPastQuarter calls a function with what is packed of every quarter of an hour in a span.
func eachPastQuarter(tx *db.Tx, s span, do func(f facet, at time.Time, numbers []int64)) error {
	return eachPast(tx, s, countKind, func(p pastDay, name []byte, numbers []int64) {
		if at := quarterOf(p.day, name); !at.Before(s.from) && at.Before(s.until) {
			do(p.facet, at, numbers)
		}
	})
}

// addPast adds what is packed of a span: whole days by their totals, and of the days at its ends the quarters that are part of it.
func (c *Counts) addPast(tx *db.Tx, s span) error {
	whole := s.period().fullDays()
	for _, end := range []period{{s.from, whole.from}, {whole.until, s.until}} {
		if !end.from.Before(end.until) {
			continue
		}
		if err := eachPastQuarter(tx, s.in(end), func(_ facet, _ time.Time, numbers []int64) { c.add(numbers) }); err != nil {
			return err
		}
	}
	if whole.length() == 0 {
		return nil
	}
	return eachPast(tx, s.in(whole), totalKind, func(_ pastDay, _ []byte, numbers []int64) { c.add(numbers) })
}

// sumPast adds up the entries of one kind in a span, by name.
func sumPast(tx *db.Tx, s span, kind string) (map[string]Counts, error) {
	l, sums := ledgerOf(kind), map[string]*Counts{}
	err := eachPast(tx, s, kind, func(_ pastDay, name []byte, numbers []int64) {
		sum := sums[string(name)]
		if sum == nil {
			sum = &Counts{}
			sums[string(name)] = sum
		}
		l.addTo(sum, numbers)
	})
	out := make(map[string]Counts, len(sums))
	for name, sum := range sums {
		out[name] = *sum
	}
	return out, err
}

// deletePastNames removes the oldest packed names, of all workspaces.
func deletePastNames(tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(`
		DELETE FROM stats_past
		WHERE (workspace_id, facet, kind, day) IN (
			SELECT workspace_id, facet, kind, day FROM stats_past
			WHERE kind IN ('domain', 'subject', 'tag') AND day < $1
			LIMIT $2)`, before, limit)
}
