package email

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"postrider/mail/address"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// Erasure is what a batch has forgotten.
type Erasure struct {
	Erased int64
	// UnderWay means that some mail still waits to be sent. It is forgotten once it has ended.
	UnderWay bool
	// More tells to go on with mail that stands before Place.
	More  bool
	Place db.Place
}

// erasedHost stands for the domain of an address that was forgotten; nobody can have it (RFC 2606).
const erasedHost = "@erased.invalid"

// Erase forgets a recipient of some mails that stand before a place, the newest first: the address and what was said about it, and all
// that the mail says if it went to nobody else. That a mail was sent, and when, stays.
func (s *Service) Erase(tx *db.Tx, ws space.ID, key string, place db.Place, limit int) (done Erasure, err error) {
	found, err := selectWordsBefore(tx, ws, db.Words(key), place, limit)
	if err != nil || len(found) == 0 {
		return done, err
	}
	last := found[len(found)-1]
	done.More, done.Place = len(found) == limit, db.Place{At: last.CreatedAt, ID: string(last.ID)}
	for _, e := range found {
		recipients, err := selectRecipients(tx, ws, e.ID)
		if err != nil {
			return done, err
		}
		var named, others []Recipient
		for _, r := range recipients {
			if keyOf(r.Address) == key {
				named = append(named, r)
			} else {
				others = append(others, r)
			}
		}
		switch {
		case len(named) == 0: // only its words were alike
		case slices.ContainsFunc(named, func(r Recipient) bool { return !r.State.Terminal() }):
			done.UnderWay = true
		default:
			done.Erased++
			if err := s.eraseFrom(tx, e, named, len(others) == 0); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

func keyOf(text string) string {
	a, err := address.Parse(text)
	if err != nil {
		return text
	}
	return a.Key()
}

// erasedAddress stands for an address. It is the same for the same one, so that counts of recipients stay true.
func erasedAddress(ws space.ID, key string) string {
	sum := sha256.Sum256([]byte(string(ws) + "\x00" + key))
	return hex.EncodeToString(sum[:8]) + erasedHost
}

// eraseFrom forgets recipients of one mail. alone means that it went to nobody else.
func (s *Service) eraseFrom(tx *db.Tx, e Email, named []Recipient, alone bool) error {
	before := e
	for _, r := range named {
		if err := eraseRecipient(tx, r, erasedAddress(e.Workspace, keyOf(r.Address))); err != nil {
			return err
		}
		told, err := event.Redact(tx, e.Workspace, string(e.ID), r.Address, tx.Now())
		if err != nil {
			return err
		}
		if err := s.webhooks.Forget(tx, e.Workspace, told); err != nil {
			return err
		}
		gone := func(text string) bool { return keyOf(text) == keyOf(r.Address) }
		for _, list := range []*[]string{&e.Addresses.To, &e.Addresses.Cc, &e.Addresses.Bcc} {
			*list = slices.DeleteFunc(slices.Clone(*list), gone)
		}
	}
	if alone {
		e.Subject, e.Metadata, e.Attachments = "", nil, 0
		if err := eraseContent(tx, e.Workspace, e.ID); err != nil {
			return err
		}
	}
	if err := tx.UnindexWords("email_search", db.Document{Space: string(before.Workspace), ID: string(before.ID), At: before.CreatedAt}); err != nil {
		return err
	}
	if err := tx.IndexWords("email_search", db.Document{Space: string(e.Workspace), ID: string(e.ID), At: e.CreatedAt, Words: wordsOf(e)}); err != nil {
		return err
	}
	return eraseEmail(tx, e)
}
