package email

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/template"
)

// templateBody names a template and what to fill it with.
type templateBody struct {
	ID        string          `json:"id" doc:"Id or alias." example:"welcome"`
	Version   int64           `json:"version" doc:"Number of a version; the active one if absent." example:"3"`
	Variables template.Values `json:"variables"`
}

// fromTemplate fills in what the template says where the request leaves it open.
func (s *Service) fromTemplate(ctx context.Context, ws space.ID, body *sendBody) error {
	wish := body.Template
	if wish == nil && body.TemplateID != "" {
		wish = &templateBody{ID: body.TemplateID, Variables: body.Variables}
	}
	if wish == nil {
		return nil
	}
	if wish.ID == "" {
		return api.Invalid("template.id", "Required: the id or the alias of a template.")
	}
	if body.HTML != "" || body.Text != nil && *body.Text != "" {
		return api.Invalid("template", "Give a template, or html and text, not both.")
	}
	if wish.Version < 0 {
		return api.Invalid("template.version", "Must be the number of a version.")
	}
	made, err := s.templates.Render(ctx, ws, wish.ID, template.Select{Version: wish.Version}, wish.Variables)
	if err != nil {
		return err
	}
	body.fill(made)
	return nil
}

func (r *sendBody) fill(made template.Rendered) {
	r.From, r.Subject = first(r.From, made.From), first(r.Subject, made.Subject)
	if len(r.ReplyTo)+len(r.ReplyToCamel) == 0 {
		r.ReplyTo = made.ReplyTo
	}
	r.HTML, r.Text = made.HTML, &made.Text
	r.madeFrom, r.madeVersion = string(made.Template), made.Version
}

const (
	// maxTestRecipients is how many people look at a draft.
	maxTestRecipients = 5
	testPrefix        = "[Test] "
	// SourceTest is mail by which people look at their own templates.
	SourceTest Source = "test"
)

func (s *Service) testSendRoutes(sendErrors []*api.Error) []api.Route {
	failures := append([]*api.Error{api.ErrNotFound, account.ErrUnverified}, sendErrors...)
	return []api.Route{
		{Method: http.MethodPost, Path: "/templates/{id}/test-send", Scope: "template:manage", AndScope: "email:send", Bucket: api.BucketSend, Success: 202, Errors: failures,
			Summary: "Send a template to people who want to look at it.", Handler: api.Handle(s.handleTestSend)},
		{Method: http.MethodPost, Path: "/templates/test-send", Scope: "email:send", Bucket: api.BucketSend, MaxBody: 4 << 20, Success: 202, Errors: failures,
			Summary: "Send a template that has not been saved to people who want to look at it.", Handler: api.Handle(s.handleTestSendUnsaved)},
	}
}

// testSendBody is who gets the test, and what may differ from the template.
type testSendBody struct {
	To        api.Strings     `json:"to" doc:"At most 5 recipients; each gets an email of their own." example:"[\"me@acme.test\"]"`
	From      string          `json:"from" example:"Acme <hello@acme.test>"`
	Subject   string          `json:"subject" example:"Welcome"`
	Variables template.Values `json:"variables"`
}

// versionWish is the number of a version, or the word draft.
type versionWish struct {
	number int64
	draft  bool
}

// UnmarshalJSON reads either.
func (v *versionWish) UnmarshalJSON(raw []byte) error {
	if string(raw) == `"draft"` {
		v.draft = true
		return nil
	}
	if string(raw) == "null" {
		return nil
	}
	if err := json.Unmarshal(raw, &v.number); err != nil || v.number < 1 {
		return errors.New(`must be the number of a version, or "draft"`)
	}
	return nil
}

// JSONSchema describes both.
func (versionWish) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "integer", "minimum": 1}, map[string]any{"const": "draft"}}}
}

type testSendAnswer struct {
	Object string `json:"object" example:"email"`
	ID     ID     `json:"id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	IDs    []ID   `json:"ids"`
	State  State  `json:"status" example:"queued"`
}

func (s *Service) handleTestSend(ctx context.Context, caller api.Caller, r struct {
	ID   string `path:"id" doc:"Id or alias of the template." example:"welcome"`
	Body struct {
		testSendBody
		Version versionWish `json:"version"`
	}
}) (testSendAnswer, error) {
	made, err := s.templates.Render(ctx, caller.Workspace, r.ID, template.Select{Version: r.Body.Version.number, Draft: r.Body.Version.draft}, r.Body.Variables)
	if err != nil {
		return testSendAnswer{}, err
	}
	return s.testSend(ctx, caller, r.Body.testSendBody, made)
}

func (s *Service) handleTestSendUnsaved(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		testSendBody
		HTML string `json:"html" example:"<p>Hi {{FIRST_NAME|there}}</p>"`
		Text string `json:"text"`
	}
}) (testSendAnswer, error) {
	if err := s.db.Read(ctx, func(tx *db.Tx) error { return s.accounts.RequireVerified(tx, caller) }); err != nil {
		return testSendAnswer{}, err
	}
	ready, err := template.Compile(template.Source{From: r.Body.From, Subject: r.Body.Subject, HTML: r.Body.HTML, Text: r.Body.Text})
	if err != nil {
		return testSendAnswer{}, err
	}
	made, err := ready.Render(r.Body.Variables)
	if err != nil {
		return testSendAnswer{}, err
	}
	r.Body.Subject = "" // it has been rendered
	return s.testSend(ctx, caller, r.Body.testSendBody, made)
}

// testSend sends the same to each recipient alone, and to all or none of them.
func (s *Service) testSend(ctx context.Context, caller api.Caller, wish testSendBody, made template.Rendered) (testSendAnswer, error) {
	drafts, err := s.testDrafts(wish, made)
	if err != nil {
		return testSendAnswer{}, err
	}
	sender := senderOf(caller)
	sender.Source = SourceTest
	var admitted admission
	for i, draft := range drafts {
		rows, err := s.admit(ctx, sender, draft)
		if err != nil {
			return testSendAnswer{}, err
		}
		admitted.entries = append(admitted.entries, entry{index: i, rows: rows})
	}
	var stored batchAnswer
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		stored, err = s.storeAll(tx, sender, admitted, false)
		return err
	})
	if err != nil {
		return testSendAnswer{}, err
	}
	answer := testSendAnswer{Object: "email", ID: stored.Data[0].ID, State: stored.Data[0].State}
	for _, receipt := range stored.Data {
		answer.IDs = append(answer.IDs, receipt.ID)
	}
	return answer, nil
}

// testDrafts makes a draft for each recipient.
func (s *Service) testDrafts(wish testSendBody, made template.Rendered) ([]Draft, error) {
	var wrong api.Fields
	recipients := checkList(&wrong, "to", wish.To, map[string]bool{})
	if wrong == nil && (len(recipients) < 1 || len(recipients) > maxTestRecipients) {
		wrong.Add("to", fmt.Sprintf("Must have 1 to %d recipients.", maxTestRecipients))
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	drafts := make([]Draft, len(recipients))
	for i, to := range recipients {
		body := sendBody{From: wish.From, To: api.Strings{to.String()}, Subject: wish.Subject}
		body.fill(made)
		body.Subject = testPrefix + body.Subject
		drafts[i] = body.draft(&wrong, s.world.Clock.Now())
		if err := wrong.Err(); err != nil {
			return nil, err // the others say the same
		}
	}
	return drafts, nil
}
