package account

import (
	"context"
	"encoding/hex"
	"errors"
	"net/netip"
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

// Suspended tells which of the workspaces the operator has stopped, for work across them.
func (s *Service) Suspended(tx *db.Tx, workspaces []space.ID) (map[space.ID]bool, error) {
	ids, err := selectSuspended(tx, workspaces)
	stopped := make(map[space.ID]bool, len(ids))
	for _, id := range ids {
		stopped[id] = true
	}
	return stopped, err
}

// VerifiedOwners returns the addresses of the owners of a workspace that are known to be theirs, the oldest first.
func (s *Service) VerifiedOwners(tx *db.Tx, ws space.ID) ([]string, error) {
	return selectVerifiedOwners(tx, ws)
}

// Workspace returns a workspace, or db.ErrNotFound.
func (s *Service) Workspace(tx *db.Tx, id space.ID) (Workspace, error) {
	return selectWorkspace(tx, id)
}

// FindWorkspace returns a workspace in a transaction; found is false if there is none.
func (s *Service) FindWorkspace(tx *db.Tx, ws space.ID) (w Workspace, found bool, err error) {
	w, err = selectWorkspace(tx, ws)
	if errors.Is(err, db.ErrNotFound) {
		return Workspace{}, false, nil
	}
	return w, err == nil, err
}

// newWorkspace is a workspace to make.
type newWorkspace struct {
	name  string
	plan  plan.Name
	owner UserID
	from  netip.Addr // not valid if it is made by the operator
}

func (s *Service) addWorkspace(tx *db.Tx, in newWorkspace) (Workspace, error) {
	if _, err := s.plans.Get(in.plan); err != nil {
		return Workspace{}, err
	}
	slug, err := s.freeSlug(tx, in.name)
	if err != nil {
		return Workspace{}, err
	}
	w := Workspace{ID: space.ID(s.world.NewID()), Name: strings.TrimSpace(in.name), Slug: slug, Plan: in.plan, Status: Active, CreatedAt: tx.Now()}
	err = insertWorkspace(tx, w)
	if errors.Is(err, db.ErrUnique) {
		return Workspace{}, errors.Join(db.ErrConflict, err) // somebody took the slug meanwhile; the next run sees it
	}
	if err != nil {
		return Workspace{}, err
	}
	member := Member{ID: s.world.NewID(), Workspace: w.ID, User: in.owner, Role: api.Owner, CreatedAt: tx.Now()}
	if err := insertMember(tx, member); err != nil {
		return Workspace{}, err
	}
	return w, s.Audit(tx, Entry{Workspace: w.ID, Actor: string(in.owner), Action: WorkspaceCreated,
		Target: Target{"workspace", string(w.ID), w.Name}, IP: in.from})
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
