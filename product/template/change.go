package template

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// Change is what is to be different. What it does not say stays. A change of the source is the next version, and live at once.
type Change struct {
	Name         string                      `json:"name" doc:"1 to 120 characters." example:"Welcome"`
	Alias        api.Optional[*string]       `json:"alias" doc:"Null takes the alias away." example:"welcome"`
	Description  api.Optional[string]        `json:"description" example:"Sent after sign-up"`
	From         api.Optional[string]        `json:"from" doc:"Sender of mails that name none." example:"Acme <hello@acme.test>"`
	Subject      api.Optional[string]        `json:"subject" example:"Hi {{FIRST_NAME|there}}"`
	ReplyTo      api.Optional[api.Strings]   `json:"reply_to" doc:"At most 10 addresses." example:"[\"support@acme.test\"]"`
	ReplyToCamel api.Optional[api.Strings]   `json:"replyTo" doc:"The same as reply_to."`
	PreviewText  api.Optional[string]        `json:"preview_text" doc:"What mail programs show beside the subject." example:"Two minutes to set up"`
	HTML         api.Optional[*string]       `json:"html" doc:"Null takes it away; empty text changes nothing." example:"<p>Hi {{FIRST_NAME}}</p>"`
	Text         api.Optional[*string]       `json:"text" doc:"Null takes it away: then it is made from the HTML." example:"Hi {{FIRST_NAME}}"`
	Variables    api.Optional[[]newVariable] `json:"variables" doc:"Replaces all; at most 50."`
	InlineCSS    api.Optional[bool]          `json:"inline_css" doc:"Copy the rules of style sheets to the elements they are about." example:"false"`
	Note         string                      `json:"note" doc:"A remark on the new version." example:"New footer"`
}

func (c Change) source() sourceChange {
	return sourceChange{From: c.From, Subject: c.Subject, PreviewText: c.PreviewText, ReplyTo: either(c.ReplyTo, c.ReplyToCamel),
		HTML: c.HTML, Text: c.Text, Variables: c.Variables, InlineCSS: c.InlineCSS}
}

// Update changes a template. With expected, a header If-Match, it does so only if the latest version is that one.
func (s *Service) Update(ctx context.Context, caller api.Caller, name string, c Change, expected string) (changed Detail, err error) {
	if err := c.check(s.world.Clock.Now(), s.world.NewID); err != nil {
		return Detail{}, err
	}
	next := Version{ID: VersionID(s.world.NewID()), Note: strings.TrimSpace(c.Note), CreatedBy: author(caller)}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		t, err := lock(tx, caller.Workspace, name)
		if err != nil {
			return err
		}
		if err := errors.Join(t.open(), t.match(expected), s.checkKeeper(tx, caller, t)); err != nil {
			return err
		}
		if t, err = c.describe(tx, t); err != nil {
			return err
		}
		if changed, err = s.change(tx, t, c.source(), next); err != nil {
			return err
		}
		if err := s.checkSender(tx, caller, changed.Version.Source); err != nil {
			return err
		}
		return updateTemplate(tx, changed.Template)
	})
	return changed, err
}

// someBody stands for the parts that a change leaves as they are, while it is looked at on its own.
const someBody = "x"

// check names everything that is wrong with a change, whatever the template it is about.
func (c Change) check(now time.Time, newID func() string) error {
	var wrong api.Fields
	if c.Name != "" {
		api.CheckName(&wrong, "name", c.Name, maxName)
	}
	api.CheckText(&wrong, "description", c.Description.Value, maxDescription)
	api.CheckText(&wrong, "note", c.Note, maxNote)
	if said(c.Alias) && c.Alias.Value != nil {
		checkAlias(&wrong, *c.Alias.Value)
	}
	checkSyntax(&wrong, c.source().apply(&wrong, Source{HTML: someBody, Text: someBody}, now, newID))
	return wrong.Err()
}

// match refuses a change that was made without knowing the latest one.
func (t Template) match(expected string) error {
	expected = strings.Trim(strings.TrimPrefix(strings.TrimSpace(expected), "W/"), `"`)
	if expected == "" || expected == "*" || expected == strconv.FormatInt(t.Latest, 10) {
		return nil
	}
	return api.ErrInvalidState.Saying("The template has been changed in the meantime. Read it again first.").
		With("current", t.Latest).With("allowed", []int64{t.Latest})
}

// describe changes what is not part of a source, as it has been checked.
func (c Change) describe(tx *db.Tx, t Template) (Template, error) {
	if c.Name != "" {
		t.Name = strings.TrimSpace(c.Name)
	}
	t.Description = strings.TrimSpace(c.Description.Or(t.Description))
	t.UpdatedAt = tx.Now()
	if !said(c.Alias) {
		return t, nil
	}
	before := t
	t.Alias = ""
	if c.Alias.Value != nil {
		t.Alias = *c.Alias.Value
	}
	if t.Alias == before.Alias {
		return t, nil
	}
	return t, errors.Join(deleteAlias(tx, before), claimAlias(tx, t))
}

// change makes the next version, if the source is to be different. A template that was never published is published by it.
func (s *Service) change(tx *db.Tx, t Template, c sourceChange, next Version) (Detail, error) {
	d, err := read(tx, t)
	if err != nil || c.empty() {
		return d, err
	}
	before := d.Version.Source
	if t.Active == 0 && d.Draft != nil {
		before = *d.Draft
	}
	var wrong api.Fields
	next.Source = c.apply(&wrong, before, tx.Now(), s.world.NewID)
	if t.Active == 0 { // what comes from a draft has not been read yet
		checkSyntax(&wrong, next.Source)
	}
	if err := wrong.Err(); err != nil {
		return d, err
	}
	if t.Active == 0 {
		t.DraftAt, d.Draft = Template{}.DraftAt, nil
		if err := updateDraft(tx, t, nil); err != nil {
			return d, err
		}
	}
	d.Template, d.Version = t.next(tx, next)
	return d, insertVersion(tx, d.Version)
}

// Archive puts a template away. It stays readable, but cannot be sent, and its alias is free for another.
func (s *Service) Archive(ctx context.Context, caller api.Caller, name string) (t Template, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if t, err = lock(tx, caller.Workspace, name); err != nil || t.Status == Archived {
			return err
		}
		if err := s.checkKeeper(tx, caller, t); err != nil {
			return err
		}
		if err := errors.Join(deleteAlias(tx, t), total.Down(tx, caller.Workspace)); err != nil {
			return err
		}
		t.Status, t.Alias, t.ArchivedAt, t.UpdatedAt = Archived, "", tx.Now(), tx.Now()
		return updateTemplate(tx, t)
	})
	return t, err
}

// find returns a template by its id or its alias.
func find(tx *db.Tx, ws space.ID, name string) (Template, error) {
	id, err := resolve(tx, ws, name)
	if err != nil {
		return Template{}, err
	}
	t, err := selectTemplate(tx, ws, id)
	return t, db.OrMissing(err, ErrNotFound)
}

// lock returns a template and holds it until the transaction ends, so that versions come one after the other.
func lock(tx *db.Tx, ws space.ID, name string) (Template, error) {
	id, err := resolve(tx, ws, name)
	if err != nil {
		return Template{}, err
	}
	t, err := lockTemplate(tx, ws, id)
	return t, db.OrMissing(err, ErrNotFound)
}

func resolve(tx *db.Tx, ws space.ID, name string) (ID, error) {
	if api.IsID(name) {
		return ID(name), nil
	}
	if !aliasForm.MatchString(name) {
		return "", ErrNotFound
	}
	id, err := selectIDByAlias(tx, ws, name)
	return id, db.OrMissing(err, ErrNotFound)
}
