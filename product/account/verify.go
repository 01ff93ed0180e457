package account

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

const (
	// verificationFor is how long the link in the mail of a sign-up is good.
	verificationFor     = 3 * 24 * time.Hour
	verificationPurpose = "account/verify-email"
)

// verificationToken carries the user and the address, so that it verifies no other.
func (s *Service) verificationToken(user User, expires time.Time) string {
	return s.keyring.Sign(verificationPurpose, []byte(string(user.ID)+" "+user.Email), expires)
}

// VerifyEmail marks an address as verified. Following the link twice does no harm.
func (s *Service) VerifyEmail(ctx context.Context, from netip.Addr, token string) error {
	if err := s.checkAddress(from); err != nil {
		return err
	}
	payload, err := s.verifyLink(verificationPurpose, token, s.world.Clock.Now())
	if err != nil {
		return s.badLink(from, err)
	}
	id, email, _ := strings.Cut(string(payload), " ")
	return s.db.Write(ctx, func(tx *db.Tx) error {
		verified, err := updateVerified(tx, UserID(id), email)
		if err == nil && !verified {
			return errLinkUsed
		}
		return err
	})
}

// ResendVerification mails the caller another link, unless the address is verified.
func (s *Service) ResendVerification(ctx context.Context, caller api.Caller) error {
	var user User
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		_, user, err = mySession(tx, caller)
		return err
	})
	if err != nil || !user.VerifiedAt.IsZero() {
		return err
	}
	if taken := s.limits.Take("mail/"+user.Email, mailRate); !taken.Allowed {
		return tooMany(taken.Limit, taken.RetryAfter)
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		return s.queueMail(tx, mail{Kind: verificationMail, User: user.ID})
	})
}

// RequireVerified refuses callers whose account has no verified address: for a session its user's, for a key that of any owner.
func (s *Service) RequireVerified(tx *db.Tx, caller api.Caller) error {
	if caller.UserID != "" {
		user, err := selectUser(tx, UserID(caller.UserID))
		if err == nil && user.VerifiedAt.IsZero() {
			return ErrUnverified
		}
		return err
	}
	owners, err := countVerifiedOwners(tx, caller.Workspace)
	if err == nil && owners == 0 {
		return ErrUnverified
	}
	return err
}
