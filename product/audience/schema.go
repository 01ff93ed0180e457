package audience

import (
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

// schema is everything of a workspace that contacts can have, be on and be in.
type schema struct {
	filter.Schema
	properties []Property
	topics     []Topic
	lists      []List
	segments   []Segment

	property map[int64]Property
	list     map[int64]List
	topic    map[int64]Topic
}

func loadSchema(tx *db.Tx, ws space.ID) (s schema, err error) {
	if s.properties, err = properties.all(tx, ws); err != nil {
		return s, err
	}
	if s.topics, err = topics.all(tx, ws); err != nil {
		return s, err
	}
	if s.lists, err = lists.all(tx, ws); err != nil {
		return s, err
	}
	if s.segments, err = segments.all(tx, ws); err != nil {
		return s, err
	}
	s.index()
	return s, nil
}

func (s *schema) index() {
	s.Schema = filter.Schema{Properties: map[string]filter.Property{}, Topics: map[string]filter.Topic{}, Lists: map[string]int64{}, Segments: map[string]*filter.Segment{}}
	s.property, s.list, s.topic = map[int64]Property{}, map[int64]List{}, map[int64]Topic{}
	for _, p := range s.properties {
		s.Properties[p.Key], s.property[p.Number] = filter.Property{Number: p.Number, Type: p.Type}, p
	}
	for _, t := range s.topics {
		s.Topics[string(t.ID)], s.topic[t.Number] = filter.Topic{Number: t.Number, OptIn: t.Default == OptIn}, t
	}
	for _, l := range s.lists {
		s.Lists[string(l.ID)], s.list[l.Number] = l.Number, l
	}
	for _, g := range s.segments {
		s.Segments[string(g.ID)] = &filter.Segment{Number: g.Number}
	}
	for _, g := range s.segments {
		if g.Filter == nil {
			continue
		}
		// What a stored filter names cannot be deleted, and no segment can name itself; should it be so all the same, only those put in
		// by hand are in the segment.
		self := s.Segments[string(g.ID)]
		if tree, err := filter.Parse(g.Filter, s.Schema); err == nil && !tree.Reaches(self) {
			self.Filter = tree
		}
	}
}

// propertyByName finds a property by its id or its key.
func (s *schema) propertyByName(name string) (Property, error) {
	for _, p := range s.properties {
		if string(p.ID) == name || p.Key == name {
			return p, nil
		}
	}
	return Property{}, ErrPropertyNotFound
}

func (s *schema) topicByID(id string) (Topic, error) {
	t, ok := s.Topics[id]
	if !ok {
		return Topic{}, ErrTopicNotFound
	}
	return s.topic[t.Number], nil
}

func (s *schema) listByID(id string) (List, error) {
	number, ok := s.Lists[id]
	if !ok {
		return List{}, ErrListNotFound
	}
	return s.list[number], nil
}

// types tells how each property is kept.
func (s *schema) types() map[int64]filter.Type {
	types := map[int64]filter.Type{}
	for _, p := range s.properties {
		types[p.Number] = p.Type
	}
	return types
}

// detail is a contact with everything that is known about it.
type detail struct {
	Contact
	values      map[int64]held
	memberships []Membership
	said        map[int64]said
	in, out     map[int64]bool
}

// loadDetails reads what is known about contacts, with one statement for each kind of thing.
func loadDetails(tx *db.Tx, contacts []Contact) ([]detail, error) {
	details := make([]detail, len(contacts))
	place := map[int64]*detail{}
	for i, c := range contacts {
		details[i] = detail{Contact: c, values: map[int64]held{}, said: map[int64]said{}, in: map[int64]bool{}, out: map[int64]bool{}}
		place[c.Number] = &details[i]
	}
	if len(contacts) == 0 {
		return details, nil
	}
	numbers := numbersOf(contacts)
	values, err := selectHeld(tx, numbers)
	if err != nil {
		return nil, err
	}
	for _, h := range values {
		place[h.contact].values[h.property] = h
	}
	memberships, err := selectMemberships(tx, numbers)
	if err != nil {
		return nil, err
	}
	for _, m := range memberships {
		place[m.Contact].memberships = append(place[m.Contact].memberships, m)
	}
	words, err := selectSaid(tx, numbers)
	if err != nil {
		return nil, err
	}
	for _, t := range words {
		place[t.contact].said[t.topic] = t
	}
	placed, err := selectPlaced(tx, numbers)
	for _, p := range placed {
		if p.excluded {
			place[p.contact].out[p.segment] = true
		} else {
			place[p.contact].in[p.segment] = true
		}
	}
	return details, err
}

// facts are what a filter can ask about the contact.
func (d detail) facts(s schema) *filter.Contact {
	f := &filter.Contact{Email: d.Address, Domain: hostOf(d.Address), FirstName: d.FirstName, LastName: d.LastName, Status: string(d.Status),
		Unsubscribed: d.Unsubscribed, Suppressed: d.Suppression != "", Sent: d.Sent, Opened: d.Opened, Clicked: d.Clicked, CreatedAt: d.CreatedAt,
		UpdatedAt: d.UpdatedAt, LastSentAt: d.LastSentAt, LastOpenedAt: d.LastOpenedAt, LastClickedAt: d.LastClickedAt,
		Values: map[string]filter.Value{}, Lists: map[int64]bool{}, Topics: map[int64]bool{}, In: d.in, Out: d.out}
	for number, h := range d.values {
		f.Values[s.property[number].Key] = h.value
	}
	for _, m := range d.memberships {
		f.Lists[m.List] = m.Status == Subscribed
	}
	for number, t := range d.said {
		f.Topics[number] = t.subscription == OptIn
	}
	return f
}

// subscription is what holds for the contact and a topic, and whether the contact said so.
func (d detail) subscription(t Topic) (subscription Subscription, explicit bool) {
	if known, ok := d.said[t.Number]; ok {
		return known.subscription, true
	}
	return t.Default, false
}

// segmentsOf returns the segments that the contact is in.
func (d detail) segmentsOf(s schema, tx *db.Tx) []Segment {
	var in []Segment
	facts := d.facts(s)
	for _, g := range s.segments {
		if s.Segments[string(g.ID)].Has(facts, tx.Now()) {
			in = append(in, g)
		}
	}
	return in
}

// contactRecord is a contact on the wire.
type contactRecord struct {
	Object            string             `json:"object" example:"contact"`
	ID                ContactID          `json:"id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Email             string             `json:"email" example:"ann@example.net"`
	FirstName         api.Ref            `json:"first_name" example:"Ann"`
	LastName          api.Ref            `json:"last_name"`
	Unsubscribed      bool               `json:"unsubscribed" example:"false"`
	Status            Status             `json:"status" example:"subscribed"`
	Properties        map[string]any     `json:"properties" example:"{\"plan\":\"pro\",\"seats\":5}"`
	Lists             []membershipRecord `json:"lists"`
	SegmentIDs        []SegmentID        `json:"segment_ids" example:"[\"0193a1f5-0000-7000-8000-000000000321\"]"`
	Topics            []topicState       `json:"topics"`
	Consent           *consentRecord     `json:"consent"`
	Suppressed        bool               `json:"suppressed" example:"false"`
	SuppressionReason api.Ref            `json:"suppression_reason"`
	LastEmailedAt     api.Time           `json:"last_emailed_at"`
	LastOpenedAt      api.Time           `json:"last_opened_at"`
	LastClickedAt     api.Time           `json:"last_clicked_at"`
	CreatedAt         api.Time           `json:"created_at"`
	UpdatedAt         api.Time           `json:"updated_at"`

	number int64
}

// place outlives the contact: its number says where it was.
func (r contactRecord) place() api.Cursor {
	return api.Cursor{ID: string(r.ID), At: time.UnixMicro(r.number)}
}

type membershipRecord struct {
	ID           ListID         `json:"id" example:"0193a1f5-0000-7000-8000-000000000311"`
	Name         string         `json:"name" example:"Newsletter"`
	Status       Status         `json:"status" example:"subscribed"`
	SubscribedAt api.Time       `json:"subscribed_at"`
	ConfirmedAt  api.Time       `json:"confirmed_at"`
	Consent      *consentRecord `json:"consent"`
}

type topicState struct {
	ID           TopicID      `json:"id" example:"0193a1f5-0000-7000-8000-000000000331"`
	Name         string       `json:"name" example:"Product news"`
	Subscription Subscription `json:"subscription" example:"opt_in"`
}

type consentRecord struct {
	Source    api.Ref  `json:"source" example:"form"`
	IP        api.Ref  `json:"ip" example:"198.51.100.7"`
	UserAgent api.Ref  `json:"user_agent" example:"Mozilla/5.0"`
	At        api.Time `json:"at"`
}

func newConsentRecord(c *Consent) *consentRecord {
	if c == nil {
		return nil
	}
	return &consentRecord{api.Ref(c.Source), api.Ref(c.IP), api.Ref(c.UserAgent), api.Time(c.At)}
}

func (d detail) record(s schema, tx *db.Tx) contactRecord {
	r := contactRecord{Object: "contact", ID: d.ID, Email: d.Address, FirstName: api.Ref(d.FirstName), LastName: api.Ref(d.LastName),
		Unsubscribed: d.Unsubscribed, Status: d.Status, Properties: map[string]any{}, Lists: []membershipRecord{}, SegmentIDs: []SegmentID{}, Topics: []topicState{},
		Consent: newConsentRecord(d.Consent), Suppressed: d.Suppression != "", SuppressionReason: api.Ref(d.Suppression), LastEmailedAt: api.Time(d.LastSentAt),
		LastOpenedAt: api.Time(d.LastOpenedAt), LastClickedAt: api.Time(d.LastClickedAt), CreatedAt: api.Time(d.CreatedAt), UpdatedAt: api.Time(d.UpdatedAt),
		number: d.Number}
	for _, p := range s.properties {
		if h, ok := d.values[p.Number]; ok {
			r.Properties[p.Key] = wireValue(p.Type, h.value)
		}
	}
	for _, m := range d.memberships {
		if l, ok := s.list[m.List]; ok {
			r.Lists = append(r.Lists, membershipRecord{l.ID, l.Name, m.Status, api.Time(m.SubscribedAt), api.Time(m.ConfirmedAt), newConsentRecord(m.Consent)})
		}
	}
	for _, g := range d.segmentsOf(s, tx) {
		r.SegmentIDs = append(r.SegmentIDs, g.ID)
	}
	for _, t := range s.topics {
		subscription, _ := d.subscription(t)
		r.Topics = append(r.Topics, topicState{t.ID, t.Name, subscription})
	}
	return r
}
