// Package suppression knows whom a workspace does not mail: addresses that bounced, people who complained or unsubscribed, and
// those that the workspace itself has put on the list. It also makes and honours the links by which people unsubscribe.
//
// The list belongs to the whole workspace. An address stands on it once, in the form in which spellings are equal.
//
//	Owns     suppression, suppression_total, suppression_strike
//	Emits    suppression.added, suppression.removed
package suppression

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/world"
)

// ID names an entry of the list.
type ID string

// Suppression is an address that is not mailed.
type Suppression struct {
	ID        ID
	Workspace space.ID
	// Address is the form in which all spellings of the address are equal; see Key.
	Address string
	Reason  Reason
	// Detail is what happened, as JSON; nil if there is nothing to tell.
	Detail json.RawMessage
	// EmailID is the email that led to the entry, DomainID and TenantID whose it was. They may be empty.
	EmailID, DomainID, TenantID string
	Note                        string
	// Hits counts the mails that the entry has stopped.
	Hits int64
	// CreatedBy is the id of the user or the key that added the entry; empty if it came by itself.
	CreatedBy string

	// ExpiresAt is zero for an entry without an end. From then on the address is not on the list.
	CreatedAt, ExpiresAt, LastHitAt time.Time
}

// ErrNotFound means that the workspace's list does not have the address.
var ErrNotFound = api.NotFound("suppression")

// Parts are the services below, and what slices above do for this one, that suppressions are made of.
type Parts struct {
	Keys     *seal.Keyring
	Accounts *account.Service
	// BaseURL is where people reach the installation.
	BaseURL string
	// Preferences knows topics and lists. Without it every unsubscription is from everything.
	Preferences Preferences
	// Unsubscribed is told, in the transaction, of each person who unsubscribes; nil if nobody wants to know.
	Unsubscribed func(tx *db.Tx, u Unsubscription) error
}

// Service keeps the lists.
type Service struct {
	world world.World
	db    *db.DB
	parts Parts
}

// New returns the service of one process.
func New(w world.World, d *db.DB, parts Parts) *Service {
	return &Service{world: w, db: d, parts: parts}
}

// Key returns the form in which all spellings of an address are equal: the local part in lower case, the domain as lower-case
// A-labels. What is no address is compared in lower case.
func Key(text string) string {
	a, err := address.Parse(text)
	if err != nil {
		return strings.ToLower(strings.TrimSpace(text))
	}
	return a.Key()
}

func hostOf(key string) string { return key[strings.LastIndexByte(key, '@')+1:] }

func (s Suppression) expired(now time.Time) bool {
	return !s.ExpiresAt.IsZero() && !s.ExpiresAt.After(now)
}

// Blocks tells whether the entry stops a mail. Who unsubscribed gets no bulk mail, but a password reset must still arrive.
func (s Suppression) Blocks(bulk bool) bool { return bulk || s.Reason != Unsubscribe }

// Why returns the word by which events name the cause of a stopped mail, and a sentence for people.
func (s Suppression) Why() (reason, message string) {
	on := s.CreatedAt.UTC().Format(time.DateOnly)
	switch s.Reason {
	case Bounce:
		return "previous_bounce", fmt.Sprintf("The address bounced on %s.", on)
	case Complaint:
		return "previous_complaint", fmt.Sprintf("The recipient reported a message as spam on %s.", on)
	case Unsubscribe:
		return "unsubscribed", fmt.Sprintf("The recipient unsubscribed on %s.", on)
	case Invalid:
		return "manual", fmt.Sprintf("The address was marked as invalid on %s.", on)
	}
	return "manual", fmt.Sprintf("The address was put on the suppression list on %s.", on)
}
