package delivery

import "postrider/product/delivery/internal/shape"

// Owner returns the node that a path belongs to, as this one sees it.
func (s *Service) Owner(source, site string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crew.owner(shape.Path{Source: source, Site: shape.Site(site)})
}

// OwnID returns the id of the node.
func (s *Service) OwnID() string { return s.config.Node }

// Crowded tells whether a large letter has not left yet.
func (s *Service) Crowded() bool {
	if s.room.TryAcquire(roomForLarge) {
		s.room.Release(roomForLarge)
		return false
	}
	return true
}
