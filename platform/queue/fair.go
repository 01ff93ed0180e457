package queue

import (
	"time"

	"postrider/platform/db"
)

const (
	// maxFlows bounds the flows that one claim serves; the next one goes on after them.
	maxFlows = 64
	// maxFlowsSeen bounds the flows that one claim looks at to find some with due work.
	maxFlowsSeen = 400
	// reserveShare is which part of a claim is kept for each less urgent rank.
	reserveShare = 8
)

// Turn is where among the flows of each rank the next fair claim begins. The zero Turn begins with the first.
type Turn [len(ranks)]string

// Fair says what a fair claim is to bring.
type Fair struct {
	Lease Lease
	Limit int
	Turn  Turn
	// Skip names flows that are to be left alone.
	Skip func(flow string) bool
}

// ClaimFairly leases up to limit due items of the lane. Flows of one rank have equal shares as far as they have work, so that a
// flow with a hundred thousand items does not hide another one's single item. Urgent ranks come first, but leave a little of the
// room to the others. It also returns where the next claim is to begin.
func ClaimFairly(tx *db.Tx, lane Lane, fair Fair) ([]Item, Turn, error) {
	var claimed []Item
	var left [len(ranks)][]string
	next := fair.Turn
	for i, rank := range ranks {
		flows, err := dueFlows(tx, lane, rank, fair.Turn[i], fair.Skip)
		if err != nil {
			return nil, next, err
		}
		next[i] = flows.turn
		budget := fair.Limit - len(claimed) - (len(ranks)-1-i)*(fair.Limit/reserveShare)
		items, more, err := claimShares(tx, lane, rank, fair.Lease, flows.names, budget)
		if err != nil {
			return nil, next, err
		}
		claimed, left[i] = append(claimed, items...), more
	}
	for i, rank := range ranks { // what was kept and not needed
		items, more, err := claimShares(tx, lane, rank, fair.Lease, left[i], fair.Limit-len(claimed))
		if err != nil {
			return nil, next, err
		}
		claimed = append(claimed, items...)
		if len(more) > 0 && len(items) < len(left[i]) {
			next[i] = more[0] // not all had something
		}
	}
	return claimed, next, nil
}

// flowList is some flows with due work, and with which one to begin next time.
type flowList struct {
	names []string
	turn  string
}

// dueFlows finds flows with due work, from the given one on and then from the beginning.
func dueFlows(tx *db.Tx, lane Lane, rank Rank, from string, skip func(string) bool) (flowList, error) {
	var list flowList
	begins := []string{from, ""}
	if from == "" {
		begins = begins[:1]
	}
	for _, begin := range begins {
		heads, err := flowHeads(tx, lane, rank, begin)
		if err != nil {
			return list, err
		}
		for i, head := range heads {
			switch {
			case begin != from && head.flow >= from:
				return list, nil // once around
			case len(list.names) == maxFlows || i == maxFlowsSeen-1:
				list.turn = head.flow
				return list, nil
			case !head.due.After(tx.Now()) && (skip == nil || !skip(head.flow)):
				list.names = append(list.names, head.flow)
			}
		}
	}
	return list, nil
}

// claimShares claims an equal share for each flow. It returns also the flows that may have more, those that had nothing first.
func claimShares(tx *db.Tx, lane Lane, rank Rank, lease Lease, flows []string, budget int) (claimed []Item, more []string, err error) {
	for i, flow := range flows {
		if len(claimed) >= budget {
			return claimed, append(flows[i:len(flows):len(flows)], more...), nil
		}
		share := max((budget-len(claimed))/(len(flows)-i), 1)
		items, err := claimFlow(tx, lane, rank, flow, lease, share)
		if err != nil {
			return nil, nil, err
		}
		if len(items) == share {
			more = append(more, flow)
		}
		claimed = append(claimed, items...)
	}
	return claimed, more, nil
}

// Keep prolongs the leases of items and returns those that this owner still holds. Between claiming and acting another may have
// taken an item over; then it must not be acted on.
func Keep(tx *db.Tx, owner string, items []Item, lease time.Duration) ([]Item, error) {
	held, err := prolongItems(tx, owner, items, tx.Now().Add(lease))
	return heldStill(items, held), err
}

// Hold returns those of the items that this owner still holds, and sees to it that nobody takes them over before the transaction
// ends. It writes nothing: it is for leases that last for long enough.
func Hold(tx *db.Tx, owner string, items []Item) ([]Item, error) {
	held, err := lockItems(tx, owner, items)
	return heldStill(items, held), err
}

// heldStill are the items whose claim is the newest one.
func heldStill(items []Item, fences map[string]int64) []Item {
	still := make([]Item, 0, len(fences))
	for _, item := range items {
		if fence, ok := fences[item.ID]; ok && fence == item.fence {
			still = append(still, item)
		}
	}
	return still
}

// SetAside frees items that the owner holds until due, under the key of what they wait for. Whoever finds that the wait is over
// can claim them earlier.
func SetAside(tx *db.Tx, owner string, ids []string, key string, due time.Time) error {
	return freeAside(tx, owner, ids, key, due)
}

// ClaimAside leases items that were set aside under the key, due or not, the first due first.
func ClaimAside(tx *db.Tx, lane Lane, key string, lease Lease, limit int) ([]Item, error) {
	return claimAside(tx, lane, key, lease, limit)
}

// AsideKeys returns up to limit of the keys under which items of the lane are set aside.
func AsideKeys(tx *db.Tx, lane Lane, limit int) ([]string, error) { return asideKeys(tx, lane, limit) }
