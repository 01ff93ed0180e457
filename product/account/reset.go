package account

import (
	"context"
	"encoding/binary"
	"net/netip"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/limit"
)

const (
	// resetFor is how long a link to a new password is good.
	resetFor     = time.Hour
	resetPurpose = "account/password-reset"
)

// mailRate is how many mails anybody can make us send to one address, so that we are no weapon against a mailbox.
var mailRate = limit.Rate{Count: 5, Per: time.Hour, Burst: 5}

// ForgotPassword asks for a link to a new password. It tells nobody whether the address has an account: that question is
// answered later, by the worker that writes the mail.
func (s *Service) ForgotPassword(ctx context.Context, from netip.Addr, email string) error {
	if err := s.countTry(from); err != nil {
		return err
	}
	email = addressKey(email)
	if email == "" || !s.limits.Take("mail/"+email, mailRate).Allowed {
		return nil
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		return s.queueMail(tx, mail{Kind: resetMail, Email: email})
	})
}

// resetToken carries the user and the moment of the password it may replace, so it is good for one change.
func (s *Service) resetToken(user User, expires time.Time) string {
	payload := binary.BigEndian.AppendUint64([]byte(user.ID), uint64(user.passwordChangedAt.UnixMicro()))
	return s.keyring.Sign(resetPurpose, payload, expires)
}

func (s *Service) readResetToken(token string) (UserID, time.Time, error) {
	payload, err := s.verifyLink(resetPurpose, token, s.world.Clock.Now())
	if err != nil {
		return "", time.Time{}, err
	}
	at := len(payload) - 8
	return UserID(payload[:at]), time.UnixMicro(int64(binary.BigEndian.Uint64(payload[at:]))).UTC(), nil
}

// ResetPassword sets a new password by a link and ends every session of the user. A second factor stays in force.
func (s *Service) ResetPassword(ctx context.Context, from netip.Addr, token, password string) error {
	if err := s.checkAddress(from); err != nil {
		return err
	}
	var problems api.Fields
	if checkPassword(&problems, "password", password); len(problems) > 0 {
		return problems.Err()
	}
	id, setAt, err := s.readResetToken(token)
	if err != nil {
		return s.badLink(from, err)
	}
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		user, err := selectUser(tx, id)
		if err != nil {
			return err
		}
		if err := s.replacePassword(tx, user, setAt, hash, ""); err != nil {
			return err
		}
		if _, err := updateVerified(tx, user.ID, user.Email); err != nil {
			return err
		}
		if err := deleteAttempts(tx, s.addressHash(user.Email)); err != nil {
			return err
		}
		return s.auditHome(tx, user, PasswordReset, from)
	})
}

// replacePassword changes the password that was set at setAt, and ends all sessions but one and all half-finished sign-ins.
func (s *Service) replacePassword(tx *db.Tx, user User, setAt time.Time, hash string, keep SessionID) error {
	changed, err := updatePassword(tx, user.ID, setAt, hash)
	if err != nil {
		return err
	}
	if !changed {
		return errLinkUsed
	}
	if err := deleteChallengesOf(tx, user.ID); err != nil {
		return err
	}
	return deleteOtherSessions(tx, user.ID, keep)
}

// ChangePassword replaces the caller's password, ends their other sessions and gives this one a new cookie.
func (s *Service) ChangePassword(ctx context.Context, caller api.Caller, current, password string) (cookie string, err error) {
	var problems api.Fields
	checkGiven(&problems, "password", current)
	if checkPassword(&problems, "new_password", password); len(problems) > 0 {
		return "", problems.Err()
	}
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return "", err
	}
	fresh := s.newToken()
	err = s.provePassword(ctx, caller, current, func(tx *db.Tx, session Session, user User) (verdict, error) {
		if err := s.replacePassword(tx, user, user.passwordChangedAt, hash, session.ID); err != nil {
			return wrong, err
		}
		if err := updateToken(tx, user.ID, session.ID, fresh.hash); err != nil {
			return wrong, err
		}
		return right, s.auditHome(tx, user, PasswordChanged, caller.IP)
	})
	return fresh.text, err
}
