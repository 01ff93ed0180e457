package account

import (
	"errors"

	"postrider/platform/db"
	"postrider/platform/space"
)

// FindWorkspace returns a workspace in a transaction; found is false if there is none.
func (s *Service) FindWorkspace(tx *db.Tx, ws space.ID) (w Workspace, found bool, err error) {
	w, err = selectWorkspace(tx, ws)
	if errors.Is(err, db.ErrNotFound) {
		return Workspace{}, false, nil
	}
	return w, err == nil, err
}

// SuspendIn stops a workspace in a transaction, as Suspend does. One that is gone stays so.
func (s *Service) SuspendIn(tx *db.Tx, ws space.ID, reason string) error {
	changed, err := updateStatus(tx, ws, Suspended, reason)
	if err != nil || !changed {
		return err
	}
	return s.Audit(tx, Entry{Workspace: ws, Action: WorkspaceSuspended, Target: Target{Type: "workspace", ID: string(ws)}})
}
