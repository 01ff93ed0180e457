package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"postrider/app"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/apikey"
	"postrider/product/plan"
)

type workspaceCommand struct {
	Create workspaceCreateCommand `cmd:"" help:"Make a workspace with an owner and an API key."`
}

type workspaceCreateCommand struct {
	storageFlags
	Name          string `help:"Name of the workspace." required:""`
	Plan          string `help:"Plan of the workspace: free, pro, unlimited, or one of your own." default:"unlimited"`
	OwnerEmail    string `help:"Address the owner signs in with." required:""`
	OwnerPassword string `help:"Password of the owner, at least 10 characters; others see it in the list of processes unless it is in the environment." required:"" env:"POSTRIDER_OWNER_PASSWORD"`
	JSON          bool   `name:"json" help:"Print JSON."`
}

// Run works while a server runs on the same data.
func (c workspaceCreateCommand) Run(ctx context.Context) error {
	return operate(ctx, c.storageFlags, func(a *app.App) error {
		if err := checkPlan(a, c.Plan); err != nil {
			return err
		}
		created, err := a.CreateWorkspace(ctx, app.NewWorkspace{Name: c.Name, Plan: plan.Name(c.Plan), OwnerEmail: c.OwnerEmail, OwnerPassword: c.OwnerPassword})
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(created)
		}
		fmt.Printf("Workspace %s\nOwner     %s\nAPI key   %s  (shown once)\n", created.WorkspaceID, created.OwnerID, created.APIKey)
		return nil
	})
}

type planCommand struct {
	Set planSetCommand `cmd:"" help:"Change the plan of a workspace at once."`
}

type planSetCommand struct {
	storageFlags
	Workspace string `help:"Id of the workspace." required:""`
	Plan      string `help:"free, pro, unlimited, or one of your own." required:""`
	JSON      bool   `name:"json" help:"Print JSON."`
}

// Run changes the plan; a running server obeys within a second.
func (c planSetCommand) Run(ctx context.Context) error {
	return inWorkspace(ctx, c.storageFlags, c.Workspace, func(a *app.App, ws space.ID) error {
		if err := checkPlan(a, c.Plan); err != nil {
			return err
		}
		if err := a.Accounts.SetPlan(ctx, ws, plan.Name(c.Plan)); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(map[string]string{"workspace_id": c.Workspace, "plan": c.Plan})
		}
		fmt.Printf("Workspace %s is on the plan %s.\n", c.Workspace, c.Plan)
		return nil
	})
}

type keyCommand struct {
	Create keyCreateCommand `cmd:"" help:"Make an API key."`
}

type keyCreateCommand struct {
	storageFlags
	Workspace string `help:"Id of the workspace." required:""`
	Name      string `help:"Name of the key." default:"From the command line"`
	Preset    string `help:"full_access, sending_access, customer_platform, webhooks or read_only." default:"full_access"`
	JSON      bool   `name:"json" help:"Print JSON."`
}

// Run makes a key.
func (c keyCreateCommand) Run(ctx context.Context) error {
	return inWorkspace(ctx, c.storageFlags, c.Workspace, func(a *app.App, ws space.ID) error {
		key, token, err := a.Keys.Create(ctx, apikey.NewKey{Workspace: ws, Name: c.Name, Preset: apikey.Preset(c.Preset)})
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(map[string]string{"id": string(key.ID), "api_key": token})
		}
		fmt.Printf("API key %s  (shown once)\n", token)
		return nil
	})
}

// inWorkspace lets do work on a workspace that there is. It makes no installation: a wrong --data would get one of its own.
func inWorkspace(ctx context.Context, flags storageFlags, id string, do func(*app.App, space.ID) error) error {
	ws, err := space.Parse(id)
	if err != nil {
		return mistake("workspace", id, "must be the id that workspace create has printed")
	}
	if err := flags.storage().CheckPresent(); err != nil {
		return err
	}
	return operate(ctx, flags, func(a *app.App) error {
		err := a.DB.Read(ctx, func(tx *db.Tx) error {
			_, err := a.Accounts.Workspace(tx, ws)
			return err
		})
		if errors.Is(err, db.ErrNotFound) {
			return fmt.Errorf("there is no workspace %s in this database; check --workspace, --data and --database-url", id)
		}
		if err != nil {
			return err
		}
		return do(a, ws)
	})
}

// operate opens the data beside a running server and lets do work on it.
func operate(ctx context.Context, flags storageFlags, do func(*app.App) error) error {
	w := quietWorld()
	plans, err := flags.plans()
	if err != nil {
		return err
	}
	stores, err := flags.storage().Open(ctx, w)
	if err != nil {
		return err
	}
	defer stores.DB.Close()
	return inFlags(do(app.Assemble(w, stores.DB, stores.Blobs, stores.Keys, app.Settings{ServiceDomain: devServiceDomain, Plans: plans})))
}

// flagOf is the flag that fills a field, where it has another name.
var flagOf = map[string]string{"email": "owner-email", "password": "owner-password", "workspace_name": "name"}

// inFlags turns what is wrong with the fields of a request into what is wrong with the flags that filled them.
func inFlags(err error) error {
	var refused *api.Error
	if !errors.As(err, &refused) {
		return err
	}
	fields, _ := refused.Details["fieldErrors"].(api.Fields)
	var told []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		line := "--" + cmp.Or(flagOf[field], field) + ": " + strings.Join(fields[field], " ")
		if !slices.Contains(told, line) {
			told = append(told, line)
		}
	}
	if len(told) == 0 {
		return err
	}
	return usage{errors.New(strings.Join(told, " "))}
}

func checkPlan(a *app.App, name string) error {
	if _, err := a.Plans.Get(plan.Name(name)); err != nil {
		return usage{fmt.Errorf("--plan: %w", err)}
	}
	return nil
}
