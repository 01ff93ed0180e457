package webhook

import (
	"context"
	"fmt"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

const (
	// defaultOverlap gives a customer a day to bring the new secret everywhere; longestOverlap a week.
	defaultOverlap = 24 * time.Hour
	longestOverlap = 7 * 24 * time.Hour
)

var errRotating = api.ErrInvalidState.With("current", "rotating").With("allowed", []string{"rotated"}).
	Saying("The previous secret is still good. Wait until it expires, revoke it, or send force to drop it now.")

// Rotation is how a secret is replaced.
type Rotation struct {
	// OverlapSeconds is how long the secret before still signs; nil means a day.
	OverlapSeconds *int64 `json:"overlap_sec" doc:"How long the old secret signs too; 0 to 604800, a day if absent." example:"86400"`
	Force          bool   `json:"force" doc:"Drop a previous secret that is still good." example:"false"`
}

func (r Rotation) overlap() (time.Duration, error) {
	if r.OverlapSeconds == nil {
		return defaultOverlap, nil
	}
	if most := int64(longestOverlap / time.Second); *r.OverlapSeconds < 0 || *r.OverlapSeconds > most {
		return 0, api.Invalid("overlap_sec", fmt.Sprintf("Must be between 0 and %d.", most))
	}
	return time.Duration(*r.OverlapSeconds) * time.Second, nil
}

// Rotate gives an endpoint a new secret, which signs at once; the one before signs beside it for a while.
func (s *Service) Rotate(ctx context.Context, caller api.Caller, id string, r Rotation) (Endpoint, error) {
	overlap, err := r.overlap()
	if err != nil {
		return Endpoint{}, err
	}
	fresh := secret(s.world.Bytes(secretBytes))
	return s.change(ctx, caller.Workspace, id, func(tx *db.Tx, e Endpoint) (Endpoint, error) {
		if e.rotating(tx.Now()) && !r.Force {
			return e, errRotating
		}
		before := e.secret
		e.secret, e.secretPrefix = fresh, fresh.prefix()
		e.previous, e.previousExpiresAt = nil, time.Time{}
		if overlap > 0 {
			e.previous, e.previousExpiresAt = before, tx.Now().Add(overlap)
		}
		return e, s.audit(tx, caller, SecretRotated, e)
	})
}

// RevokePrevious makes the current secret the only one.
func (s *Service) RevokePrevious(ctx context.Context, caller api.Caller, id string) (Endpoint, error) {
	return s.change(ctx, caller.Workspace, id, func(tx *db.Tx, e Endpoint) (Endpoint, error) {
		e.previous, e.previousExpiresAt = nil, time.Time{}
		return e, s.audit(tx, caller, PreviousSecretRevoked, e)
	})
}
