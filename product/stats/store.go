package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// countColumns lists the columns of all counters; adding and summing are how they are written and read.
var (
	countColumns = strings.Join(names[:], ", ")
	adding       = each(names[:], "%[1]s = stats_count.%[1]s + excluded.%[1]s")
)

func each(columns []string, text string) string {
	parts := make([]string, len(columns))
	for i, column := range columns {
		parts[i] = fmt.Sprintf(text, column)
	}
	return strings.Join(parts, ", ")
}

// summing returns the sums of some counters.
func summing(which []Counter) string {
	columns := make([]string, len(which))
	for i, c := range which {
		columns[i] = c.String()
	}
	return each(columns, "CAST(COALESCE(SUM(%s), 0) AS BIGINT)")
}

// The functions that add serve the follower, which works across workspaces.

func addCounts(tx *db.Tx, counts map[cell]Counts) error {
	values := make([]any, 0, (3+len(names))*len(counts))
	for _, c := range slices.SortedFunc(maps.Keys(counts), cell.compare) {
		values = append(values, c.workspace, string(c.facet), c.at)
		for _, n := range counts[c] {
			values = append(values, n)
		}
	}
	_, err := tx.InsertRows(`
		INSERT INTO stats_count (workspace_id, facet, bucket, `+countColumns+`)`, 3+len(names), values, `
		ON CONFLICT (workspace_id, facet, bucket) DO UPDATE SET `+adding)
	return err
}

func addISPs(tx *db.Tx, isps map[ispCell]ispCounts) error {
	values := make([]any, 0, 12*len(isps))
	order := func(a, b ispCell) int { return cmp.Or(a.compare(b.cell), cmp.Compare(a.isp, b.isp)) }
	for _, c := range slices.SortedFunc(maps.Keys(isps), order) {
		n := isps[c]
		values = append(values, c.workspace, string(c.facet), c.at, c.isp, n.sent, n.delivered, n.bounced, n.blocked, n.deferred, n.complained,
			n.waitedMs, n.lastBlock)
	}
	_, err := tx.InsertRows(`
		INSERT INTO stats_isp (workspace_id, facet, day, isp, sent, delivered, bounced, blocked, deferred, complained, waited_ms, last_block_at)`, 12, values, `
		ON CONFLICT (workspace_id, facet, day, isp) DO UPDATE SET
			sent = stats_isp.sent + excluded.sent, delivered = stats_isp.delivered + excluded.delivered,
			bounced = stats_isp.bounced + excluded.bounced, blocked = stats_isp.blocked + excluded.blocked,
			deferred = stats_isp.deferred + excluded.deferred, complained = stats_isp.complained + excluded.complained,
			waited_ms = stats_isp.waited_ms + excluded.waited_ms, last_block_at = CASE
				WHEN stats_isp.last_block_at IS NULL OR excluded.last_block_at > stats_isp.last_block_at THEN excluded.last_block_at
				ELSE stats_isp.last_block_at END`)
	return err
}

func addStates(tx *db.Tx, states map[stateCell]int64) error {
	values := make([]any, 0, 5*len(states))
	order := func(a, b stateCell) int { return cmp.Or(a.compare(b.cell), cmp.Compare(a.state, b.state)) }
	for _, c := range slices.SortedFunc(maps.Keys(states), order) {
		if n := states[c]; n != 0 {
			values = append(values, c.workspace, string(c.facet), c.at, c.state, n)
		}
	}
	_, err := tx.InsertRows(`
		INSERT INTO stats_state (workspace_id, facet, day, state, recipients)`, 5, values, `
		ON CONFLICT (workspace_id, facet, day, state) DO UPDATE SET recipients = stats_state.recipients + excluded.recipients`)
	return err
}

func addRanks(tx *db.Tx, ranks map[rankCell]int64) error {
	values := make([]any, 0, 6*len(ranks))
	order := func(a, b rankCell) int {
		return cmp.Or(a.compare(b.cell), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	}
	for _, c := range slices.SortedFunc(maps.Keys(ranks), order) {
		values = append(values, c.workspace, string(c.facet), string(c.kind), c.at, c.name, ranks[c])
	}
	_, err := tx.InsertRows(`
		INSERT INTO stats_rank (workspace_id, facet, kind, day, name, sent)`, 6, values, `
		ON CONFLICT (workspace_id, facet, kind, day, name) DO UPDATE SET sent = stats_rank.sent + excluded.sent`)
	return err
}

// countNames adds how many names each list of a workspace and day has.
func countNames(tx *db.Tx, of cell, facets []facet, used map[rankCell]int) error {
	texts := make([]string, len(facets))
	for i, f := range facets {
		texts[i] = string(f)
	}
	slices.Sort(texts)
	_, err := db.All(tx, func(row db.Scanner) (rankCell, error) {
		list := rankCell{cell: of}
		var names int
		err := row.Scan(&list.facet, &list.kind, &names)
		used[list] = names
		return list, err
	}, `
		SELECT facet, kind, COUNT(*) FROM stats_rank
		WHERE workspace_id = $1 AND facet {in $2} AND kind IN ('domain', 'subject', 'tag') AND day = $3 AND name <> ''
		GROUP BY facet, kind`, of.workspace, slices.Compact(texts), of.at)
	return err
}

func selectNames(tx *db.Tx, list rankCell, names []string) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT name FROM stats_rank
		WHERE workspace_id = $1 AND facet = $2 AND kind = $3 AND day = $4 AND name {in $5}`,
		list.workspace, string(list.facet), string(list.kind), list.at, names)
}

// span is what a question is about: whose counts, which of them, and of what time. until is not part of it.
type span struct {
	workspace   space.ID
	facets      []facet
	from, until time.Time
}

func (s span) args(more ...any) []any {
	facets := make([]string, len(s.facets))
	for i, f := range s.facets {
		facets[i] = string(f)
	}
	return append([]any{s.workspace, facets, s.from, s.until}, more...)
}

// selectCounts sums all counters of a span.
func selectCounts(tx *db.Tx, s span) (Counts, error) {
	sum, err := db.One(tx, func(row db.Scanner) (Counts, error) {
		var c Counts
		into := make([]any, counters)
		for i := range c {
			into[i] = &c[i]
		}
		return c, row.Scan(into...)
	}, `
		SELECT `+summing(allCounters())+` FROM stats_count
		WHERE workspace_id = $1 AND facet {in $2} AND bucket >= $3 AND bucket < $4`, s.args()...)
	if err != nil {
		return sum, err
	}
	err = sum.addPast(tx, s)
	return sum.told(), err
}

// ofFacet is what is known of one facet in a span.
type ofFacet struct {
	facet    facet
	counts   Counts
	lastSent time.Time
}

// selectFacets sums all counters of a span, each facet apart.
func selectFacets(tx *db.Tx, s span) (map[facet]ofFacet, error) {
	rows, err := db.All(tx, func(row db.Scanner) (one ofFacet, err error) {
		into := []any{&one.facet, db.Time(&one.lastSent)}
		for i := range one.counts {
			into = append(into, &one.counts[i])
		}
		return one, row.Scan(into...)
	}, `
		SELECT facet, MAX(CASE WHEN sent > 0 THEN bucket END), `+summing(allCounters())+` FROM stats_count
		WHERE workspace_id = $1 AND facet {in $2} AND bucket >= $3 AND bucket < $4
		GROUP BY facet`, s.args()...)
	found := make(map[facet]ofFacet, len(rows))
	for _, row := range rows {
		found[row.facet] = row
	}
	if err != nil {
		return nil, err
	}
	return found, eachPastQuarter(tx, s, func(f facet, at time.Time, numbers []int64) {
		one := found[f]
		one.facet = f
		one.counts.add(numbers)
		if len(numbers) > int(Sent) && numbers[Sent] > 0 {
			one.lastSent = later(one.lastSent, at)
		}
		found[f] = one
	})
}

// slot is the sums of one slot of time; start is in the time of clocks that are ahead of UTC by the offset asked for.
type slot struct {
	start  time.Time
	counts Counts
}

// selectSlots sums some counters of a span by slots of a width, for clocks that are ahead of UTC by offset.
func selectSlots(tx *db.Tx, s span, which []Counter, width, offset time.Duration) ([]slot, error) {
	slots, err := db.All(tx, func(row db.Scanner) (slot, error) {
		var one slot
		var number int64
		into := make([]any, 1+len(which))
		into[0] = &number
		for i, c := range which {
			into[1+i] = &one.counts[c]
		}
		err := row.Scan(into...)
		one.start = time.UnixMicro(number * width.Microseconds()).UTC()
		return one, err
	}, `
		SELECT (bucket + CAST($5 AS BIGINT)) / CAST($6 AS BIGINT) AS slot, `+summing(which)+` FROM stats_count
		WHERE workspace_id = $1 AND facet {in $2} AND bucket >= $3 AND bucket < $4
		GROUP BY slot`, s.args(offset.Microseconds(), width.Microseconds())...)
	if err != nil {
		return nil, err
	}
	past := map[time.Time]*Counts{}
	err = eachPastQuarter(tx, s, func(_ facet, at time.Time, numbers []int64) {
		start := at.Add(offset).Truncate(width) // of time that is counted as in UTC, where days begin at midnight
		if past[start] == nil {
			past[start] = &Counts{}
		}
		past[start].add(numbers)
	})
	for start, counts := range past {
		slots = append(slots, slot{start, *counts})
	}
	return slots, err
}

// ispRow is what is known of a mailbox provider.
type ispRow struct {
	isp string
	ispCounts
}

// selectISPs returns the providers, those with the most mail first.
func selectISPs(tx *db.Tx, s span) ([]ispRow, error) {
	rows, err := db.All(tx, func(row db.Scanner) (ispRow, error) {
		var r ispRow
		err := row.Scan(&r.isp, &r.sent, &r.delivered, &r.bounced, &r.blocked, &r.deferred, &r.complained, &r.waitedMs, db.Time(&r.lastBlock))
		return r, err
	}, `
		SELECT isp, CAST(SUM(sent) AS BIGINT), CAST(SUM(delivered) AS BIGINT), CAST(SUM(bounced) AS BIGINT), CAST(SUM(blocked) AS BIGINT),
			CAST(SUM(deferred) AS BIGINT), CAST(SUM(complained) AS BIGINT), CAST(SUM(waited_ms) AS BIGINT), MAX(last_block_at)
		FROM stats_isp
		WHERE workspace_id = $1 AND facet {in $2} AND day >= $3 AND day < $4
		GROUP BY isp`, s.args()...)
	if err != nil {
		return nil, err
	}
	past, err := sumPast(tx, s, ispKind)
	for i := range rows {
		rows[i].plus(past[rows[i].isp])
		delete(past, rows[i].isp)
	}
	for isp, numbers := range past {
		row := ispRow{isp: isp}
		row.plus(numbers)
		rows = append(rows, row)
	}
	for i := range rows { // as of Counts.told
		rows[i].sent, rows[i].delivered, rows[i].waitedMs = max(rows[i].sent, 0), max(rows[i].delivered, 0), max(rows[i].waitedMs, 0)
	}
	slices.SortFunc(rows, func(a, b ispRow) int { return cmp.Or(cmp.Compare(b.sent, a.sent), cmp.Compare(a.isp, b.isp)) })
	return rows, err
}

// plus adds what is packed of past days, in the order of the ledger.
func (c *ispCounts) plus(n Counts) {
	for i, to := range []*int64{&c.sent, &c.delivered, &c.bounced, &c.blocked, &c.deferred, &c.complained, &c.waitedMs} {
		*to += n[i]
	}
	if last := n[lastBlockNumber]; last > 0 {
		c.lastBlock = later(c.lastBlock, time.UnixMicro(last).UTC())
	}
}

// namedSum is a name and how much was counted under it.
type namedSum struct {
	name string
	sum  int64
}

func scanNamedSum(row db.Scanner) (n namedSum, err error) {
	return n, row.Scan(&n.name, &n.sum)
}

// selectStates returns in which states recipients are, the most frequent first.
func selectStates(tx *db.Tx, s span) ([]namedSum, error) {
	rows, err := db.All(tx, scanNamedSum, `
		SELECT state, CAST(SUM(recipients) AS BIGINT) FROM stats_state
		WHERE workspace_id = $1 AND facet {in $2} AND day >= $3 AND day < $4
		GROUP BY state`, s.args()...)
	if err != nil {
		return nil, err
	}
	return withPast(tx, s, stateKind, rows)
}

// selectRank returns the most frequent names of a list.
func selectRank(tx *db.Tx, s span, kind rankKind, limit int) ([]namedSum, error) {
	rows, err := db.All(tx, scanNamedSum, `
		SELECT name, CAST(SUM(sent) AS BIGINT) FROM stats_rank
		WHERE workspace_id = $1 AND facet {in $2} AND day >= $3 AND day < $4 AND kind = $5
		GROUP BY name`, s.args(string(kind))...)
	if err != nil {
		return nil, err
	}
	rows, err = withPast(tx, s, string(kind), rows)
	rows = slices.DeleteFunc(rows, func(n namedSum) bool { return n.name == "" })
	return rows[:min(len(rows), limit)], err
}

// withPast adds what is packed of past days, and sorts: the greatest first.
func withPast(tx *db.Tx, s span, kind string, rows []namedSum) ([]namedSum, error) {
	past, err := sumPast(tx, s, kind)
	for i, row := range rows {
		rows[i].sum += past[row.name][0]
		delete(past, row.name)
	}
	for name, numbers := range past {
		rows = append(rows, namedSum{name, numbers[0]})
	}
	slices.SortFunc(rows, func(a, b namedSum) int { return cmp.Or(cmp.Compare(b.sum, a.sum), cmp.Compare(a.name, b.name)) })
	return rows, err
}

// deleteNames removes the oldest names, of all workspaces.
func deleteNames(tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(`
		DELETE FROM stats_rank
		WHERE (workspace_id, facet, kind, day, name) IN (
			SELECT workspace_id, facet, kind, day, name FROM stats_rank
			WHERE day < $1
			ORDER BY day
			LIMIT $2)`, before, limit)
}
