package broadcast

import (
	"context"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/domain"
)

// senders are the domains that a key is restricted to, by name; nil for callers that may use all of them.
type senders map[string]bool

// sendersOf loads the domains of a restricted key.
func (s *Service) sendersOf(tx *db.Tx, caller api.Caller) (senders, error) {
	if len(caller.DomainIDs) == 0 {
		return nil, nil
	}
	ids := make([]domain.ID, len(caller.DomainIDs))
	for i, id := range caller.DomainIDs {
		ids[i] = domain.ID(id)
	}
	found, err := s.parts.Domains.Load(tx, ids)
	allowed := senders{}
	for _, d := range found {
		allowed[d.Name] = d.Workspace == caller.Workspace
	}
	return allowed, err
}

// allow tells whether mail of this sender is among them. A draft without a sender is of no domain yet.
func (a senders) allow(from string) bool {
	if a == nil || from == "" {
		return true
	}
	sender, err := address.Parse(from)
	return err == nil && a[sender.Domain]
}

// checkSender refuses a sender that the caller's key may not use: it could not find such a draft again.
func (s *Service) checkSender(tx *db.Tx, caller api.Caller, b Broadcast) error {
	allowed, err := s.sendersOf(tx, caller)
	if err != nil || allowed.allow(b.From) {
		return err
	}
	sender, err := address.Parse(b.From)
	if err != nil {
		return api.Invalid("from", "Not an email address.")
	}
	return api.DomainNotAllowed(sender.Domain)
}

// texts returns the senders of a workspace that are allowed, as its broadcasts spell them; nil if all are.
func (a senders) texts(tx *db.Tx, ws space.ID) ([]string, error) {
	if a == nil {
		return nil, nil
	}
	all, err := selectSenders(tx, ws)
	allowed := []string{""}
	for _, from := range all {
		if from != "" && a.allow(from) {
			allowed = append(allowed, from)
		}
	}
	return allowed, err
}

// visible returns an error if the caller's key may not know of the broadcast. It costs other callers nothing.
func (s *Service) visible(ctx context.Context, caller api.Caller, id string) error {
	if len(caller.DomainIDs) == 0 {
		return nil
	}
	return s.db.Read(ctx, func(tx *db.Tx) error {
		b, err := find(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		allowed, err := s.sendersOf(tx, caller)
		if err == nil && !allowed.allow(b.From) {
			err = ErrNotFound
		}
		return err
	})
}

// ofOne makes a handler of a function about one broadcast, which is missing for keys of other domains.
func ofOne[Request interface{ broadcast() string }, Answer any](s *Service, act func(context.Context, api.Caller, Request) (Answer, error)) api.Handler {
	return api.Handle(func(ctx context.Context, caller api.Caller, r Request) (answer Answer, err error) {
		if err := s.visible(ctx, caller, r.broadcast()); err != nil {
			return answer, err
		}
		return act(ctx, caller, r)
	})
}
