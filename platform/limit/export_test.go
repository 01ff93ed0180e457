package limit

import "time"

// Patient waits for a database that has much else to do.
func (s *Shared) Patient() *Shared { return s.Waits(time.Minute) }

// Waits gives the database that long to answer.
func (s *Shared) Waits(patience time.Duration) *Shared {
	s.patience = patience
	return s
}

// NameOf is how a bucket is known in the database.
func NameOf(key string) string { return nameOf(key) }
