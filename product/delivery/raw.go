package delivery

import (
	"context"
	"net/http"

	"postrider/platform/api"
)

// Routes returns the endpoints that need to know how messages are made.
func (s *Service) Routes() []api.Route {
	return []api.Route{{Method: http.MethodGet, Path: "/emails/{id}/raw", Scope: "email:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrNotFound, api.ErrInvalidState},
		Summary: "Get a link to the message as it is sent, signature included.", Handler: api.Handle(s.handleRaw)}}
}

type rawRecord struct {
	Object      string   `json:"object" example:"raw_email"`
	DownloadURL string   `json:"download_url" example:"https://mail.example.org/files/v1.eyJrIjoi"`
	ExpiresAt   api.Time `json:"expires_at"`
}

func (s *Service) handleRaw(ctx context.Context, caller api.Caller, r struct {
	ID string `path:"id" doc:"Id of the email." example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
}) (rawRecord, error) {
	if err := s.emails.MayUse(ctx, caller, r.ID); err != nil {
		return rawRecord{}, err
	}
	t, err := s.emails.Peek(ctx, caller.Workspace, r.ID)
	if err != nil {
		return rawRecord{}, err
	}
	l := s.newLetter(t)
	defer l.leave()
	raw, err := l.bytes(ctx)
	if isUnsendable(err) {
		return rawRecord{}, api.ErrInvalidState.Saying("There is no message, because none can be made of this email: " + err.Error()).Because(err)
	}
	if err != nil {
		return rawRecord{}, err
	}
	url, expires, err := s.emails.LinkTo(ctx, raw, "message.eml")
	return rawRecord{Object: "raw_email", DownloadURL: url, ExpiresAt: api.Time(expires)}, err
}
