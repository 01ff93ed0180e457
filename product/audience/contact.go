package audience

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"postrider/platform/api"
	"postrider/product/audience/internal/filter"
)

const (
	// maxPersonName is the length of a first or last name in characters.
	maxPersonName = 100
	maxConsent    = 500
	// maxAttached is how many lists, topics or segments one request may name.
	maxAttached = 100
)

// contactBody is a contact as it is asked for.
type contactBody struct {
	Email string `json:"email" example:"ann@example.net"`
	contactChange
	OnConflict conflict `json:"on_conflict" doc:"update (the default), skip or error: what to do about a contact that is there already." example:"update"`
}

// contactChange is what is to be different in a contact.
type contactChange struct {
	FirstName    api.Optional[string]       `json:"first_name" example:"Ann"`
	FirstCamel   api.Optional[string]       `json:"firstName" doc:"The same as first_name."`
	LastName     api.Optional[string]       `json:"last_name" example:"Lee"`
	LastCamel    api.Optional[string]       `json:"lastName" doc:"The same as last_name."`
	Properties   map[string]json.RawMessage `json:"properties" doc:"By the key of a property that is defined; null takes a value away." example:"{\"plan\":\"pro\"}"`
	Unsubscribed *bool                      `json:"unsubscribed" doc:"true stops all mail but what people ask for. false never brings back somebody who left by themselves." example:"false"`
	Resubscribe  bool                       `json:"resubscribe" doc:"Bring back somebody who left: say so only if they asked for it." example:"false"`
	ListID       string                     `json:"list_id" doc:"A list to join." example:"0193a1f5-0000-7000-8000-000000000311"`
	AudienceID   string                     `json:"audience_id" doc:"The same as list_id."`
	ListIDs      api.Strings                `json:"list_ids" doc:"Lists to join."`
	Topics       []topicWish                `json:"topics" doc:"What the contact says about topics. opt_in never brings back somebody who left the topic by a link."`
	Segments     []named                    `json:"segments" doc:"Segments to be put into by hand: ids, or objects with an id."`
	Consent      *consentBody               `json:"consent" doc:"How the person agreed."`
}

type topicWish struct {
	ID           string       `json:"id" example:"0193a1f5-0000-7000-8000-000000000331"`
	Subscription Subscription `json:"subscription" example:"opt_in"`
}

// named is an id, alone or in an object.
type named string

// UnmarshalJSON reads either.
func (n *named) UnmarshalJSON(raw []byte) error {
	var object struct{ ID string }
	if json.Unmarshal(raw, (*string)(n)) == nil {
		return nil
	}
	if json.Unmarshal(raw, &object) != nil {
		return errors.New("must be an id, or an object with an id")
	}
	*n = named(object.ID)
	return nil
}

// JSONSchema describes both.
func (named) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "object", "properties": map[string]any{"id": map[string]any{"type": "string"}}}}}
}

type consentBody struct {
	Source    string   `json:"source" doc:"Where: a form, a shop, a fair." example:"form"`
	IP        string   `json:"ip" example:"198.51.100.7"`
	UserAgent string   `json:"user_agent" example:"Mozilla/5.0"`
	At        api.Time `json:"at" doc:"When; now if absent."`
}

func (c contactChange) firstName() api.Optional[string] {
	if c.FirstName.Set {
		return c.FirstName
	}
	return c.FirstCamel
}

func (c contactChange) lastName() api.Optional[string] {
	if c.LastName.Set {
		return c.LastName
	}
	return c.LastCamel
}

// check names what is wrong with a change whatever the workspace has.
func (c contactChange) check(wrong *api.Fields, now time.Time) wish {
	w := wish{first: checkPerson(wrong, "first_name", c.firstName()), last: checkPerson(wrong, "last_name", c.lastName()), unsubscribed: c.Unsubscribed,
		resubscribe: c.Resubscribe, topics: map[int64]Subscription{}, values: map[int64]*filter.Value{}}
	if c.Consent != nil {
		w.consent = c.Consent.check(wrong, now)
	}
	for field, named := range map[string]int{"list_ids": len(c.ListIDs), "topics": len(c.Topics), "segments": len(c.Segments)} {
		if named > maxAttached {
			wrong.Add(field, fmt.Sprintf("At most %d can be named at once.", maxAttached))
		}
	}
	for i, t := range c.Topics {
		if !t.Subscription.known() {
			wrong.Add(fmt.Sprintf("topics[%d].subscription", i), "Must be opt_in or opt_out.")
		}
	}
	return w
}

func checkPerson(wrong *api.Fields, field string, name api.Optional[string]) api.Optional[string] {
	name.Value = strings.TrimSpace(name.Value)
	if utf8.RuneCountInString(name.Value) > maxPersonName || strings.ContainsAny(name.Value, "\x00\r\n") {
		wrong.Add(field, fmt.Sprintf("Must be one line of at most %d characters.", maxPersonName))
	}
	return name
}

func (b consentBody) check(wrong *api.Fields, now time.Time) *Consent {
	c := &Consent{Source: api.CheckText(wrong, "consent.source", b.Source, maxConsent), IP: api.CheckText(wrong, "consent.ip", b.IP, maxConsent),
		UserAgent: api.CheckText(wrong, "consent.user_agent", b.UserAgent, maxConsent), At: time.Time(b.At)}
	if c.At.IsZero() {
		c.At = now
	}
	return c
}

// resolve looks up what the change names in the workspace.
func (c contactChange) resolve(wrong *api.Fields, known schema, w *wish) {
	if g := known.Segments[c.AudienceID]; g != nil { // some programs know segments as audiences
		w.segments, c.AudienceID = append(w.segments, g.Number), ""
	}
	for _, id := range append([]string{c.ListID, c.AudienceID}, c.ListIDs...) {
		if id == "" {
			continue
		}
		l, err := known.listByID(id)
		if err != nil {
			wrong.Add("list_id", "There is no such list.")
			continue
		}
		w.lists = append(w.lists, l)
	}
	for i, t := range c.Topics {
		topic, err := known.topicByID(t.ID)
		if err != nil {
			wrong.Add(fmt.Sprintf("topics[%d].id", i), "There is no such topic.")
			continue
		}
		w.topics[topic.Number] = t.Subscription
	}
	for i, id := range c.Segments {
		segment, ok := known.Segments[string(id)]
		if !ok {
			wrong.Add(fmt.Sprintf("segments[%d]", i), "There is no such segment.")
			continue
		}
		w.segments = append(w.segments, segment.Number)
	}
	resolveValues(wrong, known, c.Properties, w)
}

func resolveValues(wrong *api.Fields, known schema, sent map[string]json.RawMessage, w *wish) {
	for key, raw := range sent {
		property, ok := known.Properties[key]
		if !ok {
			wrong.Add("properties."+key, "There is no such property. Define it first.")
			continue
		}
		if string(raw) == "null" {
			w.values[property.Number] = nil
			continue
		}
		value, problem := readValue(property.Type, raw)
		if problem != "" {
			wrong.Add("properties."+key, problem)
		}
		w.values[property.Number] = &value
	}
}
