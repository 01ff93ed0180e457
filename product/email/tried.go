package email

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

// Tried is an attempt and the address it was for.
type Tried struct {
	Attempt
	Recipient string
}

// Tried returns the first attempts of an email, oldest first, for those who tell its story.
func (s *Service) Tried(tx *db.Tx, ws space.ID, id string, limit int) ([]Tried, error) {
	attempts, err := selectAttempts(tx, ws, ID(id), nil, db.Keyset{}, limit, 0)
	tried := make([]Tried, len(attempts))
	for i, a := range attempts {
		tried[i] = Tried{a.Attempt, a.recipient}
	}
	return tried, err
}
