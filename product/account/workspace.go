package account

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// Status tells whether a workspace may act.
type Status string

// Statuses of a workspace.
const (
	Active    Status = "active"
	Suspended Status = "suspended"
)

// Workspace is a customer: everything they have belongs to it.
type Workspace struct {
	ID     space.ID
	Name   string
	Slug   string
	Plan   plan.Name
	Status Status
	// Reason is why the operator suspended it.
	Reason    string
	CreatedAt time.Time
}

// Plans returns the plans of workspaces, for work across them.
func (s *Service) Plans(tx *db.Tx, workspaces []space.ID) (map[space.ID]plan.Name, error) {
	rows, err := selectPlans(tx, workspaces)
	plans := make(map[space.ID]plan.Name, len(rows))
	for _, row := range rows {
		plans[row.workspace] = row.plan
	}
	return plans, err
}

// VerifiedOwners returns the addresses of the owners of a workspace that are known to be theirs, the oldest first.
func (s *Service) VerifiedOwners(tx *db.Tx, ws space.ID) ([]string, error) {
	return selectVerifiedOwners(tx, ws)
}

// Workspace returns a workspace, or db.ErrNotFound.
func (s *Service) Workspace(tx *db.Tx, id space.ID) (Workspace, error) {
	return selectWorkspace(tx, id)
}

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
	owner, err := s.knownOwner(ctx, email, in.OwnerPassword)
	if err != nil {
		return Workspace{}, "", err
	}
	var password string
	if owner.ID == "" {
		if password, err = s.passwords.hash(ctx, in.OwnerPassword); err != nil {
			return Workspace{}, "", err
		}
	}
	var w Workspace
	var ownerID UserID
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		user, err := owner, error(nil)
		if user.ID == "" {
			user, err = s.createUser(tx, User{Email: email, Name: strings.TrimSpace(in.OwnerName), VerifiedAt: tx.Now(), password: password})
		} else {
			_, err = updateVerified(tx, user.ID, email)
		}
		if err != nil {
			return err
		}
		ownerID = user.ID
		if w, err = s.createWorkspace(tx, NewWorkspace{Name: in.Name, Plan: in.Plan}, user.ID); err != nil || in.Also == nil {
			return err
		}
		return in.Also(tx, w, user.ID)
	})
	return w, ownerID, err
}

// knownOwner returns the account of the address, empty if there is none.
func (s *Service) knownOwner(ctx context.Context, email, password string) (User, error) {
	var owner User
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		owner, err = selectUserByEmail(tx, email)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return User{}, nil
	}
	if err != nil {
		return User{}, err
	}
	matches, err := s.passwords.matches(ctx, owner.password, password)
	if err == nil && !matches {
		err = api.ErrAlreadyExists.Saying("The owner has an account with another password.").With("resource", "user")
	}
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

func (s *Service) administer(ctx context.Context, ws space.ID, action Action, change func(*db.Tx) (bool, error)) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		changed, err := change(tx)
		if err != nil {
			return err
		}
		if !changed {
			return api.NotFound("workspace")
		}
		return s.Audit(tx, Entry{Workspace: ws, Action: action, Target: Target{Type: "workspace", ID: string(ws)}})
	})
}

// rename gives the caller's workspace another name. Its slug stays, because links carry it.
func (s *Service) rename(ctx context.Context, caller api.Caller, name string) (w membership, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if err := updateWorkspaceName(tx, caller.Workspace, strings.TrimSpace(name)); err != nil {
			return err
		}
		w.Role = caller.Role
		if w.Workspace, err = selectWorkspace(tx, caller.Workspace); err != nil {
			return err
		}
		return s.Audit(tx, By(caller, WorkspaceUpdated, Target{"workspace", string(w.ID), w.Name}))
	})
	return w, err
}

const (
	// maxSlug keeps addresses short; slugBytes is the chance in the suffix of one that was taken.
	maxSlug   = 40
	slugBytes = 4
)

// freeSlug makes a readable name for addresses out of a name, with a random end if it is taken.
func (s *Service) freeSlug(tx *db.Tx, name string) (string, error) {
	slug := slugOf(name)
	taken, err := slugTaken(tx, slug)
	if err != nil || !taken {
		return slug, err
	}
	return slug + "-" + hex.EncodeToString(s.world.Bytes(slugBytes)), nil
}

func slugOf(name string) string {
	var slug strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			slug.WriteRune(r)
		case slug.Len() > 0 && !strings.HasSuffix(slug.String(), "-"):
			slug.WriteByte('-')
		}
		if slug.Len() >= maxSlug {
			break
		}
	}
	if text := strings.Trim(slug.String(), "-"); text != "" {
		return text
	}
	return "workspace"
}
