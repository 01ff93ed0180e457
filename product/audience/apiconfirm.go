package audience

import (
	"context"
	"fmt"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/domain"
	"postrider/product/email"
	"postrider/product/plan"
)

// maxForm is far above what the page of a confirmation posts.
const maxForm = 16 << 10

func (s *Service) confirmationRoutes() []api.Route {
	token := func(method, summary string, handler api.Handler) api.Route {
		return api.Route{Method: method, Path: "/audience/confirm/{token}", Access: api.Public, Bucket: api.BucketPublicToken, Page: true,
			Errors: []*api.Error{api.ErrNotFound, ErrLinkExpired}, Summary: summary, Handler: handler}
	}
	post := token(http.MethodPost, "Confirm, from the page behind a confirmation link.", api.Handle(s.handleConfirm))
	post.Form, post.MaxBody = true, maxForm
	return []api.Route{
		accepted(change(http.MethodPost, "/audience/contacts/{id}/send-confirmation", "Ask a contact to confirm being on a list.", api.Handle(s.handleAsk),
			ErrSenderDomain, api.ErrInvalidState)),
		accepted(change(http.MethodPost, "/audience/lists/{id}/send-confirmations", "Ask those on a list who have not confirmed.", api.Handle(s.handleAskMany), ErrSenderDomain)),
		token(http.MethodGet, "Show a page that asks to confirm. Programs that accept only JSON confirm by it.", api.Handle(s.handleConfirmLink)),
		token(http.MethodHead, "Tell whether a confirmation link is good. Changes nothing.", api.Handle(s.handleLookAtLink)),
		post,
	}
}

func senderOf(caller api.Caller) email.Sender {
	return email.Sender{Workspace: caller.Workspace, Plan: plan.Name(caller.Plan), KeyID: caller.KeyID, Source: email.SourceConfirmation, Test: caller.Test,
		MayUse: func(id domain.ID) bool { return caller.MayUseDomain(string(id)) }}
}

type askedRecord struct {
	Object    string    `json:"object" example:"confirmation"`
	Contact   ContactID `json:"contact_id" example:"0193a1f5-0000-7000-8000-000000000301"`
	List      ListID    `json:"list_id" example:"0193a1f5-0000-7000-8000-000000000311"`
	Email     email.ID  `json:"email_id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	ExpiresAt api.Time  `json:"expires_at"`
}

func (s *Service) handleAsk(ctx context.Context, caller api.Caller, r struct {
	contactRequest
	Body struct {
		ListID     string `json:"list_id" example:"0193a1f5-0000-7000-8000-000000000311"`
		AudienceID string `json:"audience_id" doc:"The same as list_id."`
		From       string `json:"from" doc:"Sender; that of the list if absent." example:"Acme <hello@acme.test>"`
		TemplateID string `json:"template_id" doc:"Id or alias of a template that has the variable CONFIRMATION_URL; that of the list if absent." example:"confirm"`
	}
}) (askedRecord, error) {
	list := first(r.Body.ListID, r.Body.AudienceID)
	if list == "" {
		return askedRecord{}, api.Invalid("list_id", "A list is required.")
	}
	a, err := s.askOne(ctx, senderOf(caller), caller.Workspace, r.ID, list, wayOfAsking{r.Body.From, r.Body.TemplateID})
	return askedRecord{"confirmation", a.contact, a.list, a.email, api.Time(a.expires)}, err
}

type askedManyRecord struct {
	Object string `json:"object" example:"confirmation_batch"`
	List   string `json:"list_id" example:"0193a1f5-0000-7000-8000-000000000311"`
	askCounts
}

func (s *Service) handleAskMany(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		Contacts []string `json:"contact_ids" doc:"At most 1000 ids; everybody on the list if absent." example:"[\"0193a1f5-0000-7000-8000-000000000301\"]"`
	}
}) (record askedManyRecord, err error) {
	if len(r.Body.Contacts) > maxSegmentCall {
		return record, api.Invalid("contact_ids", fmt.Sprintf("Must have at most %d entries.", maxSegmentCall))
	}
	var l List
	var numbers []int64
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if l, err = lists.find(tx, caller.Workspace, r.ID); err != nil || r.Body.Contacts == nil {
			return err
		}
		found, _, err := findAll(tx, caller.Workspace, r.Body.Contacts)
		numbers = append([]int64{}, numbersOf(found)...)
		return err
	})
	if err != nil {
		return record, err
	}
	if err := s.tryLetter(ctx, caller, l); err != nil {
		return record, err
	}
	counts, err := s.askMany(ctx, caller, l, numbers)
	return askedManyRecord{"confirmation_batch", r.ID, counts}, err
}

// tryLetter writes a letter to nobody, which shows whether the caller can have letters of a list sent at all.
func (s *Service) tryLetter(ctx context.Context, caller api.Caller, l List) error {
	nobody := Contact{Workspace: caller.Workspace, Address: "nobody@example.com"}
	_, _, err := s.letter(ctx, senderOf(caller), nobody, l, "", wayOfAsking{})
	return err
}

type linkRequest struct {
	Token  string `path:"token" doc:"The token of the link." example:"v1.c2lnbmVk"`
	Accept string `header:"Accept" doc:"Browsers name text/html and get a page; a program that names only application/json confirms."`
}

// handleConfirmLink shows a page that asks. Programs that check mail follow every link in it, and some run what they find there: so
// a page never confirms by being opened. A program that asks for JSON, and for nothing else, is no such program.
func (s *Service) handleConfirmLink(ctx context.Context, caller api.Caller, r linkRequest) (confirmResult, error) {
	if wants(r.Accept).json() {
		c, err := s.confirm(ctx, r.Token, caller)
		return newConfirmResult(c), err
	}
	return s.handleLookAtLink(ctx, caller, r)
}

func (s *Service) handleLookAtLink(ctx context.Context, _ api.Caller, r linkRequest) (confirmResult, error) {
	var c confirmation
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		c, err = s.lookAt(tx, r.Token, false)
		return err
	})
	if err != nil {
		return wants(r.Accept).broken(err)
	}
	return newConfirmResult(c).withPage(c, ""), nil
}

func (s *Service) handleConfirm(ctx context.Context, caller api.Caller, r struct {
	linkRequest
	Body struct{}
}) (confirmResult, error) {
	c, err := s.confirm(ctx, r.Token, caller)
	if err != nil {
		return wants(r.Accept).broken(err)
	}
	if !wants(r.Accept).page() {
		return newConfirmResult(c), nil
	}
	return newConfirmResult(c).withPage(c, "").sentOn(), nil
}
