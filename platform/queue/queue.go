// Package queue holds durable work with due times: whatever must happen later, or must survive a crash, is a row here.
//
// Work is done in three beats. Claim leases due items in one transaction; the worker then acts, outside any transaction; Finish
// or Postpone settles in another one, together with the effects. If the process dies between the beats, the lease runs out
// and the item is due again.
//
//	Owns     queue_item
package queue

import (
	"time"

	"postrider/platform/db"
)

// Lane names a kind of work with workers of its own.
type Lane string

// Rank orders the items of a lane that are due: a lower rank is claimed first.
type Rank int

// Ranks from the most to the least urgent.
const (
	Urgent Rank = iota
	Normal
	Bulk
)

var ranks = [...]Rank{Urgent, Normal, Bulk}

// Item is one piece of work. Its id is chosen by whoever adds it, so adding the same work twice is noticed.
type Item struct {
	ID   string
	Lane Lane
	Rank Rank
	// Flow is whose work it is. Flows share what ClaimFairly claims, however much work each has.
	Flow    string
	Due     time.Time
	Payload string

	// Claims is how often the item was leased, this time included. Only Claim fills it.
	Claims int
	fence  int64
}

// Topic is what to subscribe to for news of a lane.
func (l Lane) Topic() string { return "queue/" + string(l) }

// Add stores items and, once the transaction has committed, wakes the workers of their lanes.
func Add(tx *db.Tx, items ...Item) error {
	if err := insert(tx, items); err != nil {
		return err
	}
	wake(tx, items)
	return nil
}

func wake(tx *db.Tx, items []Item) {
	woken := map[Lane]bool{}
	for _, item := range items {
		if !woken[item.Lane] {
			woken[item.Lane] = true
			tx.Wake(item.Lane.Topic())
		}
	}
}

// Lease says who claims, and for how long. Token must be new for every claim: an item can be postponed only by the claim that
// holds it.
type Lease struct {
	Owner string
	For   time.Duration
	Token int64
}

// Claim leases up to limit due items of the lane, the most urgent and longest due first.
func Claim(tx *db.Tx, lane Lane, lease Lease, limit int) ([]Item, error) {
	var claimed []Item
	for _, rank := range ranks {
		if len(claimed) >= limit {
			break
		}
		items, err := claimRank(tx, lane, rank, lease, limit-len(claimed))
		if err != nil {
			return nil, err
		}
		claimed = append(claimed, items...)
	}
	return claimed, nil
}

// Finish removes items whose work is done. It does not ask who holds the lease: done is done.
func Finish(tx *db.Tx, ids ...string) error { return remove(tx, ids) }

// Postpone frees an item until due, if this claim still holds it. It tells whether it did.
func Postpone(tx *db.Tx, item Item, due time.Time) (bool, error) {
	held, err := free(tx, item, due)
	if held {
		tx.Wake(item.Lane.Topic())
	}
	return held, err
}

// Reschedule moves the due time of an item that nobody has claimed. It tells whether it did.
func Reschedule(tx *db.Tx, lane Lane, id string, due time.Time) (bool, error) {
	moved, err := moveFree(tx, id, due)
	if moved {
		tx.Wake(lane.Topic())
	}
	return moved, err
}

// Renew prolongs every lease of the owner.
func Renew(tx *db.Tx, owner string, lease time.Duration) error {
	return prolong(tx, owner, tx.Now().Add(lease))
}

// ReleaseOwner frees everything the owner has leased. A node calls it when it starts, because whatever it held before is
// nobody's, and when it stops, for what it has not begun.
func ReleaseOwner(tx *db.Tx, owner string) (int64, error) { return freeOwner(tx, owner) }

// ReleaseClaims frees what the owner holds by the claims with the given tokens. Who renews by owner calls it after a claim whose commit
// was not answered: it may have happened, and its items would stay with somebody who does not know of them.
func ReleaseClaims(tx *db.Tx, owner string, tokens ...int64) error {
	if len(tokens) == 0 {
		return nil
	}
	return freeClaims(tx, owner, tokens)
}

// ReleaseExpired frees the items whose leases have run out, whoever held them. Items of flows are left to ReleaseExpiredOf:
// whoever claims those knows better when an owner is gone for good.
func ReleaseExpired(tx *db.Tx) (int64, error) { return freeExpired(tx) }

// ReleaseExpiredOf frees the items of a lane whose leases have run out, whoever held them.
func ReleaseExpiredOf(tx *db.Tx, lane Lane) (int64, error) { return freeExpiredOf(tx, lane) }

// NextDue returns when the next free item of the lane is due; ok is false if there is none.
func NextDue(tx *db.Tx, lane Lane) (due time.Time, ok bool, err error) { return earliest(tx, lane) }

// Depth counts the items of a lane, leased or not.
func Depth(tx *db.Tx, lane Lane) (int64, error) { return count(tx, lane) }

// Waiting counts the free items of a lane: those that are due, and those that will be.
func Waiting(tx *db.Tx, lane Lane) (ready, later int64, err error) { return countFree(tx, lane) }
