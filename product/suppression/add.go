package suppression

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// Entry is an address to put on the list.
type Entry struct {
	Workspace space.ID
	// Address may be in any spelling.
	Address string
	Reason  Reason
	// Detail is written as JSON; nil means that there is nothing to tell.
	Detail any
	// EmailID is the email that led to the entry, DomainID and TenantID whose it was. They may be empty.
	EmailID, DomainID, TenantID string
	Note                        string
	// ExpiresAt is when the address may be mailed again; zero means never.
	ExpiresAt time.Time
	CreatedBy string
}

// BounceDetail is the detail of an entry that a mail server caused.
type BounceDetail struct {
	Class    string `json:"class"`
	Category string `json:"category"`
	SMTPCode *int   `json:"smtp_code"`
	Enhanced string `json:"enhanced_code"`
	Message  string `json:"message"`
}

// Added is what became of an entry.
type Added struct {
	Suppression
	// Created is false if the address was on the list already; then Suppression is what the two have become.
	Created bool
}

// place is where an address stands: once in a workspace.
type place struct {
	workspace space.ID
	address   string
}

// AddMany puts addresses on the lists of their workspaces and tells of it, all in one transaction. It returns what became of each
// entry, in their order. An address that is on the list already stays there; see absorb for what a second reason does to it.
func (s *Service) AddMany(tx *db.Tx, entries []Entry) ([]Added, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	book, err := s.open(tx, entries)
	if err != nil {
		return nil, err
	}
	added := make([]Added, len(entries))
	for i, e := range entries {
		if added[i].Created, err = book.add(e); err != nil {
			return nil, err
		}
	}
	if err := book.save(); err != nil {
		return nil, err
	}
	for i, e := range entries {
		added[i].Suppression = *book.rows[place{e.Workspace, Key(e.Address)}]
	}
	return added, nil
}

// book is the part of the lists that one transaction writes to.
type book struct {
	service *Service
	tx      *db.Tx
	rows    map[place]*Suppression
	events  []event.Event

	created []*Suppression
	changed map[place]*Suppression
	ended   []ID // expired, and added again before they were swept
	counts  counts
}

// open locks what the lists have of the addresses, so that two transactions cannot both strengthen an entry.
func (s *Service) open(tx *db.Tx, entries []Entry) (*book, error) {
	b := &book{service: s, tx: tx, rows: map[place]*Suppression{}, changed: map[place]*Suppression{}, counts: counts{}}
	mailboxes, places := make([]mailbox, len(entries)), map[mailbox]place{}
	for i, e := range entries {
		at := place{e.Workspace, Key(e.Address)}
		mailboxes[i] = mailboxOf(at.workspace, at.address)
		places[mailboxes[i]] = at
	}
	found, err := lockMailboxes(tx, mailboxes)
	for i := range found {
		b.rows[places[found[i].mailbox()]] = &found[i]
	}
	return b, err
}

func (b *book) add(e Entry) (created bool, err error) {
	entry, err := b.newSuppression(e)
	if err != nil {
		return false, err
	}
	at := place{entry.Workspace, entry.Address}
	known := b.rows[at]
	if known != nil && known.expired(b.tx.Now()) {
		b.ended = append(b.ended, known.ID)
		b.counts.add(known, -1)
		b.tell(known, removedEvent)
		known = nil
	}
	if known == nil {
		b.rows[at] = &entry
		b.created = append(b.created, &entry)
		b.counts.add(&entry, 1)
		b.tell(&entry, addedEvent)
		return true, nil
	}
	before := *known
	switch known.absorb(entry) {
	case strengthened:
		b.counts.add(&before, -1)
		b.counts.add(known, 1)
		b.tell(known, addedEvent)
		b.changed[at] = known
	case amended:
		b.changed[at] = known
	}
	return false, nil
}

func (b *book) newSuppression(e Entry) (Suppression, error) {
	if !e.Reason.known() {
		panic(fmt.Sprintf("suppression: %q is no reason", e.Reason))
	}
	entry := Suppression{ID: ID(b.service.world.NewID()), Workspace: e.Workspace, Address: Key(e.Address), Reason: e.Reason,
		EmailID: e.EmailID, DomainID: e.DomainID, TenantID: e.TenantID, Note: e.Note, CreatedBy: e.CreatedBy,
		CreatedAt: b.tx.Now(), ExpiresAt: e.ExpiresAt.Truncate(time.Microsecond)}
	if e.Detail == nil {
		return entry, nil
	}
	detail, err := json.Marshal(e.Detail)
	if err != nil {
		return entry, fmt.Errorf("detail of a %s: %w", e.Reason, err)
	}
	entry.Detail = detail
	return entry, nil
}

func (b *book) tell(row *Suppression, kind string) {
	b.events = append(b.events, b.service.newEvent(*row, kind, b.tx.Now()))
}

func (b *book) save() error {
	if len(b.ended) > 0 {
		if err := deleteExpired(b.tx, b.ended); err != nil {
			return err
		}
	}
	// Two transactions that add the same addresses in two orders would wait for each other.
	slices.SortFunc(b.created, func(x, y *Suppression) int {
		return cmp.Or(cmp.Compare(x.Workspace, y.Workspace), cmp.Compare(x.Address, y.Address))
	})
	n, err := insertSuppressions(b.tx, b.created)
	if err != nil {
		return err
	}
	if int(n) < len(b.created) {
		return db.ErrConflict // another transaction has just added one of them; the next try will see it
	}
	for _, row := range b.changed {
		if err := updateSuppression(b.tx, *row); err != nil {
			return err
		}
	}
	if err := b.counts.save(b.tx); err != nil {
		return err
	}
	return event.Append(b.tx, b.events...)
}
