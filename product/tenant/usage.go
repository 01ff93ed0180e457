package tenant

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// usage is what was last sent for a customer, and how much in the month that it was sent in.
type usage struct {
	month, lastSentAt time.Time
	emails            int64
}

// inMonthOf returns the emails of the month of a moment.
func (u usage) inMonthOf(now time.Time) int64 {
	if start, _ := plan.Month(now); !u.month.Equal(start) {
		return 0
	}
	return u.emails
}

// Use counts emails to the given number of recipients that were accepted for a customer. The empty id, and that of a customer
// who is gone, count nothing.
func (s *Service) Use(tx *db.Tx, ws space.ID, id string, recipients int64, at time.Time) error {
	if id == "" {
		return nil
	}
	month, _ := plan.Month(at)
	return addUsage(tx, ws, ID(id), usage{month: month, emails: recipients, lastSentAt: at})
}

// Return takes back what Use counted at the given moment, for mail that was never sent.
func (s *Service) Return(tx *db.Tx, ws space.ID, id string, recipients int64, takenAt time.Time) error {
	if id == "" {
		return nil
	}
	month, _ := plan.Month(takenAt)
	return takeUsage(tx, ws, ID(id), month, recipients)
}

// Count tells how many customers the workspace has.
func (s *Service) Count(tx *db.Tx, ws space.ID) (int64, error) { return total.Of(tx, ws) }
