package template

import (
	"context"
	"errors"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// DraftSource is a source that is to be kept for later. It replaces the draft before it: subject, preview text, html and text are
// what it says. Sender, reply addresses, variables and style that it does not name are those of the active version.
type DraftSource struct {
	From         api.Optional[string]        `json:"from" doc:"Sender of mails that name none." example:"Acme <hello@acme.test>"`
	Subject      api.Optional[string]        `json:"subject" example:"Hi!"`
	ReplyTo      api.Optional[api.Strings]   `json:"reply_to" doc:"At most 10 addresses." example:"[\"support@acme.test\"]"`
	ReplyToCamel api.Optional[api.Strings]   `json:"replyTo" doc:"The same as reply_to."`
	PreviewText  api.Optional[string]        `json:"preview_text" doc:"What mail programs show beside the subject."`
	HTML         api.Optional[*string]       `json:"html" doc:"Either html or text is required." example:"<p>New</p>"`
	Text         api.Optional[*string]       `json:"text"`
	Variables    api.Optional[[]newVariable] `json:"variables" doc:"At most 50."`
	InlineCSS    api.Optional[bool]          `json:"inline_css" doc:"Copy the rules of style sheets to the elements they are about." example:"false"`
}

func (in DraftSource) source() sourceChange {
	return sourceChange{From: in.From, Subject: in.Subject, PreviewText: in.PreviewText, ReplyTo: either(in.ReplyTo, in.ReplyToCamel),
		HTML: in.HTML, Text: in.Text, Variables: in.Variables, InlineCSS: in.InlineCSS}
}

// SaveDraft replaces the draft. It may still have mistakes in it; they are found when it is published.
func (s *Service) SaveDraft(ctx context.Context, ws space.ID, name string, in DraftSource) (saved Detail, err error) {
	var wrong api.Fields
	in.source().apply(&wrong, Source{}, s.world.Clock.Now(), s.world.NewID)
	if err := wrong.Err(); err != nil {
		return Detail{}, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		t, err := lock(tx, ws, name)
		if err != nil {
			return err
		}
		if err := t.open(); err != nil {
			return err
		}
		d, err := read(tx, t)
		if err != nil {
			return err
		}
		before := d.Version.Source
		if t.Active == 0 && d.Draft != nil {
			before = *d.Draft
		}
		before.Subject, before.PreviewText, before.HTML, before.Text = "", "", "", ""
		source := in.source().apply(new(api.Fields), before, tx.Now(), s.world.NewID)
		d.Draft = &source
		d.Template.DraftAt, d.Template.UpdatedAt = tx.Now(), tx.Now()
		saved = d
		return errors.Join(updateDraft(tx, d.Template, &source), updateTemplate(tx, d.Template))
	})
	return saved, err
}

// Publish makes a version the active one: the given one, or with 0 a new one from the draft. Without a draft nothing changes.
func (s *Service) Publish(ctx context.Context, caller api.Caller, name string, number int64) (published Detail, err error) {
	next := Version{ID: VersionID(s.world.NewID()), CreatedBy: author(caller)}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		t, err := lock(tx, caller.Workspace, name)
		if err != nil {
			return err
		}
		if err := errors.Join(t.open(), s.checkKeeper(tx, caller, t)); err != nil {
			return err
		}
		d, err := read(tx, t)
		if err != nil {
			return err
		}
		switch {
		case number != 0:
			published, err = activate(tx, d, number)
		case d.Draft != nil:
			next.Source = *d.Draft
			published, err = publishDraft(tx, d, next)
		default:
			published = d
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.checkSender(tx, caller, published.Version.Source); err != nil {
			return err
		}
		return updateTemplate(tx, published.Template)
	})
	return published, err
}

func activate(tx *db.Tx, d Detail, number int64) (Detail, error) {
	if number == d.Template.Active {
		return d, nil
	}
	v, err := selectVersion(tx, d.Template.Workspace, d.Template.ID, number)
	if err != nil {
		return d, orVersionNotFound(err)
	}
	v.ActivatedAt = tx.Now()
	t := &d.Template
	t.Active, t.ActiveID, t.Status, t.PublishedAt, t.UpdatedAt = v.Number, v.ID, Published, tx.Now(), tx.Now()
	d.Version = v
	return d, updateActivated(tx, v.Workspace, v.ID)
}

func publishDraft(tx *db.Tx, d Detail, next Version) (Detail, error) {
	if _, broken := compile(next.Source); broken != nil {
		return d, broken[0].refusal()
	}
	d.Draft, d.Template.DraftAt = nil, Template{}.DraftAt
	d.Template, d.Version = d.Template.next(tx, next)
	return d, errors.Join(updateDraft(tx, d.Template, nil), insertVersion(tx, d.Version))
}

// Detail is a template with its active version and its draft, as far as it has them.
type Detail struct {
	Template Template
	Version  Version
	// Draft is nil if there is none.
	Draft *Source
}

func (s *Service) detail(ctx context.Context, ws space.ID, name string) (d Detail, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := find(tx, ws, name)
		if err != nil {
			return err
		}
		d, err = read(tx, t)
		return err
	})
	return d, err
}

func read(tx *db.Tx, t Template) (d Detail, err error) {
	d.Template = t
	if t.Active != 0 {
		if d.Version, err = selectVersion(tx, t.Workspace, t.ID, t.Active); err != nil {
			return d, err
		}
	}
	if t.DraftAt.IsZero() {
		return d, nil
	}
	draft, err := selectDraft(tx, t.Workspace, t.ID)
	d.Draft = &draft
	return d, err
}
