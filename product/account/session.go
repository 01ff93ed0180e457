package account

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

const (
	// sessionFor is how long a session lasts at most, sessionIdle how long without a request.
	sessionFor  = 7 * 24 * time.Hour
	sessionIdle = 24 * time.Hour
	// seenEvery is how exactly we note when a session was last used; every note is a write.
	seenEvery = time.Minute
	// freshFor is how long a second factor, or a password entered again, vouches for sensitive actions.
	freshFor = 10 * time.Minute
	// maxSessions bounds the sessions of one user; a new one ends the oldest.
	maxSessions = 50
	// maxUserAgent is as much of a browser's name as is kept.
	maxUserAgent = 300

	tokenBytes = 32
)

// SessionID names one session. It is no secret: the token in the cookie is.
type SessionID string

// Session is one signed-in browser.
type Session struct {
	ID                SessionID
	User              UserID
	Workspace         space.ID // empty if the user belongs to none
	IP                string
	UserAgent         string
	AuthenticatedAt   time.Time
	SeenAt            time.Time
	ExpiresAt         time.Time
	ReauthenticatedAt time.Time
	TwoFactorAt       time.Time
}

func (s Session) idleExpiresAt() time.Time {
	if idle := s.SeenAt.Add(sessionIdle); idle.Before(s.ExpiresAt) {
		return idle
	}
	return s.ExpiresAt
}

func isFresh(provedAt, now time.Time) bool {
	return !provedAt.IsZero() && now.Before(provedAt.Add(freshFor))
}

// provedRecently tells whether the user has shown the password or a second factor a short while ago.
func (s Session) provedRecently(now time.Time) bool {
	return isFresh(s.ReauthenticatedAt, now) || isFresh(s.TwoFactorAt, now)
}

// Visitor is where a sign-in comes from. Cookie is the session cookie it brought, which the new session replaces.
type Visitor struct {
	IP        netip.Addr
	UserAgent string
	Cookie    string
}

func visitorOf(caller api.Caller, cookieHeader string) Visitor {
	v := Visitor{IP: caller.IP, UserAgent: caller.UserAgent}
	cookies, err := http.ParseCookie(cookieHeader)
	if err != nil {
		return v
	}
	for _, c := range cookies {
		if c.Name == api.SessionCookie {
			v.Cookie = c.Value
		}
	}
	return v
}

// token is the secret of a session: the text in the cookie, and the hash that is stored.
type token struct {
	text string
	hash []byte
}

func (s *Service) newToken() token {
	text := base64.RawURLEncoding.EncodeToString(s.world.Bytes(tokenBytes))
	return token{text: text, hash: hashToken(text)}
}

// hashToken needs no salt: a token has 256 bits of chance.
func hashToken(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// visit is a session together with what its user may do now.
type visit struct {
	session     Session
	factorSince time.Time
	role        api.Role
	plan        string
	suspended   bool
	reason      string
}

// CheckSession returns whom a cookie stands for, or api.ErrSessionExpired. Rights are read anew each time, so a change of role
// holds from the next request on.
func (s *Service) CheckSession(ctx context.Context, cookie string) (api.Principal, error) {
	if len(cookie) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return api.Principal{}, api.ErrSessionExpired
	}
	var v visit
	err := s.db.Glance(ctx, func(tx *db.Tx) (err error) {
		v, err = selectVisit(tx, hashToken(cookie))
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return api.Principal{}, api.ErrSessionExpired
	}
	if err != nil {
		return api.Principal{}, err
	}
	now := s.world.Clock.Now()
	if !now.Before(v.session.idleExpiresAt()) {
		return api.Principal{}, api.ErrSessionExpired
	}
	if now.Sub(v.session.SeenAt) >= seenEvery {
		if err := s.db.Write(ctx, func(tx *db.Tx) error { return updateSeen(tx, v.session) }); err != nil {
			return api.Principal{}, err
		}
	}
	return s.principal(v, now), nil
}

func (s *Service) principal(v visit, now time.Time) api.Principal {
	p := api.Principal{
		SessionID:      string(v.session.ID),
		UserID:         string(v.session.User),
		CheckCSRF:      func(token string) bool { return s.isCSRFToken(v.session.ID, token) },
		TwoFactorStale: !v.factorSince.IsZero() && !isFresh(v.session.TwoFactorAt, now),
	}
	if v.role == "" {
		return p
	}
	p.Workspace, p.Plan, p.Role, p.Scopes = v.session.Workspace, v.plan, v.role, ScopesOf(v.role)
	if v.suspended {
		p.Suspended = v.reason
	}
	return p
}

// csrfToken belongs to the session, not to its cookie: a page that is open keeps working when the cookie is renewed.
func (s *Service) csrfToken(id SessionID) string {
	return base64.RawURLEncoding.EncodeToString(s.keyring.MAC(csrfPurpose, []byte(id))[:csrfMACBytes])
}

// isCSRFToken knows those of a previous secret too, with which pages are open while the secret is changed.
func (s *Service) isCSRFToken(id SessionID, token string) bool {
	mac, err := base64.RawURLEncoding.Strict().DecodeString(token)
	return err == nil && len(mac) == csrfMACBytes && s.keyring.CheckMAC(csrfPurpose, []byte(id), mac)
}

const (
	csrfPurpose  = "account/csrf"
	csrfMACBytes = 16
)

// openSession signs the user in, in the workspace where they were last, and ends the session that the browser had before.
func (s *Service) openSession(tx *db.Tx, user User, from Visitor, t token, twoFactorAt time.Time) (Session, error) {
	if from.Cookie != "" {
		if err := deleteSessionByToken(tx, hashToken(from.Cookie)); err != nil {
			return Session{}, err
		}
	}
	homes, err := selectMemberships(tx, user.ID)
	if err != nil {
		return Session{}, err
	}
	now := tx.Now()
	session := Session{ID: SessionID(s.world.NewID()), User: user.ID, IP: addrText(from.IP), UserAgent: cut(from.UserAgent, maxUserAgent),
		AuthenticatedAt: now, SeenAt: now, ExpiresAt: now.Add(sessionFor), ReauthenticatedAt: now, TwoFactorAt: twoFactorAt}
	if len(homes) > 0 {
		session.Workspace = homes[0].ID
		if err := s.Audit(tx, Entry{Workspace: session.Workspace, Actor: string(user.ID), Action: SignedIn, IP: from.IP}); err != nil {
			return Session{}, err
		}
	}
	if err := insertSession(tx, session, t.hash); err != nil {
		return Session{}, err
	}
	if err := updateUserSeen(tx, user.ID); err != nil {
		return Session{}, err
	}
	return session, deleteOldSessions(tx, user.ID, maxSessions)
}

// Enter signs somebody in without their password, for the person who runs the program on their own machine. It is no way around a
// second factor: what asks for a fresh one still does.
func (s *Service) Enter(ctx context.Context, email string, from Visitor) (*http.Cookie, error) {
	fresh := s.newToken()
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		user, err := selectUserByEmail(tx, addressKey(email))
		if err != nil {
			return err
		}
		_, err = s.openSession(tx, user, from, fresh, time.Time{})
		return err
	})
	return cookie{fresh.text}.forBrowser(), err
}

// EndSession ends one of the caller's sessions.
func (s *Service) EndSession(ctx context.Context, caller api.Caller, id string) error {
	if !api.IsID(id) {
		return api.NotFound("session")
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		ended, err := deleteSession(tx, UserID(caller.UserID), SessionID(id))
		if err != nil {
			return err
		}
		if !ended {
			return api.NotFound("session")
		}
		if caller.Workspace == "" {
			return nil
		}
		return s.Audit(tx, By(caller, SessionEnded, Target{Type: "session", ID: id}))
	})
}

// SwitchWorkspace moves the caller's session into another of their workspaces. It returns the session's new cookie.
func (s *Service) SwitchWorkspace(ctx context.Context, caller api.Caller, id string) (cookie string, err error) {
	ws, err := space.Parse(id)
	if err != nil {
		return "", api.NotFound("workspace")
	}
	fresh := s.newToken()
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		session, user, err := mySession(tx, caller)
		if err != nil {
			return err
		}
		if _, err := selectMemberByUser(tx, ws, user.ID); err != nil {
			return db.OrMissing(err, api.NotFound("workspace"))
		}
		session.Workspace = ws
		if err := updateSession(tx, session); err != nil {
			return err
		}
		if err := updateHome(tx, user.ID, ws); err != nil {
			return err
		}
		return updateToken(tx, user.ID, session.ID, fresh.hash)
	})
	return fresh.text, err
}

// mySession returns the session and the user of a caller.
func mySession(tx *db.Tx, caller api.Caller) (Session, User, error) {
	session, err := selectSession(tx, UserID(caller.UserID), SessionID(caller.SessionID))
	if errors.Is(err, db.ErrNotFound) {
		return Session{}, User{}, api.ErrSessionExpired
	}
	if err != nil {
		return Session{}, User{}, err
	}
	user, err := selectUser(tx, session.User)
	return session, user, err
}

func cut(text string, limit int) string { return text[:min(len(text), limit)] }
