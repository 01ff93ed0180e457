package queue

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"postrider/platform/db"
)

func insert(tx *db.Tx, items []Item) error {
	values := make([]any, 0, 6*len(items))
	for _, item := range items {
		values = append(values, item.ID, item.Lane, int64(item.Rank), item.Flow, item.Due, item.Payload)
	}
	_, err := tx.InsertRows(`INSERT INTO queue_item (id, lane, rank, flow, due_at, payload)`, 6, values, ``)
	return err
}

const itemColumns = `id, lane, rank, flow, due_at, claims, fence, payload`

func scanItem(s db.Scanner) (Item, error) {
	var item Item
	err := s.Scan(&item.ID, &item.Lane, &item.Rank, &item.Flow, db.Time(&item.Due), &item.Claims, &item.fence, &item.Payload)
	return item, err
}

// claimRank, as every claim, chooses the items in a WITH, which PostgreSQL runs once. A subquery it may run again for every row, and
// each time pass over those that it has just claimed.
func claimRank(tx *db.Tx, lane Lane, rank Rank, lease Lease, limit int) ([]Item, error) {
	items, err := db.All(tx, scanItem, `
		WITH chosen AS (
			SELECT id FROM queue_item
			WHERE lane = $4 AND rank = $5 AND lease_owner IS NULL AND due_at <= $6
			ORDER BY due_at
			LIMIT $7
			{skip_locked})
		UPDATE queue_item SET lease_owner = $1, lease_until = $2, fence = $3, claims = claims + 1
		WHERE id IN (SELECT id FROM chosen)
		RETURNING `+itemColumns,
		lease.Owner, tx.Now().Add(lease.For), lease.Token, lane, int64(rank), tx.Now(), limit)
	sortByDue(items)
	return items, err
}

// sortByDue orders what RETURNING returned, which promises no order.
func sortByDue(items []Item) {
	slices.SortFunc(items, func(a, b Item) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID)) })
}

func countUpTo(tx *db.Tx, lane Lane, rank Rank, limit int) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM (
			SELECT 1 FROM queue_item
			WHERE lane = $1 AND rank = $2 AND lease_owner IS NULL AND due_at <= $3
			LIMIT $4) AS waiting`, lane, int64(rank), tx.Now(), limit)
}

func remove(tx *db.Tx, ids []string) error {
	_, err := tx.Exec(`
		DELETE FROM queue_item
		WHERE id {in $1}`, ids)
	return err
}

func free(tx *db.Tx, item Item, due time.Time) (bool, error) {
	n, err := tx.Exec(`
		UPDATE queue_item SET lease_owner = NULL, lease_until = NULL, due_at = $1, aside = NULL
		WHERE id = $2 AND fence = $3 AND lease_owner IS NOT NULL`, due, item.ID, item.fence)
	return n == 1, err
}

func moveFree(tx *db.Tx, id string, due time.Time) (bool, error) {
	n, err := tx.Exec(`
		UPDATE queue_item SET due_at = $1
		WHERE id = $2 AND lease_owner IS NULL`, due, id)
	return n == 1, err
}

func prolong(tx *db.Tx, owner string, until time.Time) error {
	_, err := tx.Exec(`
		UPDATE queue_item SET lease_until = $1
		WHERE lease_owner = $2`, until, owner)
	return err
}

func freeOwner(tx *db.Tx, owner string) (int64, error) {
	return tx.Exec(`
		UPDATE queue_item SET lease_owner = NULL, lease_until = NULL
		WHERE lease_owner = $1`, owner)
}

func freeClaims(tx *db.Tx, owner string, tokens []int64) error {
	_, err := tx.Exec(`
		UPDATE queue_item SET lease_owner = NULL, lease_until = NULL
		WHERE lease_owner = $1 AND fence {in $2}`, owner, tokens)
	return err
}

func freeExpired(tx *db.Tx) (int64, error) {
	return tx.Exec(`
		UPDATE queue_item SET lease_owner = NULL, lease_until = NULL
		WHERE lease_owner IS NOT NULL AND lease_until < $1 AND flow = ''`, tx.Now())
}

func freeExpiredOf(tx *db.Tx, lane Lane) (int64, error) {
	return tx.Exec(`
		UPDATE queue_item SET lease_owner = NULL, lease_until = NULL
		WHERE lease_owner IS NOT NULL AND lease_until < $1 AND lane = $2`, tx.Now(), lane)
}

func earliest(tx *db.Tx, lane Lane) (time.Time, bool, error) {
	var first time.Time
	for _, rank := range ranks {
		due, err := db.One(tx, db.Moment, `
			SELECT due_at FROM queue_item
			WHERE lane = $1 AND rank = $2 AND lease_owner IS NULL
			ORDER BY due_at
			LIMIT 1`, lane, int64(rank))
		if errors.Is(err, db.ErrNotFound) {
			continue
		}
		if err != nil {
			return time.Time{}, false, err
		}
		if first.IsZero() || due.Before(first) {
			first = due
		}
	}
	return first, !first.IsZero(), nil
}

// count asks for free and leased items apart, because each kind has an index of its own and other lanes may hold millions.
func count(tx *db.Tx, lane Lane) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT (SELECT COUNT(*) FROM queue_item WHERE lane = $1 AND lease_owner IS NULL)
			+ (SELECT COUNT(*) FROM queue_item WHERE lane = $1 AND lease_owner IS NOT NULL)`, lane)
}

func countFree(tx *db.Tx, lane Lane) (ready, later int64, err error) {
	all, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM queue_item WHERE lane = $1 AND lease_owner IS NULL`, lane)
	if err != nil {
		return 0, 0, err
	}
	ready, err = db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM queue_item
		WHERE lane = $1 AND lease_owner IS NULL AND due_at <= $2`, lane, tx.Now())
	return ready, all - ready, err
}

func selectLoads(tx *db.Tx) ([]Load, error) {
	return db.All(tx, func(s db.Scanner) (Load, error) {
		var l Load
		err := s.Scan(&l.Lane, &l.Ready, &l.Later, &l.Leased, db.Time(&l.Oldest))
		return l, err
	}, `
		SELECT lane,
			CAST(SUM(CASE WHEN lease_owner IS NULL AND due_at <= $1 THEN 1 ELSE 0 END) AS BIGINT),
			CAST(SUM(CASE WHEN lease_owner IS NULL AND due_at > $1 THEN 1 ELSE 0 END) AS BIGINT),
			CAST(SUM(CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END) AS BIGINT),
			MIN(CASE WHEN lease_owner IS NULL AND due_at <= $1 THEN due_at END)
		FROM queue_item
		GROUP BY lane
		ORDER BY lane`, tx.Now())
}
