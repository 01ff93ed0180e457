package audience

import (
	"maps"
	"slices"
)

// writeValues writes properties, topics and segments.
func (b *book) writeValues(all []*card) error {
	var values []held
	var placed []placement
	for _, c := range all {
		for _, property := range slices.Sorted(maps.Keys(c.values)) {
			if v := c.values[property]; v != nil {
				values = append(values, held{c.Number, property, *v, b.tx.Now()})
			} else if err := deleteHeld(b.tx, c.Number, property); err != nil {
				return err
			}
		}
		for _, segment := range c.segments {
			placed = append(placed, placement{segment: segment, contact: c.Number})
		}
	}
	if err := saveHeld(b.tx, values, b.schema.types()); err != nil {
		return err
	}
	if err := savePlaced(b.tx, unique(placed)); err != nil {
		return err
	}
	return b.writeSaid(all)
}

func unique(placed []placement) []placement {
	seen := map[placement]bool{}
	return slices.DeleteFunc(placed, func(p placement) bool {
		if seen[p] {
			return true
		}
		seen[p] = true
		return false
	})
}

func (b *book) writeSaid(all []*card) error {
	before, err := b.saidBefore(all)
	if err != nil {
		return err
	}
	var rows []said
	for _, c := range all {
		for _, topic := range slices.Sorted(maps.Keys(c.said)) {
			wanted, known := c.said[topic], before[[2]int64{topic, c.Number}]
			if known.own && known.subscription == OptOut && !wanted.back {
				continue
			}
			rows = append(rows, said{topic: topic, contact: c.Number, subscription: wanted.Subscription, at: b.tx.Now()})
			b.counts.change(topic, known.subscription, wanted.Subscription)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return saveSaid(b.tx, rows)
}

// saidBefore returns what those have said of whom something about topics is to be written, by topic and contact.
func (b *book) saidBefore(all []*card) (map[[2]int64]said, error) {
	var old []int64
	for _, c := range all {
		if len(c.said) > 0 && !c.isNew {
			old = append(old, c.Number)
		}
	}
	if len(old) == 0 {
		return nil, nil
	}
	known, err := selectSaid(b.tx, old)
	before := make(map[[2]int64]said, len(known))
	for _, t := range known {
		before[[2]int64{t.topic, t.contact}] = t
	}
	return before, err
}
