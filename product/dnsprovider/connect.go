package dnsprovider

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/dnsprovider/internal/cloudflare"
)

const (
	maxName = 80
	// maxConnections is many more accounts than one company has at one provider.
	maxConnections = 50
	// tokenEnd is how much of a token is shown: enough to tell two apart, too little to guess the rest.
	tokenEnd = 4
)

// token is how API tokens look. Nothing else may get into the header that carries one.
var token = regexp.MustCompile(`^[A-Za-z0-9_-]{20,200}$`)

// NewConnection is an account that somebody wants to connect.
type NewConnection struct {
	Provider Provider `json:"provider" example:"cloudflare"`
	Name     string   `json:"name" doc:"How people call it; unique in the workspace." example:"Acme at Cloudflare"`
	Token    string   `json:"api_token" doc:"A user API token that may read zones and edit DNS. It is never shown again." example:"0000000000000000000000000000000000000000"`
}

func (n NewConnection) check() (NewConnection, error) {
	var wrong api.Fields
	n.Token = strings.TrimSpace(n.Token)
	if n.Provider != Cloudflare {
		wrong.Add("provider", "Must be cloudflare.")
	}
	n.Name = api.CheckName(&wrong, "name", n.Name, maxName)
	if !token.MatchString(n.Token) {
		wrong.Add("api_token", "Must be an API token.")
	}
	return n, wrong.Err()
}

// Connect stores an account for the caller's workspace, if the provider takes its token.
func (s *Service) Connect(ctx context.Context, caller api.Caller, in NewConnection) (Connection, error) {
	in, err := in.check()
	if err != nil {
		return Connection{}, err
	}
	if err := s.checkToken(ctx, in.Token); err != nil {
		return Connection{}, err
	}
	c := Connection{ID: ID(s.world.NewID()), Workspace: caller.Workspace, Provider: in.Provider, Name: in.Name,
		TokenEnd: in.Token[len(in.Token)-tokenEnd:], CreatedBy: caller.UserID, CreatedAt: s.world.Clock.Now().Truncate(time.Microsecond)}
	c.token = s.keys.Seal([]byte(in.Token), string(c.ID))
	return c, s.db.Write(ctx, func(tx *db.Tx) error {
		count, err := countConnections(tx, c.Workspace)
		if err != nil {
			return err
		}
		if count >= maxConnections {
			return api.ErrInvalidState.Saying(fmt.Sprintf("A workspace has at most %d connections.", maxConnections))
		}
		if err := addConnection(tx, c); err != nil {
			return err
		}
		return s.accounts.Audit(tx, account.By(caller, Connected, targetOf(c)))
	})
}

func addConnection(tx *db.Tx, c Connection) error {
	free, err := insertConnection(tx, c)
	if err != nil || free {
		return err
	}
	holder, err := selectByName(tx, c.Workspace, c.Name)
	if errors.Is(err, db.ErrNotFound) {
		return db.ErrConflict // it was removed in between; the next run finds the name free
	}
	if err != nil {
		return err
	}
	return api.ErrAlreadyExists.With("resource", "dns_connection").With("id", holder.ID)
}

func targetOf(c Connection) account.Target {
	return account.Target{Type: "dns_connection", ID: string(c.ID), Name: c.Name}
}

func (s *Service) checkToken(ctx context.Context, token string) error {
	status, err := s.client(token).VerifyToken(ctx)
	var failure *cloudflare.Failure
	switch {
	case errors.As(err, &failure) && (failure.Denied() || failure.Refused()):
		return api.Invalid("api_token", "Cloudflare does not accept this token. It must be a user API token.")
	case err != nil:
		return providerError(err)
	case status != "active":
		return api.Invalid("api_token", "This token is not active at Cloudflare.")
	}
	return nil
}

func (s *Service) client(token string) *cloudflare.Client {
	return cloudflare.New(s.config.HTTP, s.config.CloudflareURL, token)
}

// Disconnect forgets an account. The token itself stays good until its owner revokes it at the provider.
func (s *Service) Disconnect(ctx context.Context, caller api.Caller, id string) (Connection, error) {
	if !api.IsID(id) {
		return Connection{}, api.NotFound("dns_connection")
	}
	var c Connection
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if c, err = lockConnection(tx, caller.Workspace, ID(id)); err != nil {
			return db.OrMissing(err, api.NotFound("dns_connection"))
		}
		if err := deleteConnection(tx, c.Workspace, c.ID); err != nil {
			return err
		}
		return s.accounts.Audit(tx, account.By(caller, Disconnected, targetOf(c)))
	})
	return c, err
}

// find returns the connection with the id, or the newest if no id is given.
func (s *Service) find(ctx context.Context, ws space.ID, id string) (c Connection, err error) {
	if id != "" && !api.IsID(id) {
		return c, api.NotFound("dns_connection")
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if id != "" {
			c, err = selectConnection(tx, ws, ID(id))
			return db.OrMissing(err, api.NotFound("dns_connection"))
		}
		newest, err := selectNewest(tx, ws, 1, 0)
		if err == nil && len(newest) == 0 {
			return ErrNotConnected
		}
		if err == nil {
			c = newest[0]
		}
		return err
	})
	return c, err
}
