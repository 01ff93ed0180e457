package account

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// CreateWorkspace is the operator's request for a workspace and its owner.
type CreateWorkspace struct {
	Name          string
	Plan          plan.Name
	OwnerEmail    string
	OwnerPassword string
	OwnerName     string
	// Also is done in the same transaction, if it is given.
	Also func(tx *db.Tx, made Workspace, owner UserID) error
}

// CreateWorkspace makes a workspace for the operator. The owner's address counts as verified. An owner who has an account
// already keeps it, and the password must be theirs.
func (s *Service) CreateWorkspace(ctx context.Context, in CreateWorkspace) (Workspace, UserID, error) {
	if in.OwnerName == "" {
		in.OwnerName = in.Name
	}
	request := SignUp{Email: in.OwnerEmail, Password: in.OwnerPassword, Name: in.OwnerName, WorkspaceName: in.Name}
	email, err := request.check()
	if err != nil {
		return Workspace{}, "", err
	}
	owner, err := s.ownerOf(ctx, in, email)
	if err != nil {
		return Workspace{}, "", err
	}
	var w Workspace
	var ownerID UserID
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		user, err := s.verifiedOwner(tx, owner)
		if err != nil {
			return err
		}
		ownerID = user.ID
		if w, err = s.addWorkspace(tx, newWorkspace{name: in.Name, plan: in.Plan, owner: user.ID}); err != nil || in.Also == nil {
			return err
		}
		return in.Also(tx, w, user.ID)
	})
	return w, ownerID, err
}

// ownerOf returns the account of the address if its password was given, or one without an id that is still to be made.
func (s *Service) ownerOf(ctx context.Context, in CreateWorkspace, email string) (User, error) {
	var owner User
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		owner, err = selectUserByEmail(tx, email)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		hash, err := s.passwords.hash(ctx, in.OwnerPassword)
		return User{Email: email, Name: strings.TrimSpace(in.OwnerName), password: hash}, err
	}
	if err != nil {
		return User{}, err
	}
	matches, err := s.passwords.matches(ctx, owner.password, in.OwnerPassword)
	if err == nil && !matches {
		err = api.ErrAlreadyExists.Saying("The owner has an account with another password.").With("resource", "user")
	}
	return owner, err
}

// verifiedOwner makes the account unless there is one, and takes the operator's word for its address.
func (s *Service) verifiedOwner(tx *db.Tx, owner User) (User, error) {
	if owner.ID == "" {
		owner.VerifiedAt = tx.Now()
		return s.createUser(tx, owner)
	}
	_, err := updateVerified(tx, owner.ID, owner.Email)
	return owner, err
}

// SetPlan moves a workspace to another plan, at once.
func (s *Service) SetPlan(ctx context.Context, ws space.ID, name plan.Name) error {
	if _, err := s.plans.Get(name); err != nil {
		return err
	}
	return s.administer(ctx, ws, PlanChanged, func(tx *db.Tx) (bool, error) { return updatePlan(tx, ws, name) })
}

// CheckPlans refuses an installation whose plans lack one that a workspace is on: that workspace could not send, and would learn it
// mail by mail.
func (s *Service) CheckPlans(ctx context.Context) error {
	var used []workspacePlan
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		used, err = selectPlansInUse(tx)
		return err
	})
	if err != nil {
		return err
	}
	for _, u := range used {
		if _, err := s.plans.Get(u.plan); err != nil {
			return fmt.Errorf("workspace %s: %w; put it back, or move the workspace: postrider plan set --workspace %s --plan NAME", u.workspace, err, u.workspace)
		}
	}
	return nil
}

// Suspend stops a workspace: its keys are refused, and its people see the reason.
func (s *Service) Suspend(ctx context.Context, ws space.ID, reason string) error {
	if reason = strings.TrimSpace(reason); reason == "" {
		return api.Invalid("reason", "A suspension needs a reason.")
	}
	return s.administer(ctx, ws, WorkspaceSuspended, func(tx *db.Tx) (bool, error) { return updateStatus(tx, ws, Suspended, reason) })
}

// Resume lets a suspended workspace act again.
func (s *Service) Resume(ctx context.Context, ws space.ID) error {
	return s.administer(ctx, ws, WorkspaceResumed, func(tx *db.Tx) (bool, error) { return updateStatus(tx, ws, Active, "") })
}

// SuspendIn stops a workspace in a transaction, as Suspend does. One that is gone stays so.
func (s *Service) SuspendIn(tx *db.Tx, ws space.ID, reason string) error {
	changed, err := updateStatus(tx, ws, Suspended, reason)
	if err != nil || !changed {
		return err
	}
	return s.auditOperator(tx, ws, WorkspaceSuspended)
}

// administer makes a change of the operator's; change tells whether there is such a workspace.
func (s *Service) administer(ctx context.Context, ws space.ID, action Action, change func(*db.Tx) (found bool, err error)) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		found, err := change(tx)
		if err != nil {
			return err
		}
		if !found {
			return api.NotFound("workspace")
		}
		return s.auditOperator(tx, ws, action)
	})
}

func (s *Service) auditOperator(tx *db.Tx, ws space.ID, action Action) error {
	return s.Audit(tx, Entry{Workspace: ws, Action: action, Target: Target{Type: "workspace", ID: string(ws)}})
}
