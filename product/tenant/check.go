package tenant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// Limits of a customer's record. It travels whole in every event about the customer, which should stay below 20 KB.
const (
	maxExternalID    = 128
	maxName          = 200
	maxReason        = 500
	maxMetadataKeys  = 50
	maxMetadataBytes = 8 << 10
)

var externalID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@/-]*$`)

func isExternalID(text string) bool {
	return len(text) <= maxExternalID && externalID.MatchString(text)
}

// checkProvider looks at the form only; whether a node exists is asked in the transaction.
func checkProvider(wrong *api.Fields, p Provider) {
	node, named := p.Node()
	if p != Inherit && p != Direct && p != Relay && !(named && api.IsID(node)) {
		wrong.Add("provider", "Must be inherit, direct, relay or node:<id of a sending node>.")
	}
}

func (s *Service) checkNode(tx *db.Tx, ws space.ID, p Provider) error {
	node, named := p.Node()
	if !named {
		return nil
	}
	exists, err := s.nodes(tx, ws, node)
	if err == nil && !exists {
		return api.Invalid("provider", "There is no such sending node.")
	}
	return err
}

// metadata is an object of the platform's own. Its numbers are kept as they are written: ids have more digits than a float64.
type metadata map[string]any

// UnmarshalJSON reads an object; null is an empty one.
func (m *metadata) UnmarshalJSON(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var values map[string]any
	if err := decoder.Decode(&values); err != nil {
		return errors.New("must be an object")
	}
	// A number beyond every float64, such as 1e999, is one that other readers stumble over.
	if err := json.Unmarshal(raw, new(any)); err != nil {
		return errors.New("must hold no number that is too large")
	}
	*m = values
	return nil
}

func checkMetadata(wrong *api.Fields, values metadata) json.RawMessage {
	if len(values) == 0 {
		return json.RawMessage("{}")
	}
	raw, err := json.Marshal(values)
	if err != nil || len(values) > maxMetadataKeys || len(raw) > maxMetadataBytes {
		wrong.Add("metadata", fmt.Sprintf("Must have at most %d keys and 8 KB.", maxMetadataKeys))
	}
	return raw
}
