package queue

import (
	"time"

	"postrider/platform/db"
)

type flowHead struct {
	flow string
	due  time.Time
}

// flowHeads jumps from flow to flow through the index, so that it costs as much for a flow of a million items as for one of one.
func flowHeads(tx *db.Tx, lane Lane, rank Rank, after string) ([]flowHead, error) {
	return db.All(tx, func(s db.Scanner) (h flowHead, err error) {
		err = s.Scan(&h.flow, db.Time(&h.due))
		return h, err
	}, `
		WITH RECURSIVE head (flow, n) AS (
			SELECT (
				SELECT flow FROM queue_item
				WHERE lane = $1 AND rank = $2 AND lease_owner IS NULL AND flow >= $3
				ORDER BY flow
				LIMIT 1), 1
			UNION ALL
			SELECT (
				SELECT queue_item.flow FROM queue_item
				WHERE lane = $1 AND rank = $2 AND lease_owner IS NULL AND queue_item.flow > head.flow
				ORDER BY queue_item.flow
				LIMIT 1), n + 1
			FROM head
			WHERE head.flow IS NOT NULL AND n < $4)
		SELECT head.flow, (
			SELECT due_at FROM queue_item
			WHERE lane = $1 AND rank = $2 AND lease_owner IS NULL AND queue_item.flow = head.flow
			ORDER BY due_at
			LIMIT 1)
		FROM head
		WHERE head.flow IS NOT NULL
		ORDER BY head.flow`, lane, int64(rank), after, maxFlowsSeen)
}

func claimFlow(tx *db.Tx, lane Lane, rank Rank, flow string, lease Lease, limit int) ([]Item, error) {
	items, err := db.All(tx, scanItem, `
		WITH chosen AS (
			SELECT id FROM queue_item
			WHERE lane = $4 AND rank = $5 AND flow = $6 AND lease_owner IS NULL AND due_at <= $7
			ORDER BY due_at
			LIMIT $8
			{skip_locked})
		UPDATE queue_item SET lease_owner = $1, lease_until = $2, fence = $3, claims = claims + 1
		WHERE id IN (SELECT id FROM chosen)
		RETURNING `+itemColumns,
		lease.Owner, tx.Now().Add(lease.For), lease.Token, lane, int64(rank), flow, tx.Now(), limit)
	sortByDue(items)
	return items, err
}

func claimAside(tx *db.Tx, lane Lane, key string, lease Lease, limit int) ([]Item, error) {
	items, err := db.All(tx, scanItem, `
		WITH chosen AS (
			SELECT id FROM queue_item
			WHERE lane = $4 AND aside = $5 AND lease_owner IS NULL
			ORDER BY due_at
			LIMIT $6
			{skip_locked})
		UPDATE queue_item SET lease_owner = $1, lease_until = $2, fence = $3, claims = claims + 1
		WHERE id IN (SELECT id FROM chosen)
		RETURNING `+itemColumns,
		lease.Owner, tx.Now().Add(lease.For), lease.Token, lane, key, limit)
	sortByDue(items)
	return items, err
}

// asideKeys jumps from key to key through the index.
func asideKeys(tx *db.Tx, lane Lane, limit int) ([]string, error) {
	return db.All(tx, db.Value[string], `
		WITH RECURSIVE kept (aside, n) AS (
			SELECT (
				SELECT aside FROM queue_item
				WHERE lane = $1 AND lease_owner IS NULL AND aside IS NOT NULL
				ORDER BY aside
				LIMIT 1), 1
			UNION ALL
			SELECT (
				SELECT queue_item.aside FROM queue_item
				WHERE lane = $1 AND lease_owner IS NULL AND queue_item.aside IS NOT NULL AND queue_item.aside > kept.aside
				ORDER BY queue_item.aside
				LIMIT 1), n + 1
			FROM kept
			WHERE kept.aside IS NOT NULL AND n < $2)
		SELECT aside FROM kept
		WHERE aside IS NOT NULL`, lane, limit)
}

// heldBy asks for the owner in a way that no index answers: the ids are few, and what an owner holds is much.
const heldBy = `COALESCE(lease_owner, '') = `

func prolongItems(tx *db.Tx, owner string, items []Item, until time.Time) (map[string]int64, error) {
	return fencesOf(tx, `
		UPDATE queue_item SET lease_until = $1
		WHERE id {in $2} AND `+heldBy+`$3
		RETURNING id, fence`, until, idsOf(items), owner)
}

func lockItems(tx *db.Tx, owner string, items []Item) (map[string]int64, error) {
	return fencesOf(tx, `
		SELECT id, fence
		FROM queue_item
		WHERE id {in $1} AND `+heldBy+`$2
		{for_update}`, idsOf(items), owner)
}

// fencesOf returns the fencing numbers of the items that a statement finds.
func fencesOf(tx *db.Tx, statement string, args ...any) (map[string]int64, error) {
	found := map[string]int64{}
	_, err := db.All(tx, func(s db.Scanner) (none struct{}, err error) {
		var id string
		var fence int64
		err = s.Scan(&id, &fence)
		found[id] = fence
		return none, err
	}, statement, args...)
	return found, err
}

func idsOf(items []Item) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	return ids
}

func freeAside(tx *db.Tx, owner string, ids []string, key string, due time.Time) error {
	_, err := tx.Exec(`
		UPDATE queue_item SET lease_owner = NULL, lease_until = NULL, due_at = $1, aside = $2
		WHERE id {in $3} AND `+heldBy+`$4`, due, db.NullText(key), ids, owner)
	return err
}
