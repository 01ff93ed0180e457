package webhook

import (
	"postrider/platform/db"
	"postrider/platform/queue"
)

// settleAndLook is what a step does inside its transaction for the lines of this process: it writes down what became of posts, and
// finds out what the lines do next.
func (s *Service) settleAndLook(tx *db.Tx, outcomes []outcome, looks []look) ([]seen, error) {
	endpoints, err := s.lockAll(tx, outcomes, looks)
	if err != nil {
		return nil, err
	}
	if err := s.settle(tx, outcomes, endpoints); err != nil {
		return nil, err
	}
	ours, err := s.ours(tx, looks)
	if err != nil {
		return nil, err
	}
	lines := make([]seen, len(looks))
	var events []string
	for i, l := range looks {
		if !ours[l.id] {
			lines[i] = seen{id: l.id, doubts: l.doubts, left: l.resting}
			continue
		}
		if lines[i], err = s.look(tx, l, endpoints[l.id]); err != nil {
			return nil, err
		}
		for _, j := range lines[i].jobs {
			events = append(events, j.delivery.EventID)
		}
	}
	if len(events) == 0 {
		return lines, nil
	}
	bodies, err := selectPayloads(tx, events)
	for i := range lines {
		for n := range lines[i].jobs {
			d := lines[i].jobs[n].delivery
			lines[i].jobs[n].body = shownTo(endpoints[d.Webhook], d.EventType, bodies[d.EventID])
		}
	}
	return lines, err
}

// lockAll locks the endpoints that the transaction is about. Those that have been deleted are missing.
func (s *Service) lockAll(tx *db.Tx, outcomes []outcome, looks []look) (map[ID]*Endpoint, error) {
	wanted := map[ID]bool{}
	for _, o := range outcomes {
		wanted[o.delivery.Webhook] = true
	}
	for _, l := range looks {
		wanted[l.id] = true
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	ids := make([]ID, 0, len(wanted))
	for id := range wanted {
		ids = append(ids, id)
	}
	rows, err := lockEndpoints(tx, ids)
	if err != nil {
		return nil, err
	}
	endpoints := make(map[ID]*Endpoint, len(rows))
	for _, row := range rows {
		e, err := s.opened(row, nil)
		if err != nil {
			return nil, err
		}
		endpoints[e.ID] = &e
	}
	return endpoints, nil
}

// ours tells which lines this process still has. It may have been held up for longer than a lease, and another has them by now.
func (s *Service) ours(tx *db.Tx, looks []look) (map[ID]bool, error) {
	if len(looks) == 0 {
		return nil, nil
	}
	items := make([]queue.Item, len(looks))
	for i, l := range looks {
		items[i] = l.item
	}
	held, err := queue.Hold(tx, s.holder.Name, items)
	ours := make(map[ID]bool, len(held))
	for _, item := range held {
		ours[ID(item.ID)] = true
	}
	return ours, err
}

// look loads what is due for a line, or gives it back if there is nothing left to do.
func (s *Service) look(tx *db.Tx, l look, e *Endpoint) (seen, error) {
	if e == nil || e.Status == Disabled {
		found := seen{id: l.id, doubts: l.doubts, left: l.resting}
		if l.resting && e != nil {
			_, err := queue.Postpone(tx, l.item, tx.Now().Add(restFor))
			return found, err
		}
		return found, nil
	}
	found := seen{id: l.id, doubts: l.doubts, endpoint: e}
	if l.wants > 0 {
		due, err := selectDue(tx, l.id, l.wants+len(l.taken))
		if err != nil {
			return found, err
		}
		for _, d := range due {
			if !l.taken[d.ID] && len(found.jobs) < l.wants {
				found.jobs = append(found.jobs, job{delivery: d})
			}
		}
	}
	if len(found.jobs) > 0 || len(l.taken) > 0 {
		return found, nil
	}
	found.left = true
	return found, s.giveBack(tx, l)
}

// giveBack frees an endpoint until something is due.
func (s *Service) giveBack(tx *db.Tx, l look) error {
	due, err := selectNextDue(tx, l.id)
	if err != nil {
		return err
	}
	if rested := tx.Now().Add(restFor); due.IsZero() || due.After(rested) {
		due = rested
	}
	_, err = queue.Postpone(tx, l.item, due)
	return err
}
