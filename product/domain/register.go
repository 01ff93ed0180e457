package domain

import (
	"context"
	"errors"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/plan"
)

// Register adds a domain of the workspace's own, if its plan has a slot for it.
func (s *Service) Register(ctx context.Context, ws space.ID, name plan.Name, r Registration) (Domain, error) {
	complete, err := r.complete()
	if err != nil {
		return Domain{}, err
	}
	// A look before the work: making keys for a domain that will be refused would be a cheap way to keep us busy.
	early := Domain{Workspace: ws, Name: complete.Domain}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return errors.Join(s.CheckWay(tx, ws, r), s.checkSlot(tx, name, early), s.checkFree(tx, early))
	})
	if err != nil {
		return Domain{}, err
	}
	d, err := s.Prepare(ws, r)
	if err != nil {
		return Domain{}, err
	}
	// Serializable, because the count of domains is a rule over rows that do not exist yet.
	return d, s.db.WriteSerializable(ctx, func(tx *db.Tx) error {
		if err := s.checkSlot(tx, name, d); err != nil {
			return err
		}
		return s.Add(tx, d)
	})
}

// Prepare checks a registration and makes the signing keys, outside any transaction: that takes a good part of a second.
func (s *Service) Prepare(ws space.ID, r Registration) (Domain, error) {
	r, err := r.complete()
	if err != nil {
		return Domain{}, err
	}
	now := s.world.Clock.Now().Truncate(time.Microsecond)
	d := Domain{
		ID: ID(s.world.NewID()), Workspace: ws, Name: r.Domain, Region: r.Region, Provider: r.Provider, Status: NotStarted,
		SendingEnabled: r.Capabilities.Sending.or(true), ReceivingRequested: r.Capabilities.Receiving.or(false), OpenTracking: r.OpenTracking, ClickTracking: r.ClickTracking,
		TrackingLabel: r.TrackingLabel, ReturnLabel: r.CustomReturnPath, TLS: r.TLS, DMARCPolicy: r.DMARCPolicy, CreatedAt: now, UpdatedAt: now,
		NextCheckAt: now.Add(s.world.Jitter(firstCheck, checkJitter)), Checks: uncheckedAll(),
	}
	if r.Selector == "" {
		r.Selector = s.newSelector("s")
	}
	for _, wanted := range []struct {
		algorithm Algorithm
		selector  string
	}{{RSA, r.Selector}, {Ed25519, s.newSelector("e")}} {
		key, err := s.newKey(d.ID, wanted.algorithm, wanted.selector, Current, now)
		if err != nil {
			return Domain{}, err
		}
		d.Keys = append(d.Keys, key)
	}
	d.Signing = []string{r.Selector}
	return d, nil
}

// checkSlot counts every domain of the workspace's own, verified or not. Domains of managed customers have a quota of their own.
func (s *Service) checkSlot(tx *db.Tx, name plan.Name, d Domain) error {
	p, err := s.plans.Get(name)
	if err != nil {
		return err
	}
	used, err := s.Count(tx, d.Workspace)
	if err != nil {
		return err
	}
	if limit := p.Limits.VerifiedDomains; limit != nil && used >= *limit {
		if _, err := selectByName(tx, d.Workspace, d.Name); err == nil {
			return nil // Add has the better answer: it is here already
		}
		return ErrQuota.With("plan", name).With("limit", *limit).With("used", used)
	}
	return nil
}

// Add stores a prepared domain, unless it is here already or another workspace holds it. Quotas are for the caller to check.
func (s *Service) Add(tx *db.Tx, d Domain) error {
	if err := s.checkFree(tx, d); err != nil {
		return err
	}
	if err := insertDomain(tx, d); err != nil {
		if errors.Is(err, db.ErrUnique) {
			return db.ErrConflict // a twin was faster; the next run finds it
		}
		return err
	}
	if err := insertKeys(tx, d, d.Keys...); err != nil {
		return err
	}
	if err := addTotal(tx, d, 1); err != nil {
		return err
	}
	if err := queue.Add(tx, checkItem(d)); err != nil {
		return err
	}
	return event.Append(tx, s.newEvent(d, "domain.created"))
}

func (s *Service) checkFree(tx *db.Tx, d Domain) error {
	existing, err := selectByName(tx, d.Workspace, d.Name)
	if err == nil {
		return api.ErrAlreadyExists.With("resource", "domain").With("id", existing.ID)
	}
	if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	held, err := heldElsewhere(tx, d.Workspace, d.Name)
	if err == nil && held {
		return ErrTaken
	}
	return err
}

// Remove deletes a domain. Mail from it that waits will fail; who asks for it is for the caller to check.
func (s *Service) Remove(tx *db.Tx, ws space.ID, id ID) error {
	d, err := lockDomain(tx, ws, id)
	if errors.Is(err, db.ErrNotFound) {
		return api.NotFound("domain")
	}
	if err != nil {
		return err
	}
	if err := loadKeys(tx, &d); err != nil {
		return err
	}
	if err := deleteDomain(tx, ws, id); err != nil {
		return err
	}
	if err := addTotal(tx, d, -1); err != nil {
		return err
	}
	if err := queue.Finish(tx, string(id)); err != nil {
		return err
	}
	d.UpdatedAt = tx.Now()
	return event.Append(tx, s.newEvent(d, "domain.deleted"))
}

// Forget makes the next send look the domain up again. Call it when a transaction that removed or changed one has committed.
func (s *Service) Forget(d Domain) {
	s.sending.forget(d.Workspace, d.Name)
	s.forgetReceiving(d.Name)
}
