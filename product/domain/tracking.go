package domain

import (
	"context"
	"strings"

	"postrider/platform/db"
)

// TracksAt tells whether a host is the tracking host of a verified domain whose alias leads to us: then links in mail may lead there,
// and a certificate may be shown and got for it. Strangers can ask for any host, so the answer is found by an index alone.
func (s *Service) TracksAt(ctx context.Context, host string) (bool, error) {
	first, name, ok := strings.Cut(strings.ToLower(host), ".")
	if !ok {
		return false, nil
	}
	var holders []Domain
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		holders, err = selectHolder(tx, name)
		return err
	})
	if err != nil || len(holders) == 0 {
		return false, err
	}
	d := holders[0]
	// Silent name servers say nothing of the alias, and links that were mailed long ago must go on to work through their outage.
	leadsHere := d.Checks.Tracking.Status == CheckPass || d.Checks.Tracking.Status == CheckDNSError
	return d.TrackingLabel == first && leadsHere, nil
}
