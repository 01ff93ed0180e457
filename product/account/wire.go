package account

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

type userRecord struct {
	Object           string   `json:"object" example:"user"`
	ID               UserID   `json:"id" example:"0193a1e0-2222-7000-8000-000000000501"`
	Email            string   `json:"email" example:"owner@acme.test"`
	Name             string   `json:"name" example:"Olga"`
	EmailVerified    bool     `json:"email_verified" example:"true"`
	TwoFactorEnabled bool     `json:"two_factor_enabled" example:"true"`
	Operator         bool     `json:"operator" example:"false"`
	CreatedAt        api.Time `json:"created_at"`
}

func newUserRecord(u User) userRecord {
	return userRecord{Object: "user", ID: u.ID, Email: u.Email, Name: u.Name, EmailVerified: !u.VerifiedAt.IsZero(), TwoFactorEnabled: u.factor.enabled(),
		Operator: u.Operator, CreatedAt: api.Time(u.CreatedAt)}
}

// accountRecord is a user as they see themselves.
type accountRecord struct {
	userRecord
	Locale   string `json:"locale" example:"en"`
	Timezone string `json:"timezone" example:"Europe/Berlin"`
}

func newAccountRecord(u User) accountRecord {
	return accountRecord{userRecord: newUserRecord(u), Locale: u.Locale, Timezone: u.Timezone}
}

type workspaceRecord struct {
	Object    string    `json:"object" example:"workspace"`
	ID        space.ID  `json:"id" example:"0193a000-0000-7000-8000-000000000001"`
	Name      string    `json:"name" example:"Acme"`
	Slug      string    `json:"slug" example:"acme"`
	Role      api.Role  `json:"role" example:"owner"`
	Plan      plan.Name `json:"plan" example:"pro"`
	Status    Status    `json:"status" example:"active"`
	CreatedAt api.Time  `json:"created_at"`
}

func newWorkspaceRecord(m membership) workspaceRecord {
	return workspaceRecord{Object: "workspace", ID: m.ID, Name: m.Name, Slug: m.Slug, Role: m.Role, Plan: m.Plan, Status: m.Status,
		CreatedAt: api.Time(m.CreatedAt)}
}

type workspaceName struct {
	ID   space.ID `json:"id" example:"0193a000-0000-7000-8000-000000000001"`
	Name string   `json:"name" example:"Acme"`
	Role api.Role `json:"role" example:"owner"`
}

// sessionRecord is the answer to a sign-in. cookie is set in its headers if it is new.
type sessionRecord struct {
	Object            string           `json:"object" example:"session"`
	ID                SessionID        `json:"id" example:"0193a1fb-0000-7000-8000-000000000b01"`
	User              accountRecord    `json:"user"`
	Workspace         *workspaceRecord `json:"workspace"`
	Workspaces        []workspaceName  `json:"workspaces"`
	CSRFToken         string           `json:"csrf_token"`
	AuthenticatedAt   api.Time         `json:"authenticated_at"`
	ReauthenticatedAt api.Time         `json:"reauthenticated_at"`
	TwoFactorAt       api.Time         `json:"two_factor_at"`
	TwoFactorFresh    bool             `json:"two_factor_fresh"`
	IP                api.Ref          `json:"ip"`
	UserAgent         api.Ref          `json:"user_agent"`
	ExpiresAt         api.Time         `json:"expires_at"`
	IdleExpiresAt     api.Time         `json:"idle_expires_at"`
	cookie
}

// assembleSession gathers what the dashboard shows of a session.
func (s *Service) assembleSession(tx *db.Tx, session Session) (sessionRecord, error) {
	user, err := selectUser(tx, session.User)
	if err != nil {
		return sessionRecord{}, err
	}
	memberships, err := selectMemberships(tx, session.User)
	if err != nil {
		return sessionRecord{}, err
	}
	record := sessionRecord{
		Object: "session", ID: session.ID, User: newAccountRecord(user), Workspaces: make([]workspaceName, len(memberships)),
		CSRFToken: s.csrfToken(session.ID), AuthenticatedAt: api.Time(session.AuthenticatedAt),
		ReauthenticatedAt: api.Time(session.ReauthenticatedAt), TwoFactorAt: api.Time(session.TwoFactorAt),
		TwoFactorFresh: user.factor.enabled() && isFresh(session.TwoFactorAt, tx.Now()), IP: api.Ref(session.IP),
		UserAgent: api.Ref(session.UserAgent), ExpiresAt: api.Time(session.ExpiresAt), IdleExpiresAt: api.Time(session.idleExpiresAt()),
	}
	for i, m := range memberships {
		record.Workspaces[i] = workspaceName{ID: m.ID, Name: m.Name, Role: m.Role}
	}
	if i := slices.IndexFunc(memberships, func(m membership) bool { return m.ID == session.Workspace }); i >= 0 {
		current := newWorkspaceRecord(memberships[i])
		record.Workspace = &current
	}
	return record, nil
}

// cookie is the part of an answer that changes the session cookie of the browser; empty leaves it alone.
type cookie struct{ value string }

// forget makes the browser drop its session cookie.
const forget = "forget"

// SetHeaders sets the cookie.
func (c cookie) SetHeaders(h http.Header) {
	if c.value != "" {
		h.Add("Set-Cookie", c.forBrowser().String())
	}
}

// forBrowser is the cookie whose name makes browsers insist on its attributes.
func (c cookie) forBrowser() *http.Cookie {
	set := http.Cookie{Name: api.SessionCookie, Value: c.value, Path: "/", MaxAge: int(sessionFor / time.Second), Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode}
	if c.value == forget {
		set.Value, set.MaxAge = "", -1
	}
	return &set
}

// signInAnswer is a session, or the question for a second factor.
type signInAnswer struct {
	sessionRecord
	challenge string
}

// MarshalJSON writes whichever of both it is.
func (a signInAnswer) MarshalJSON() ([]byte, error) {
	if a.challenge == "" {
		return json.Marshal(a.sessionRecord)
	}
	return json.Marshal(map[string]any{"status": "two_factor_required", "challenge": a.challenge, "methods": methods})
}

// sessionRow is a session in the list of a user's own.
type sessionRow struct {
	Object          string    `json:"object" example:"session"`
	ID              SessionID `json:"id"`
	Current         bool      `json:"current"`
	IP              api.Ref   `json:"ip"`
	UserAgent       api.Ref   `json:"user_agent"`
	AuthenticatedAt api.Time  `json:"authenticated_at"`
	LastSeenAt      api.Time  `json:"last_seen_at"`
	ExpiresAt       api.Time  `json:"expires_at"`
	IdleExpiresAt   api.Time  `json:"idle_expires_at"`
}

func newSessionRow(s Session, current string) sessionRow {
	return sessionRow{Object: "session", ID: s.ID, Current: string(s.ID) == current, IP: api.Ref(s.IP), UserAgent: api.Ref(s.UserAgent),
		AuthenticatedAt: api.Time(s.AuthenticatedAt), LastSeenAt: api.Time(s.SeenAt), ExpiresAt: api.Time(s.ExpiresAt),
		IdleExpiresAt: api.Time(s.idleExpiresAt())}
}

type memberRecord struct {
	Object           string   `json:"object" example:"member"`
	ID               string   `json:"id"`
	UserID           UserID   `json:"user_id"`
	Email            string   `json:"email" example:"ann@acme.test"`
	Name             string   `json:"name" example:"Ann"`
	Role             api.Role `json:"role" example:"developer"`
	TwoFactorEnabled bool     `json:"two_factor_enabled"`
	LastSeenAt       api.Time `json:"last_seen_at"`
	CreatedAt        api.Time `json:"created_at"`
}

func newMemberRecord(m Member) memberRecord {
	return memberRecord{Object: "member", ID: m.ID, UserID: m.User, Email: m.Email, Name: m.Name, Role: m.Role, TwoFactorEnabled: !m.factorSince.IsZero(),
		LastSeenAt: api.Time(m.SeenAt), CreatedAt: api.Time(m.CreatedAt)}
}

type invitationRecord struct {
	Object        string   `json:"object" example:"invitation"`
	ID            string   `json:"id"`
	Email         string   `json:"email" example:"ann@acme.test"`
	Role          api.Role `json:"role" example:"developer"`
	WorkspaceName string   `json:"workspace_name" example:"Acme"`
	InvitedBy     api.Ref  `json:"invited_by"`
	CreatedAt     api.Time `json:"created_at"`
	ExpiresAt     api.Time `json:"expires_at"`
}

func newInvitationRecord(i Invitation) invitationRecord {
	return invitationRecord{Object: "invitation", ID: i.ID, Email: i.Email, Role: i.Role, WorkspaceName: i.WorkspaceName, InvitedBy: api.Ref(i.InviterName),
		CreatedAt: api.Time(i.CreatedAt), ExpiresAt: api.Time(i.ExpiresAt)}
}

type auditRecord struct {
	Object    string       `json:"object" example:"audit_entry"`
	ID        string       `json:"id"`
	Actor     auditActor   `json:"actor"`
	Action    Action       `json:"action" example:"member.invited"`
	Target    *auditTarget `json:"target"`
	IP        api.Ref      `json:"ip"`
	CreatedAt api.Time     `json:"created_at"`
}

type auditActor struct {
	Type  string  `json:"type" doc:"user, api_key or operator." example:"user"`
	ID    api.Ref `json:"id" doc:"Id of the user or of the key."`
	Email api.Ref `json:"email"`
}

type auditTarget struct {
	Type string  `json:"type" example:"api_key"`
	ID   api.Ref `json:"id"`
	Name api.Ref `json:"name"`
}

func newAuditRecord(r auditRow) auditRecord {
	record := auditRecord{Object: "audit_entry", ID: r.id, Actor: auditActor{"user", api.Ref(r.Actor), api.Ref(r.actorEmail)}, Action: r.Action,
		IP: api.Ref(r.ip), CreatedAt: api.Time(r.createdAt)}
	switch {
	case r.Key != "":
		record.Actor = auditActor{Type: "api_key", ID: api.Ref(r.Key)}
	case r.Actor == "":
		record.Actor.Type = "operator"
	}
	if r.Target.Type != "" {
		record.Target = &auditTarget{r.Target.Type, api.Ref(r.Target.ID), api.Ref(r.Target.Name)}
	}
	return record
}

// each turns rows into records.
func each[Row, Record any](rows []Row, record func(Row) Record) []Record {
	records := make([]Record, len(rows))
	for i, row := range rows {
		records[i] = record(row)
	}
	return records
}
