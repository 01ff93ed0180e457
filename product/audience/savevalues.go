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
	var rows []said
	var old []int64
	for _, c := range all {
		for _, topic := range slices.Sorted(maps.Keys(c.said)) {
			rows = append(rows, said{topic, c.Number, c.said[topic], b.tx.Now()})
		}
		if len(c.said) > 0 && !c.isNew {
			old = append(old, c.Number)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	before := map[[2]int64]Subscription{}
	if len(old) > 0 {
		known, err := selectSaid(b.tx, old)
		if err != nil {
			return err
		}
		for _, t := range known {
			before[[2]int64{t.topic, t.contact}] = t.subscription
		}
	}
	for _, t := range rows {
		b.counts.change(t.topic, before[[2]int64{t.topic, t.contact}], t.subscription)
	}
	return saveSaid(b.tx, rows)
}
