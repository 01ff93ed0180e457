package account

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/limit"
	"postrider/platform/space"
)

const (
	// invitationFor is how long an invitation can be accepted.
	invitationFor     = 7 * 24 * time.Hour
	invitationPurpose = "account/invitation"
)

// strangerRate is how many people one workspace can have us write to. A team grows slower; who invites, withdraws and invites again
// is a mailer in disguise.
var strangerRate = limit.Rate{Count: 100, Per: 24 * time.Hour, Burst: 100}

// Invitation offers somebody a place in a workspace. It is gone once it is accepted or withdrawn.
type Invitation struct {
	ID            string
	Workspace     space.ID
	Email         string
	Role          api.Role
	InvitedBy     UserID
	CreatedAt     time.Time
	ExpiresAt     time.Time
	WorkspaceName string
	InviterName   string
}

// Invite offers a place in the caller's workspace. Whether the address has an account makes no difference; an earlier
// invitation to it is replaced.
func (s *Service) Invite(ctx context.Context, caller api.Caller, email string, role api.Role) (Invitation, error) {
	var problems api.Fields
	email = checkAddressField(&problems, email)
	checkRole(&problems, role)
	if err := problems.Err(); err != nil {
		return Invitation{}, err
	}
	if caller.Suspended != "" {
		return Invitation{}, api.ErrSuspended.With("reason", caller.Suspended)
	}
	giveBack, err := s.countInvitation(caller.Workspace, email)
	if err != nil {
		return Invitation{}, err
	}
	invitation := Invitation{ID: s.world.NewID(), Workspace: caller.Workspace, Email: email, Role: role, InvitedBy: UserID(caller.UserID)}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		w, err := lockWorkspace(tx, caller.Workspace)
		if err != nil {
			return err
		}
		if err := mayGrant(tx, caller, role); err != nil {
			return err
		}
		if err := s.RequireVerified(tx, caller); err != nil {
			return err
		}
		if err := s.checkRoom(tx, w, email); err != nil {
			return err
		}
		invitation.CreatedAt, invitation.ExpiresAt = tx.Now(), tx.Now().Add(invitationFor)
		if err := insertInvitation(tx, invitation); err != nil {
			return err
		}
		if invitation, err = selectInvitation(tx, invitation.ID); err != nil { // with the names of workspace and inviter
			return err
		}
		if err := s.queueMail(tx, mail{Kind: invitationMail, Invitation: invitation.ID}); err != nil {
			return err
		}
		return s.Audit(tx, By(caller, MemberInvited, Target{"invitation", invitation.ID, email}))
	})
	if err != nil {
		giveBack() // nobody was mailed
	}
	return invitation, err
}

// countInvitation takes one from what the workspace may send and the address must bear.
func (s *Service) countInvitation(ws space.ID, email string) (giveBack func(), err error) {
	address, workspace := "mail/"+email, "invitations/"+string(ws)
	if taken := s.limits.Take(address, mailRate); !taken.Allowed {
		return nil, tooMany(taken.Limit, taken.RetryAfter)
	}
	if taken := s.limits.Take(workspace, strangerRate); !taken.Allowed {
		s.limits.GiveBack(address, mailRate)
		return nil, tooMany(taken.Limit, taken.RetryAfter)
	}
	return func() {
		s.limits.GiveBack(address, mailRate)
		s.limits.GiveBack(workspace, strangerRate)
	}, nil
}

// checkRoom withdraws an earlier invitation to the address and refuses to invite members, or more people than the plan has seats.
func (s *Service) checkRoom(tx *db.Tx, w Workspace, email string) error {
	member, err := selectMemberByEmail(tx, w.ID, email)
	if err == nil {
		return api.ErrAlreadyExists.Saying("This person is a member already.").With("resource", "member").With("id", member.ID)
	}
	if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	if err := deleteInvitationsTo(tx, w.ID, email); err != nil {
		return err
	}
	members, err := countMembers(tx, w.ID)
	if err != nil {
		return err
	}
	invited, err := countInvitations(tx, w.ID)
	if err != nil {
		return err
	}
	return s.checkSeats(w, members+invited)
}

// Withdraw takes an invitation back.
func (s *Service) Withdraw(ctx context.Context, caller api.Caller, id string) error {
	if !api.IsID(id) {
		return api.NotFound("invitation")
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		deleted, err := deleteInvitation(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		if !deleted {
			return api.NotFound("invitation")
		}
		return s.Audit(tx, By(caller, InvitationWithdrawn, Target{Type: "invitation", ID: id}))
	})
}

// LookAtInvitation returns what a token offers.
func (s *Service) LookAtInvitation(ctx context.Context, token string) (invitation Invitation, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		invitation, err = s.openInvitation(tx, token)
		return err
	})
	return invitation, err
}

func (s *Service) openInvitation(tx *db.Tx, token string) (Invitation, error) {
	id, err := s.verifyLink(invitationPurpose, token, tx.Now())
	if err != nil {
		return Invitation{}, err
	}
	invitation, err := selectInvitation(tx, string(id))
	return invitation, db.OrMissing(err, errLinkUsed)
}

// invitationFor returns what a token offers to the owner of an address.
func (s *Service) invitationFor(tx *db.Tx, token, email string) (Invitation, error) {
	invitation, err := s.openInvitation(tx, token)
	if err == nil && invitation.Email != email {
		err = api.Invalid("token", "This invitation was sent to another email address.")
	}
	return invitation, err
}

// AcceptInvitation lets the caller join the workspace of an invitation to their own address, and moves their session there. It
// returns the session's new cookie.
func (s *Service) AcceptInvitation(ctx context.Context, caller api.Caller, token string) (cookie string, err error) {
	fresh := s.newToken()
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		session, user, err := mySession(tx, caller)
		if err != nil {
			return err
		}
		invitation, err := s.join(tx, &user, token, caller.IP)
		if err != nil {
			return err
		}
		session.Workspace = invitation.Workspace
		if err := updateSession(tx, session); err != nil {
			return err
		}
		return updateToken(tx, user.ID, session.ID, fresh.hash)
	})
	return fresh.text, err
}

// join spends an invitation. Its token came by mail, so it also proves the user's address.
func (s *Service) join(tx *db.Tx, user *User, token string, from netip.Addr) (Invitation, error) {
	invitation, err := s.invitationFor(tx, token, user.Email)
	if err != nil {
		return Invitation{}, err
	}
	w, err := lockWorkspace(tx, invitation.Workspace)
	if err != nil {
		return Invitation{}, err
	}
	spent, err := deleteInvitation(tx, w.ID, invitation.ID)
	if err != nil {
		return Invitation{}, err
	}
	if !spent {
		return Invitation{}, errLinkUsed
	}
	members, err := countMembers(tx, w.ID)
	if err != nil {
		return Invitation{}, err
	}
	if err := s.checkSeats(w, members); err != nil {
		return Invitation{}, err
	}
	return invitation, s.admitMember(tx, user, invitation, from)
}

func (s *Service) admitMember(tx *db.Tx, user *User, invitation Invitation, from netip.Addr) error {
	member := Member{ID: s.world.NewID(), Workspace: invitation.Workspace, User: user.ID, Role: invitation.Role, CreatedAt: tx.Now()}
	if err := insertMember(tx, member); err != nil {
		return err
	}
	if _, err := updateVerified(tx, user.ID, user.Email); err != nil {
		return err
	}
	user.VerifiedAt = tx.Now()
	if err := updateHome(tx, user.ID, invitation.Workspace); err != nil {
		return err
	}
	return s.Audit(tx, Entry{Workspace: invitation.Workspace, Actor: string(user.ID), Action: MemberJoined,
		Target: Target{"member", member.ID, user.Email}, IP: from})
}
