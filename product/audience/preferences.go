package audience

import (
	"errors"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/suppression"
)

// Describe names the topic and the list of an unsubscribe link, for the page behind it.
func (s *Service) Describe(tx *db.Tx, c suppression.Claims) (about suppression.About, err error) {
	if c.Topic != "" {
		t, err := topics.find(tx, c.Workspace, c.Topic)
		if err != nil && !errors.Is(err, ErrTopicNotFound) {
			return about, err
		}
		about.TopicName = t.Name
	}
	if c.List != "" {
		l, err := lists.find(tx, c.Workspace, c.List)
		if err != nil && !errors.Is(err, ErrListNotFound) {
			return about, err
		}
		about.ListName = l.Name
	}
	return about, nil
}

// Leave does what somebody wants who unsubscribes: it ends what they said yes to, and remembers that it was they who ended it.
func (s *Service) Leave(tx *db.Tx, u suppression.Unsubscription) (suppression.Left, error) {
	c, err := s.leaving(tx, u.Claims)
	if errors.Is(err, ErrContactNotFound) {
		return suppression.NothingToLeave, nil
	}
	if err != nil {
		return suppression.NothingToLeave, err
	}
	var left suppression.Left
	switch u.Scope {
	case suppression.FromTopic:
		left, err = s.leaveTopic(tx, &c, u.Topic)
	case suppression.FromList:
		left, err = s.leaveList(tx, &c, u.List)
	default:
		left, err = s.leaveAll(tx, &c)
	}
	if err != nil || left != suppression.JustLeft {
		return left, err
	}
	known, err := loadSchema(tx, u.Workspace)
	if err != nil {
		return left, err
	}
	_, err = s.tell(tx, known, c, unsubscribedEvent)
	return left, err
}

// leaving finds whom a link was made for. The id counts only while the address is still the same: a link must not speak for others.
func (s *Service) leaving(tx *db.Tx, claims suppression.Claims) (Contact, error) {
	return lock(tx, claims.Workspace, claims.Address)
}

func (s *Service) leaveTopic(tx *db.Tx, c *Contact, id string) (suppression.Left, error) {
	t, err := topics.find(tx, c.Workspace, id)
	if errors.Is(err, ErrTopicNotFound) {
		return suppression.NothingToLeave, nil
	}
	if err != nil {
		return suppression.NothingToLeave, err
	}
	changed, err := sayTo(tx, *c, t, OptOut, true)
	if changed {
		return suppression.JustLeft, err
	}
	return suppression.AlreadyLeft, err
}

// sayTo writes what a contact says about a topic, themselves or through a customer who knows, and tells whether that is anything new.
func sayTo(tx *db.Tx, c Contact, t Topic, subscription Subscription, own bool) (bool, error) {
	rows, err := selectSaid(tx, []int64{c.Number})
	if err != nil {
		return false, err
	}
	var before said
	for _, row := range rows {
		if row.topic == t.Number {
			before = row
		}
	}
	changed := before.subscription != subscription
	if !changed && (before.own || !own) {
		return false, nil
	}
	change := newCounts()
	change.change(t.Number, before.subscription, subscription)
	return changed, errors.Join(saveSaid(tx, []said{{t.Number, c.Number, subscription, tx.Now(), own}}), change.save(tx))
}

func (s *Service) leaveList(tx *db.Tx, c *Contact, id string) (suppression.Left, error) {
	l, err := lists.find(tx, c.Workspace, id)
	if errors.Is(err, ErrListNotFound) {
		return suppression.NothingToLeave, nil
	}
	if err != nil {
		return suppression.NothingToLeave, err
	}
	m, err := lockMembership(tx, l.Number, c.Number)
	if errors.Is(err, db.ErrNotFound) {
		return suppression.NothingToLeave, nil
	}
	if err != nil || m.Status == Unsubscribed {
		return suppression.AlreadyLeft, err
	}
	return suppression.JustLeft, s.change(tx, c, m, Unsubscribed)
}

// change moves a membership that the transaction has locked to another status, with everything that is counted by it.
func (s *Service) change(tx *db.Tx, c *Contact, m Membership, to Status) error {
	gap := newCounts()
	gap.move(m.List, m.Status, to)
	c.count(m.Status, -1)
	c.count(to, 1)
	m.Status = to
	switch to {
	case Unsubscribed:
		m.UnsubscribedAt = tx.Now()
	case Subscribed:
		m.UnsubscribedAt = time.Time{}
	}
	c.settle()
	c.UpdatedAt = tx.Now()
	return errors.Join(saveMemberships(tx, []Membership{m}), updateContact(tx, *c), gap.save(tx))
}

func (s *Service) leaveAll(tx *db.Tx, c *Contact) (suppression.Left, error) {
	if !c.LeftAt.IsZero() {
		return suppression.AlreadyLeft, nil
	}
	c.Unsubscribed, c.LeftAt, c.UpdatedAt = true, tx.Now(), tx.Now()
	var err error
	if c.Suppression, err = s.suppressionOf(tx, c.Workspace, c.Address); err != nil {
		return suppression.NothingToLeave, err
	}
	c.settle()
	return suppression.JustLeft, updateContact(tx, *c)
}

// TopicExists tells whether the workspace has a topic.
func (s *Service) TopicExists(tx *db.Tx, ws space.ID, id string) (bool, error) {
	_, err := topics.find(tx, ws, id)
	if errors.Is(err, ErrTopicNotFound) {
		return false, nil
	}
	return err == nil, err
}

// OptedOut returns those of the addresses, in the form in which spellings are equal, that get no mail about a topic because their
// contact said so, or said nothing about a topic that has to be asked for. An address without a contact, and a topic that the
// workspace does not have, stop nothing.
func (s *Service) OptedOut(tx *db.Tx, ws space.ID, topicID string, addresses []string) (map[string]bool, error) {
	out := map[string]bool{}
	if topicID == "" || len(addresses) == 0 {
		return out, nil
	}
	t, err := topics.find(tx, ws, topicID)
	if errors.Is(err, ErrTopicNotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(addresses))
	for i, text := range addresses {
		keys[i] = suppression.Key(text)
	}
	found, err := selectOptedOut(tx, ws, t, keys)
	for _, key := range found {
		out[key] = true
	}
	return out, err
}

// Left returns those of the contacts, by their ids, that have unsubscribed from everything, or from a list if one is named. Who is not
// there any more has not.
func (s *Service) Left(tx *db.Tx, ws space.ID, list string, contacts []string) (map[string]bool, error) {
	found, err := selectLeft(tx, ws, list, contacts)
	left := make(map[string]bool, len(found))
	for _, id := range found {
		left[id] = true
	}
	return left, err
}
