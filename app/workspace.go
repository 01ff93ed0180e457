package app

import (
	"context"

	"postrider/platform/db"
	"postrider/product/account"
	"postrider/product/apikey"
	"postrider/product/plan"
)

// NewWorkspace is what an operator says to make a workspace.
type NewWorkspace struct {
	Name, OwnerEmail, OwnerPassword string
	Plan                            plan.Name
}

// CreatedWorkspace is what the operator gets: the key is shown once and can do everything.
type CreatedWorkspace struct {
	WorkspaceID string `json:"workspace_id"`
	OwnerID     string `json:"owner_id"`
	APIKey      string `json:"api_key"`
}

// CreateWorkspace makes a workspace with its owner and a key of all scopes.
func (a *App) CreateWorkspace(ctx context.Context, n NewWorkspace) (CreatedWorkspace, error) {
	var token string
	ws, owner, err := a.Accounts.CreateWorkspace(ctx, account.CreateWorkspace{Name: n.Name, Plan: n.Plan, OwnerEmail: n.OwnerEmail, OwnerPassword: n.OwnerPassword,
		Also: func(tx *db.Tx, made account.Workspace, owner account.UserID) (err error) {
			_, token, err = a.Keys.CreateIn(tx, apikey.NewKey{Workspace: made.ID, Name: "First key", Preset: "full_access", CreatedBy: string(owner)})
			return err
		}})
	if err != nil {
		return CreatedWorkspace{}, err
	}
	return CreatedWorkspace{WorkspaceID: string(ws.ID), OwnerID: string(owner), APIKey: token}, nil
}
