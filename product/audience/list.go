package audience

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
	mailtemplate "postrider/product/template"
)

// ListID names a list.
type ListID string

// List is an audience: people who agreed to get the same mail.
type List struct {
	Number      int64
	ID          ListID
	Workspace   space.ID
	Name        string
	Description string
	// DoubleOptIn means that people are on the list only once they have confirmed it.
	DoubleOptIn  bool
	Confirmation Confirmation

	Subscribed, Pending, Unsubscribed int64
	CreatedAt, UpdatedAt              time.Time
}

// Confirmation is how people are asked to confirm.
type Confirmation struct {
	From     string `json:"from,omitempty"`
	Subject  string `json:"subject,omitempty"`
	Template string `json:"template_id,omitempty"`
	// RedirectURL is where people go once they have confirmed; empty shows a page of ours.
	RedirectURL string `json:"redirect_url,omitempty"`
}

// listBody is a list as it is asked for, and what is to be different in one.
type listBody struct {
	Name         string                          `json:"name" doc:"1 to 120 characters, unique in the workspace." example:"Newsletter"`
	Description  api.Optional[string]            `json:"description" example:"Product news"`
	DoubleOptIn  api.Optional[bool]              `json:"double_opt_in" doc:"People are on the list only once they have confirmed it." example:"true"`
	Confirmation api.Optional[*confirmationBody] `json:"confirmation" doc:"How people are asked to confirm."`
}

type confirmationBody struct {
	From        string `json:"from" doc:"Sender, at a verified domain." example:"Acme <hello@acme.test>"`
	Subject     string `json:"subject" example:"Please confirm"`
	TemplateID  string `json:"template_id" doc:"A template that has the variable CONFIRMATION_URL." example:"confirm"`
	RedirectURL string `json:"redirect_url" doc:"Where people go once they have confirmed." example:"https://acme.test/thanks"`
}

const (
	maxSubject = 998
	maxURL     = 2048
)

func (b confirmationBody) check(wrong *api.Fields) Confirmation {
	c := Confirmation{From: strings.TrimSpace(b.From), Subject: api.CheckLine(wrong, "confirmation.subject", b.Subject, maxSubject), Template: strings.TrimSpace(b.TemplateID), RedirectURL: strings.TrimSpace(b.RedirectURL)}
	if _, err := address.Parse(c.From); c.From != "" && err != nil {
		wrong.Add("confirmation.from", "Not an email address: "+err.Error()+".")
	}
	if len(c.Template) > maxName {
		wrong.Add("confirmation.template_id", "Must be the id or the alias of a template.")
	}
	if c.RedirectURL != "" && !isWebAddress(c.RedirectURL) {
		wrong.Add("confirmation.redirect_url", "Must be an address that begins with https:// or http://.")
	}
	return c
}

// isWebAddress tells whether a browser can be sent to an address. Anything else, such as javascript:, could run in our page.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= maxURL && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && !strings.ContainsAny(text, "\r\n\t \"'<>;,\\")
}

// apply returns the list as the request wants it.
func (b listBody) apply(wrong *api.Fields, l List) List {
	if b.Name != "" || l.ID == "" {
		l.Name = api.CheckName(wrong, "name", b.Name, maxName)
	}
	l.Description = api.CheckText(wrong, "description", b.Description.Or(l.Description), maxDescription)
	l.DoubleOptIn = b.DoubleOptIn.Or(l.DoubleOptIn)
	if b.Confirmation.Set {
		l.Confirmation = Confirmation{}
		if b.Confirmation.Value != nil {
			l.Confirmation = b.Confirmation.Value.check(wrong)
		}
	}
	return l
}

// createList adds a list.
func (s *Service) createList(ctx context.Context, ws space.ID, body listBody) (made List, err error) {
	var wrong api.Fields
	wish := body.apply(&wrong, List{Workspace: ws})
	if err := wrong.Err(); err != nil {
		return made, err
	}
	wish.ID = ListID(s.world.NewID())
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		made = wish
		made.CreatedAt, made.UpdatedAt = tx.Now(), tx.Now()
		if err := s.checkTemplate(tx, List{}, made); err != nil {
			return err
		}
		if err := lists.room(tx, ws, maxNamed, "name", "lists"); err != nil {
			return err
		}
		inserted, err := insertList(tx, made)
		if err == nil && !inserted {
			err = lists.taken(tx, ws, filter.Fold(made.Name), "audience")
		}
		return err
	})
	return made, err
}

func (s *Service) updateList(ctx context.Context, ws space.ID, id string, body listBody) (changed List, err error) {
	var wrong api.Fields
	body.apply(&wrong, List{ID: "known"})
	if err := wrong.Err(); err != nil {
		return changed, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		before, err := lists.lock(tx, ws, id)
		if err != nil {
			return err
		}
		changed = body.apply(&wrong, before)
		changed.UpdatedAt = tx.Now()
		if err := s.checkTemplate(tx, before, changed); err != nil {
			return err
		}
		if folded := filter.Fold(changed.Name); folded != filter.Fold(before.Name) {
			if err := lists.vacant(tx, ws, folded, "audience"); err != nil {
				return err
			}
		}
		return ifTaken(updateList(tx, changed))
	})
	return changed, err
}

// checkTemplate refuses another template that no confirmation can be made from.
func (s *Service) checkTemplate(tx *db.Tx, before, after List) error {
	name := after.Confirmation.Template
	if name == "" || name == before.Confirmation.Template {
		return nil
	}
	t, err := s.parts.Templates.Get(tx, after.Workspace, name)
	if errors.Is(err, mailtemplate.ErrNotFound) || err == nil && t.Status != mailtemplate.Published {
		err = api.Invalid("confirmation.template_id", "There is no published template with this id or alias.")
	}
	return err
}

// deleteList removes a list and who is on it, but no contact. The memberships of a large list go in steps: a list that nobody can
// find any more keeps the rest out of sight.
func (s *Service) deleteList(ctx context.Context, ws space.ID, id string) error {
	return s.discard(ctx, ws, aList, func(tx *db.Tx) (int64, error) {
		gone, err := lists.lock(tx, ws, id)
		if err != nil {
			return 0, err
		}
		if err := s.free(tx, ws, id); err != nil {
			return 0, err
		}
		return gone.Number, deleteNamed(tx, ws, lists.table, id)
	})
}

// free refuses to delete what segments, or slices above, still use.
func (s *Service) free(tx *db.Tx, ws space.ID, idOrKey string) error {
	var uses []Use
	known, err := loadSchema(tx, ws)
	if err != nil {
		return err
	}
	for _, g := range known.segments {
		id := string(g.ID)
		if rules := known.Segments[id].Filter; rules != nil && id != idOrKey && rules.Uses(idOrKey) {
			uses = append(uses, Use{"segment", id})
		}
	}
	if s.parts.InUse != nil {
		more, err := s.parts.InUse(tx, ws, idOrKey)
		if err != nil {
			return err
		}
		uses = append(uses, more...)
	}
	if len(uses) > 0 {
		return ErrInUse.With("resources", uses)
	}
	return nil
}

// listRecord is a list on the wire.
type listRecord struct {
	Object       string             `json:"object" example:"audience"`
	ID           ListID             `json:"id" example:"0193a1f5-0000-7000-8000-000000000311"`
	Name         string             `json:"name" example:"Newsletter"`
	Description  api.Ref            `json:"description" example:"Product news"`
	DoubleOptIn  bool               `json:"double_opt_in" example:"true"`
	Confirmation confirmationRecord `json:"confirmation"`
	Contacts     int64              `json:"contact_count" example:"1200"`
	Subscribed   int64              `json:"subscribed_count" example:"1100"`
	Pending      int64              `json:"pending_count" example:"60"`
	Unsubscribed int64              `json:"unsubscribed_count" example:"40"`
	CreatedAt    api.Time           `json:"created_at"`
	UpdatedAt    api.Time           `json:"updated_at"`
}

func (r listRecord) place() api.Cursor {
	return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)}
}

type confirmationRecord struct {
	From        api.Ref `json:"from" example:"Acme <hello@acme.test>"`
	Subject     api.Ref `json:"subject" example:"Please confirm"`
	TemplateID  api.Ref `json:"template_id"`
	RedirectURL api.Ref `json:"redirect_url" example:"https://acme.test/thanks"`
}

func newListRecord(l List) listRecord {
	return listRecord{Object: "audience", ID: l.ID, Name: l.Name, Description: api.Ref(l.Description), DoubleOptIn: l.DoubleOptIn,
		Confirmation: confirmationRecord{api.Ref(l.Confirmation.From), api.Ref(l.Confirmation.Subject), api.Ref(l.Confirmation.Template), api.Ref(l.Confirmation.RedirectURL)},
		Contacts:     l.Subscribed + l.Pending + l.Unsubscribed, Subscribed: l.Subscribed, Pending: l.Pending, Unsubscribed: l.Unsubscribed,
		CreatedAt: api.Time(l.CreatedAt), UpdatedAt: api.Time(l.UpdatedAt)}
}

func asJSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("audience: " + err.Error())
	}
	return string(raw)
}
