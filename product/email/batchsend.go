package email

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/domain"
)

// maxBatch is the most emails of one call.
const maxBatch = 100

// maxEmailValues is how many values an email of a batch has, if they all have as many: recipients, tags and what a template lists.
const maxEmailValues = 5000

// batchRoute sends many emails in one call and one transaction.
func (s *Service) batchRoute(sendErrors []*api.Error) api.Route {
	return api.Route{Method: http.MethodPost, Path: "/emails/batch", Scope: "email:send", Bucket: api.BucketBatch, MaxBody: maxSendBody, MaxValues: maxBatch * maxEmailValues, Success: 202, Errors: sendErrors, Summary: "Send up to 100 emails.", Handler: api.Handle(s.handleBatch)}
}

// batchBody is a list of emails, bare or under the name emails. Each is read by itself, so that one that is broken does not hide
// what is wrong with the others.
type batchBody struct {
	emails         []json.RawMessage
	idempotencyKey string
}

// JSONSchema describes both forms.
func (batchBody) JSONSchema() map[string]any {
	list := map[string]any{"type": "array", "items": map[string]any{"$ref": "#/components/schemas/EmailSendBody"}}
	example := json.RawMessage(`[{"from":"Acme <hello@acme.test>","to":["ann@example.net"],"subject":"Welcome","html":"<p>Hi Ann</p>"}]`)
	return map[string]any{"examples": []any{example}, "oneOf": []any{list, map[string]any{"type": "object", "properties": map[string]any{"emails": list,
		"idempotency_key": map[string]any{"type": "string", "description": "The same as the header."}}}}}
}

// ReadBody reads either form. The list is cut without looking inside its elements, because each of them is decoded by itself.
func (b *batchBody) ReadBody(raw []byte) error {
	list, err := api.SplitList(raw)
	if err != nil {
		var named struct {
			Emails         []json.RawMessage `json:"emails"`
			IdempotencyKey string            `json:"idempotency_key"`
		}
		if err := json.Unmarshal(raw, &named); err != nil {
			var wrongType *json.UnmarshalTypeError
			if errors.As(err, &wrongType) {
				return api.Invalid("_body", "Must be a list of emails.")
			}
			return err
		}
		list, b.idempotencyKey = named.Emails, named.IdempotencyKey
	}
	b.emails = list
	return nil
}

type batchRequest struct {
	IdempotencyKey string `header:"Idempotency-Key" doc:"Covers the whole call." example:"newsletter:2026-11"`
	Validation     string `header:"X-Batch-Validation" doc:"strict (all or none) or permissive." example:"strict"`
	Raw            api.Raw
	Body           batchBody
}

// batchAnswer says what became of each email; both lists are in the order of the request.
type batchAnswer struct {
	Object     string         `json:"object" example:"list"`
	Data       []batchReceipt `json:"data"`
	Errors     []batchRefusal `json:"errors"`
	Idempotent bool           `json:"idempotent,omitempty"`
}

type batchReceipt struct {
	ID         ID    `json:"id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	Index      int   `json:"index" example:"0"`
	State      State `json:"status" example:"queued"`
	Idempotent bool  `json:"idempotent,omitempty"`
}

type batchRefusal struct {
	Index   int        `json:"index" example:"1"`
	Code    string     `json:"code" example:"validation_error"`
	Message string     `json:"message" example:"to: Invalid email address."`
	Fields  api.Fields `json:"fieldErrors,omitempty"`
}

// Status is 200 for a replay.
func (a batchAnswer) Status() int {
	if a.Idempotent {
		return http.StatusOK
	}
	return 0
}

func (s *Service) handleBatch(ctx context.Context, caller api.Caller, r batchRequest) (batchAnswer, error) {
	var wrong api.Fields
	key := api.CheckIdempotencyKey(&wrong, r.IdempotencyKey, r.Body.idempotencyKey)
	if r.Validation != "" && r.Validation != "strict" && r.Validation != "permissive" {
		wrong.Add("X-Batch-Validation", "Must be strict or permissive.")
	}
	if len(r.Body.emails) < 1 || len(r.Body.emails) > maxBatch {
		wrong.Add("_body", fmt.Sprintf("Must hold 1 to %d emails.", maxBatch))
	}
	if err := wrong.Err(); err != nil {
		return batchAnswer{}, err
	}
	request := api.Idempotency{Workspace: caller.Workspace, Operation: "POST /emails/batch", Key: key, Test: caller.Test}
	if key != "" {
		hash, err := api.HashBody(r.Raw)
		if err != nil {
			return batchAnswer{}, api.Invalid("_body", "Malformed JSON.")
		}
		request.Hash = hash
	}
	sender := senderOf(caller)
	sender.Source = SourceBatch
	return s.AcceptAll(ctx, sender, r.Body.emails, r.Validation == "permissive", request)
}

// AcceptAll accepts many emails in one transaction. Unless it is permissive, one that is refused refuses all; trouble of ours always
// does, for the answer is remembered and nobody could try again.
func (s *Service) AcceptAll(ctx context.Context, sender Sender, bodies []json.RawMessage, permissive bool, request api.Idempotency) (batchAnswer, error) {
	admitted := s.admitAll(ctx, sender, bodies)
	if refused := admitted.refusal(permissive); refused != nil {
		answer, replayed, err := earlier[batchAnswer](ctx, s, request, refused)
		answer.Idempotent = replayed
		return answer, err
	}
	var answer batchAnswer
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		stored, replayed, err := api.Once(tx, request, func() (batchAnswer, error) {
			return s.storeAll(tx, sender, admitted, permissive)
		})
		stored.Idempotent = replayed
		answer = stored
		return err
	})
	return answer, err
}

// admission is what became of the emails of a batch before anything is stored.
type admission struct {
	entries []entry
	// answered are those that would be refused now and were accepted before under their own keys.
	answered []batchReceipt
	refusals []refusal
}

// refusal is why the whole batch is refused, or nil.
func (a admission) refusal(permissive bool) error {
	if !permissive {
		return firstRefusal(a.refusals)
	}
	for _, r := range a.refusals {
		if isFailure(r.err) {
			return r.err
		}
	}
	return nil
}

// candidate is one email of a batch that has been read, or why it is refused.
type candidate struct {
	request api.Idempotency
	draft   Draft
	from    domain.Domain
	err     error
}

// entry is one that has been admitted.
type entry struct {
	index   int
	rows    acceptance
	request api.Idempotency
}

// refusal is one that has not.
type refusal struct {
	index int
	err   error
}

// admitAll goes through the emails in groups, so that the files of a whole batch are never in memory together.
func (s *Service) admitAll(ctx context.Context, sender Sender, bodies []json.RawMessage) (a admission) {
	fetching, done := context.WithTimeout(ctx, fetchAll)
	defer done()
	index := 0
	for group := range slices.Chunk(bodies, fetchTogether) {
		var candidates []*candidate
		for _, raw := range group {
			candidates = append(candidates, s.readCandidate(ctx, sender, raw))
		}
		s.fetchGroup(fetching, candidates)
		for _, c := range candidates {
			s.admitCandidate(ctx, sender, c, index, &a)
			index++
		}
	}
	return a
}

// readCandidate reads an email as far as it can be checked without its files.
func (s *Service) readCandidate(ctx context.Context, sender Sender, raw json.RawMessage) *candidate {
	c := &candidate{}
	var body sendBody
	if c.err = api.Decode(raw, &body); c.err != nil {
		return c
	}
	var wrong api.Fields
	if key := api.CheckIdempotencyKey(&wrong, "", body.IdempotencyKey); key != "" && wrong == nil {
		hash, err := api.HashBody(raw)
		if err != nil {
			wrong.Add("_body", "Malformed JSON.")
		}
		c.request = api.Idempotency{Workspace: sender.Workspace, Operation: "POST /emails/batch item", Key: key, Hash: hash, Test: sender.Test}
	}
	if c.err = s.fromTemplate(ctx, sender.Workspace, &body); c.err != nil {
		return c
	}
	c.draft = body.draft(&wrong, s.world.Clock.Now())
	if c.err = wrong.Err(); c.err == nil {
		c.from, c.err = s.permit(ctx, sender, c.draft.From.Domain)
	}
	return c
}

// admitCandidate notes what becomes of an email.
func (s *Service) admitCandidate(ctx context.Context, sender Sender, c *candidate, index int, a *admission) {
	var rows acceptance
	if c.err == nil {
		rows, c.err = s.prepare(ctx, sender, c.draft, c.from)
	}
	if c.err == nil {
		c.err = rows.checkMade(c.draft)
	}
	if c.err == nil {
		if rows.contentBlob != "" { // a request of a few bytes can name a large template a hundred times
			rows.content = Content{Headers: rows.content.Headers}
		}
		a.entries = append(a.entries, entry{index, rows, c.request})
		return
	}
	before, replayed, err := earlier[Receipt](ctx, s, c.request, c.err)
	if replayed && err == nil {
		a.answered = append(a.answered, batchReceipt{ID: before.ID, Index: index, State: before.Status, Idempotent: true})
		return
	}
	a.refusals = append(a.refusals, refusal{index, err})
}

// storeAll writes the admitted emails. An email whose own key was used before is answered with its first id and not written.
func (s *Service) storeAll(tx *db.Tx, sender Sender, admitted admission, permissive bool) (batchAnswer, error) {
	answer := batchAnswer{Object: "list", Data: append([]batchReceipt{}, admitted.answered...), Errors: []batchRefusal{}}
	refusals := slices.Clone(admitted.refusals)
	all := make([]*pending, len(admitted.entries))
	for i, e := range admitted.entries {
		all[i] = &pending{sender: sender, rows: e.rows, request: e.request}
	}
	fresh, err := s.chargePending(tx, all)
	if err != nil {
		return answer, err
	}
	for i, p := range all {
		index := admitted.entries[i].index
		switch {
		case p.err != nil && !permissive:
			return answer, refusal{index, p.err}.named()
		case p.err != nil:
			refusals = append(refusals, refusal{index, p.err})
		default:
			answer.Data = append(answer.Data, batchReceipt{ID: p.receipt.ID, Index: index, State: p.receipt.Status, Idempotent: p.replayed})
		}
	}
	slices.SortFunc(answer.Data, func(a, b batchReceipt) int { return a.Index - b.Index })
	slices.SortFunc(refusals, func(a, b refusal) int { return a.index - b.index })
	for _, r := range refusals {
		answer.Errors = append(answer.Errors, r.wire())
	}
	return answer, s.store(tx, fresh...)
}

// named is the reason with the place of the email in its batch.
func (r refusal) named() error {
	var public *api.Error
	if !errors.As(r.err, &public) {
		return r.err
	}
	return public.With("index", r.index)
}

func (r refusal) wire() batchRefusal {
	var public *api.Error
	if !errors.As(r.err, &public) {
		public = api.ErrInternal
	}
	fields, _ := public.Details["fieldErrors"].(api.Fields)
	return batchRefusal{Index: r.index, Code: public.Code, Message: public.Summary(), Fields: fields}
}

// firstRefusal is what a strict batch is answered with: all wrong fields of all emails, else the first other reason.
func firstRefusal(refusals []refusal) error {
	var wrong api.Fields
	var other error
	for _, r := range refusals {
		var public *api.Error
		if !errors.As(r.err, &public) {
			return r.err
		}
		if !errors.Is(public, api.ErrValidation) {
			if other == nil {
				other = r.named()
			}
			continue
		}
		fields, _ := public.Details["fieldErrors"].(api.Fields)
		for name, messages := range fields {
			for _, message := range messages {
				wrong.Add(fmt.Sprintf("[%d].%s", r.index, name), message)
			}
		}
	}
	if wrong == nil {
		return other
	}
	return wrong.Err()
}
