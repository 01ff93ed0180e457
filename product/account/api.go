package account

import (
	"context"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
)

// Routes returns the endpoints of signing in, of one's own account, and of workspaces.
func (s *Service) Routes() []api.Route {
	routes := append(s.authRoutes(), s.accountRoutes()...)
	routes = append(routes, s.passkeyRoutes()...)
	return append(routes, s.workspaceRoutes()...)
}

func (s *Service) authRoutes() []api.Route {
	credentials := []*api.Error{ErrInvalidCredentials}
	return []api.Route{
		{Method: http.MethodPost, Path: "/auth/signup", Private: true, Access: api.Public, Bucket: api.BucketAuth, Success: 201,
			Errors: []*api.Error{ErrSignUpClosed, api.ErrAlreadyExists, ErrTokenExpired, ErrMemberQuota}, Summary: "Make an account and sign in.",
			Handler: api.Handle(s.handleSignUp)},
		{Method: http.MethodPost, Path: "/auth/login", Private: true, Access: api.Public, Bucket: api.BucketAuth, Errors: credentials,
			Summary: "Sign in.", Handler: api.Handle(s.handleSignIn)},
		{Method: http.MethodPost, Path: "/auth/login/2fa", Private: true, Access: api.Public, Bucket: api.BucketAuth, Errors: credentials,
			Summary: "Finish a sign-in with a second factor.", Handler: api.Handle(s.handleConfirm)},
		{Method: http.MethodPost, Path: "/auth/logout", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth, Success: 204,
			Summary: "Sign out.", Handler: api.Handle(s.handleSignOut)},
		{Method: http.MethodGet, Path: "/auth/session", Private: true, Access: api.SessionOnly, Bucket: api.BucketRead,
			Summary: "Who is signed in.", Handler: api.Handle(s.handleSession)},
		{Method: http.MethodPatch, Path: "/auth/session", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth,
			Errors: []*api.Error{api.ErrNotFound}, Summary: "Move to another workspace.", Handler: api.Handle(s.handleSwitch)},
		{Method: http.MethodPost, Path: "/auth/reauthenticate", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth, Errors: credentials,
			Summary: "Enter the password again.", Handler: api.Handle(s.handleReauthenticate)},
		{Method: http.MethodPost, Path: "/auth/2fa/verify", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth, Errors: credentials,
			Summary: "Show the second factor again.", Handler: api.Handle(s.handleVerifyFactor)},
		{Method: http.MethodPost, Path: "/auth/verify-email", Private: true, Access: api.Public, Bucket: api.BucketAuth,
			Errors: []*api.Error{ErrTokenExpired}, Summary: "Verify an email address.", Handler: api.Handle(s.handleVerifyEmail)},
		{Method: http.MethodPost, Path: "/auth/verify-email/resend", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth, Success: 202,
			Summary: "Ask for another verification mail.", Handler: api.Handle(s.handleResend)},
		{Method: http.MethodPost, Path: "/auth/password/forgot", Private: true, Access: api.Public, Bucket: api.BucketAuth, Success: 202,
			Summary: "Ask for a link to a new password.", Handler: api.Handle(s.handleForgot)},
		{Method: http.MethodPost, Path: "/auth/password/reset", Private: true, Access: api.Public, Bucket: api.BucketAuth,
			Errors: []*api.Error{ErrTokenExpired}, Summary: "Set a new password by a link.", Handler: api.Handle(s.handleReset)},
		{Method: http.MethodPost, Path: "/auth/invitation", Private: true, Access: api.Public, Bucket: api.BucketAuth,
			Errors: []*api.Error{ErrTokenExpired}, Summary: "Look at an invitation.", Handler: api.Handle(s.handleLookAtInvitation)},
	}
}

// done answers an action that leaves nothing to show.
type done struct {
	Object string `json:"object" example:"result"`
	Status string `json:"status" example:"verified"`
	cookie
}

func result(status string) done { return done{Object: "result", Status: status} }

type signUpRequest struct {
	Cookie string `header:"Cookie"`
	Body   SignUp
}

func (s *Service) handleSignUp(ctx context.Context, caller api.Caller, r signUpRequest) (sessionRecord, error) {
	in, err := s.signUp(ctx, visitorOf(caller, r.Cookie), r.Body)
	if err != nil {
		return sessionRecord{}, err
	}
	return s.show(ctx, in)
}

// show answers with a session that was just opened.
func (s *Service) show(ctx context.Context, in opened) (record sessionRecord, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		record, err = s.assembleSession(tx, in.session)
		return err
	})
	record.cookie = cookie{in.token}
	return record, err
}

type signInRequest struct {
	Cookie string `header:"Cookie"`
	Body   struct {
		Email    string `json:"email" example:"owner@acme.test"`
		Password string `json:"password"`
	}
}

func (s *Service) handleSignIn(ctx context.Context, caller api.Caller, r signInRequest) (signInAnswer, error) {
	in, err := s.signIn(ctx, visitorOf(caller, r.Cookie), r.Body.Email, r.Body.Password)
	if err != nil || in.challenge != "" {
		return signInAnswer{challenge: in.challenge}, err
	}
	record, err := s.show(ctx, in.opened)
	return signInAnswer{sessionRecord: record}, err
}

type confirmRequest struct {
	Cookie string `header:"Cookie"`
	Body   struct {
		Challenge string `json:"challenge"`
		proof
	}
}

func (s *Service) handleConfirm(ctx context.Context, caller api.Caller, r confirmRequest) (sessionRecord, error) {
	in, err := s.confirmSignIn(ctx, visitorOf(caller, r.Cookie), r.Body.Challenge, r.Body.proof)
	if err != nil {
		return sessionRecord{}, err
	}
	return s.show(ctx, in)
}

func (s *Service) handleSignOut(ctx context.Context, caller api.Caller, _ api.None) (done, error) {
	return done{cookie: cookie{forget}}, s.SignOut(ctx, caller)
}

func (s *Service) handleSession(ctx context.Context, caller api.Caller, _ api.None) (sessionRecord, error) {
	return s.current(ctx, caller, "")
}

// current answers with the caller's session as it is now, and with a new cookie if there is one.
func (s *Service) current(ctx context.Context, caller api.Caller, newCookie string) (record sessionRecord, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		session, _, err := mySession(tx, caller)
		if err != nil {
			return err
		}
		record, err = s.assembleSession(tx, session)
		return err
	})
	record.cookie = cookie{newCookie}
	return record, err
}

func (s *Service) handleSwitch(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		WorkspaceID string `json:"workspace_id"`
	}
}) (sessionRecord, error) {
	fresh, err := s.SwitchWorkspace(ctx, caller, r.Body.WorkspaceID)
	if err != nil {
		return sessionRecord{}, err
	}
	return s.current(ctx, caller, fresh)
}

type reauthenticated struct {
	At api.Time `json:"reauthenticated_at"`
}

func (s *Service) handleReauthenticate(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		Password string `json:"password"`
	}
}) (reauthenticated, error) {
	at, err := s.Reauthenticate(ctx, caller, r.Body.Password)
	return reauthenticated{api.Time(at)}, err
}

type verified struct {
	At         api.Time `json:"two_factor_at"`
	FreshUntil api.Time `json:"fresh_until"`
	cookie
}

func (s *Service) handleVerifyFactor(ctx context.Context, caller api.Caller, r struct{ Body proof }) (verified, error) {
	at, fresh, err := s.VerifyTwoFactor(ctx, caller, r.Body)
	return verified{api.Time(at), api.Time(at.Add(freshFor)), cookie{fresh}}, err
}

type tokenRequest struct {
	Body struct {
		Token string `json:"token"`
	}
}

func (s *Service) handleVerifyEmail(ctx context.Context, caller api.Caller, r tokenRequest) (done, error) {
	return result("verified"), s.VerifyEmail(ctx, caller.IP, r.Body.Token)
}

func (s *Service) handleResend(ctx context.Context, caller api.Caller, _ api.None) (done, error) {
	return result("accepted"), s.ResendVerification(ctx, caller)
}

func (s *Service) handleForgot(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		Email string `json:"email"`
	}
}) (done, error) {
	return result("accepted"), s.ForgotPassword(ctx, caller.IP, r.Body.Email)
}

func (s *Service) handleReset(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		Token    string `json:"token"`
		Password string `json:"password"`
	}
}) (done, error) {
	return result("password_reset"), s.ResetPassword(ctx, caller.IP, r.Body.Token, r.Body.Password)
}

func (s *Service) handleLookAtInvitation(ctx context.Context, caller api.Caller, r tokenRequest) (invitationRecord, error) {
	invitation, err := s.LookAtInvitation(ctx, r.Body.Token)
	if err != nil {
		return invitationRecord{}, s.badLink(caller.IP, err)
	}
	return newInvitationRecord(invitation), nil
}
