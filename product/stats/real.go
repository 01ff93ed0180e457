package stats

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// RealMail sums what happened to the mail of a managed customer, or of a whole workspace if tenant is empty, since the quarter of an
// hour of a moment. Mail that only went to the simulator is left out.
func (s *Service) RealMail(tx *db.Tx, ws space.ID, tenant string, since time.Time) (Counts, error) {
	of := facet("")
	if tenant != "" {
		of = ofTenant(tenant)
	}
	asked := span{workspace: ws, facets: []facet{of}, from: bucketOf(since), until: NextBucket(tx.Now())}
	all, err := selectCounts(tx, asked)
	if err != nil {
		return all, err
	}
	asked.facets = []facet{ofSimulated(tenant)}
	played, err := selectCounts(tx, asked)
	for i := range all {
		all[i] -= played[i]
	}
	return all, err
}

// NextBucket returns when the next quarter of an hour begins. What is counted from then on holds nothing of what was before.
func NextBucket(t time.Time) time.Time { return bucketOf(t).Add(quarter) }
