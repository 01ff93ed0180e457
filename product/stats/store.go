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
	all := make([]Counter, counters)
	for i := range all {
		all[i] = Counter(i)
	}
	return db.One(tx, func(row db.Scanner) (Counts, error) {
		var c Counts
		into := make([]any, counters)
		for i := range c {
			into[i] = &c[i]
		}
		return c, row.Scan(into...)
	}, `
		SELECT `+summing(all)+` FROM stats_count
		WHERE workspace_id = $1 AND facet {in $2} AND bucket >= $3 AND bucket < $4`, s.args()...)
}

// ofFacet is what is known of one facet in a span.
type ofFacet struct {
	facet    facet
	counts   Counts
	lastSent time.Time
}

// selectFacets sums all counters of a span, each facet apart.
func selectFacets(tx *db.Tx, s span) (map[facet]ofFacet, error) {
	all := make([]Counter, counters)
	for i := range all {
		all[i] = Counter(i)
	}
	rows, err := db.All(tx, func(row db.Scanner) (one ofFacet, err error) {
		into := []any{&one.facet, db.Time(&one.lastSent)}
		for i := range one.counts {
			into = append(into, &one.counts[i])
		}
		return one, row.Scan(into...)
	}, `
		SELECT facet, MAX(CASE WHEN sent > 0 THEN bucket END), `+summing(all)+` FROM stats_count
		WHERE workspace_id = $1 AND facet {in $2} AND bucket >= $3 AND bucket < $4
		GROUP BY facet`, s.args()...)
	found := make(map[facet]ofFacet, len(rows))
	for _, row := range rows {
		found[row.facet] = row
	}
	return found, err
}

// slot is the sums of one slot of time; start is in the time of clocks that are ahead of UTC by the offset asked for.
type slot struct {
	start  time.Time
	counts Counts
}

// selectSlots sums some counters of a span by slots of a width, for clocks that are ahead of UTC by offset.
func selectSlots(tx *db.Tx, s span, which []Counter, width, offset time.Duration) ([]slot, error) {
	return db.All(tx, func(row db.Scanner) (slot, error) {
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
}

// ispRow is what is known of a mailbox provider.
type ispRow struct {
	isp string
	ispCounts
}

func selectISPs(tx *db.Tx, s span) ([]ispRow, error) {
	return db.All(tx, func(row db.Scanner) (ispRow, error) {
		var r ispRow
		err := row.Scan(&r.isp, &r.sent, &r.delivered, &r.bounced, &r.blocked, &r.deferred, &r.complained, &r.waitedMs, db.Time(&r.lastBlock))
		return r, err
	}, `
		SELECT isp, CAST(SUM(sent) AS BIGINT) AS total, CAST(SUM(delivered) AS BIGINT), CAST(SUM(bounced) AS BIGINT), CAST(SUM(blocked) AS BIGINT),
			CAST(SUM(deferred) AS BIGINT), CAST(SUM(complained) AS BIGINT), CAST(SUM(waited_ms) AS BIGINT), MAX(last_block_at)
		FROM stats_isp
		WHERE workspace_id = $1 AND facet {in $2} AND day >= $3 AND day < $4
		GROUP BY isp
		ORDER BY total DESC, isp`, s.args()...)
}

type stateRow struct {
	state      string
	recipients int64
}

func selectStates(tx *db.Tx, s span) ([]stateRow, error) {
	return db.All(tx, func(row db.Scanner) (stateRow, error) {
		var r stateRow
		err := row.Scan(&r.state, &r.recipients)
		return r, err
	}, `
		SELECT state, CAST(SUM(recipients) AS BIGINT) AS total FROM stats_state
		WHERE workspace_id = $1 AND facet {in $2} AND day >= $3 AND day < $4
		GROUP BY state
		ORDER BY total DESC, state`, s.args()...)
}

type rankRow struct {
	name string
	sent int64
}

func selectRank(tx *db.Tx, s span, kind rankKind, limit int) ([]rankRow, error) {
	return db.All(tx, func(row db.Scanner) (rankRow, error) {
		var r rankRow
		err := row.Scan(&r.name, &r.sent)
		return r, err
	}, `
		SELECT name, CAST(SUM(sent) AS BIGINT) AS total FROM stats_rank
		WHERE workspace_id = $1 AND facet {in $2} AND day >= $3 AND day < $4 AND kind = $5 AND name <> ''
		GROUP BY name
		ORDER BY total DESC, name
		LIMIT $6`, s.args(string(kind), limit)...)
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
