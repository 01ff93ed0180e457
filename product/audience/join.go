package audience

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// entry is a membership of a contact that may not have a number yet.
type entry struct {
	Membership
	card *card
}

// joinLists works out what joining lists makes of the contacts' memberships.
func (b *book) joinLists() ([]entry, error) {
	var old []int64
	for _, c := range b.cards {
		if !c.isNew && len(c.joins) > 0 {
			old = append(old, c.Number)
		}
	}
	known := map[[2]int64]Membership{}
	if len(old) > 0 {
		rows, err := selectMemberships(b.tx, old)
		if err != nil {
			return nil, err
		}
		for _, m := range rows {
			known[[2]int64{m.List, m.Contact}] = m
		}
	}
	var entries []entry
	for _, address := range slices.Sorted(maps.Keys(b.cards)) {
		c := b.cards[address]
		joined := map[int64]bool{}
		for _, j := range c.joins {
			m, is := known[[2]int64{j.list.Number, c.Number}]
			if joined[j.list.Number] || is && !m.mayJoin(j) {
				continue
			}
			joined[j.list.Number] = true
			before := m.Status
			m.List = j.list.Number
			m.begin(j, b.tx.Now())
			c.count(before, -1)
			c.count(m.Status, 1)
			b.counts.move(m.List, before, m.Status)
			entries = append(entries, entry{m, c})
		}
	}
	return entries, nil
}

// mayJoin tells whether joining again changes anything: only for somebody who left and comes back.
func (m Membership) mayJoin(j join) bool { return m.Status == Unsubscribed && j.resubscribe }

// begin makes a membership of a join. A list with double opt-in waits for the person.
func (m *Membership) begin(j join, now time.Time) {
	m.Status, m.SubscribedAt, m.UnsubscribedAt = Subscribed, now, time.Time{}
	if j.list.DoubleOptIn {
		m.Status, m.ConfirmedAt = Pending, time.Time{}
	}
	m.Consent = cmp.Or(j.consent, m.Consent, j.presumed)
}

// count keeps how many lists the contact is on.
func (c *Contact) count(status Status, by int64) {
	switch status {
	case Pending:
		c.pending += by
	case Subscribed:
		c.subscribed += by
	}
}
