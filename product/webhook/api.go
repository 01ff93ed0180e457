package webhook

import (
	"context"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
)

// Routes returns the endpoints of webhooks.
func (s *Service) Routes() []api.Route {
	return append(append(s.endpointRoutes(), s.deliveryRoutes()...), s.streamRoute())
}

func (s *Service) endpointRoutes() []api.Route {
	return []api.Route{
		{Method: http.MethodGet, Path: "/webhook-events", Scope: "webhook:read", Bucket: api.BucketRead,
			Summary: "List the events that can be subscribed to, each with a sample.", Handler: api.Handle(s.handleEvents)},
		{Method: http.MethodGet, Path: "/webhooks", Scope: "webhook:read", Bucket: api.BucketRead,
			Summary: "List webhooks, newest first.", Handler: api.Handle(s.handleList)},
		{Method: http.MethodPost, Path: "/webhooks", Scope: "webhook:manage", Bucket: api.BucketWrite, Success: 201,
			Errors:  []*api.Error{ErrQuota, api.ErrDomainNotAllowed},
			Summary: "Register a webhook. Its secret is shown only now.", Handler: api.Handle(s.handleCreate)},
		{Method: http.MethodGet, Path: "/webhooks/{id}", Scope: "webhook:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed},
			Summary: "Get a webhook.", Handler: api.Handle(s.handleGet)},
		{Method: http.MethodPatch, Path: "/webhooks/{id}", Scope: "webhook:manage", Bucket: api.BucketWrite,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed},
			Summary: "Change, enable or disable a webhook.", Handler: api.Handle(s.handleUpdate)},
		{Method: http.MethodDelete, Path: "/webhooks/{id}", Scope: "webhook:manage", Bucket: api.BucketWrite,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed},
			Summary: "Delete a webhook. What waits for it is cancelled.", Handler: api.Handle(s.handleDelete)},
		{Method: http.MethodPost, Path: "/webhooks/{id}/rotate-secret", Scope: "webhook:manage", Access: api.SessionOnly, Roles: api.Managers, FreshTwoFactor: true,
			Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound, api.ErrInvalidState},
			Summary: "Replace the secret of a webhook; the old one signs too for a while.", Handler: api.Handle(s.handleRotate)},
		{Method: http.MethodPost, Path: "/webhooks/{id}/revoke-previous-secret", Scope: "webhook:manage", Access: api.SessionOnly, Roles: api.Managers, FreshTwoFactor: true,
			Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound},
			Summary: "End the time in which the old secret signs too.", Handler: api.Handle(s.handleRevoke)},
	}
}

func (s *Service) deliveryRoutes() []api.Route {
	return []api.Route{
		{Method: http.MethodPost, Path: "/webhooks/{id}/test", Scope: "webhook:manage", Bucket: api.BucketWebhookTest, Success: 202,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrInvalidState, api.ErrDomainNotAllowed},
			Summary: "Queue a signed test event.", Handler: api.Handle(s.handleTest)},
		{Method: http.MethodPost, Path: "/webhooks/{id}/test/live", Scope: "webhook:manage", Access: api.SessionOnly, FreshTwoFactor: true,
			Bucket: api.BucketWebhookTest, Errors: []*api.Error{api.ErrNotFound},
			Summary: "Send a signed test event now and see the answer.", Handler: api.Handle(s.handleTestLive)},
		{Method: http.MethodGet, Path: "/webhook-deliveries", Scope: "webhook:read", Bucket: api.BucketRead,
			Summary: "List deliveries of all webhooks, newest first.", Handler: api.Handle(s.handleDeliveries)},
		{Method: http.MethodGet, Path: "/webhooks/{id}/deliveries", Scope: "webhook:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrNotFound},
			Summary: "List deliveries of a webhook, newest first.", Handler: api.Handle(s.handleDeliveriesOf)},
		{Method: http.MethodGet, Path: "/webhook-deliveries/{id}", Scope: "webhook:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrNotFound},
			Summary: "Get a delivery with its payload and attempts.", Handler: api.Handle(s.handleDelivery)},
		{Method: http.MethodPost, Path: "/webhook-deliveries/{deliveryId}/replay", Scope: "webhook:manage", Access: api.SessionOnly, FreshTwoFactor: true,
			Bucket: api.BucketWebhookTest, Success: 202, Errors: []*api.Error{api.ErrNotFound, api.ErrInvalidState},
			Summary: "Send an event to a webhook once more.", Handler: api.Handle(s.handleReplay)},
	}
}

type idRequest struct {
	ID string `path:"id" doc:"Id of the webhook." example:"0193a1e0-2222-7000-8000-0000000000b1"`
}

func (s *Service) handleEvents(_ context.Context, _ api.Caller, q api.OffsetQuery) (api.Page[eventRecord], error) {
	return s.events(q)
}

func (s *Service) handleList(ctx context.Context, caller api.Caller, q endpointQuery) (api.Page[Record], error) {
	return s.list(ctx, caller, q)
}

func (s *Service) handleCreate(ctx context.Context, caller api.Caller, r struct{ Body NewEndpoint }) (SecretRecord, error) {
	e, err := s.Create(ctx, caller, r.Body)
	return newSecretRecord(e, s.world.Clock.Now()), err
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r idRequest) (record Record, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		e, err := s.find(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		if err := mayManage(caller, e); err != nil {
			return err
		}
		record = newRecord(e, tx.Now())
		return nil
	})
	return record, err
}

func (s *Service) handleUpdate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body Change
}) (Record, error) {
	e, err := s.Update(ctx, caller, r.ID, r.Body)
	return newRecord(e, s.world.Clock.Now()), err
}

func (s *Service) handleDelete(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	return api.Deleted{Object: "webhook", ID: r.ID, Deleted: true}, s.Delete(ctx, caller, r.ID)
}

func (s *Service) handleRotate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body Rotation
}) (SecretRecord, error) {
	e, err := s.Rotate(ctx, caller, r.ID, r.Body)
	return newSecretRecord(e, s.world.Clock.Now()), err
}

func (s *Service) handleRevoke(ctx context.Context, caller api.Caller, r idRequest) (Record, error) {
	e, err := s.RevokePrevious(ctx, caller, r.ID)
	return newRecord(e, s.world.Clock.Now()), err
}

func (s *Service) handleTest(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body Trial
}) (deliveryDetail, error) {
	d, body, err := s.Test(ctx, caller, r.ID, r.Body)
	return newDetail(d, body, nil), err
}

func (s *Service) handleTestLive(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body Trial
}) (deliveryDetail, error) {
	d, body, attempts, err := s.TestLive(ctx, caller, r.ID, r.Body)
	return newDetail(d, body, attempts), err
}

func (s *Service) handleDeliveries(ctx context.Context, caller api.Caller, q deliveryQuery) (api.Page[DeliveryRecord], error) {
	return s.deliveries(ctx, caller, q)
}

func (s *Service) handleDeliveriesOf(ctx context.Context, caller api.Caller, r struct {
	idRequest
	deliveryQuery
}) (api.Page[DeliveryRecord], error) {
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		_, err := s.find(tx, caller.Workspace, r.ID)
		return err
	})
	if err != nil {
		return api.Page[DeliveryRecord]{}, err
	}
	r.Webhook = []string{r.ID}
	return s.deliveries(ctx, caller, r.deliveryQuery)
}

func (s *Service) handleDelivery(ctx context.Context, caller api.Caller, r struct {
	ID string `path:"id" doc:"Id of the delivery." example:"0193a1ef-1610-7000-8000-0000000000f1"`
}) (detail deliveryDetail, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		d, err := s.findDeliveryFor(tx, caller, r.ID)
		if err != nil {
			return err
		}
		body, err := s.sentBody(tx, d)
		if err != nil {
			return err
		}
		attempts, err := selectAttempts(tx, caller.Workspace, d.ID)
		detail = newDetail(d, body, attempts)
		return err
	})
	return detail, err
}

func (s *Service) handleReplay(ctx context.Context, caller api.Caller, r struct {
	ID string `path:"deliveryId" doc:"Id of the delivery." example:"0193a1ef-1610-7000-8000-0000000000f1"`
}) (deliveryDetail, error) {
	d, body, err := s.Replay(ctx, caller, r.ID)
	return newDetail(d, body, nil), err
}
