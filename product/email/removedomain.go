package email

import (
	"context"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/account"
)

// ErrInUse means that something else still needs what is to be deleted.
var ErrInUse = api.NewError(409, "resource_in_use", "validation_error", "Scheduled emails still need this domain. Cancel them first, or delete with force=true.")

// maxShown bounds how many of the emails in the way are named.
const maxShown = 20

// removeDomainRoute stands here and not with the other routes of domains, because scheduled emails are in its way.
func (s *Service) removeDomainRoute() api.Route {
	return api.Route{Method: http.MethodDelete, Path: "/domains/{id}", Access: api.SessionOnly, Scope: "domain:manage", FreshTwoFactor: true,
		Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound, ErrInUse}, Summary: "Remove a domain.", Handler: api.Handle(s.handleRemoveDomain)}
}

func (s *Service) handleRemoveDomain(ctx context.Context, caller api.Caller, r struct {
	ID    string `path:"id" doc:"Id of the domain." example:"0193a1e0-2222-7000-8000-0000000000d1"`
	Force bool   `query:"force" doc:"Remove it even if scheduled emails need it; they will fail." example:"false"`
}) (api.Deleted, error) {
	return api.Deleted{Object: "domain", ID: r.ID, Deleted: true}, s.RemoveDomain(ctx, caller, r.ID, r.Force)
}

// RemoveDomain deletes a domain. Unless it is forced, scheduled emails from it are a reason not to.
func (s *Service) RemoveDomain(ctx context.Context, caller api.Caller, id string, force bool) error {
	d, err := s.domains.Get(ctx, caller.Workspace, id)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		waiting, err := selectScheduledFrom(tx, caller.Workspace, d.ID, maxShown)
		if err != nil {
			return err
		}
		if len(waiting) > 0 && !force {
			return ErrInUse.With("resources", waiting)
		}
		if err := s.domains.Remove(tx, caller.Workspace, d.ID); err != nil {
			return err
		}
		return s.accounts.Audit(tx, account.By(caller, "domain.removed", account.Target{Type: "domain", ID: id, Name: d.Name}))
	})
	if err == nil {
		s.domains.Forget(d)
	}
	return err
}

// resource names a thing that is in the way.
type resource struct {
	Type string `json:"type"`
	ID   ID     `json:"id"`
}
