package account

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
)

// maxName bounds the names of people and workspaces.
const maxName = 80

// SignUp is somebody's request for an account. With an invitation they join its workspace, without they get one of their own.
type SignUp struct {
	Email         string `json:"email" example:"owner@acme.test"`
	Password      string `json:"password" doc:"At least ten characters."`
	Name          string `json:"name" example:"Olga"`
	WorkspaceName string `json:"workspace_name" example:"Acme"`
	InviteToken   string `json:"invite_token,omitempty"`
}

func (in SignUp) check() (string, error) {
	var wrong api.Fields
	email := checkAddressField(&wrong, in.Email)
	checkPassword(&wrong, "password", in.Password)
	api.CheckName(&wrong, "name", in.Name, maxName)
	if in.InviteToken == "" {
		api.CheckName(&wrong, "workspace_name", in.WorkspaceName, maxName)
	}
	return email, wrong.Err()
}

func checkAddressField(wrong *api.Fields, text string) string {
	parsed, err := address.Parse(text)
	switch {
	case err != nil:
		wrong.Add("email", "Must be an email address: "+err.Error()+".")
	case parsed.Name != "":
		wrong.Add("email", "Must be a plain email address.")
	}
	return parsed.Key()
}

// signUp makes an account and signs it in. The first account of the instance becomes its operator.
func (s *Service) signUp(ctx context.Context, from Visitor, in SignUp) (opened, error) {
	if s.config.InviteOnly && in.InviteToken == "" {
		return opened{}, ErrSignUpClosed
	}
	email, err := in.check()
	if err != nil {
		return opened{}, err
	}
	// Every sign-up counts as a try: its answer tells whether an address has an account, and it costs a hash.
	if err := s.countTry(from.IP); err != nil {
		return opened{}, err
	}
	password, err := s.passwords.hash(ctx, in.Password)
	if err != nil {
		return opened{}, err
	}
	fresh := s.newToken()
	result := opened{token: fresh.text}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if in.InviteToken != "" { // first: who is not invited must not learn who has an account
			if _, err := s.invitationFor(tx, in.InviteToken, email); err != nil {
				return err
			}
		}
		user, err := s.createUser(tx, User{Email: email, Name: strings.TrimSpace(in.Name), password: password})
		if err != nil {
			return err
		}
		if err := s.settle(tx, &user, in, from.IP); err != nil {
			return err
		}
		if user.VerifiedAt.IsZero() {
			if err := s.queueMail(tx, mail{Kind: verificationMail, User: user.ID}); err != nil {
				return err
			}
		}
		result.session, err = s.openSession(tx, user, from, fresh, time.Time{})
		return err
	})
	return result, err
}

// settle gives a new user a place: the workspace they are invited to, or one of their own.
func (s *Service) settle(tx *db.Tx, user *User, in SignUp, from netip.Addr) error {
	if in.InviteToken != "" {
		_, err := s.join(tx, user, in.InviteToken, from)
		return err
	}
	_, err := s.addWorkspace(tx, newWorkspace{name: in.WorkspaceName, plan: s.config.SignUpPlan, owner: user.ID, from: from})
	return err
}

func (s *Service) createUser(tx *db.Tx, user User) (User, error) {
	user.ID, user.CreatedAt, user.passwordChangedAt = UserID(s.world.NewID()), tx.Now(), tx.Now()
	user.Locale, user.Timezone = defaultLocale, defaultTimezone
	founder, err := claimFounder(tx, user.ID)
	if err != nil {
		return User{}, err
	}
	user.Operator = founder
	err = insertUser(tx, user)
	if errors.Is(err, db.ErrUnique) {
		return User{}, errAddressTaken
	}
	return user, err
}
