package delivery

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"postrider/mail/tlsrpt"
	"postrider/platform/db"
)

const (
	// saveStandings bounds what one transaction stores.
	saveStandings = 500
	// forgetStandings is how long a domain is remembered that gets no more mail: longer than any policy of it is worth.
	forgetStandings = 60 * 24 * time.Hour
)

// save stores what is news about encryption.
func (e *encryption) save(ctx context.Context) (more bool, err error) {
	changed, days := e.news()
	if len(changed) == 0 && len(days) == 0 {
		return false, nil
	}
	err = e.db.Write(ctx, func(tx *db.Tx) error {
		if err := upsertStandings(tx, changed); err != nil {
			return err
		}
		for _, day := range days {
			if err := e.saveDay(tx, *day); err != nil {
				return err
			}
		}
		return nil
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		for _, day := range days { // to be stored with what is counted meanwhile
			if later := e.days[day.Key]; later != nil {
				day.Merge(*later)
			}
			e.days[day.Key] = day
		}
		return false, err
	}
	for domain, s := range changed {
		e.stored[domain] = s
	}
	return len(changed) == saveStandings, nil
}

// news takes what has to be stored.
func (e *encryption) news() (changed map[string]standing, days []*tlsrpt.Day) {
	e.mu.Lock()
	defer e.mu.Unlock()
	changed = map[string]standing{}
	for domain, s := range e.known {
		if len(changed) < saveStandings && !s.same(e.stored[domain]) {
			changed[domain] = s
		}
	}
	days = slices.SortedFunc(maps.Values(e.days), func(a, b *tlsrpt.Day) int {
		return cmp.Or(cmp.Compare(a.Key.Domain, b.Key.Domain), cmp.Compare(a.Key.Date, b.Key.Date))
	})
	clear(e.days)
	return changed, days
}

// saveDay adds to what this node has counted of a day. The first time it also orders the report.
func (e *encryption) saveDay(tx *db.Tx, counted tlsrpt.Day) error {
	stored, found, err := selectDay(tx, counted.Key, e.node)
	if err != nil {
		return err
	}
	if found {
		stored.Merge(counted)
		counted = stored
	} else if err := orderReport(tx, e.world, counted.Key); err != nil {
		return err
	}
	return upsertDay(tx, counted, e.node)
}

// forgetOld removes domains that have had no mail for long.
func (e *encryption) forgetOld(ctx context.Context) (bool, error) {
	var forgotten int64
	err := e.db.Write(ctx, func(tx *db.Tx) (err error) {
		forgotten, err = deleteStandings(tx, tx.Now().Add(-forgetStandings), saveStandings)
		return err
	})
	return forgotten == saveStandings, err
}
