package audience

import (
	"maps"
	"slices"

	"postrider/platform/db"
)

type (
	listCounts  map[Status]int64
	topicCounts map[Subscription]int64
)

// counts are changes to how many contacts lists and topics have.
type counts struct {
	lists  map[int64]listCounts
	topics map[int64]topicCounts
}

func newCounts() counts { return counts{map[int64]listCounts{}, map[int64]topicCounts{}} }

// move counts a membership that changes; an empty status is none.
func (c counts) move(list int64, from, to Status) {
	if c.lists[list] == nil {
		c.lists[list] = listCounts{}
	}
	c.lists[list][from]--
	c.lists[list][to]++
}

// change counts somebody who changes what they said about a topic; empty is nothing.
func (c counts) change(topic int64, from, to Subscription) {
	if c.topics[topic] == nil {
		c.topics[topic] = topicCounts{}
	}
	c.topics[topic][from]--
	c.topics[topic][to]++
}

// save writes the changes in one order, so that two transactions never wait for each other.
func (c counts) save(tx *db.Tx) error {
	for _, list := range slices.Sorted(maps.Keys(c.lists)) {
		if err := addToList(tx, list, c.lists[list]); err != nil {
			return err
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(c.topics)) {
		if err := addToTopic(tx, topic, c.topics[topic]); err != nil {
			return err
		}
	}
	return nil
}
