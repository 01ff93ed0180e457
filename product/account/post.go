package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

// Lane holds mails to people that wait to be written. What is queued carries no secret: links are made when the mail is.
const Lane queue.Lane = "account_mail"

const (
	mailBatch = 20
	// mailLease outlives the slowest postman; a mail that is still on its way then goes out twice.
	mailLease = time.Minute
	// maxMailTries and mailRetry give a postman an hour and a half to recover.
	maxMailTries = 10
	mailRetry    = 10 * time.Minute
)

type mailKind string

const (
	verificationMail mailKind = "verification"
	resetMail        mailKind = "password_reset"
	invitationMail   mailKind = "invitation"
)

// mail is a mail to write: whom and what about.
type mail struct {
	Kind       mailKind `json:"kind"`
	User       UserID   `json:"user,omitempty"`
	Email      string   `json:"email,omitempty"`
	Invitation string   `json:"invitation,omitempty"`
}

func (s *Service) queueMail(tx *db.Tx, m mail) error {
	payload, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return queue.Add(tx, queue.Item{ID: s.world.NewID(), Lane: Lane, Rank: queue.Urgent, Due: tx.Now(), Payload: string(payload)})
}

// letter is a mail as it is handed to the postman.
type letter struct {
	to, subject, text, link string
}

// postMails claims queued mails, hands them to the postman, and settles.
func (s *Service) postMails(ctx context.Context) (bool, error) {
	return s.holder.Run(ctx, queue.Errand{Lane: Lane, Lease: mailLease, Batch: mailBatch, Retry: mailRetry, Tries: maxMailTries, Do: s.postMail,
		Failing: "account mail not posted"})
}

func (s *Service) postMail(ctx context.Context, item queue.Item) error {
	var m mail
	if err := json.Unmarshal([]byte(item.Payload), &m); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	var l letter
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		l, err = s.write(tx, m)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil // no such account, or the invitation has been withdrawn: nobody is to hear
	}
	if err != nil {
		return err
	}
	if s.config.Postman != nil {
		return s.config.Postman.Post(ctx, l.to, l.subject, l.text)
	}
	if s.config.Dev {
		s.world.Log.Info("account mail has no postman", "kind", string(m.Kind), "link", l.link)
		return nil
	}
	s.world.Log.Warn("account mail has no postman", "kind", string(m.Kind))
	return nil
}

// write makes the letter of a mail. Its links are good from now on.
func (s *Service) write(tx *db.Tx, m mail) (letter, error) {
	switch m.Kind {
	case verificationMail:
		return s.writeVerification(tx, m.User)
	case resetMail:
		return s.writeReset(tx, m.Email)
	case invitationMail:
		return s.writeInvitation(tx, m.Invitation)
	}
	panic(fmt.Sprintf("account: mail of kind %q", m.Kind))
}

func (s *Service) writeVerification(tx *db.Tx, id UserID) (letter, error) {
	user, err := selectUser(tx, id)
	if err != nil {
		return letter{}, err
	}
	link := s.link("/verify-email/", s.verificationToken(user, tx.Now().Add(verificationFor)))
	return letter{to: user.Email, subject: "Verify your email address", link: link,
		text: "Welcome. Please confirm that this address is yours:\n\n" + link + "\n\nThe link is good for three days.\n"}, nil
}

func (s *Service) writeReset(tx *db.Tx, email string) (letter, error) {
	user, err := selectUserByEmail(tx, email)
	if err != nil {
		return letter{}, err
	}
	link := s.link("/reset/", s.resetToken(user, tx.Now().Add(resetFor)))
	return letter{to: user.Email, subject: "Set a new password", link: link,
		text: "Somebody, probably you, asked for a new password. Set one here:\n\n" + link +
			"\n\nThe link is good for one hour. If it was not you, do nothing: your password stays as it is.\n"}, nil
}

func (s *Service) writeInvitation(tx *db.Tx, id string) (letter, error) {
	i, err := selectInvitation(tx, id)
	if err != nil {
		return letter{}, err
	}
	link := s.link("/invite/", s.keyring.Sign(invitationPurpose, []byte(i.ID), i.ExpiresAt))
	return letter{to: i.Email, subject: "You are invited to " + i.WorkspaceName, link: link,
		text: i.InviterName + " invites you to the workspace " + i.WorkspaceName + " as " + string(i.Role) + ". Join here:\n\n" + link +
			"\n\nThe invitation is good for seven days.\n"}, nil
}
