package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/email"
)

// postman sends the installation's own mail (verifications, resets, invitations) the way customers' mail goes, from a domain that
// one of the workspaces holds. It is made before the services it uses, which is why it knows the app rather than them.
type postman struct {
	app  *App
	from address.Address
}

var errNoSender = errors.New("no workspace holds the domain that notices are sent from; register and verify it")

// Post hands a mail to the queue. Its caller tries again if that fails.
func (p *postman) Post(ctx context.Context, to, subject, text string) error {
	recipient, err := address.Parse(to)
	if err != nil {
		return fmt.Errorf("recipient of a notice: %w", err)
	}
	sender, err := p.sender(ctx)
	if err != nil {
		return err
	}
	draft := email.Draft{From: p.from, To: []address.Address{recipient}, Subject: subject, Content: email.Content{Text: text}}
	_, _, err = p.app.Emails.Accept(ctx, sender, draft, api.Idempotency{})
	return err
}

// PostMessage hands a message that is ready made to the queue, once for each key.
func (p *postman) PostMessage(ctx context.Context, to address.Address, key string, message []byte) error {
	sender, err := p.sender(ctx)
	if err != nil {
		return err
	}
	_, _, err = p.app.Emails.AcceptPosted(ctx, sender, email.Posted{Recipients: []address.Address{to}, Host: p.app.Domains.Hosts().MX()[0],
		Message: io.MultiReader(strings.NewReader("X-Idempotency-Key: "+key+"\r\n"), bytes.NewReader(message))})
	return err
}

// sender is whoever holds the domain that notices are sent from.
func (p *postman) sender(ctx context.Context) (email.Sender, error) {
	holder, held, err := p.app.Domains.Holder(ctx, p.from.Domain)
	if err != nil {
		return email.Sender{}, err
	}
	if !held {
		return email.Sender{}, errNoSender
	}
	sender := email.Sender{Workspace: holder.Workspace, Source: email.SourceNotice}
	err = p.app.DB.Read(ctx, func(tx *db.Tx) error {
		workspace, err := p.app.Accounts.Workspace(tx, holder.Workspace)
		sender.Plan = workspace.Plan
		return err
	})
	return sender, err
}
