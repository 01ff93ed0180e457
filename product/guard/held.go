package guard

import (
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/stats"
)

// maxHeld bounds how many held senders of a workspace are told of at once.
const maxHeld = 20

// Held tells the scorecard who in a workspace is held back: some managed customers, or everyone if none is named.
func (s *Service) Held(tx *db.Tx, ws space.ID, tenants []string) ([]stats.Hold, error) {
	list, err := selectHeld(tx, ws, tenants, maxHeld)
	holds := make([]stats.Hold, len(list))
	for i, g := range list {
		holds[i] = stats.Hold{Tenant: g.tenant(), Step: string(g.step), Hourly: g.hourly}
	}
	return holds, err
}
