// Package account knows who may come in: people, the workspaces they belong to, their roles, sessions and second factors.
//
// Whoever asks, with an address that has an account or with one that has none, gets the same answers in the same time: sign-in,
// password reset and invitation never tell who is a customer.
//
//	Owns     account_user, account_founder, account_workspace, account_member, account_session, account_challenge,
//	         account_recovery_code, account_passkey, account_ceremony, account_attempt, account_invitation, account_audit
//	Queues   account_mail
package account

import (
	"context"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/limit"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/plan"
	"postrider/world"
)

// Postman carries a mail of the installation itself (a verification, a reset, an invitation) to a person.
type Postman interface {
	Post(ctx context.Context, to, subject, text string) error
}

// Counter tells how much of something a workspace uses now.
type Counter func(tx *db.Tx, ws space.ID) (int64, error)

// Counters tell the usage of what other slices own; what has none counts as 0.
type Counters struct {
	VerifiedDomains, Webhooks, Templates, Contacts, Automations, ManagedTenants, TenantDomains Counter
}

// Config is what an installation decides about accounts.
type Config struct {
	// BaseURL is where people reach the dashboard, such as https://mail.acme.test. Links in mails start with it, never with
	// what a request claims as its host.
	BaseURL string
	// SignUpPlan is the plan of workspaces made by sign-up; empty means free.
	SignUpPlan plan.Name
	// InviteOnly closes sign-up for everyone who has no invitation.
	InviteOnly bool
	// Postman carries mails. Without one they are not sent; Dev then logs their links.
	Postman Postman
	// Dev allows links that carry secrets in the log, for an installation on a laptop.
	Dev bool
	// Counters are asked for the plan record.
	Counters Counters
}

// Service signs people in and out and keeps the workspaces they belong to.
type Service struct {
	world     world.World
	db        *db.DB
	keyring   *seal.Keyring
	plans     *plan.Service
	config    Config
	passwords *passwords
	limits    *limit.Limiter // of network addresses, mailboxes, and workspaces that invite
	holder    *queue.Holder  // of the leases on queued mail
}

// maxLimited bounds the memory of whom the limits are for; idle ones make room.
const maxLimited = 100_000

// New returns the service of one process.
func New(w world.World, d *db.DB, keyring *seal.Keyring, plans *plan.Service, config Config) *Service {
	if config.SignUpPlan == "" {
		config.SignUpPlan = plan.Free
	}
	config.BaseURL = strings.TrimRight(config.BaseURL, "/")
	return &Service{world: w, db: d, keyring: keyring, plans: plans, config: config, passwords: newPasswords(w),
		limits: limit.New(w.Clock, maxLimited), holder: queue.NewHolder(w, d, "account/"+w.NewID())}
}

// UserID names one person.
type UserID string

// User is a person who can sign in.
type User struct {
	ID         UserID
	Email      string
	Name       string
	Locale     string
	Timezone   string
	Operator   bool
	VerifiedAt time.Time
	CreatedAt  time.Time

	password          string
	passwordChangedAt time.Time
	factor            factor
}

// factor is the second factor of a user: the sealed secret in use, and one that was offered but not confirmed yet.
type factor struct {
	secret       []byte
	enabledAt    time.Time
	lastStep     int64
	offered      []byte
	offeredUntil time.Time
}

func (f factor) enabled() bool { return !f.enabledAt.IsZero() }

// Errors of signing in and of accounts.
var (
	ErrInvalidCredentials = api.NewError(401, "invalid_credentials", "invalid_access", "The credentials are not right.")
	ErrReauthenticate     = api.NewError(403, "reauthentication_required", "security_error", "Enter your password again to do this.").
				With("max_age_sec", int(freshFor/time.Second))
	ErrUnverified   = api.NewError(403, "email_verification_required", "security_error", "Verify the email address of your account first.")
	ErrSignUpClosed = api.NewError(403, "sign_up_closed", "invalid_access", "This installation takes new accounts by invitation only.")
	ErrTokenExpired = api.NewError(410, "token_expired", "not_found", "This link has expired. Ask for a new one.")
	ErrMemberQuota  = api.NewError(402, "member_quota_exceeded", "member_quota_exceeded", "The plan has no room for another member.")
	errLinkUsed     = api.Invalid("token", "This link is not valid or has been used.")
	errAddressTaken = api.ErrAlreadyExists.Saying("This email address already has an account. Sign in instead.").With("resource", "user")
)

// What is refused because of how something stands.
var (
	ErrLastOwner        = wrongState("A workspace needs at least one owner.", "last_owner", "owner")
	errFactorEnabled    = wrongState("Two-factor authentication is on. Turn it off first.", "enabled", "disabled")
	errFactorMissing    = wrongState("Two-factor authentication is not on.", "disabled", "enabled")
	errFactorNotOffered = wrongState("Ask for a new secret first; an offer is good for ten minutes.", "not_offered", "offered")
)

func wrongState(sentence, current, allowed string) *api.Error {
	return api.ErrInvalidState.Saying(sentence).With("current", current).With("allowed", []string{allowed})
}
