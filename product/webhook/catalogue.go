package webhook

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed catalogue.json
var catalogueFile []byte

// TestType is the event of a test that names no other.
const TestType = "webhook.test"

// kind is one type of event that can be subscribed to.
type kind struct {
	Type         string          `json:"type"`
	Description  string          `json:"description"`
	PerRecipient bool            `json:"per_recipient"`
	Data         json.RawMessage `json:"data"`
}

// category is the family of a type: the word before the first dot.
func (k kind) category() string {
	family, _, _ := strings.Cut(k.Type, ".")
	return family
}

// catalogue is every type of event that can be subscribed to.
type catalogue struct {
	kinds  []kind
	byType map[string]kind
}

func readCatalogue() catalogue {
	c := catalogue{byType: map[string]kind{}}
	if err := json.Unmarshal(catalogueFile, &c.kinds); err != nil {
		panic(fmt.Sprintf("webhook: catalogue.json: %v", err))
	}
	for _, k := range c.kinds {
		c.byType[k.Type] = k
	}
	return c
}

// EventTypes are all types of events that can be subscribed to.
func (s *Service) EventTypes() []string {
	types := make([]string, len(s.catalogue.kinds))
	for i, k := range s.catalogue.kinds {
		types[i] = k.Type
	}
	return types
}

// knows tells whether a name can be subscribed to: a type, a family such as email.*, or * for everything.
func (c catalogue) knows(name string) bool {
	if _, ok := c.byType[name]; ok || name == everything {
		return true
	}
	return isFamily(name) && slices.ContainsFunc(c.kinds, func(k kind) bool { return covers(name, k.Type) })
}

// everything stands for all types, those to come included.
const everything = "*"

func isFamily(name string) bool { return len(name) > 2 && strings.HasSuffix(name, ".*") }

// covers tells whether a subscribed name includes a type of event.
func covers(name, eventType string) bool {
	return name == everything || name == eventType || isFamily(name) && strings.HasPrefix(eventType, name[:len(name)-1])
}

// hears tells whether an endpoint wants events of a type.
func (e *Endpoint) hears(eventType string) bool {
	return slices.ContainsFunc(e.Events, func(name string) bool { return covers(name, eventType) })
}

// concerns tells whether something that happened to a domain and a managed customer passes the filters of an endpoint.
func (e *Endpoint) concerns(domain, tenant string) bool {
	return (len(e.Domains) == 0 || slices.Contains(e.Domains, domain)) && (len(e.Tenants) == 0 || slices.Contains(e.Tenants, tenant))
}
