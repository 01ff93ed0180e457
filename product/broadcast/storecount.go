package broadcast

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postrider/platform/db"
)

var (
	countColumns = strings.Join(counterNames[:], ", ")
	adding       = summing(counterNames[:], "broadcast_count")
	partNames    = namesOf(partCounters)
	partColumns  = strings.Join(partNames, ", ")
	addingParts  = summing(partNames, "broadcast_part")
)

func namesOf(which []counter) []string {
	names := make([]string, len(which))
	for i, c := range which {
		names[i] = counterNames[c]
	}
	return names
}

// summing is how what is there and what comes are added.
func summing(names []string, table string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%[1]s = %[2]s.%[1]s + excluded.%[1]s", name, table)
	}
	return strings.Join(parts, ", ")
}

// addCounts adds to the counters of a broadcast.
func addCounts(tx *db.Tx, id ID, c counts) error {
	values := []any{id}
	for _, n := range c {
		values = append(values, n)
	}
	_, err := tx.InsertRows(`
		INSERT INTO broadcast_count (broadcast_id, `+countColumns+`, updated_at)`, int(counters)+2, append(values, tx.Now()), `
		ON CONFLICT (broadcast_id) DO UPDATE SET `+adding+`, updated_at = excluded.updated_at`)
	return err
}

func addParts(tx *db.Tx, id ID, parts map[part]*counts) error {
	var values []any
	for _, p := range slices.SortedFunc(maps.Keys(parts), func(a, b part) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) }) {
		values = append(values, id, p.kind, p.name)
		for _, which := range partCounters {
			values = append(values, parts[p][which])
		}
	}
	_, err := tx.InsertRows(`
		INSERT INTO broadcast_part (broadcast_id, kind, name, `+partColumns+`)`, 3+len(partCounters), values, `
		ON CONFLICT (broadcast_id, kind, name) DO UPDATE SET `+addingParts)
	return err
}

// counted is what is known of one broadcast.
type counted struct {
	counts
	UpdatedAt time.Time
}

func selectCounts(tx *db.Tx, ids []ID) (map[ID]counted, error) {
	type row struct {
		id ID
		counted
	}
	rows, err := db.All(tx, func(s db.Scanner) (r row, err error) {
		targets := []any{&r.id}
		for i := range r.counts {
			targets = append(targets, &r.counts[i])
		}
		err = s.Scan(append(targets, db.Time(&r.UpdatedAt))...)
		return r, err
	}, `
		SELECT broadcast_id, `+countColumns+`, updated_at FROM broadcast_count
		WHERE broadcast_id {in $1}`, ids)
	all := make(map[ID]counted, len(rows))
	for _, r := range rows {
		all[r.id] = r.counted
	}
	return all, err
}

// partRow is an hour, or a mailbox provider.
type partRow struct {
	part
	counts counts
}

// maxParts bounds the hours that are told of one broadcast: a year and a half.
const maxParts = 13_000

func selectParts(tx *db.Tx, id ID) ([]partRow, error) {
	return db.All(tx, func(s db.Scanner) (r partRow, err error) {
		targets := []any{&r.kind, &r.name}
		for _, which := range partCounters {
			targets = append(targets, &r.counts[which])
		}
		err = s.Scan(targets...)
		return r, err
	}, `
		SELECT kind, name, `+partColumns+` FROM broadcast_part
		WHERE broadcast_id = $1
		ORDER BY kind, name
		LIMIT $2`, id, maxParts)
}

// link is a page that people went to from a broadcast.
type link struct {
	id, url        string
	clicks, unique int64
}

func scanLink(s db.Scanner) (l link, err error) {
	err = s.Scan(&l.id, &l.url, &l.clicks, &l.unique)
	return l, err
}

// selectLinks returns the links of a broadcast, those that most people followed first.
func selectLinks(tx *db.Tx, id ID, limit int) ([]link, error) {
	return db.All(tx, scanLink, `
		SELECT id, url, clicks, unique_clicks FROM broadcast_link
		WHERE broadcast_id = $1
		ORDER BY unique_clicks DESC, clicks DESC, id
		LIMIT $2`, id, limit)
}

func insertLink(tx *db.Tx, id ID, l link) error {
	_, err := tx.Exec(`
		INSERT INTO broadcast_link (id, broadcast_id, url, clicks, unique_clicks)
		VALUES ($1, $2, $3, 0, 0)`, l.id, id, l.url)
	return err
}

func addToLink(tx *db.Tx, l link) error {
	_, err := tx.Exec(`
		UPDATE broadcast_link SET clicks = clicks + $1, unique_clicks = unique_clicks + $2
		WHERE id = $3`, l.clicks, l.unique, l.id)
	return err
}

// clickRow is how often a recipient followed a link.
type clickRow struct {
	recipient, link, url string
	clicks               int64
}

func selectClicks(tx *db.Tx, recipients []string) ([]clickRow, error) {
	return db.All(tx, func(s db.Scanner) (c clickRow, err error) {
		err = s.Scan(&c.recipient, &c.link, &c.url, &c.clicks)
		return c, err
	}, `
		SELECT broadcast_click.recipient_id, broadcast_click.link_id, broadcast_link.url, broadcast_click.clicks
		FROM broadcast_click JOIN broadcast_link ON broadcast_link.id = broadcast_click.link_id
		WHERE broadcast_click.recipient_id {in $1}
		ORDER BY broadcast_click.recipient_id, broadcast_link.id`, recipients)
}

func addClick(tx *db.Tx, recipient, link string, clicks int64) error {
	_, err := tx.Exec(`
		INSERT INTO broadcast_click (recipient_id, link_id, clicks)
		VALUES ($1, $2, $3)
		ON CONFLICT (recipient_id, link_id) DO UPDATE SET clicks = broadcast_click.clicks + excluded.clicks`, recipient, link, clicks)
	return err
}
