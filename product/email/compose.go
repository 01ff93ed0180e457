package email

import (
	"context"

	"postrider/platform/api"
)

// Body is an email as a customer writes it, for slices that send on a customer's behalf.
type Body = sendBody

// FileBody is a file as a customer sends it.
type FileBody = fileBody

// Compose checks an email as a customer wrote it and accepts it, as POST /emails does.
func (s *Service) Compose(ctx context.Context, sender Sender, body Body, request api.Idempotency) (receipt Receipt, replayed bool, err error) {
	body.IdempotencyKey = request.Key
	var wrong api.Fields
	draft := body.draft(&wrong, s.world.Clock.Now())
	if err = wrong.Err(); err != nil {
		return earlier[Receipt](ctx, s, request, err)
	}
	return s.Accept(ctx, sender, draft, request)
}

// SenderOf returns on whose behalf a request sends.
func SenderOf(caller api.Caller, source Source) Sender {
	sender := senderOf(caller)
	sender.Source = source
	return sender
}
