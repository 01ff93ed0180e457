package email

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/product/template"
	"postrider/product/tenant"
	"postrider/product/webhook"
)

// maxSendBody fits the largest attachments in the most wasteful encoding, a list of numbers.
const maxSendBody = 128 << 20

// Routes returns the endpoints of emails.
func (s *Service) Routes() []api.Route {
	sendErrors := []*api.Error{domain.ErrNotYours, domain.ErrAuthBroken, api.ErrDomainNotAllowed, tenant.ErrPaused, plan.ErrMonthlyQuota, api.ErrKeyReused, api.ErrTooLarge, template.ErrRender}
	return append(slices.Concat(s.attachmentRoutes(), s.testSendRoutes(sendErrors), s.trackRoutes()), []api.Route{
		s.removeDomainRoute(),
		s.batchRoute(sendErrors),
		s.spamCheckRoute(),
		{Method: http.MethodPost, Path: "/emails", Scope: "email:send", Bucket: api.BucketSend, MaxBody: maxSendBody, Success: 202,
			Errors: sendErrors, Summary: "Send an email.", Handler: api.Handle(s.handleSend)},
		{Method: http.MethodGet, Path: "/emails", Scope: "email:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrInvalidCursor},
			Summary: "List emails, newest first.", Handler: api.Handle(s.handleList)},
		{Method: http.MethodGet, Path: "/emails/{id}", Scope: "email:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrNotFound},
			Summary: "Get an email with its timeline.", Handler: api.Handle(ofDomain(s, s.handleGet))},
		{Method: http.MethodPatch, Path: "/emails/{id}", Scope: "email:send", Bucket: api.BucketWrite,
			Errors: []*api.Error{api.ErrNotFound, ErrNotScheduled}, Summary: "Move a scheduled email to another time.", Handler: api.Handle(ofDomain(s, s.handleReschedule))},
		{Method: http.MethodPost, Path: "/emails/{id}/cancel", Scope: "email:send", Bucket: api.BucketWrite,
			Errors: []*api.Error{api.ErrNotFound, ErrNotScheduled}, Summary: "Cancel a scheduled email.", Handler: api.Handle(ofDomain(s, s.handleCancel))},
		{Method: http.MethodPost, Path: "/emails/{id}/share", Scope: "email:read", Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound},
			Summary: "Get a link at which anyone can read the email for a while.", Handler: api.Handle(ofDomain(s, s.handleShare))},
		{Method: http.MethodGet, Path: "/emails/{id}/events", Scope: "email:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrNotFound},
			Summary: "List the events of an email.", Handler: api.Handle(ofDomain(s, s.handleEvents))},
		{Method: http.MethodGet, Path: "/emails/{id}/attempts", Scope: "email:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrNotFound},
			Summary: "List the delivery attempts of an email.", Handler: api.Handle(ofDomain(s, s.handleAttempts))},
	}...)
}

// sendBody is an email as a customer sends it. Some fields have a second spelling that SDKs use.
type sendBody struct {
	From             string            `json:"from" doc:"Sender, plain or as Name <address>." example:"Acme <hello@acme.test>"`
	To               api.Strings       `json:"to" doc:"Recipients; at most 50 in to, cc and bcc together." example:"[\"ann@example.net\"]"`
	Cc               api.Strings       `json:"cc"`
	Bcc              api.Strings       `json:"bcc"`
	ReplyTo          api.Strings       `json:"reply_to"`
	ReplyToCamel     api.Strings       `json:"replyTo"`
	Subject          string            `json:"subject" example:"Welcome"`
	HTML             string            `json:"html" example:"<p>Hi Ann</p>"`
	Text             *string           `json:"text" doc:"Made from html if absent; an empty string switches that off." example:"Hi Ann"`
	Template         *templateBody     `json:"template" doc:"A template instead of html and text." instead:"html"`
	TemplateID       string            `json:"template_id" doc:"The same as template.id."`
	Variables        template.Values   `json:"variables" doc:"The same as template.variables."`
	Headers          map[string]string `json:"headers"`
	MessageID        string            `json:"message_id"`
	Tags             []Tag             `json:"tags"`
	Metadata         metadata          `json:"metadata"`
	Attachments      []fileBody        `json:"attachments"`
	ScheduledAt      string            `json:"scheduled_at" doc:"RFC 3339, or like 'in 10 minutes'; at most 30 days ahead."`
	ScheduledAtCamel string            `json:"scheduledAt"`
	Tracking         *struct {
		Opens  *bool `json:"opens"`
		Clicks *bool `json:"clicks"`
	} `json:"tracking"`
	TopicID          string `json:"topic_id" doc:"What it is about. Recipients who opted out of the topic do not get it." example:"0193a1f5-0000-7000-8000-000000000331"`
	ListUnsubscribe  bool   `json:"list_unsubscribe" doc:"Add a link by which each recipient unsubscribes with one click."`
	DeliverWithinSec *int64 `json:"deliver_within_sec" doc:"Stop trying after so many seconds." example:"3600"`
	IdempotencyKey   string `json:"idempotency_key" doc:"The same as the Idempotency-Key header." example:"welcome:u_42:1"`

	madeFrom    string // the template it was filled from
	madeVersion int64
}

type sendRequest struct {
	IdempotencyKey string `header:"Idempotency-Key" doc:"8 to 128 letters, digits, dots, underscores, colons or hyphens." example:"welcome:u_42:1"`
	Raw            api.Raw
	Body           sendBody
}

// sendAnswer is the answer to a send. Idempotent is present only in replays.
type sendAnswer struct {
	Object      string   `json:"object" example:"email"`
	ID          ID       `json:"id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	State       State    `json:"status" example:"queued"`
	MessageID   string   `json:"message_id" example:"<0193a1ef0d5c7c338e0a2b7c1d9e4f00@acme.test>"`
	CreatedAt   api.Time `json:"created_at"`
	ScheduledAt api.Time `json:"scheduled_at"`
	Idempotent  bool     `json:"idempotent,omitempty"`
	used        plan.Quota
}

// Status is 200 for a replay, whatever the route says.
func (a sendAnswer) Status() int {
	if a.Idempotent {
		return http.StatusOK
	}
	return 0
}

// SetHeaders tells how much of the month's quota is used.
func (a sendAnswer) SetHeaders(h http.Header) {
	if a.Idempotent {
		return
	}
	h.Set("X-Quota-Monthly-Used", strconv.FormatInt(a.used.Used, 10))
	h.Set("X-Quota-Resets-At", api.Time(a.used.ResetsAt).String())
	if a.used.Limit != nil {
		h.Set("X-Quota-Monthly-Limit", strconv.FormatInt(*a.used.Limit, 10))
	}
}

func (s *Service) handleSend(ctx context.Context, caller api.Caller, r sendRequest) (sendAnswer, error) {
	var wrong api.Fields
	request := r.idempotency(&wrong, caller)
	r.Body.IdempotencyKey = request.Key
	err := s.fromTemplate(ctx, caller.Workspace, &r.Body)
	draft := r.Body.draft(&wrong, s.world.Clock.Now())
	var receipt Receipt
	var replayed bool
	if err == nil {
		err = wrong.Err()
	}
	if err == nil {
		receipt, replayed, err = s.Accept(ctx, senderOf(caller), draft, request)
	} else {
		receipt, replayed, err = earlier[Receipt](ctx, s, request, err)
	}
	if err != nil {
		return sendAnswer{}, err
	}
	return sendAnswer{Object: "email", ID: receipt.ID, State: receipt.Status, MessageID: receipt.MessageID, CreatedAt: api.Time(receipt.CreatedAt),
		ScheduledAt: api.Time(receipt.ScheduledAt), Idempotent: replayed, used: receipt.quota}, nil
}

// idempotency names the request by its key, if it has a good one.
func (r sendRequest) idempotency(wrong *api.Fields, caller api.Caller) api.Idempotency {
	key := api.CheckIdempotencyKey(wrong, r.IdempotencyKey, r.Body.IdempotencyKey)
	if key == "" || wrong.Err() != nil {
		return api.Idempotency{}
	}
	hash, err := api.HashBody(r.Raw)
	if err != nil {
		wrong.Add("_body", "Malformed JSON.")
	}
	return api.Idempotency{Workspace: caller.Workspace, Operation: "POST /emails", Key: key, Hash: hash, Test: caller.Test}
}

func senderOf(caller api.Caller) Sender {
	return Sender{Workspace: caller.Workspace, Plan: plan.Name(caller.Plan), KeyID: caller.KeyID, Source: SourceAPI, Test: caller.Test,
		MayUse: func(id domain.ID) bool { return caller.MayUseDomain(string(id)) }}
}

type idRequest struct {
	ID string `path:"id" doc:"Id of the email." example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
}

func (s *Service) handleList(ctx context.Context, caller api.Caller, q listQuery) (api.Page[Row], error) {
	q.domains = caller.DomainIDs
	return s.list(ctx, caller.Workspace, q)
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r idRequest) (Record, error) {
	return s.Get(ctx, caller.Workspace, r.ID)
}

func (s *Service) handleCancel(ctx context.Context, caller api.Caller, r idRequest) (Record, error) {
	return s.Cancel(ctx, caller.Workspace, r.ID)
}

func (s *Service) handleReschedule(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		ScheduledAt      string `json:"scheduled_at" example:"in 2 hours"`
		ScheduledAtCamel string `json:"scheduledAt"`
	}
}) (Record, error) {
	return s.Reschedule(ctx, caller.Workspace, r.ID, first(r.Body.ScheduledAt, r.Body.ScheduledAtCamel))
}

type subListRequest struct {
	idRequest
	api.PageQuery
	Recipient []string `query:"recipient" doc:"Only what concerns one of these addresses." example:"ann@example.net"`
}

// recipients are the addresses that are asked for, in the spelling of the email, in which events and attempts have them too. Nobody minds the
// case of an address, and it is compared here: databases disagree about the letters that have one.
func (r subListRequest) recipients(tx *db.Tx, e Email) ([]string, error) {
	if len(r.Recipient) == 0 {
		return nil, nil
	}
	all, err := selectRecipients(tx, e.Workspace, e.ID)
	asked := slices.Clone(r.Recipient)
	for i := range asked {
		asked[i] = strings.ToLower(asked[i])
	}
	spelled := slices.Clone(r.Recipient)
	for _, to := range all {
		if slices.Contains(asked, strings.ToLower(to.Address)) {
			spelled = append(spelled, to.Address)
		}
	}
	return spelled, err
}

func (s *Service) handleEvents(ctx context.Context, caller api.Caller, r subListRequest) (page api.Page[eventRecord], err error) {
	if err := r.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		e, err := findEmail(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		part, err := r.Part(api.Ascending, func(id string) ([]any, error) { return event.KeysOf(tx, caller.Workspace, string(e.ID), id) })
		if err != nil {
			return err
		}
		recipients, err := r.recipients(tx, e)
		if err != nil {
			return err
		}
		events, err := event.PartOfSubject(tx, caller.Workspace, string(e.ID), recipients, part, r.Limit+1, r.Offset)
		if err != nil {
			return err
		}
		told, err := s.webhooks.DeliveriesOf(tx, caller.Workspace, idsOf(events))
		if err != nil {
			return err
		}
		records := make([]eventRecord, len(events))
		for i, ev := range events {
			data, err := facts(ev.Data)
			if err != nil {
				return err
			}
			records[i] = eventRecord{Object: "event", ID: ev.ID, Type: ev.Type, EmailID: e.ID, Recipient: api.Ref(ev.Recipient),
				OccurredAt: api.Time(ev.OccurredAt), CreatedAt: api.Time(ev.OccurredAt), Data: data, Deliveries: []webhook.DeliveryRef{}}
			if refs := told[ev.ID]; len(refs) > 0 {
				records[i].Deliveries, records[i].Published = refs, api.Time(refs[0].CreatedAt)
			}
		}
		page = api.NewPlacedPage(records, r.PageQuery, eventRecord.place)
		return nil
	})
	return page, err
}

func idsOf(events []event.Event) []string {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}

func (s *Service) handleAttempts(ctx context.Context, caller api.Caller, r subListRequest) (page api.Page[attemptRecord], err error) {
	if err := r.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		e, err := findEmail(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		part, err := r.Part(api.Ascending, func(id string) ([]any, error) {
			at, err := selectAttemptStart(tx, caller.Workspace, e.ID, id)
			return []any{at, id}, err
		})
		if err != nil {
			return err
		}
		recipients, err := r.recipients(tx, e)
		if err != nil {
			return err
		}
		attempts, err := selectAttempts(tx, caller.Workspace, e.ID, recipients, part, r.Limit+1, r.Offset)
		if err != nil {
			return err
		}
		records := make([]attemptRecord, len(attempts))
		for i, a := range attempts {
			records[i] = newAttemptRecord(e.ID, a)
		}
		page = api.NewPlacedPage(records, r.PageQuery, attemptRecord.place)
		if r.Placed() {
			return nil
		}
		total, err := countAttempts(tx, caller.Workspace, e.ID, recipients)
		page.Total = &total
		return err
	})
	return page, err
}
