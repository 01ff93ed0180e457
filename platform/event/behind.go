package event

import (
	"math"

	"postrider/platform/db"
)

// Behind counts the events that the follower has not handled, up to a bound: whoever is far behind costs no more than that to know.
func (f Follower) Behind(tx *db.Tx, most int) (int64, error) {
	at, err := readPlace(tx, f.Name)
	if err != nil {
		return 0, err
	}
	if f.Choose != nil {
		events, err := selectAfter(tx, at.position, math.MaxInt64, maxBatch)
		if err != nil {
			return 0, err
		}
		if len(events) < maxBatch { // with more it is behind anyhow: it never leaves so many unsaid
			wanted, err := f.Choose(tx, f.ofTypes(events))
			return int64(min(len(wanted), most)), err
		}
	}
	if len(f.Types) > 0 {
		return countWanted(tx, at.position, f.Types, most)
	}
	return countAfter(tx, at.position, most)
}
