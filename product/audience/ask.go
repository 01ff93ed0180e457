package audience

import (
	"context"
	"errors"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/email"
	"postrider/product/suppression"
)

const (
	// ConfirmationLane is the queue of people to be asked to confirm.
	ConfirmationLane queue.Lane = "audience_confirmation"
	// askAgainAfter and maxAsked within askedWindow keep people from being pestered.
	askAgainAfter = 10 * time.Minute
	maxAsked      = 3
	askedWindow   = 7 * 24 * time.Hour
	// askPage is how many members of a list one transaction looks at.
	askPage = 1000
	// askBatch is how many letters a step hands in, askLease longer than that can take.
	askBatch = 50
	askLease = time.Minute
	// askFor is how long handing in a letter is tried: a plan may have no room for it today.
	askFor      = 7 * 24 * time.Hour
	askRetry    = 5 * time.Minute
	maxAskTries = int(askFor / askRetry)
)

// recently returns how long to wait before a member may be asked again; 0 means not at all.
func (m Membership) recently(now time.Time) time.Duration {
	var wait time.Duration
	lately := 0
	for _, at := range m.asked {
		if age := now.Sub(at); age < askedWindow {
			lately++
			wait = max(wait, askAgainAfter-age)
		}
	}
	if lately >= maxAsked {
		wait = max(wait, askedWindow-now.Sub(m.asked[len(m.asked)-maxAsked]))
	}
	return wait
}

// note remembers that a member was asked.
func (m *Membership) note(at time.Time) {
	m.asked = append(m.asked, at)
	if len(m.asked) > maxAsked {
		m.asked = m.asked[len(m.asked)-maxAsked:]
	}
}

// wayOfAsking is how one person is asked, where that differs from what the list says.
type wayOfAsking struct {
	From     string `json:"from,omitempty"`
	Template string `json:"template_id,omitempty"`
}

// asked is the answer to somebody who has one contact asked.
type asked struct {
	contact ContactID
	list    ListID
	email   email.ID
	expires time.Time
}

// askOne asks one contact to confirm being on a list, at once.
func (s *Service) askOne(ctx context.Context, sender email.Sender, ws space.ID, name, listID string, way wayOfAsking) (a asked, err error) {
	var c Contact
	var l List
	nonce := s.world.NewID()
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if c, err = find(tx, ws, name); err != nil {
			return err
		}
		l, err = lists.find(tx, ws, listID)
		return err
	})
	if err != nil {
		return a, err
	}
	draft, expires, err := s.letter(ctx, sender, c, l, nonce, way)
	if err != nil {
		return a, err
	}
	if err := s.db.Write(ctx, func(tx *db.Tx) error { return s.noteAsked(tx, ws, l, c) }); err != nil {
		return a, err
	}
	receipt, _, err := s.parts.Emails.Accept(ctx, sender, draft, api.Idempotency{})
	if err != nil {
		// Whoever asked may have gone, which is why the letter was not accepted.
		return a, errors.Join(err, s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error { return forgetAsked(tx, l, c) }))
	}
	return asked{c.ID, l.ID, receipt.ID, expires}, nil
}

// noteAsked remembers that a contact is asked, if that may be.
func (s *Service) noteAsked(tx *db.Tx, ws space.ID, l List, c Contact) error {
	m, err := lockMembership(tx, l.Number, c.Number)
	if errors.Is(err, db.ErrNotFound) {
		return ErrContactNotFound.Saying("The contact is not on this list.")
	}
	if err != nil {
		return err
	}
	if m.Status != Pending {
		return api.ErrInvalidState.Saying("The contact is not waiting for a confirmation.").With("current", m.Status).With("allowed", []Status{Pending})
	}
	reason, err := s.suppressionOf(tx, ws, c.Address)
	if err != nil {
		return err
	}
	if stopped(reason) {
		return api.ErrInvalidState.Saying("The address is on the suppression list.").With("current", "suppressed").With("allowed", []Status{Pending})
	}
	if wait := m.recently(tx.Now()); wait > 0 {
		return api.ErrRateLimit.Saying("The contact was asked a short while ago.").After(wait).
			With("retry_after_sec", api.WholeSeconds(wait)).With("bucket", "confirmation").With("limit", maxAsked)
	}
	m.note(tx.Now())
	return saveMemberships(tx, []Membership{m})
}

// stopped tells whether an address cannot be mailed at all. Who unsubscribed may ask to come back.
func stopped(reason suppression.Reason) bool {
	return reason != "" && reason != suppression.Unsubscribe
}

// forgetAsked takes back that a contact was asked, because no letter went out.
func forgetAsked(tx *db.Tx, l List, c Contact) error {
	m, err := lockMembership(tx, l.Number, c.Number)
	if err != nil || len(m.asked) == 0 {
		return err
	}
	m.asked = m.asked[:len(m.asked)-1]
	return saveMemberships(tx, []Membership{m})
}

// askCounts says what became of the wish to ask many.
type askCounts struct {
	Queued  int64      `json:"queued" example:"42"`
	Skipped askSkipped `json:"skipped"`
}

type askSkipped struct {
	Confirmed  int64 `json:"already_confirmed" example:"3"`
	Suppressed int64 `json:"suppressed" example:"1"`
	Recently   int64 `json:"recently_sent" example:"2"`
	// Left are those who left the list. They are not asked back.
	Left int64 `json:"unsubscribed" example:"0"`
}

// askMany queues letters to the members of a list who have not confirmed: to those contacts, or to all if contacts is nil. A long list is
// worked off page by page, each in its own transaction.
func (s *Service) askMany(ctx context.Context, caller api.Caller, l List, contacts []int64) (counts askCounts, err error) {
	after := int64(0)
	for more := true; more && err == nil; {
		var page askCounts
		var last int64
		err = s.db.Write(ctx, func(tx *db.Tx) error {
			page, last = askCounts{}, 0
			members, err := lockMembers(tx, l.Number, after, contacts, askPage)
			if err != nil {
				return err
			}
			if more = len(members) == askPage; len(members) > 0 {
				last = members[len(members)-1].Contact
			}
			return s.ask(tx, caller.Workspace, l, letterOf(caller), members, &page)
		})
		after = last
		counts.Queued += page.Queued
		counts.Skipped.Confirmed += page.Skipped.Confirmed
		counts.Skipped.Suppressed += page.Skipped.Suppressed
		counts.Skipped.Recently += page.Skipped.Recently
		counts.Skipped.Left += page.Skipped.Left
	}
	return counts, err
}

// letterItem is a letter that waits to be handed in.
type letterItem struct {
	Workspace space.ID `json:"w"`
	List      ListID   `json:"l"`
	Contact   int64    `json:"c"`
	Plan      string   `json:"p"`
	KeyID     string   `json:"k,omitempty"`
	Domains   []string `json:"d,omitempty"` // those the key is restricted to
	Test      bool     `json:"t,omitempty"`
}

func letterOf(caller api.Caller) letterItem {
	return letterItem{Workspace: caller.Workspace, Plan: caller.Plan, KeyID: caller.KeyID, Domains: caller.DomainIDs, Test: caller.Test}
}

// ask queues letters to those of the members who may be asked. The transaction has locked the memberships.
func (s *Service) ask(tx *db.Tx, ws space.ID, l List, letter letterItem, members []Membership, counts *askCounts) error {
	numbers := make([]int64, len(members))
	for i, m := range members {
		numbers[i] = m.Contact
	}
	found, err := selectContactsByNumber(tx, ws, numbers)
	if err != nil {
		return err
	}
	known := map[int64]Contact{}
	for _, c := range found {
		known[c.Number] = c
	}
	var noted []Membership
	var items []queue.Item
	for _, m := range members {
		switch {
		case m.Status == Subscribed:
			counts.Skipped.Confirmed++
		case m.Status == Unsubscribed:
			counts.Skipped.Left++
		case stopped(known[m.Contact].Suppression):
			counts.Skipped.Suppressed++
		case m.recently(tx.Now()) > 0:
			counts.Skipped.Recently++
		default:
			counts.Queued++
			m.note(tx.Now())
			letter.List, letter.Contact = l.ID, m.Contact
			noted = append(noted, m)
			items = append(items, queue.Item{ID: s.world.NewID(), Lane: ConfirmationLane, Rank: queue.Normal, Flow: string(ws), Due: tx.Now(), Payload: asJSON(letter)})
		}
	}
	if err := saveMemberships(tx, noted); err != nil || len(items) == 0 {
		return err
	}
	return queue.Add(tx, items...)
}

// askJoined queues letters to those of the contacts who have just joined the list of an import. Who was on it before was asked when they
// joined, and is not asked again by every import.
func (s *Service) askJoined(tx *db.Tx, known schema, im Import, contacts []Contact) error {
	l, err := known.listByID(string(im.List))
	if err != nil || !l.DoubleOptIn || len(contacts) == 0 {
		return nil // nobody has to confirm
	}
	members, err := lockMembers(tx, l.Number, 0, numbersOf(contacts), len(contacts))
	if err != nil {
		return err
	}
	members = slices.DeleteFunc(members, func(m Membership) bool { return m.SubscribedAt.Before(tx.Now()) })
	letter := letterItem{Workspace: l.Workspace, Plan: im.options.Plan, KeyID: im.options.KeyID, Domains: im.options.Domains, Test: im.options.Test}
	return s.ask(tx, l.Workspace, l, letter, members, &askCounts{})
}
