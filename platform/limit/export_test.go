package limit

import "time"

// Patient waits for a database that has much else to do.
func (s *Shared) Patient() *Shared {
	s.patience = time.Minute
	return s
}
