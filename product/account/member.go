package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// Member is a user in a workspace.
type Member struct {
	ID        string
	Workspace space.ID
	User      UserID
	Role      api.Role
	Email     string
	Name      string
	SeenAt    time.Time
	CreatedAt time.Time

	factorSince time.Time
}

// ChangeRole gives a member another role. Their sessions in the workspace end, so that rights cannot outlive it.
func (s *Service) ChangeRole(ctx context.Context, caller api.Caller, id string, role api.Role) (Member, error) {
	var problems api.Fields
	if checkRole(&problems, role); len(problems) > 0 {
		return Member{}, problems.Err()
	}
	return s.changeMember(ctx, caller, id, role, MemberChanged, func(tx *db.Tx, m Member) error {
		if err := updateRole(tx, m.Workspace, m.ID, role); err != nil {
			return err
		}
		return deleteSessionsIn(tx, m.Workspace, m.User)
	})
}

// RemoveMember takes a member out of the workspace and ends their sessions in it.
func (s *Service) RemoveMember(ctx context.Context, caller api.Caller, id string) (Member, error) {
	return s.changeMember(ctx, caller, id, "", MemberRemoved, func(tx *db.Tx, m Member) error {
		if err := deleteMember(tx, m.Workspace, m.ID); err != nil {
			return err
		}
		return deleteSessionsIn(tx, m.Workspace, m.User)
	})
}

// changeMember checks that the caller may turn the member's role into another, empty for none, and runs change.
func (s *Service) changeMember(ctx context.Context, caller api.Caller, id string, role api.Role, action Action,
	change func(*db.Tx, Member) error) (Member, error) {
	var m Member
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := lockWorkspace(tx, caller.Workspace); err != nil {
			return err
		}
		var err error
		if m, err = findMember(tx, caller.Workspace, id); err != nil {
			return err
		}
		if err := mayGrant(tx, caller, m.Role, role); err != nil {
			return err
		}
		if m.Role == role {
			return nil // nothing that somebody did
		}
		if m.Role == api.Owner && role != api.Owner {
			if err := anotherOwner(tx, caller.Workspace); err != nil {
				return err
			}
		}
		if err := change(tx, m); err != nil {
			return err
		}
		// What somebody offered falls with their right to offer it, or they could come back by it.
		if err := deleteInvitationsBy(tx, m.Workspace, m.User, notGrantedBy(role)); err != nil {
			return err
		}
		m.Role = role
		return s.Audit(tx, By(caller, action, Target{"member", m.ID, m.Email}))
	})
	return m, err
}

func findMember(tx *db.Tx, ws space.ID, id string) (Member, error) {
	if !api.IsID(id) {
		return Member{}, api.NotFound("member")
	}
	m, err := selectMember(tx, ws, id)
	return m, db.OrMissing(err, api.NotFound("member"))
}

// mayGrant refuses what the caller's role, as the transaction sees it, does not allow: only owners make and unmake owners.
func mayGrant(tx *db.Tx, caller api.Caller, roles ...api.Role) error {
	self, err := selectMemberByUser(tx, caller.Workspace, UserID(caller.UserID))
	if errors.Is(err, db.ErrNotFound) {
		return api.ErrRole.With("required", api.Managers)
	}
	if err != nil {
		return err
	}
	if !slices.Contains(api.Managers, self.Role) {
		return api.ErrRole.With("required", api.Managers)
	}
	if self.Role != api.Owner && slices.Contains(roles, api.Owner) {
		return api.ErrRole.With("required", []api.Role{api.Owner})
	}
	return nil
}

// notGrantedBy returns the roles that somebody with a role, empty for none, cannot give to others.
func notGrantedBy(role api.Role) []api.Role {
	switch role {
	case api.Owner:
		return nil
	case api.Admin:
		return []api.Role{api.Owner}
	}
	return Roles
}

// anotherOwner refuses to take the last owner away. The workspace is locked by the transaction.
func anotherOwner(tx *db.Tx, ws space.ID) error {
	owners, err := countOwners(tx, ws)
	if err == nil && owners < 2 {
		return ErrLastOwner
	}
	return err
}

// checkSeats refuses to go beyond the members of the plan. The workspace is locked by the transaction.
func (s *Service) checkSeats(w Workspace, taken int64) error {
	p, err := s.plans.Get(w.Plan)
	if err != nil {
		return err
	}
	if most := p.Limits.Members; most != nil && taken >= *most {
		return ErrMemberQuota.With("plan", w.Plan).With("limit", *most).With("used", taken)
	}
	return nil
}
