package account

import (
	"context"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
)

// maxPage is the largest page of members, invitations and audit entries.
const maxPage = 200

func (s *Service) workspaceRoutes() []api.Route {
	missing := []*api.Error{api.ErrNotFound}
	return []api.Route{
		{Method: http.MethodGet, Path: "/workspaces/{id}", Private: true, Access: api.SessionOnly, Bucket: api.BucketRead, Errors: missing,
			Summary: "Get a workspace.", Handler: api.Handle(s.handleWorkspace)},
		{Method: http.MethodPatch, Path: "/workspaces/{id}", Private: true, Access: api.SessionOnly, Roles: api.Managers, Bucket: api.BucketWrite, Errors: missing,
			Summary: "Rename a workspace.", Handler: api.Handle(s.handleRename)},
		{Method: http.MethodGet, Path: "/workspaces/{id}/members", Private: true, Access: api.SessionOnly, Roles: api.Managers, Bucket: api.BucketRead,
			Errors: missing, Summary: "List members.", Handler: api.Handle(s.handleMembers)},
		{Method: http.MethodPatch, Path: "/workspaces/{id}/members/{member_id}", Private: true, Access: api.SessionOnly, Roles: api.Managers,
			FreshTwoFactor: true, Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound, ErrLastOwner}, Summary: "Give a member another role.",
			Handler: api.Handle(s.handleChangeRole)},
		{Method: http.MethodDelete, Path: "/workspaces/{id}/members/{member_id}", Private: true, Access: api.SessionOnly, Roles: api.Managers,
			FreshTwoFactor: true, Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound, ErrLastOwner}, Summary: "Remove a member.",
			Handler: api.Handle(s.handleRemoveMember)},
		{Method: http.MethodGet, Path: "/workspaces/{id}/invitations", Private: true, Access: api.SessionOnly, Roles: api.Managers, Bucket: api.BucketRead,
			Errors: missing, Summary: "List open invitations.", Handler: api.Handle(s.handleInvitations)},
		{Method: http.MethodPost, Path: "/workspaces/{id}/invitations", Private: true, Access: api.SessionOnly, Roles: api.Managers, FreshTwoFactor: true,
			Bucket: api.BucketWrite, Success: 201, Errors: []*api.Error{api.ErrNotFound, api.ErrAlreadyExists, ErrMemberQuota, ErrUnverified}, Summary: "Invite somebody.",
			Handler: api.Handle(s.handleInvite)},
		{Method: http.MethodDelete, Path: "/workspaces/{id}/invitations/{invitation_id}", Private: true, Access: api.SessionOnly, Roles: api.Managers,
			FreshTwoFactor: true, Bucket: api.BucketWrite, Errors: missing, Summary: "Withdraw an invitation.", Handler: api.Handle(s.handleWithdraw)},
		{Method: http.MethodGet, Path: "/workspaces/{id}/audit-log", Private: true, Access: api.SessionOnly, Roles: api.Managers, Bucket: api.BucketRead,
			Errors: missing, Summary: "List who did what.", Handler: api.Handle(s.handleAudit)},
		{Method: http.MethodGet, Path: "/billing/plan", Private: true, Access: api.SessionOnly, Roles: []api.Role{api.Owner}, Bucket: api.BucketRead,
			Summary: "The plan and its use.", Handler: api.Handle(s.handleLimits)},
		{Method: http.MethodGet, Path: "/limits", Bucket: api.BucketRead, Summary: "The limits of the plan and how much of them is used.",
			Handler: api.Handle(s.handleLimits)},
	}
}

// WorkspaceRequest names a workspace in a path. It must be the one of the session, because the caller's role holds only there.
type WorkspaceRequest struct {
	ID string `path:"id"`
}

// CheckWorkspace returns not found for any workspace but the caller's.
func (r WorkspaceRequest) CheckWorkspace(caller api.Caller) error {
	if caller.Workspace == "" || r.ID != string(caller.Workspace) {
		return api.NotFound("workspace")
	}
	return nil
}

func (s *Service) handleWorkspace(ctx context.Context, caller api.Caller, r WorkspaceRequest) (record workspaceRecord, err error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return record, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		w, err := selectWorkspace(tx, caller.Workspace)
		record = newWorkspaceRecord(membership{w, caller.Role})
		return err
	})
	return record, err
}

func (s *Service) handleRename(ctx context.Context, caller api.Caller, r struct {
	WorkspaceRequest
	Body struct {
		Name string `json:"name" example:"Acme"`
	}
}) (workspaceRecord, error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return workspaceRecord{}, err
	}
	var problems api.Fields
	if api.CheckName(&problems, "name", r.Body.Name, maxName); len(problems) > 0 {
		return workspaceRecord{}, problems.Err()
	}
	renamed, err := s.rename(ctx, caller, r.Body.Name)
	return newWorkspaceRecord(renamed), err
}

type workspaceList struct {
	WorkspaceRequest
	api.OffsetQuery
}

func (r *workspaceList) check(caller api.Caller) error {
	if err := r.CheckWorkspace(caller); err != nil {
		return err
	}
	return r.Check(maxPage)
}

func (s *Service) handleMembers(ctx context.Context, caller api.Caller, r workspaceList) (page api.Page[memberRecord], err error) {
	if err := r.check(caller); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		total, err := countMembers(tx, caller.Workspace)
		if err != nil {
			return err
		}
		members, err := selectMembers(tx, caller.Workspace, r.Limit, r.Offset)
		page = api.NewPage(each(members, newMemberRecord), r.OffsetQuery, total)
		return err
	})
	return page, err
}

type memberRequest struct {
	WorkspaceRequest
	Member string `path:"member_id"`
}

func (s *Service) handleChangeRole(ctx context.Context, caller api.Caller, r struct {
	memberRequest
	Body struct {
		Role api.Role `json:"role" example:"developer"`
	}
}) (memberRecord, error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return memberRecord{}, err
	}
	member, err := s.ChangeRole(ctx, caller, r.Member, r.Body.Role)
	return newMemberRecord(member), err
}

func (s *Service) handleRemoveMember(ctx context.Context, caller api.Caller, r memberRequest) (api.Deleted, error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return api.Deleted{}, err
	}
	member, err := s.RemoveMember(ctx, caller, r.Member)
	return api.Deleted{Object: "member", ID: member.ID, Deleted: true}, err
}

func (s *Service) handleInvitations(ctx context.Context, caller api.Caller, r workspaceList) (page api.Page[invitationRecord], err error) {
	if err := r.check(caller); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		total, err := countInvitations(tx, caller.Workspace)
		if err != nil {
			return err
		}
		invitations, err := selectInvitations(tx, caller.Workspace, r.Limit, r.Offset)
		page = api.NewPage(each(invitations, newInvitationRecord), r.OffsetQuery, total)
		return err
	})
	return page, err
}

func (s *Service) handleInvite(ctx context.Context, caller api.Caller, r struct {
	WorkspaceRequest
	Body struct {
		Email string   `json:"email" example:"ann@acme.test"`
		Role  api.Role `json:"role" example:"developer"`
	}
}) (invitationRecord, error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return invitationRecord{}, err
	}
	invitation, err := s.Invite(ctx, caller, r.Body.Email, r.Body.Role)
	return newInvitationRecord(invitation), err
}

func (s *Service) handleWithdraw(ctx context.Context, caller api.Caller, r struct {
	WorkspaceRequest
	Invitation string `path:"invitation_id"`
}) (api.Deleted, error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return api.Deleted{}, err
	}
	return api.Deleted{Object: "invitation", ID: r.Invitation, Deleted: true}, s.Withdraw(ctx, caller, r.Invitation)
}

func (s *Service) handleAudit(ctx context.Context, caller api.Caller, r workspaceList) (page api.Page[auditRecord], err error) {
	if err := r.check(caller); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		total, err := countAudit(tx, caller.Workspace)
		if err != nil {
			return err
		}
		rows, err := selectAudit(tx, caller.Workspace, r.Limit, r.Offset)
		page = api.NewPage(each(rows, newAuditRecord), r.OffsetQuery, total)
		return err
	})
	return page, err
}

func (s *Service) handleLimits(ctx context.Context, caller api.Caller, _ api.None) (PlanLimits, error) {
	if caller.Workspace == "" {
		return PlanLimits{}, api.ErrRole
	}
	return s.Limits(ctx, caller.Workspace)
}
