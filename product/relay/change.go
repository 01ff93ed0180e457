package relay

import (
	"context"
	"errors"
	"fmt"

	"postrider/mail/address"
	"postrider/mail/smtp"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/account"
)

const (
	maxUsername = 320
	maxPassword = 1024
	defaultPort = 587
	defaultTLS  = 465
)

// change is a relay as a customer describes it. Without a password the one that is stored stays.
type change struct {
	Host     string   `json:"host" example:"smtp.example.net"`
	Port     int      `json:"port" example:"587"`
	Security Security `json:"security" doc:"starttls or tls." example:"starttls"`
	Username string   `json:"username" example:"acme"`
	Password string   `json:"password" example:"s3cret"`
}

func (c change) check() (Relay, error) {
	var wrong api.Fields
	host, err := address.ParseDomain(c.Host)
	if err != nil {
		wrong.Add("host", "Must be the name of a host.")
	}
	if c.Security == "" {
		c.Security = StartTLS
	}
	if c.Security != StartTLS && c.Security != ImplicitTLS {
		wrong.Add("security", "Must be starttls or tls: a password travels over the connection.")
	}
	if c.Port == 0 {
		c.Port = map[Security]int{StartTLS: defaultPort, ImplicitTLS: defaultTLS}[c.Security]
	}
	if c.Port < 1 || c.Port > 65535 {
		wrong.Add("port", "Must be between 1 and 65535.")
	}
	if c.Username == "" || len(c.Username) > maxUsername {
		wrong.Add("username", "Must have 1 to 320 characters.")
	}
	if len(c.Password) > maxPassword {
		wrong.Add("password", "Must have at most 1024 characters.")
	}
	return Relay{Host: host, Port: c.Port, Security: c.Security, Username: c.Username, Password: c.Password}, wrong.Err()
}

// Set makes a relay the workspace's own, once it has let us in.
func (s *Service) Set(ctx context.Context, caller api.Caller, c change) (Relay, error) {
	r, err := c.check()
	if err != nil {
		return Relay{}, err
	}
	r.Workspace = caller.Workspace
	if r.Password == "" {
		before, err := s.Of(ctx, caller.Workspace)
		if errors.Is(err, ErrNone) {
			return Relay{}, api.Invalid("password", "A password is required.")
		}
		if err != nil {
			return Relay{}, err
		}
		if before.Host != r.Host || before.Username != r.Username {
			return Relay{}, api.Invalid("password", "Give the password again: the one that is kept is shown to its own host alone.")
		}
		r.Password = before.Password
	}
	connection, err := s.Connect(ctx, r)
	if err != nil {
		return Relay{}, refused(err)
	}
	connection.Client.Quit(ctx)
	sealed := s.keys.Seal([]byte(r.Password), sealContext(r.Workspace))
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if r, err = upsertRelay(tx, r, sealed); err != nil {
			return err
		}
		return s.accounts.Audit(tx, account.By(caller, "relay.set", account.Target{Type: "relay", Name: r.Host}))
	})
	return r, err
}

// refused tells the customer what the relay said, or that it could not be reached.
func refused(err error) error {
	var failed *smtp.Error
	if errors.As(err, &failed) && failed.Reply.Code != 0 {
		return ErrRefused.Saying(fmt.Sprintf("The relay refused: %s.", failed.Reply)).With("provider", "relay").With("status", failed.Reply.Code).Because(err)
	}
	return ErrRefused.Saying("The relay could not be reached, or its certificate is not valid.").With("provider", "relay").Because(err)
}

// Remove takes the relay away. Mail that was to go through it fails until there is another.
func (s *Service) Remove(ctx context.Context, caller api.Caller) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		removed, err := deleteRelay(tx, caller.Workspace)
		if err != nil {
			return err
		}
		if !removed {
			return ErrNone
		}
		return s.accounts.Audit(tx, account.By(caller, "relay.removed", account.Target{Type: "relay"}))
	})
}

// Of returns the relay of a workspace with its password, or ErrNone.
func (s *Service) Of(ctx context.Context, ws space.ID) (Relay, error) {
	var r Relay
	var sealed []byte
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		r, sealed, err = selectRelay(tx, ws)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return Relay{}, ErrNone
	}
	if err != nil {
		return Relay{}, err
	}
	password, err := s.keys.Open(sealed, sealContext(ws))
	if err != nil {
		return Relay{}, fmt.Errorf("open password of the relay of %s: %w", ws, err)
	}
	r.Password = string(password)
	return r, nil
}

// Exists tells whether the workspace has a relay.
func (s *Service) Exists(tx *db.Tx, ws space.ID) (bool, error) {
	_, _, err := selectRelay(tx, ws)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
