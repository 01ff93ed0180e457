package apikey

import (
	"context"
	"fmt"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/account"
)

// maxGrace is the longest an old secret may live beside a new one.
const maxGrace = 24 * time.Hour

// Rotate gives a key a new secret. The old one stays good for the grace time; one from an earlier rotation dies at once.
func (s *Service) Rotate(ctx context.Context, caller api.Caller, id string, grace time.Duration) (Key, string, error) {
	if grace < 0 || grace > maxGrace {
		return Key{}, "", api.Invalid("grace_sec", fmt.Sprintf("Must be between 0 and %d.", int(maxGrace/time.Second)))
	}
	var token string
	key, err := s.change(ctx, caller, id, KeyRotated, func(tx *db.Tx, k *Key) (bool, error) {
		if status := k.Status(tx.Now()); status != Active {
			return false, api.ErrInvalidState.Saying("Only an active key can be rotated.").With("current", status).With("allowed", []Status{Active})
		}
		k.previousHash, k.previousUntil = digest{}, time.Time{}
		if grace > 0 {
			k.previousHash, k.previousUntil = k.hash, tx.Now().Add(grace)
		}
		token = newToken(s.world, k.Mode, k.publicID)
		k.hash, k.RotatedAt = digestOf(token), tx.Now()
		return true, nil
	})
	return key, token, err
}

// Revoke ends a key for ever. Revoking it again changes nothing.
func (s *Service) Revoke(ctx context.Context, caller api.Caller, id string) (Key, error) {
	return s.change(ctx, caller, id, KeyRevoked, func(tx *db.Tx, k *Key) (bool, error) {
		if !k.RevokedAt.IsZero() {
			return false, nil
		}
		k.RevokedAt = tx.Now()
		return true, nil
	})
}

// change locks a key, lets alter change it, and makes this process forget what it knew of it. Other nodes forget within a second.
func (s *Service) change(ctx context.Context, caller api.Caller, id string, action account.Action,
	alter func(*db.Tx, *Key) (changed bool, err error)) (Key, error) {
	if !api.IsID(id) {
		return Key{}, api.NotFound("api_key")
	}
	var key Key
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if key, err = lockKey(tx, caller.Workspace, ID(id)); err != nil {
			return db.OrMissing(err, api.NotFound("api_key"))
		}
		changed, err := alter(tx, &key)
		if err != nil || !changed {
			return err
		}
		if err := updateKey(tx, key); err != nil {
			return err
		}
		return s.accounts.Audit(tx, account.By(caller, action, targetOf(key)))
	})
	if err == nil {
		s.cache.forget(key.publicID)
	}
	return key, err
}
