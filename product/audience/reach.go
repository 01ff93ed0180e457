package audience

import (
	"encoding/json"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

// Target is whom a broadcast is for: those on a list, in a segment, or on the list and in the segment; all contacts if neither is
// named. A topic leaves out those who do not want to hear of it.
type Target struct {
	List    string
	Segment string
	Topic   string
}

// Recipient is a contact as mail is made for it.
type Recipient struct {
	// Number is the contact's place; the next page begins after it.
	Number              int64
	ID                  ContactID
	Address             string
	FirstName, LastName string
	// Properties are the values by key, those that stand in for missing ones included.
	Properties map[string]any
}

// Meant is a contact as one is counted: who it is, and where.
type Meant struct {
	// Number is the contact's place; the next page begins after it.
	Number  int64
	ID      ContactID
	Address string
}

// Estimate is how many a target has, and how many of them may not be mailed. Nobody is counted as left out twice.
type Estimate struct {
	Total, Eligible                                int64
	Unsubscribed, Pending, Suppressed, TopicOptOut int64
}

// CheckTarget returns the error of a target that names what the workspace does not have.
func (s *Service) CheckTarget(tx *db.Tx, ws space.ID, target Target) error {
	if target.List != "" {
		if _, err := lists.find(tx, ws, target.List); err != nil {
			return err
		}
	}
	if target.Segment != "" {
		if _, err := segments.find(tx, ws, target.Segment); err != nil {
			return err
		}
	}
	if target.Topic != "" {
		if _, err := topics.find(tx, ws, target.Topic); err != nil {
			return err
		}
	}
	return nil
}

// Recipients returns the next contacts of a target that may be mailed, in the order in which they came: those after a number, which is
// 0 at the beginning. A page that is not full is the last. Pages that are read in one transaction are of one moment.
func (s *Service) Recipients(tx *db.Tx, ws space.ID, target Target, after int64, limit int) ([]Recipient, error) {
	known, a, err := aimAt(tx, ws, target)
	if err != nil {
		return nil, err
	}
	found, err := selectAimed(tx, a, after, limit)
	if err != nil {
		return nil, err
	}
	return asRecipients(tx, known, found)
}

// Meant is Recipients for whoever writes down who is meant and reads the rest later: much less is read for each.
func (s *Service) Meant(tx *db.Tx, ws space.ID, target Target, after int64, limit int) ([]Meant, error) {
	_, a, err := aimAt(tx, ws, target)
	if err != nil {
		return nil, err
	}
	return selectMeant(tx, a, after, limit)
}

// Members is Meant for everybody on the list or in the segment, whether or not they may be mailed.
func (s *Service) Members(tx *db.Tx, ws space.ID, target Target, after int64, limit int) ([]Meant, error) {
	_, a, err := aimAt(tx, ws, target)
	if err != nil {
		return nil, err
	}
	a.mayGet = always
	return selectMeant(tx, a, after, limit)
}

// aimAt reads what is to be known of a workspace to find the people of a target.
func aimAt(tx *db.Tx, ws space.ID, target Target) (known schema, a *aim, err error) {
	if known, err = loadSchema(tx, ws); err != nil {
		return known, a, err
	}
	a, err = newAim(tx, ws, known, target, filter.Stepwise)
	return known, a, err
}

// StillEligible returns those of the contacts, by number, that may still be mailed. It is asked again when mail is handed over: who left
// while a broadcast was on its way gets none.
func (s *Service) StillEligible(tx *db.Tx, ws space.ID, target Target, numbers []int64) (map[int64]bool, error) {
	eligible := map[int64]bool{}
	if len(numbers) == 0 {
		return eligible, nil
	}
	// Who was in a segment when the broadcast began stays a recipient; what the person says is what counts now.
	target.Segment = ""
	_, a, err := aimAt(tx, ws, target)
	if err != nil {
		return nil, err
	}
	a.conditions = append(a.conditions, a.number+" {in "+a.Argument(numbers)+"}") // of the table that is read first, or it would be read whole
	found, err := selectMeant(tx, a, 0, len(numbers))
	for _, c := range found {
		eligible[c.Number] = true
	}
	return eligible, err
}

// Estimate counts whom a target would reach, and why others would not be. If there are rules, as a segment has them and nobody need have
// saved, only those are counted for whom they are true.
func (s *Service) Estimate(tx *db.Tx, ws space.ID, target Target, rules json.RawMessage) (e Estimate, err error) {
	known, err := loadSchema(tx, ws)
	if err != nil {
		return e, err
	}
	a, err := newAim(tx, ws, known, target, filter.Whole)
	if err != nil {
		return e, err
	}
	if rules != nil {
		if len(rules) > maxFilter {
			return e, api.Invalid("filter", "Is too large.")
		}
		tree, err := filter.Parse(rules, known.Schema)
		if err != nil {
			return e, wrongFilter("filter", err)
		}
		a.conditions = append(a.conditions, a.Tree(tree))
	}
	return estimate(tx, a)
}

func asRecipients(tx *db.Tx, known schema, found []Contact) ([]Recipient, error) {
	values, err := selectHeld(tx, numbersOf(found))
	if err != nil {
		return nil, err
	}
	byContact := map[int64]map[int64]filter.Value{}
	for _, h := range values {
		if byContact[h.contact] == nil {
			byContact[h.contact] = map[int64]filter.Value{}
		}
		byContact[h.contact][h.property] = h.value
	}
	recipients := make([]Recipient, len(found))
	for i, c := range found {
		recipients[i] = Recipient{Number: c.Number, ID: c.ID, Address: c.Address, FirstName: c.FirstName, LastName: c.LastName, Properties: map[string]any{}}
		for _, p := range known.properties {
			value := wireValue(p.Type, byContact[c.Number][p.Number])
			if value == nil && p.Fallback != nil {
				_ = json.Unmarshal(p.Fallback, &value) // it was checked when it was set
			}
			if at, ok := value.(api.Time); ok {
				raw, _ := at.MarshalJSON() // a moment can always be written
				_ = json.Unmarshal(raw, &value)
			}
			if value != nil {
				recipients[i].Properties[p.Key] = value
			}
		}
	}
	return recipients, nil
}
