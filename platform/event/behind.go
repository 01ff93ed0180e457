package event

import "postrider/platform/db"

// Behind counts the events that the follower has not handled, up to a bound: whoever is far behind costs no more than that to know.
func (f Follower) Behind(tx *db.Tx, most int) (int64, error) {
	at, err := readPosition(tx, f.Name)
	if err != nil {
		return 0, err
	}
	if len(f.Types) > 0 {
		return countWanted(tx, at, f.Types, most)
	}
	return countAfter(tx, at, most)
}
