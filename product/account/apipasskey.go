package account

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"postrider/platform/api"
	"postrider/platform/db"
)

func (s *Service) passkeyRoutes() []api.Route {
	refused := []*api.Error{ErrInvalidCredentials, ErrTokenExpired, api.ErrInvalidState}
	return []api.Route{
		{Method: http.MethodGet, Path: "/account/passkeys", Private: true, Access: api.SessionOnly, Bucket: api.BucketRead,
			Summary: "List your passkeys.", Handler: api.Handle(s.handlePasskeys)},
		{Method: http.MethodPost, Path: "/account/passkeys/begin", Private: true, Access: api.SessionOnly, FreshTwoFactor: true, Bucket: api.BucketAuth,
			Errors: []*api.Error{ErrReauthenticate, api.ErrInvalidState}, Summary: "Begin to add a passkey.", Handler: api.Handle(s.handleAskForPasskey)},
		{Method: http.MethodPost, Path: "/account/passkeys", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth, Success: 201,
			Errors: append([]*api.Error{api.ErrAlreadyExists}, refused...), Summary: "Add a passkey.", Handler: api.Handle(s.handleAddPasskey)},
		{Method: http.MethodDelete, Path: "/account/passkeys/{id}", Private: true, Access: api.SessionOnly, FreshTwoFactor: true, Bucket: api.BucketAuth,
			Errors: []*api.Error{ErrReauthenticate, api.ErrNotFound}, Summary: "Remove a passkey.", Handler: api.Handle(s.handleRemovePasskey)},
		{Method: http.MethodPost, Path: "/auth/passkey/begin", Private: true, Access: api.Public, Bucket: api.BucketAuth,
			Errors: []*api.Error{api.ErrInvalidState}, Summary: "Begin a sign-in, or a proof, by a passkey.", Handler: api.Handle(s.handleAskAnyPasskey)},
		{Method: http.MethodPost, Path: "/auth/passkey", Private: true, Access: api.Public, Bucket: api.BucketAuth,
			Errors: refused, Summary: "Sign in by a passkey.", Handler: api.Handle(s.handleSignInByPasskey)},
		{Method: http.MethodPost, Path: "/auth/2fa/passkey", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth,
			Errors: refused, Summary: "Show a passkey as second factor again.", Handler: api.Handle(s.handleProveByPasskey)},
	}
}

type passkeyRecord struct {
	Object     string   `json:"object" example:"passkey"`
	ID         string   `json:"id"`
	Name       string   `json:"name" example:"Olga's laptop"`
	CreatedAt  api.Time `json:"created_at"`
	LastUsedAt api.Time `json:"last_used_at"`
}

func newPasskeyRecord(key Passkey) passkeyRecord {
	return passkeyRecord{Object: "passkey", ID: key.ID, Name: key.Name, CreatedAt: api.Time(key.CreatedAt), LastUsedAt: api.Time(key.UsedAt)}
}

func (s *Service) handlePasskeys(ctx context.Context, caller api.Caller, _ api.None) (page api.Page[passkeyRecord], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		keys, err := selectPasskeys(tx, UserID(caller.UserID))
		page = api.NewPage(each(keys, newPasskeyRecord), api.OffsetQuery{Limit: maxPasskeys}, int64(len(keys)))
		return err
	})
	return page, err
}

// questionRecord is for the browser: its options go to the device as they are.
type questionRecord struct {
	Object   string `json:"object" example:"passkey_question"`
	Ceremony string `json:"ceremony"`
	Options  any    `json:"options"`
}

func newQuestionRecord(q question) questionRecord {
	return questionRecord{"passkey_question", q.id, q.options}
}

func (s *Service) handleAskForPasskey(ctx context.Context, caller api.Caller, _ api.None) (questionRecord, error) {
	asked, err := s.askForPasskey(ctx, caller)
	return newQuestionRecord(asked), err
}

// answeredPasskey is what a device answered, in the form in which browsers write it.
type answeredPasskey struct {
	Ceremony string          `json:"ceremony"`
	Response json.RawMessage `json:"response"`
}

func (s *Service) handleAddPasskey(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		answeredPasskey
		Name string `json:"name" example:"Olga's laptop"`
	}
}) (passkeyRecord, error) {
	name := strings.TrimSpace(r.Body.Name)
	if name == "" || utf8.RuneCountInString(name) > maxPasskeyName {
		return passkeyRecord{}, api.Invalid("name", "Must be between 1 and 60 characters.")
	}
	key, err := s.addPasskey(ctx, caller, r.Body.Ceremony, name, r.Body.Response)
	return newPasskeyRecord(key), err
}

func (s *Service) handleRemovePasskey(ctx context.Context, caller api.Caller, r struct {
	ID string `path:"id"`
}) (api.Deleted, error) {
	return api.Deleted{Object: "passkey", ID: r.ID, Deleted: true}, s.removePasskey(ctx, caller, r.ID)
}

func (s *Service) handleAskAnyPasskey(ctx context.Context, caller api.Caller, _ api.None) (questionRecord, error) {
	asked, err := s.askAnyPasskey(ctx, caller.IP)
	return newQuestionRecord(asked), err
}

func (s *Service) handleSignInByPasskey(ctx context.Context, caller api.Caller, r struct {
	Cookie string `header:"Cookie"`
	Body   answeredPasskey
}) (sessionRecord, error) {
	in, err := s.signInByPasskey(ctx, visitorOf(caller, r.Cookie), r.Body.Ceremony, r.Body.Response)
	if err != nil {
		return sessionRecord{}, err
	}
	return s.show(ctx, in)
}

func (s *Service) handleProveByPasskey(ctx context.Context, caller api.Caller, r struct{ Body answeredPasskey }) (verified, error) {
	at, fresh, err := s.proveByPasskey(ctx, caller, r.Body.Ceremony, r.Body.Response)
	return verified{api.Time(at), api.Time(at.Add(freshFor)), cookie{fresh}}, err
}
