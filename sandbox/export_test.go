package sandbox

// Settle waits until no reaction is waiting or running: whoever holds all tokens is alone.
func (s *Sandbox) Settle() {
	for range maxPending {
		s.pending <- struct{}{}
	}
	for range maxPending {
		<-s.pending
	}
}
