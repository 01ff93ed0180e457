package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"postrider/platform/api"
	"postrider/platform/db"
)

const (
	// ceremonyFor is how long a person has to touch a device.
	ceremonyFor = 5 * time.Minute
	// maxPasskeys bounds the passkeys of one user.
	maxPasskeys = 20
	// maxPasskeyName bounds what a passkey is called.
	maxPasskeyName = 60
)

var (
	errNoPasskeys = api.ErrInvalidState.Saying("Passkeys need a host name. Open the dashboard by its name, not by the number of its address.")
	errManyKeys   = api.ErrInvalidState.Saying(fmt.Sprintf("An account has at most %d passkeys. Remove one first.", maxPasskeys))
	errKeyKnown   = api.ErrAlreadyExists.Saying("This passkey is registered already. Sign in with it, or use another device.").With("resource", "passkey")
)

// Passkey is a key on a device of a user. It proves two things at once, the device and the person who unlocked it, so signing in by
// it counts as a second factor, too.
type Passkey struct {
	ID        string
	User      UserID
	Name      string
	CreatedAt time.Time
	UsedAt    time.Time

	credential webauthn.Credential
}

// passkeyOwner is a user as the library wants to see one.
type passkeyOwner struct {
	User
	keys []Passkey
}

// WebAuthnID is the handle that devices keep; it says nothing to strangers.
func (o passkeyOwner) WebAuthnID() []byte { return []byte(o.ID) }

// WebAuthnName is what a device shows of the account.
func (o passkeyOwner) WebAuthnName() string { return o.Email }

// WebAuthnDisplayName is how the person is called.
func (o passkeyOwner) WebAuthnDisplayName() string { return o.Name }

// WebAuthnCredentials are the keys the user has.
func (o passkeyOwner) WebAuthnCredentials() []webauthn.Credential {
	credentials := make([]webauthn.Credential, len(o.keys))
	for i, key := range o.keys {
		credentials[i] = key.credential
	}
	return credentials
}

// relyingParty is this installation as devices know it: by the name of its host. A number is none; on the machine itself there is
// "localhost".
func (s *Service) relyingParty() (*webauthn.WebAuthn, error) {
	base, err := url.Parse(s.config.BaseURL)
	if err != nil || base.Hostname() == "" {
		return nil, errNoPasskeys
	}
	name := base.Hostname()
	if ip, err := netip.ParseAddr(name); err == nil {
		if !ip.IsLoopback() {
			return nil, errNoPasskeys
		}
		name = "localhost"
		port := base.Port()
		if base.Host = name; port != "" {
			base.Host = name + ":" + port
		}
	}
	return webauthn.New(&webauthn.Config{RPID: name, RPDisplayName: "Postrider", RPOrigins: []string{base.Scheme + "://" + base.Host},
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired}})
}

// question is what a device is asked: the options for the browser, and the name under which the answer is awaited.
type question struct {
	id      string
	options any
}

// ask keeps what was asked until it is answered.
func (s *Service) ask(tx *db.Tx, options any, asked *webauthn.SessionData) (question, error) {
	id := s.world.NewID()
	return question{id, options}, insertCeremony(tx, id, *asked, tx.Now().Add(ceremonyFor))
}

// takeCeremony returns what was asked, once.
func takeCeremony(tx *db.Tx, id string) (webauthn.SessionData, error) {
	tooLate := ErrTokenExpired.Saying("This took too long. Try again.")
	if !api.IsID(id) {
		return webauthn.SessionData{}, tooLate
	}
	asked, err := deleteCeremony(tx, id)
	return asked, db.OrMissing(err, tooLate)
}

// askForPasskey begins to add a passkey to the caller's account. The password must have been entered recently, and a second factor
// shown where there is one: a passkey stands for both from then on.
func (s *Service) askForPasskey(ctx context.Context, caller api.Caller) (asked question, err error) {
	party, err := s.relyingParty()
	if err != nil {
		return asked, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		session, user, err := mySession(tx, caller)
		if err != nil {
			return err
		}
		if !session.provedRecently(tx.Now()) {
			return ErrReauthenticate
		}
		keys, err := passkeysWithRoom(tx, user.ID)
		if err != nil {
			return err
		}
		owner := passkeyOwner{user, keys}
		options, data, err := party.BeginRegistration(owner, webauthn.WithExclusions(webauthn.Credentials(owner.WebAuthnCredentials()).CredentialDescriptors()))
		if err != nil {
			return fmt.Errorf("begin a passkey: %w", err)
		}
		asked, err = s.ask(tx, options, data)
		return err
	})
	return asked, err
}

// passkeysWithRoom returns the passkeys of a user who may add one, and lets nobody else add one meanwhile.
func passkeysWithRoom(tx *db.Tx, user UserID) ([]Passkey, error) {
	if _, err := lockUser(tx, user); err != nil {
		return nil, err
	}
	keys, err := selectPasskeys(tx, user)
	if err == nil && len(keys) >= maxPasskeys {
		err = errManyKeys
	}
	return keys, err
}

// addPasskey takes what the device answered.
func (s *Service) addPasskey(ctx context.Context, caller api.Caller, ceremony, name string, answer json.RawMessage) (key Passkey, err error) {
	party, err := s.relyingParty()
	if err != nil {
		return key, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return key, ErrInvalidCredentials.Because(err)
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		_, user, err := mySession(tx, caller)
		if err != nil {
			return err
		}
		asked, err := takeCeremony(tx, ceremony)
		if err != nil {
			return err
		}
		if _, err := passkeysWithRoom(tx, user.ID); err != nil { // several may have been asked for while there was room for one
			return err
		}
		credential, err := party.CreateCredential(passkeyOwner{User: user}, asked, parsed)
		if err != nil {
			return ErrInvalidCredentials.Because(err)
		}
		key = Passkey{ID: s.world.NewID(), User: user.ID, Name: name, CreatedAt: tx.Now(), credential: *credential}
		err = insertPasskey(tx, key)
		if errors.Is(err, db.ErrUnique) {
			return errKeyKnown
		}
		if err != nil {
			return err
		}
		return s.auditHome(tx, user, PasskeyAdded, caller.IP)
	})
	return key, err
}

// removePasskey forgets a passkey of the caller. The device may still offer it; it opens nothing any more.
func (s *Service) removePasskey(ctx context.Context, caller api.Caller, id string) error {
	if !api.IsID(id) {
		return api.NotFound("passkey")
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		session, user, err := mySession(tx, caller)
		if err != nil {
			return err
		}
		if !session.provedRecently(tx.Now()) {
			return ErrReauthenticate
		}
		removed, err := deletePasskey(tx, user.ID, id)
		if err != nil {
			return err
		}
		if !removed {
			return api.NotFound("passkey")
		}
		return s.auditHome(tx, user, PasskeyRemoved, caller.IP)
	})
}

// askAnyPasskey begins a sign-in by whatever passkey the person has.
func (s *Service) askAnyPasskey(ctx context.Context, from netip.Addr) (asked question, err error) {
	if err := s.checkAddress(from); err != nil {
		return asked, err
	}
	party, err := s.relyingParty()
	if err != nil {
		return asked, err
	}
	options, data, err := party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return asked, fmt.Errorf("begin a sign-in: %w", err)
	}
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		asked, err = s.ask(tx, options, data)
		return err
	})
	return asked, err
}

// signInByPasskey opens a session for whoever the answered passkey belongs to. Only the network address has tries to lose: until the
// answer is right, nobody knows whose account it is about.
func (s *Service) signInByPasskey(ctx context.Context, from Visitor, ceremony string, answer json.RawMessage) (opened, error) {
	if err := s.countTry(from.IP); err != nil {
		return opened{}, err
	}
	fresh := s.newToken()
	result := opened{token: fresh.text}
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		user, err := s.checkAnswer(tx, ceremony, answer)
		if err != nil {
			return err
		}
		result.session, err = s.openSession(tx, user, from, fresh, tx.Now())
		return err
	})
	if err == nil {
		s.giveBack(from.IP)
	}
	return result, err
}

// proveByPasskey refreshes the second factor of the caller's session by a passkey of theirs.
func (s *Service) proveByPasskey(ctx context.Context, caller api.Caller, ceremony string, answer json.RawMessage) (at time.Time, cookie string, err error) {
	fresh := s.newToken()
	err = s.proveFactor(ctx, caller, func(tx *db.Tx, session Session, user User) (verdict, error) {
		proved, err := s.checkAnswer(tx, ceremony, answer)
		if errors.Is(err, ErrInvalidCredentials) || err == nil && proved.ID != user.ID {
			return wrong, nil
		}
		if err != nil {
			return wrong, err
		}
		at = tx.Now()
		session.ReauthenticatedAt = at
		return right, noteFactor(tx, session, fresh)
	})
	return at, fresh.text, err
}

// checkAnswer returns whose passkey answered. A counter that went backwards is a copy of a key, and refused.
func (s *Service) checkAnswer(tx *db.Tx, ceremony string, answer json.RawMessage) (User, error) {
	party, err := s.relyingParty()
	if err != nil {
		return User{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return User{}, ErrInvalidCredentials.Because(err)
	}
	asked, err := takeCeremony(tx, ceremony)
	if err != nil {
		return User{}, err
	}
	var owner passkeyOwner
	credential, err := party.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
		if !api.IsID(string(handle)) {
			return nil, db.ErrNotFound
		}
		user, err := selectUser(tx, UserID(handle))
		if err != nil {
			return nil, err
		}
		keys, err := selectPasskeys(tx, user.ID)
		owner = passkeyOwner{user, keys}
		return owner, err
	}, asked, parsed)
	if err != nil || credential.Authenticator.CloneWarning {
		return User{}, ErrInvalidCredentials.Because(err)
	}
	return owner.User, updatePasskey(tx, owner.ID, *credential)
}
