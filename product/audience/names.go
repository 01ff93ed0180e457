package audience

import (
	"encoding/json"
	"maps"
	"slices"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

// Names are what contacts of a workspace can have, be on and be in, for those who mention it.
type Names struct{ known schema }

// Names returns the names of a workspace.
func (s *Service) Names(tx *db.Tx, ws space.ID) (Names, error) {
	known, err := loadSchema(tx, ws)
	return Names{known}, err
}

// Has tells whether there is a list, segment or topic of this id, or a property of this key.
func (n Names) Has(kind, name string) bool {
	found := false
	switch kind {
	case "list":
		_, found = n.known.Lists[name]
	case "segment":
		_, found = n.known.Segments[name]
	case "topic":
		_, found = n.known.Topics[name]
	case "property":
		_, found = n.known.Properties[name]
	}
	return found
}

// Properties returns the types of all properties, by key, and the keys in their order.
func (n Names) Properties() (keys []string, types map[string]string) {
	types = map[string]string{}
	for key, p := range n.known.Properties {
		types[key] = string(p.Type)
	}
	return slices.Sorted(maps.Keys(types)), types
}

// Matches is Service.Matches for those who ask more than once in a transaction.
func (n Names) Matches(tx *db.Tx, ws space.ID, rules json.RawMessage, id ContactID, happened map[string]any) (bool, error) {
	known := n.known
	known.Events = true
	tree, err := filter.Parse(rules, known.Schema)
	if err != nil {
		return false, wrongFilter("rules", err)
	}
	facts := &filter.Contact{}
	if id != "" {
		c, err := find(tx, ws, string(id))
		if err != nil {
			return false, err
		}
		details, err := loadDetails(tx, []Contact{c})
		if err != nil {
			return false, err
		}
		facts = details[0].facts(known)
	}
	facts.Event = happened
	return tree.Matches(facts, tx.Now()), nil
}

// Delete deletes a contact and tells of it. What the suppression list says of the address stays.
func (s *Service) Delete(tx *db.Tx, ws space.ID, id ContactID) error {
	gone, err := lock(tx, ws, string(id))
	if err != nil {
		return err
	}
	known, err := loadSchema(tx, ws)
	if err != nil {
		return err
	}
	if _, err := s.tell(tx, known, gone, deletedEvent); err != nil {
		return err
	}
	return removeContacts(tx, ws, []Contact{gone})
}
