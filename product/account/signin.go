package account

import (
	"context"
	"errors"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/seal"
)

const (
	// challengeFor is how long a sign-in waits for its second factor.
	challengeFor = 10 * time.Minute
	// challengeTries is how many codes one challenge takes.
	challengeTries = 5

	challengePurpose = "account/challenge"
)

// methods are the second factors there are.
var methods = []string{"totp", "recovery_code"}

// opened is a session with its cookie. The token exists nowhere else.
type opened struct {
	session Session
	token   string
}

// admission is the answer to the right password: a session, or the challenge to show a second factor.
type admission struct {
	opened
	challenge string
}

// checkGiven refuses what was left out. That is no try to prove oneself, so it counts as none.
func checkGiven(wrong *api.Fields, field, value string) {
	if value == "" {
		wrong.Add(field, "Is required.")
	}
}

// signIn checks a password. A wrong password and an unknown address cost the same time and tell the same; both are locked alike.
func (s *Service) signIn(ctx context.Context, from Visitor, email, password string) (admission, error) {
	var missing api.Fields
	checkGiven(&missing, "email", email)
	checkGiven(&missing, "password", password)
	if err := missing.Err(); err != nil {
		return admission{}, err
	}
	if err := s.checkAddress(from.IP); err != nil {
		return admission{}, err
	}
	t := try{email: addressKey(email), from: from}
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if err = s.checkLock(tx, t.email); err != nil {
			return err
		}
		t.user, err = selectUserByEmail(tx, t.email)
		if errors.Is(err, db.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return admission{}, err
	}
	matches, err := s.passwords.matches(ctx, t.user.password, password)
	if err != nil {
		return admission{}, err
	}
	var result admission
	fresh := s.newToken()
	err = s.judge(ctx, t, func(tx *db.Tx) (verdict, error) {
		user, err := stillUser(tx, t.user, matches)
		if err != nil || user.ID == "" {
			return wrong, err
		}
		if user.factor.enabled() {
			result.challenge, err = s.newChallenge(tx, user.ID)
			return halfway, err
		}
		result.token = fresh.text
		result.session, err = s.openSession(tx, user, from, fresh, time.Time{})
		return right, err
	})
	return result, err
}

// stillUser returns the user as the transaction sees it, or none if the password was wrong or has been replaced meanwhile.
func stillUser(tx *db.Tx, seen User, matches bool) (User, error) {
	if !matches {
		return User{}, nil
	}
	user, err := selectUser(tx, seen.ID)
	if err != nil || user.password != seen.password {
		return User{}, err
	}
	return user, nil
}

// addressKey returns the form in which addresses are compared. What is no address is as good as one without an account.
func addressKey(email string) string {
	parsed, err := address.Parse(email)
	if err != nil || parsed.Name != "" {
		return ""
	}
	return parsed.Key()
}

func (s *Service) newChallenge(tx *db.Tx, user UserID) (string, error) {
	id, expires := s.world.NewID(), tx.Now().Add(challengeFor)
	return s.keyring.Sign(challengePurpose, []byte(id), expires), insertChallenge(tx, id, user, expires)
}

// proof is a second factor: a one-time code, or a recovery code.
type proof struct {
	Code         string `json:"code,omitempty" doc:"The six digits of the authenticator app." example:"492039"`
	RecoveryCode string `json:"recovery_code,omitempty" doc:"One of the recovery codes, instead of a code." example:"k3f9-2mzq"`
}

func (p proof) check(missing *api.Fields) {
	if p.RecoveryCode == "" {
		checkGiven(missing, "code", p.Code)
	}
}

// confirmSignIn finishes a sign-in with a second factor.
func (s *Service) confirmSignIn(ctx context.Context, from Visitor, challenge string, p proof) (opened, error) {
	var missing api.Fields
	checkGiven(&missing, "challenge", challenge)
	p.check(&missing)
	if err := missing.Err(); err != nil {
		return opened{}, err
	}
	id, err := s.keyring.Verify(challengePurpose, challenge, s.world.Clock.Now())
	if err != nil {
		return opened{}, s.badChallenge(from, err)
	}
	user, err := s.takeTry(ctx, string(id))
	if errors.Is(err, db.ErrNotFound) {
		return opened{}, s.badChallenge(from, err)
	}
	if err != nil {
		return opened{}, err
	}
	fresh := s.newToken()
	result := opened{token: fresh.text}
	err = s.judge(ctx, try{email: user.Email, user: user, from: from}, func(tx *db.Tx) (verdict, error) {
		outcome, err := s.spend(tx, user.ID, p, from.IP)
		if err != nil || outcome == wrong {
			return wrong, err
		}
		if err := deleteChallenge(tx, string(id)); err != nil {
			return wrong, err
		}
		result.session, err = s.openSession(tx, user, from, fresh, tx.Now())
		return right, err
	})
	return result, err
}

// takeTry takes one of the challenge's tries, in a transaction of its own: it is gone even if what follows fails.
func (s *Service) takeTry(ctx context.Context, challenge string) (user User, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		id, err := tryChallenge(tx, challenge, challengeTries)
		if err != nil {
			return err
		}
		user, err = selectUser(tx, id)
		return err
	})
	return user, err
}

// badChallenge counts against the network address, since no account is known.
func (s *Service) badChallenge(from Visitor, cause error) error {
	if err := s.countTry(from.IP); err != nil {
		return err
	}
	sentence := "This sign-in is no longer open. Start again with your password."
	if errors.Is(cause, seal.ErrInvalid) {
		sentence = ErrInvalidCredentials.Message
	}
	return ErrInvalidCredentials.Saying(sentence)
}

// SignOut ends the caller's session.
func (s *Service) SignOut(ctx context.Context, caller api.Caller) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		_, err := deleteSession(tx, UserID(caller.UserID), SessionID(caller.SessionID))
		return err
	})
}

// Reauthenticate notes that the caller has entered the password again, and returns when. Where there is a second factor, a password
// alone forgets no failures: whoever knows it would have guesses at the codes without end.
func (s *Service) Reauthenticate(ctx context.Context, caller api.Caller, password string) (at time.Time, err error) {
	var missing api.Fields
	if checkGiven(&missing, "password", password); len(missing) > 0 {
		return at, missing.Err()
	}
	err = s.provePassword(ctx, caller, password, func(tx *db.Tx, session Session, user User) (verdict, error) {
		at = tx.Now()
		session.ReauthenticatedAt = at
		err := updateSession(tx, session)
		if user.factor.enabled() {
			return halfway, err
		}
		return right, err
	})
	return at, err
}

// provePassword runs do if the signed-in caller has given the right password; do may still find something else wrong.
func (s *Service) provePassword(ctx context.Context, caller api.Caller, password string,
	do func(*db.Tx, Session, User) (verdict, error)) error {
	if err := s.checkAddress(caller.IP); err != nil {
		return err
	}
	var seen User
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if _, seen, err = mySession(tx, caller); err != nil {
			return err
		}
		return s.checkLock(tx, seen.Email)
	})
	if err != nil {
		return err
	}
	matches, err := s.passwords.matches(ctx, seen.password, password)
	if err != nil {
		return err
	}
	t := try{email: seen.Email, user: seen, from: Visitor{IP: caller.IP, UserAgent: caller.UserAgent}}
	return s.judge(ctx, t, func(tx *db.Tx) (verdict, error) {
		user, err := stillUser(tx, seen, matches)
		if err != nil || user.ID == "" {
			return wrong, err
		}
		session, _, err := mySession(tx, caller)
		if err != nil {
			return wrong, err
		}
		return do(tx, session, user)
	})
}
