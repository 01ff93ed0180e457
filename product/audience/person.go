package audience

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
	"postrider/product/plan"
)

// Find returns a contact by its id or its address, or ErrContactNotFound.
func (s *Service) Find(tx *db.Tx, ws space.ID, idOrEmail string) (Contact, error) {
	return find(tx, ws, idOrEmail)
}

// Ensure returns the contact of an address, made if it is missing and the plan has room: an event is how it came. A contact that is there
// stays as it is.
func (s *Service) Ensure(tx *db.Tx, ws space.ID, on plan.Name, email string) (c Contact, created bool, err error) {
	to, err := address.Parse(email)
	if err != nil {
		return c, false, api.Invalid("email", fmt.Sprintf("Not an email address: %s.", err))
	}
	return s.put(tx, ws, on, wish{address: to.Key(), presumed: &Consent{Source: "event", At: tx.Now()}}, skip)
}

// put saves one wish and tells of it.
func (s *Service) put(tx *db.Tx, ws space.ID, on plan.Name, w wish, when conflict) (c Contact, created bool, err error) {
	limit, err := s.limitOf(string(on))
	if err != nil {
		return c, false, err
	}
	known, err := loadSchema(tx, ws)
	if err != nil {
		return c, false, err
	}
	outcomes, err := s.save(tx, ws, known, limit, []wish{w}, when)
	if err != nil {
		return c, false, err
	}
	one := outcomes[0]
	switch {
	case one.full:
		return c, false, s.fullError(tx, ws, string(on), limit)
	case one.skipped:
		return *one.Contact, false, nil
	case one.created:
		_, err = s.tell(tx, known, *one.Contact, createdEvent)
	default:
		_, err = s.tell(tx, known, *one.Contact, updatedEvent)
	}
	return *one.Contact, one.created, err
}

// Change is what is to be different in a contact. Nil and empty say nothing.
type Change struct {
	FirstName, LastName *string
	// Properties are by key; null takes a value away.
	Properties map[string]json.RawMessage
	// Lists are ids of lists to join. Who left a list does not come back by it.
	Lists []string
	// Topics are what the contact says, by the id of the topic; Segments the ids of those to be put into by hand.
	Topics       map[string]Subscription
	Segments     []string
	Unsubscribed *bool
}

// Change changes a contact and tells of it.
func (s *Service) Change(tx *db.Tx, ws space.ID, id ContactID, change Change) (Contact, error) {
	c, err := lock(tx, ws, string(id))
	if err != nil {
		return c, err
	}
	known, err := loadSchema(tx, ws)
	if err != nil {
		return c, err
	}
	body := contactChange{Properties: change.Properties, ListIDs: change.Lists, Unsubscribed: change.Unsubscribed}
	for topic, subscription := range change.Topics {
		body.Topics = append(body.Topics, topicWish{topic, subscription})
	}
	for _, segment := range change.Segments {
		body.Segments = append(body.Segments, named(segment))
	}
	if change.FirstName != nil {
		body.FirstName = api.Optional[string]{Value: *change.FirstName, Set: true}
	}
	if change.LastName != nil {
		body.LastName = api.Optional[string]{Value: *change.LastName, Set: true}
	}
	var wrong api.Fields
	w := body.check(&wrong, tx.Now())
	w.address = c.Address
	body.resolve(&wrong, known, &w)
	if err := wrong.Err(); err != nil {
		return c, err
	}
	outcomes, err := s.save(tx, ws, known, nil, []wish{w}, update)
	if err != nil {
		return c, err
	}
	_, err = s.tell(tx, known, *outcomes[0].Contact, updatedEvent)
	return *outcomes[0].Contact, err
}

// LeaveList takes a contact off a list, as if it had never been on it, and tells of it. It returns whether it was.
func (s *Service) LeaveList(tx *db.Tx, ws space.ID, id ContactID, list string) (bool, error) {
	c, err := lock(tx, ws, string(id))
	if err != nil {
		return false, err
	}
	l, err := lists.find(tx, ws, list)
	if err != nil {
		return false, err
	}
	m, err := lockMembership(tx, l.Number, c.Number)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	gap := newCounts()
	gap.move(l.Number, m.Status, "")
	c.count(m.Status, -1)
	c.settle()
	c.UpdatedAt = tx.Now()
	if err := errors.Join(deleteMembership(tx, l.Number, c.Number), updateContact(tx, c), gap.save(tx)); err != nil {
		return true, err
	}
	known, err := loadSchema(tx, ws)
	if err != nil {
		return true, err
	}
	_, err = s.tell(tx, known, c, updatedEvent)
	return true, err
}

// JoinedSince tells whether a contact has joined a list, or confirmed that, since a moment.
func (s *Service) JoinedSince(tx *db.Tx, ws space.ID, list string, id ContactID, moment time.Time) (bool, error) {
	return hasJoined(tx, ws, list, id, moment)
}

// LeaveSegment takes a contact out of a segment, for good, and tells of it. It returns whether it was in.
func (s *Service) LeaveSegment(tx *db.Tx, ws space.ID, id ContactID, segment string) (bool, error) {
	c, err := lock(tx, ws, string(id))
	if err != nil {
		return false, err
	}
	g, err := segments.lock(tx, ws, segment)
	if err != nil {
		return false, err
	}
	known, err := loadSchema(tx, ws)
	if err != nil {
		return false, err
	}
	was, err := takeOut(tx, known, g, c)
	if err != nil || !was {
		return was, err
	}
	_, err = s.tell(tx, known, c, updatedEvent)
	return was, err
}

// CheckRules tells what is wrong with a tree of rules that may also ask about an event, as the error of a field.
func (s *Service) CheckRules(tx *db.Tx, ws space.ID, field string, rules json.RawMessage) error {
	known, err := loadSchema(tx, ws)
	if err != nil {
		return err
	}
	known.Events = true
	_, err = filter.Parse(rules, known.Schema)
	return wrongFilter(field, err)
}

// Matches tells whether a tree of rules is true of a contact and of what an event says. Without a contact only rules about the event
// can be true.
func (s *Service) Matches(tx *db.Tx, ws space.ID, rules json.RawMessage, id ContactID, happened map[string]any) (bool, error) {
	names, err := s.Names(tx, ws)
	if err != nil {
		return false, err
	}
	return names.Matches(tx, ws, rules, id, happened)
}

// Recipient returns a contact as mail is made for it.
func (s *Service) Recipient(tx *db.Tx, ws space.ID, id ContactID) (Recipient, error) {
	c, err := find(tx, ws, string(id))
	if err != nil {
		return Recipient{}, err
	}
	known, err := loadSchema(tx, ws)
	if err != nil {
		return Recipient{}, err
	}
	recipients, err := asRecipients(tx, known, []Contact{c})
	if err != nil {
		return Recipient{}, err
	}
	return recipients[0], nil
}
