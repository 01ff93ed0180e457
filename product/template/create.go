package template

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// NewTemplate is a template as it is asked for.
type NewTemplate struct {
	Name         string                      `json:"name" doc:"1 to 120 characters." example:"Welcome"`
	Alias        string                      `json:"alias" doc:"A name that can be used wherever an id is: lower-case letters, digits and hyphens." example:"welcome"`
	Description  string                      `json:"description" example:"Sent after sign-up"`
	From         api.Optional[string]        `json:"from" doc:"Sender of mails that name none." example:"Acme <hello@acme.test>"`
	Subject      api.Optional[string]        `json:"subject" example:"Hi {{FIRST_NAME|there}}"`
	ReplyTo      api.Optional[api.Strings]   `json:"reply_to" doc:"At most 10 addresses." example:"[\"support@acme.test\"]"`
	ReplyToCamel api.Optional[api.Strings]   `json:"replyTo" doc:"The same as reply_to."`
	PreviewText  api.Optional[string]        `json:"preview_text" doc:"What mail programs show beside the subject." example:"Two minutes to set up"`
	HTML         api.Optional[*string]       `json:"html" doc:"Either html or text is required." example:"<p>Hi {{FIRST_NAME}}</p>"`
	Text         api.Optional[*string]       `json:"text" doc:"Made from the HTML if there is none." example:"Hi {{FIRST_NAME}}"`
	Variables    api.Optional[[]newVariable] `json:"variables" doc:"At most 50."`
	InlineCSS    api.Optional[bool]          `json:"inline_css" doc:"Copy the rules of style sheets to the elements they are about." example:"false"`
	Note         string                      `json:"note" doc:"A remark on this version." example:"First version"`
	Draft        bool                        `json:"draft" doc:"Save it without publishing it." example:"false"`
}

func (in NewTemplate) source() sourceChange {
	return sourceChange{From: in.From, Subject: in.Subject, PreviewText: in.PreviewText, ReplyTo: either(in.ReplyTo, in.ReplyToCamel),
		HTML: in.HTML, Text: in.Text, Variables: in.Variables, InlineCSS: in.InlineCSS}
}

func either[T any](a, b api.Optional[T]) api.Optional[T] {
	if a.Set {
		return a
	}
	return b
}

var aliasForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// reservedAliases are words that stand where an alias does in the address of a route.
var reservedAliases = []string{"render", "test-send"}

func checkAlias(wrong *api.Fields, alias string) {
	switch {
	case !aliasForm.MatchString(alias):
		wrong.Add("alias", "Must have 1 to 64 lower-case letters, digits or hyphens and begin with a letter or a digit.")
	case slices.Contains(reservedAliases, alias) || api.IsID(alias):
		wrong.Add("alias", "This alias is reserved. Choose another one.")
	}
}

// Create adds a template. Its source is version 1 and active at once, unless a draft is asked for.
func (s *Service) Create(ctx context.Context, caller api.Caller, in NewTemplate) (Detail, error) {
	var wrong api.Fields
	t := Template{Workspace: caller.Workspace, Alias: in.Alias, Name: api.CheckName(&wrong, "name", in.Name, maxName)}
	t.Description = api.CheckText(&wrong, "description", in.Description, maxDescription)
	if t.Alias != "" {
		checkAlias(&wrong, t.Alias)
	}
	note := api.CheckText(&wrong, "note", in.Note, maxNote)
	source := in.source().apply(&wrong, Source{}, s.world.Clock.Now(), s.world.NewID)
	if !in.Draft {
		checkSyntax(&wrong, source)
	}
	if err := wrong.Err(); err != nil {
		return Detail{}, err
	}
	return s.add(ctx, caller, t, source, note, in.Draft)
}

// add stores a new template with its first source.
func (s *Service) add(ctx context.Context, caller api.Caller, t Template, source Source, note string, asDraft bool) (made Detail, err error) {
	p, err := s.plans.Get(plan.Name(caller.Plan))
	if err != nil {
		return Detail{}, err
	}
	t.ID = ID(s.world.NewID())
	first := Version{ID: VersionID(s.world.NewID()), Number: 1, Note: note, CreatedBy: author(caller), Source: source}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		t := t
		t.CreatedAt, t.UpdatedAt, t.Status = tx.Now(), tx.Now(), Drafted
		if err := claimAlias(tx, t); err != nil {
			return err
		}
		counted, err := total.Up(tx, t.Workspace, p.Limits.Templates)
		if err != nil {
			return err
		}
		if !counted {
			return fullError(tx, p, t.Workspace)
		}
		if asDraft {
			t.DraftAt = tx.Now()
			made = Detail{Template: t, Draft: &source}
			return insertTemplate(tx, t, &source)
		}
		if err := s.checkSender(tx, caller, source); err != nil {
			return err
		}
		t, v := t.next(tx, first)
		made = Detail{Template: t, Version: v}
		return errors.Join(insertTemplate(tx, t, nil), insertVersion(tx, v))
	})
	return made, err
}

// next returns the template with the version as its next and active one.
func (t Template) next(tx *db.Tx, v Version) (Template, Version) {
	v.Workspace, v.Template, v.Number = t.Workspace, t.ID, t.Latest+1
	v.CreatedAt, v.ActivatedAt, v.Checksum = tx.Now(), tx.Now(), v.Source.checksum()
	t.Latest, t.Active, t.ActiveID, t.Status, t.PublishedAt, t.UpdatedAt = v.Number, v.Number, v.ID, Published, tx.Now(), tx.Now()
	return t, v
}

// author is who acts, for the record.
func author(caller api.Caller) string {
	if caller.UserID != "" {
		return caller.UserID
	}
	return caller.KeyID
}

func claimAlias(tx *db.Tx, t Template) error {
	if t.Alias == "" {
		return nil
	}
	claimed, err := insertAlias(tx, t)
	if err != nil || claimed {
		return err
	}
	holder, err := selectIDByAlias(tx, t.Workspace, t.Alias)
	if errors.Is(err, db.ErrNotFound) {
		return db.ErrConflict // given up in this very moment; the next try gets it
	}
	if err != nil {
		return err
	}
	return api.ErrAlreadyExists.Saying("Another template has this alias.").With("resource", "template").With("id", holder)
}

func fullError(tx *db.Tx, p plan.Plan, ws space.ID) error {
	used, err := total.Of(tx, ws)
	if err != nil {
		return err
	}
	return ErrQuota.With("plan", p.Name).With("limit", *p.Limits.Templates).With("used", used)
}

// copyMark follows the name of a copy that was given none.
const copyMark = " (copy)"

// Duplicate makes a new template from the active source of another, or from its draft if none is active.
func (s *Service) Duplicate(ctx context.Context, caller api.Caller, name, newName string) (Detail, error) {
	original, err := s.detail(ctx, caller.Workspace, name)
	if err != nil {
		return Detail{}, err
	}
	t := Template{Workspace: caller.Workspace, Name: newName, Description: original.Template.Description}
	if newName == "" {
		runes := []rune(original.Template.Name)
		t.Name = string(runes[:min(len(runes), maxName-len(copyMark))]) + copyMark
	}
	var wrong api.Fields
	t.Name = api.CheckName(&wrong, "name", t.Name, maxName)
	if err := wrong.Err(); err != nil {
		return Detail{}, err
	}
	source, drafted := original.Version.Source, original.Template.Active == 0
	if drafted && original.Draft != nil {
		source = *original.Draft
	}
	return s.add(ctx, caller, t, source, "", drafted)
}
