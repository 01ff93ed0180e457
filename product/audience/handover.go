package audience

import (
	"errors"
	"slices"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

// Exclusion is why somebody may not be mailed any more.
type Exclusion string

// Exclusions, the strongest first.
const (
	ContactDeleted   Exclusion = "contact_deleted"
	AddressBlocked   Exclusion = "suppressed"
	HasUnsubscribed  Exclusion = "unsubscribed"
	Unconfirmed      Exclusion = "unconfirmed"
	LeftList         Exclusion = "left_list"
	OptedOutOfTopic  Exclusion = "topic_opt_out"
	exclusionUnknown Exclusion = "not_eligible"
)

// exclusionOf are the reasons that estimate numbers.
var exclusionOf = map[int64]Exclusion{0: exclusionUnknown, 1: AddressBlocked, 2: HasUnsubscribed, 3: Unconfirmed, 4: OptedOutOfTopic}

// Newest returns the number of the contact that came last to a workspace: who comes later has a greater one.
func (s *Service) Newest(tx *db.Tx, ws space.ID) (int64, error) {
	return selectNewest(tx, ws)
}

// IsSegment tells whether an id is that of a segment and of no list: older programs call segments audiences.
func (s *Service) IsSegment(tx *db.Tx, ws space.ID, id string) (bool, error) {
	if _, err := lists.find(tx, ws, id); !errors.Is(err, ErrListNotFound) {
		return false, err
	}
	_, err := segments.find(tx, ws, id)
	if errors.Is(err, ErrSegmentNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Contacts returns contacts by number as mail is made for them, whether they may be mailed or not. Those who are gone are missing.
func (s *Service) Contacts(tx *db.Tx, ws space.ID, numbers []int64) (map[int64]Recipient, error) {
	known, err := loadSchema(tx, ws)
	if err != nil {
		return nil, err
	}
	found, err := selectNumbered(tx, ws, numbers)
	if err != nil {
		return nil, err
	}
	recipients, err := asRecipients(tx, known, found)
	byNumber := make(map[int64]Recipient, len(recipients))
	for _, r := range recipients {
		byNumber[r.Number] = r
	}
	return byNumber, err
}

// Excluded returns those of the recipients of a target, by number, that may not be mailed any more, and why. It is asked in the
// transaction that hands their mail over.
func (s *Service) Excluded(tx *db.Tx, ws space.ID, target Target, numbers []int64) (map[int64]Exclusion, error) {
	eligible, err := s.StillEligible(tx, ws, target, numbers)
	if err != nil || len(eligible) == len(numbers) {
		return nil, err
	}
	excluded := map[int64]Exclusion{}
	for _, number := range numbers {
		if !eligible[number] {
			excluded[number] = ContactDeleted
		}
	}
	return excluded, explain(tx, ws, target, excluded)
}

// explain finds why contacts may not be mailed.
func explain(tx *db.Tx, ws space.ID, target Target, excluded map[int64]Exclusion) error {
	var numbers []int64
	for number := range excluded {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	there, err := selectNumbered(tx, ws, numbers)
	if err != nil {
		return err
	}
	for _, c := range there {
		excluded[c.Number] = LeftList
	}
	known, err := loadSchema(tx, ws)
	if err != nil {
		return err
	}
	target.Segment = ""
	a, err := newAim(tx, ws, known, target, filter.Stepwise)
	if err != nil {
		return err
	}
	answers, err := selectReasons(tx, a, numbers)
	for _, one := range answers {
		excluded[one.number] = exclusionOf[one.reason]
	}
	return err
}
