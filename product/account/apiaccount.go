package account

import (
	"context"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
)

func (s *Service) accountRoutes() []api.Route {
	return []api.Route{
		{Method: http.MethodGet, Path: "/account", Private: true, Access: api.SessionOnly, Bucket: api.BucketRead,
			Summary: "Your own account.", Handler: api.Handle(s.handleAccount)},
		{Method: http.MethodPatch, Path: "/account", Private: true, Access: api.SessionOnly, Bucket: api.BucketWrite,
			Summary: "Change your own account.", Handler: api.Handle(s.handleUpdateAccount)},
		{Method: http.MethodPost, Path: "/account/password", Private: true, Access: api.SessionOnly, FreshTwoFactor: true, Bucket: api.BucketAuth,
			Errors: []*api.Error{ErrInvalidCredentials}, Summary: "Change your password.", Handler: api.Handle(s.handleChangePassword)},
		{Method: http.MethodPost, Path: "/account/2fa/setup", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth,
			Errors: []*api.Error{ErrReauthenticate, api.ErrInvalidState}, Summary: "Begin to set up a second factor.", Handler: api.Handle(s.handleOffer)},
		{Method: http.MethodPost, Path: "/account/2fa/enable", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth,
			Errors: []*api.Error{ErrInvalidCredentials, api.ErrInvalidState}, Summary: "Turn the second factor on.", Handler: api.Handle(s.handleEnable)},
		{Method: http.MethodPost, Path: "/account/2fa/disable", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth,
			Errors: []*api.Error{ErrInvalidCredentials, api.ErrInvalidState}, Summary: "Turn the second factor off.", Handler: api.Handle(s.handleDisable)},
		{Method: http.MethodPost, Path: "/account/2fa/recovery-codes", Private: true, Access: api.SessionOnly, FreshTwoFactor: true,
			Bucket: api.BucketAuth, Errors: []*api.Error{api.ErrInvalidState}, Summary: "Make new recovery codes.", Handler: api.Handle(s.handleRecoveryCodes)},
		{Method: http.MethodGet, Path: "/account/sessions", Private: true, Access: api.SessionOnly, Bucket: api.BucketRead,
			Summary: "List your sessions.", Handler: api.Handle(s.handleSessions)},
		{Method: http.MethodDelete, Path: "/account/sessions/{id}", Private: true, Access: api.SessionOnly, Bucket: api.BucketWrite,
			Errors: []*api.Error{api.ErrNotFound}, Summary: "End one of your sessions.", Handler: api.Handle(s.handleEndSession)},
		{Method: http.MethodPost, Path: "/account/invitations/accept", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth,
			Errors: []*api.Error{ErrTokenExpired, ErrMemberQuota}, Summary: "Join a workspace you are invited to.", Handler: api.Handle(s.handleAccept)},
	}
}

func (s *Service) handleAccount(ctx context.Context, caller api.Caller, _ api.None) (record accountRecord, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		_, user, err := mySession(tx, caller)
		record = newAccountRecord(user)
		return err
	})
	return record, err
}

func (s *Service) handleUpdateAccount(ctx context.Context, caller api.Caller, r struct{ Body Profile }) (accountRecord, error) {
	user, err := s.UpdateProfile(ctx, caller, r.Body)
	return newAccountRecord(user), err
}

func (s *Service) handleChangePassword(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		Password    string `json:"password" doc:"The password as it is now."`
		NewPassword string `json:"new_password"`
	}
}) (done, error) {
	fresh, err := s.ChangePassword(ctx, caller, r.Body.Password, r.Body.NewPassword)
	answer := result("password_changed")
	answer.cookie = cookie{fresh}
	return answer, err
}

type offerRecord struct {
	Secret     string   `json:"secret" example:"JBSWY3DPEHPK3PXP"`
	OtpauthURL string   `json:"otpauth_url" example:"otpauth://totp/Postrider:owner@acme.test?secret=JBSWY3DPEHPK3PXP"`
	ExpiresAt  api.Time `json:"expires_at"`
}

func (s *Service) handleOffer(ctx context.Context, caller api.Caller, _ api.None) (offerRecord, error) {
	o, err := s.offerTwoFactor(ctx, caller)
	return offerRecord{totpText.EncodeToString(o.secret), otpauthURL(o.email, o.secret), api.Time(o.expiresAt)}, err
}

type factorState struct {
	Enabled       bool     `json:"enabled" example:"true"`
	RecoveryCodes []string `json:"recovery_codes,omitempty" example:"[\"k3f9-2mzq\"]"`
	cookie
}

func (s *Service) handleEnable(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		Code string `json:"code" example:"492039"`
	}
}) (factorState, error) {
	codes, fresh, err := s.EnableTwoFactor(ctx, caller, r.Body.Code)
	return factorState{Enabled: true, RecoveryCodes: codes, cookie: cookie{fresh}}, err
}

func (s *Service) handleDisable(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		Password string `json:"password"`
		proof
	}
}) (factorState, error) {
	return factorState{}, s.DisableTwoFactor(ctx, caller, r.Body.Password, r.Body.proof)
}

func (s *Service) handleRecoveryCodes(ctx context.Context, caller api.Caller, _ api.None) (factorState, error) {
	codes, err := s.RenewRecoveryCodes(ctx, caller)
	return factorState{Enabled: true, RecoveryCodes: codes}, err
}

func (s *Service) handleSessions(ctx context.Context, caller api.Caller, _ api.None) (page api.Page[sessionRow], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		sessions, err := selectSessions(tx, UserID(caller.UserID), tx.Now().Add(-sessionIdle))
		rows := each(sessions, func(session Session) sessionRow { return newSessionRow(session, caller.SessionID) })
		page = api.NewPage(rows, api.OffsetQuery{Limit: maxSessions}, int64(len(rows)))
		return err
	})
	return page, err
}

func (s *Service) handleEndSession(ctx context.Context, caller api.Caller, r struct {
	ID string `path:"id"`
}) (api.Deleted, error) {
	return api.Deleted{Object: "session", ID: r.ID, Deleted: true}, s.EndSession(ctx, caller, r.ID)
}

func (s *Service) handleAccept(ctx context.Context, caller api.Caller, r tokenRequest) (sessionRecord, error) {
	fresh, err := s.AcceptInvitation(ctx, caller, r.Body.Token)
	if err != nil {
		return sessionRecord{}, err
	}
	return s.current(ctx, caller, fresh)
}
