package account

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"net/netip"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

const (
	// offerFor is how long somebody has to scan a new secret.
	offerFor = 10 * time.Minute
	// recoveryCodes is how many there are; they are shown once.
	recoveryCodes = 10
	// recoveryAlphabet leaves out what is misread: 32 characters, five bits each.
	recoveryAlphabet = "23456789abcdefghjkmnpqrstuvwxyz0"
	recoveryLength   = 8
	recoveryPurpose  = "account/recovery-code"
)

// offer is a second factor that is not in use yet.
type offer struct {
	secret    []byte
	email     string
	expiresAt time.Time
}

// offerTwoFactor makes a secret for the caller's authenticator app. The password must have been entered recently.
func (s *Service) offerTwoFactor(ctx context.Context, caller api.Caller) (offer, error) {
	o := offer{secret: s.world.Bytes(totpSecretBytes)}
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		session, user, err := mySession(tx, caller)
		if err != nil {
			return err
		}
		if user.factor.enabled() {
			return errFactorEnabled
		}
		if !isFresh(session.ReauthenticatedAt, tx.Now()) {
			return ErrReauthenticate
		}
		o.email, o.expiresAt = user.Email, tx.Now().Add(offerFor)
		return updateOffer(tx, user.ID, s.keyring.Seal(o.secret, totpContext(user.ID)), o.expiresAt)
	})
	return o, err
}

// totpContext binds a sealed secret to its user.
func totpContext(id UserID) string { return "account_user/totp/" + string(id) }

// EnableTwoFactor takes the offered secret into use once a code proves that the app has it. It returns the recovery codes, and
// the new cookie of the session.
func (s *Service) EnableTwoFactor(ctx context.Context, caller api.Caller, code string) (codes []string, cookie string, err error) {
	var missing api.Fields
	if checkGiven(&missing, "code", code); len(missing) > 0 {
		return nil, "", missing.Err()
	}
	codes, stored := s.newRecoveryCodes(UserID(caller.UserID))
	fresh := s.newToken()
	err = s.proveFactor(ctx, caller, func(tx *db.Tx, session Session, user User) (verdict, error) {
		if user.factor.enabled() {
			return wrong, errFactorEnabled
		}
		if user.factor.offered == nil || !tx.Now().Before(user.factor.offeredUntil) {
			return wrong, errFactorNotOffered
		}
		secret, err := s.keyring.Open(user.factor.offered, totpContext(user.ID))
		if err != nil {
			return wrong, err
		}
		step, ok := matchTOTP(secret, code, tx.Now())
		if !ok {
			return wrong, nil
		}
		enabled, err := enableFactor(tx, user.ID, user.factor.offered, step)
		if err != nil {
			return wrong, err
		}
		if !enabled {
			return wrong, errFactorNotOffered
		}
		if err := s.replaceRecoveryCodes(tx, user.ID, stored); err != nil {
			return wrong, err
		}
		if err := s.auditHome(tx, user, TwoFactorEnabled, caller.IP); err != nil {
			return wrong, err
		}
		return right, noteFactor(tx, session, fresh)
	})
	return codes, fresh.text, err
}

// noteFactor marks the session as proved by a second factor and gives it a new token.
func noteFactor(tx *db.Tx, session Session, fresh token) error {
	session.TwoFactorAt = tx.Now()
	if err := updateSession(tx, session); err != nil {
		return err
	}
	return updateToken(tx, session.User, session.ID, fresh.hash)
}

// VerifyTwoFactor refreshes the second factor of the caller's session. It returns when, and the session's new cookie.
func (s *Service) VerifyTwoFactor(ctx context.Context, caller api.Caller, p proof) (at time.Time, cookie string, err error) {
	var missing api.Fields
	if p.check(&missing); len(missing) > 0 {
		return at, "", missing.Err()
	}
	fresh := s.newToken()
	err = s.proveFactor(ctx, caller, func(tx *db.Tx, session Session, user User) (verdict, error) {
		if !user.factor.enabled() {
			return wrong, errFactorMissing
		}
		outcome, err := s.spend(tx, user.ID, p, caller.IP)
		if err != nil || outcome == wrong {
			return wrong, err
		}
		at = tx.Now()
		return right, noteFactor(tx, session, fresh)
	})
	return at, fresh.text, err
}

// DisableTwoFactor turns the second factor off; it takes the password and a code.
func (s *Service) DisableTwoFactor(ctx context.Context, caller api.Caller, password string, p proof) error {
	var missing api.Fields
	checkGiven(&missing, "password", password)
	if p.check(&missing); len(missing) > 0 {
		return missing.Err()
	}
	return s.provePassword(ctx, caller, password, func(tx *db.Tx, _ Session, user User) (verdict, error) {
		if !user.factor.enabled() {
			return wrong, errFactorMissing
		}
		outcome, err := s.spend(tx, user.ID, p, caller.IP)
		if err != nil || outcome == wrong {
			return wrong, err
		}
		if err := disableFactor(tx, user.ID); err != nil {
			return wrong, err
		}
		if err := deleteRecoveryCodes(tx, user.ID); err != nil {
			return wrong, err
		}
		return right, s.auditHome(tx, user, TwoFactorDisabled, caller.IP)
	})
}

// RenewRecoveryCodes replaces the caller's recovery codes.
func (s *Service) RenewRecoveryCodes(ctx context.Context, caller api.Caller) ([]string, error) {
	codes, stored := s.newRecoveryCodes(UserID(caller.UserID))
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		_, user, err := mySession(tx, caller)
		if err != nil {
			return err
		}
		if !user.factor.enabled() {
			return errFactorMissing
		}
		if err := s.replaceRecoveryCodes(tx, user.ID, stored); err != nil {
			return err
		}
		return s.auditHome(tx, user, RecoveryCodesMade, caller.IP)
	})
	return codes, err
}

// proveFactor runs do for the signed-in caller and counts it as a try.
func (s *Service) proveFactor(ctx context.Context, caller api.Caller, do func(*db.Tx, Session, User) (verdict, error)) error {
	var user User
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		_, user, err = mySession(tx, caller)
		return err
	})
	if err != nil {
		return err
	}
	t := try{email: user.Email, user: user, from: Visitor{IP: caller.IP, UserAgent: caller.UserAgent}}
	return s.judge(ctx, t, func(tx *db.Tx) (verdict, error) {
		session, user, err := mySession(tx, caller)
		if err != nil {
			return wrong, err
		}
		return do(tx, session, user)
	})
}

// spend uses up a second factor: a one-time code is good for one use of its step, a recovery code for one use ever.
func (s *Service) spend(tx *db.Tx, id UserID, p proof, from netip.Addr) (verdict, error) {
	user, err := selectUser(tx, id)
	if err != nil || !user.factor.enabled() {
		return wrong, err
	}
	if p.RecoveryCode != "" {
		return s.spendRecoveryCode(tx, user, p.RecoveryCode, from)
	}
	secret, err := s.keyring.Open(user.factor.secret, totpContext(id))
	if err != nil {
		return wrong, err
	}
	step, ok := matchTOTP(secret, p.Code, tx.Now())
	if !ok {
		return wrong, nil
	}
	used, err := useStep(tx, id, step)
	if err != nil || !used {
		return wrong, err
	}
	return right, nil
}

func (s *Service) spendRecoveryCode(tx *db.Tx, user User, code string, from netip.Addr) (verdict, error) {
	stored, err := selectRecoveryCodes(tx, user.ID)
	if err != nil {
		return wrong, err
	}
	for _, candidate := range stored {
		if !s.isRecoveryCode(candidate, user.ID, code) {
			continue
		}
		used, err := deleteRecoveryCode(tx, user.ID, candidate.id)
		if err != nil || !used {
			return wrong, err
		}
		return right, s.auditHome(tx, user, RecoveryCodeUsed, from)
	}
	return wrong, nil
}

// isRecoveryCode tells whether a code is the stored one. Those of earlier versions are kept under a keyed hash, which ends with its secret.
func (s *Service) isRecoveryCode(stored storedCode, user UserID, code string) bool {
	hash, err := s.keyring.Open(stored.hash, recoveryContext(stored.id))
	if err != nil {
		return s.keyring.CheckMAC(recoveryPurpose, recoveryData(user, code), stored.hash)
	}
	return hmac.Equal(hash, recoveryHash(user, code))
}

// newRecoveryCodes returns codes as they are shown, and as they are stored: as a hash that is sealed, because forty bits would not
// withstand guessing by somebody who holds a copy of the database.
func (s *Service) newRecoveryCodes(user UserID) (shown []string, stored []storedCode) {
	for range recoveryCodes {
		var code strings.Builder
		for _, b := range s.world.Bytes(recoveryLength) {
			code.WriteByte(recoveryAlphabet[int(b)%len(recoveryAlphabet)])
		}
		text := code.String()
		shown = append(shown, text[:recoveryLength/2]+"-"+text[recoveryLength/2:])
		id := s.world.NewID()
		stored = append(stored, storedCode{id: id, hash: s.keyring.Seal(recoveryHash(user, text), recoveryContext(id))})
	}
	return shown, stored
}

// recoveryContext binds a sealed code to its row.
func recoveryContext(id string) string { return "account_recovery_code/" + id }

func recoveryHash(user UserID, code string) []byte {
	sum := sha256.Sum256(recoveryData(user, code))
	return sum[:]
}

// recoveryData forgives how people write a code: its case, spaces and hyphens.
func recoveryData(user UserID, code string) []byte {
	code = strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(code))
	return []byte(string(user) + "/" + code)
}

func (s *Service) replaceRecoveryCodes(tx *db.Tx, user UserID, codes []storedCode) error {
	if err := deleteRecoveryCodes(tx, user); err != nil {
		return err
	}
	return insertRecoveryCodes(tx, user, codes)
}
