package account

import (
	"net/netip"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// Action names what was done, in the words of the audit log.
type Action string

// Actions of accounts. Other slices add their own in the same form.
const (
	SignedIn            Action = "session.signed_in"
	SignInFailed        Action = "session.sign_in_failed"
	SessionEnded        Action = "session.ended"
	TwoFactorEnabled    Action = "two_factor.enabled"
	PasskeyAdded        Action = "passkey.added"
	PasskeyRemoved      Action = "passkey.removed"
	TwoFactorDisabled   Action = "two_factor.disabled"
	RecoveryCodesMade   Action = "two_factor.recovery_codes_made"
	RecoveryCodeUsed    Action = "two_factor.recovery_code_used"
	PasswordReset       Action = "password.reset"
	PasswordChanged     Action = "password.changed"
	WorkspaceCreated    Action = "workspace.created"
	WorkspaceUpdated    Action = "workspace.updated"
	WorkspaceSuspended  Action = "workspace.suspended"
	WorkspaceResumed    Action = "workspace.resumed"
	PlanChanged         Action = "workspace.plan_changed"
	MemberInvited       Action = "member.invited"
	InvitationWithdrawn Action = "member.invitation_withdrawn"
	MemberJoined        Action = "member.joined"
	MemberChanged       Action = "member.role_changed"
	MemberRemoved       Action = "member.removed"
)

// Entry is one line of a workspace's audit log.
type Entry struct {
	Workspace space.ID
	// Actor is the id of the user who did it, Key that of the API key it was done with; neither means the operator.
	Actor, Key string
	Action     Action
	Target     Target
	IP         netip.Addr
}

// Target is what something was done to. ID is the id of a stored thing or empty; Name is how people know it.
type Target struct {
	Type, ID, Name string
}

// By returns an entry for something that the caller did in their workspace.
func By(caller api.Caller, action Action, target Target) Entry {
	return Entry{Workspace: caller.Workspace, Actor: caller.UserID, Key: caller.KeyID, Action: action, Target: target, IP: caller.IP}
}

// Audit writes an entry in the transaction of what it tells of.
func (s *Service) Audit(tx *db.Tx, e Entry) error { return insertAudit(tx, s.world.NewID(), e) }

// auditHome writes an entry about the user's own account into the workspace where they were last.
func (s *Service) auditHome(tx *db.Tx, user User, action Action, from netip.Addr) error {
	homes, err := selectMemberships(tx, user.ID)
	if err != nil || len(homes) == 0 {
		return err
	}
	return s.Audit(tx, Entry{Workspace: homes[0].ID, Actor: string(user.ID), Action: action, IP: from})
}

type auditRow struct {
	Entry
	id         string
	actorEmail string
	ip         string
	createdAt  time.Time
}

func addrText(ip netip.Addr) string {
	if !ip.IsValid() {
		return ""
	}
	return ip.String()
}
