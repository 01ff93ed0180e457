package email

import (
	"context"

	"postrider/platform/api"
	"postrider/platform/db"
)

// named is a request about one email.
type named interface{ emailID() string }

func (r idRequest) emailID() string { return r.ID }

// ofDomain leaves a key that is restricted to some domains the mail of these: that of others is not there for it.
func ofDomain[Request named, Response any](s *Service, answer func(context.Context, api.Caller, Request) (Response, error)) func(context.Context, api.Caller, Request) (Response, error) {
	return func(ctx context.Context, caller api.Caller, r Request) (Response, error) {
		if err := s.MayUse(ctx, caller, r.emailID()); err != nil {
			var none Response
			return none, err
		}
		return answer(ctx, caller, r)
	}
}

// MayUse tells by an error if an email is not there for the caller. The domain of an email never changes.
func (s *Service) MayUse(ctx context.Context, caller api.Caller, id string) error {
	if len(caller.DomainIDs) == 0 {
		return nil
	}
	return s.db.Glance(ctx, func(tx *db.Tx) error {
		e, err := findEmail(tx, caller.Workspace, id)
		if err == nil && !caller.MayUseDomain(string(e.Domain)) {
			return api.NotFound("email")
		}
		return err
	})
}
