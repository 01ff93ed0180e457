package audience

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/platform/space"
)

const (
	// ConfirmPath is where confirmation links lead, below the address of the installation.
	ConfirmPath = "/v1/audience/confirm/"
	// linkPurpose keeps confirmation links apart from other signed tokens.
	linkPurpose = "audience/confirm"
	// linkVersion begins every token, so that its form can change one day.
	linkVersion = "v1."
	// linkFor is how long somebody may take to confirm.
	linkFor = 7 * 24 * time.Hour
	// maxToken is far above the longest token we make; what is longer is not ours.
	maxToken = 2048
)

// claims is what a confirmation link stands for: who, and to which list.
type claims struct {
	Workspace space.ID  `json:"w"`
	Contact   ContactID `json:"c"`
	List      ListID    `json:"l"`
	Address   string    `json:"e"`
	Expires   int64     `json:"exp"`
	Nonce     string    `json:"n"`
}

// link returns the address at which somebody confirms. Nobody can read from it whom it is for.
func (s *Service) link(c Contact, l List, nonce string, now time.Time) (url string, expires time.Time) {
	expires = now.Add(linkFor).Truncate(time.Second)
	raw, err := json.Marshal(claims{c.Workspace, c.ID, l.ID, c.Address, expires.Unix(), nonce})
	if err != nil {
		panic(fmt.Sprintf("audience: link: %v", err))
	}
	return s.parts.BaseURL + ConfirmPath + linkVersion + s.parts.Keys.Sign(linkPurpose, raw, expires), expires
}

// readLink returns what a token stands for, or ErrLink or ErrLinkExpired.
func (s *Service) readLink(token string) (c claims, err error) {
	sealed, ok := strings.CutPrefix(token, linkVersion)
	if !ok || len(token) > maxToken {
		return c, ErrLink
	}
	raw, err := s.parts.Keys.Verify(linkPurpose, sealed, s.world.Clock.Now())
	switch {
	case errors.Is(err, seal.ErrExpired):
		return c, ErrLinkExpired
	case err != nil || json.Unmarshal(raw, &c) != nil:
		return c, ErrLink
	}
	return c, nil
}

// confirmation is what a link is about, and what became of it.
type confirmation struct {
	claims
	// Sender is the name of the workspace.
	Sender, ListName, RedirectURL string
	// Done is false for somebody who has only looked.
	Done bool

	contact Contact
	list    List
	member  Membership
}

// lookAt reads what a link is about, and locks it for whoever changes it. A contact who has gone or has another address now, and a list
// that has gone, make it void; so does having left the list, or everything, after the link was sent.
func (s *Service) lookAt(tx *db.Tx, token string, lockThem bool) (c confirmation, err error) {
	if c.claims, err = s.readLink(token); err != nil {
		return c, err
	}
	workspace, err := s.parts.Accounts.Workspace(tx, c.Workspace)
	if errors.Is(err, db.ErrNotFound) {
		return c, ErrLink
	}
	if err != nil {
		return c, err
	}
	c.Sender = workspace.Name
	find, member := find, findMembership
	if lockThem {
		find, member = lock, lockMembership
	}
	if c.contact, err = find(tx, c.Workspace, string(c.Contact)); err != nil {
		return c, orBroken(err)
	}
	if c.list, err = lists.find(tx, c.Workspace, string(c.List)); err != nil {
		return c, orBroken(err)
	}
	if c.member, err = member(tx, c.list.Number, c.contact.Number); err != nil {
		return c, orBroken(err)
	}
	issued := time.Unix(c.Expires, 0).Add(-linkFor)
	if c.contact.Address != c.Address || c.contact.LeftAt.After(issued) || c.member.Status == Unsubscribed && c.member.UnsubscribedAt.After(issued) {
		return c, ErrLink
	}
	c.ListName, c.RedirectURL = c.list.Name, c.list.Confirmation.RedirectURL
	c.Done = c.member.Status == Subscribed
	return c, nil
}

func orBroken(err error) error {
	if errors.Is(err, ErrContactNotFound) || errors.Is(err, ErrListNotFound) || errors.Is(err, db.ErrNotFound) {
		return ErrLink
	}
	return err
}

// confirm subscribes whom the link is for, as often as it is asked.
func (s *Service) confirm(ctx context.Context, token string, caller api.Caller) (c confirmation, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if c, err = s.lookAt(tx, token, true); err != nil || c.Done {
			return err
		}
		c.Done = true
		consent := &Consent{Source: "double_opt_in", IP: ipText(caller), UserAgent: cut(caller.UserAgent, maxConsent), At: tx.Now()}
		c.member.ConfirmedAt, c.member.Consent, c.contact.Consent = tx.Now(), consent, consent
		if c.member.SubscribedAt.IsZero() {
			c.member.SubscribedAt = tx.Now()
		}
		c.contact.comeBack()
		if err := s.change(tx, &c.contact, c.member, Subscribed); err != nil {
			return err
		}
		if err := s.parts.Suppressions.Resubscribe(tx, c.Workspace, []string{c.contact.Address}); err != nil {
			return err
		}
		known, err := loadSchema(tx, c.Workspace)
		if err != nil {
			return err
		}
		_, err = s.tell(tx, known, c.contact, confirmedEvent)
		return err
	})
	return c, err
}

func ipText(caller api.Caller) string {
	if !caller.IP.IsValid() {
		return ""
	}
	return caller.IP.String()
}

// cut shortens text that others wrote, without NUL characters, which no engine keeps.
func cut(text string, most int) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}
