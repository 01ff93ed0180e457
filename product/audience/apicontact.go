package audience

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

func (s *Service) handleContacts(ctx context.Context, caller api.Caller, q contactQuery) (api.Page[contactRecord], error) {
	return s.list(ctx, caller.Workspace, q)
}

func (s *Service) handleUpsert(ctx context.Context, caller api.Caller, r struct{ Body contactBody }) (upsertRecord, error) {
	record, created, err := s.upsert(ctx, caller, r.Body)
	return upsertRecord{record, created}, err
}

// get reads a contact with everything that is known about it.
func (s *Service) get(ctx context.Context, ws space.ID, name string) (record contactRecord, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		known, d, err := look(tx, ws, name)
		if err == nil {
			record = d.record(known, tx)
		}
		return err
	})
	return record, err
}

// look reads a contact and what there is to know about it.
func look(tx *db.Tx, ws space.ID, name string) (known schema, d detail, err error) {
	c, err := find(tx, ws, name)
	if err != nil {
		return known, d, err
	}
	if known, err = loadSchema(tx, ws); err != nil {
		return known, d, err
	}
	details, err := loadDetails(tx, []Contact{c})
	if err != nil {
		return known, d, err
	}
	return known, details[0], nil
}

func (s *Service) handleGetContact(ctx context.Context, caller api.Caller, r contactRequest) (contactRecord, error) {
	return s.get(ctx, caller.Workspace, r.ID)
}

func (s *Service) handlePatch(ctx context.Context, caller api.Caller, r struct {
	contactRequest
	Body contactBody
}) (contactRecord, error) {
	return s.patch(ctx, caller, r.ID, r.Body)
}

// deletedContact is the answer to a delete; contact is the id once more, as older programs read it.
type deletedContact struct {
	Object  string    `json:"object" example:"contact"`
	ID      ContactID `json:"id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Contact ContactID `json:"contact" example:"0193a1f5-0000-7000-8000-000000000301"`
	Deleted bool      `json:"deleted" example:"true"`
}

func newDeletedContact(c Contact) deletedContact {
	return deletedContact{"contact", c.ID, c.ID, true}
}

func (s *Service) handleDeleteContact(ctx context.Context, caller api.Caller, r contactRequest) (deletedContact, error) {
	c, err := s.remove(ctx, caller.Workspace, r.ID)
	return newDeletedContact(c), err
}

// contactTopic is a topic with what holds for a contact.
type contactTopic struct {
	ID           TopicID      `json:"id" example:"0193a1f5-0000-7000-8000-000000000331"`
	Name         string       `json:"name" example:"Product news"`
	Description  api.Ref      `json:"description" example:"Monthly"`
	Subscription Subscription `json:"subscription" example:"opt_in"`
	Explicit     bool         `json:"explicit" doc:"false means that the contact said nothing, and the default holds." example:"true"`
}

func (d detail) topic(t Topic) contactTopic {
	subscription, explicit := d.subscription(t)
	return contactTopic{t.ID, t.Name, api.Ref(t.Description), subscription, explicit}
}

func (t contactTopic) place() api.Cursor { return api.Cursor{ID: string(t.ID)} }

func (s *Service) handleTopicsOf(ctx context.Context, caller api.Caller, r struct {
	contactRequest
	searchQuery
}) (page api.Page[contactTopic], err error) {
	if err := api.CheckSearch(r.Search); err != nil {
		return page, err
	}
	if err := r.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		known, d, err := look(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		var all []contactTopic
		for _, t := range known.topics {
			if strings.Contains(filter.Fold(t.Name), filter.Fold(r.Search)) {
				all = append(all, d.topic(t))
			}
		}
		page, err = api.Cut(all, r.PageQuery, api.Ascending, contactTopic.place)
		return err
	})
	return page, err
}

// say writes what a contact says about topics, and returns what then holds.
func (s *Service) say(ctx context.Context, ws space.ID, name string, wishes []topicWish) (id ContactID, rows []contactTopic, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		id, rows = "", []contactTopic{}
		c, err := lock(tx, ws, name)
		if err != nil {
			return err
		}
		known, err := loadSchema(tx, ws)
		if err != nil {
			return err
		}
		for _, w := range wishes {
			t, err := known.topicByID(w.ID)
			if err != nil {
				return err
			}
			if _, err := sayTo(tx, c, t, w.Subscription, false); err != nil {
				return err
			}
		}
		d, err := s.tell(tx, known, c, updatedEvent)
		id = c.ID
		for _, w := range wishes {
			t, _ := known.topicByID(w.ID) // found above
			rows = append(rows, d.topic(t))
		}
		return err
	})
	return id, rows, err
}

func (s *Service) handleSay(ctx context.Context, caller api.Caller, r struct {
	contactRequest
	Body struct {
		TopicID      string       `json:"topic_id" example:"0193a1f5-0000-7000-8000-000000000331"`
		Subscription Subscription `json:"subscription" doc:"opt_in if absent." example:"opt_in"`
	}
}) (contactTopic, error) {
	wish := topicWish{r.Body.TopicID, r.Body.Subscription}
	if wish.Subscription == "" {
		wish.Subscription = OptIn
	}
	var wrong api.Fields
	if wish.ID == "" {
		wrong.Add("topic_id", "A topic is required.")
	}
	if !wish.Subscription.known() {
		wrong.Add("subscription", "Must be opt_in or opt_out.")
	}
	if err := wrong.Err(); err != nil {
		return contactTopic{}, err
	}
	_, rows, err := s.say(ctx, caller.Workspace, r.ID, []topicWish{wish})
	if err != nil {
		return contactTopic{}, err
	}
	return rows[0], nil
}

// topicWishes is a list of wishes, alone or in an object.
type topicWishes struct {
	Topics []topicWish `json:"topics"`
}

// ReadBody reads either.
func (w *topicWishes) ReadBody(raw []byte) error {
	if json.Unmarshal(raw, &w.Topics) == nil {
		return nil
	}
	type plain topicWishes
	return json.Unmarshal(raw, (*plain)(w))
}

type contactTopics struct {
	Object  string         `json:"object" example:"contact_topics"`
	ID      ContactID      `json:"id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Contact ContactID      `json:"contact_id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Topics  []contactTopic `json:"topics"`
}

func (s *Service) handleSayMany(ctx context.Context, caller api.Caller, r struct {
	contactRequest
	Body topicWishes
}) (contactTopics, error) {
	var wrong api.Fields
	if len(r.Body.Topics) == 0 || len(r.Body.Topics) > maxAttached {
		wrong.Add("topics", fmt.Sprintf("Must have between 1 and %d entries.", maxAttached))
	}
	for i, t := range r.Body.Topics {
		if t.ID == "" {
			wrong.Add(fmt.Sprintf("topics[%d].id", i), "A topic is required.")
		}
		if !t.Subscription.known() {
			wrong.Add(fmt.Sprintf("topics[%d].subscription", i), "Must be opt_in or opt_out.")
		}
	}
	if err := wrong.Err(); err != nil {
		return contactTopics{}, err
	}
	id, rows, err := s.say(ctx, caller.Workspace, r.ID, r.Body.Topics)
	return contactTopics{"contact_topics", id, id, rows}, err
}

type unsaid struct {
	Object       string       `json:"object" example:"contact_topic"`
	ID           string       `json:"id" example:"0193a1f5-0000-7000-8000-000000000331"`
	Contact      ContactID    `json:"contact_id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Subscription Subscription `json:"subscription" example:"opt_out"`
	Deleted      bool         `json:"deleted" example:"true"`
}

func (s *Service) handleUnsay(ctx context.Context, caller api.Caller, r struct {
	contactRequest
	TopicID string `path:"topicId" doc:"Id of the topic." example:"0193a1f5-0000-7000-8000-000000000331"`
}) (unsaid, error) {
	id, _, err := s.say(ctx, caller.Workspace, r.ID, []topicWish{{r.TopicID, OptOut}})
	return unsaid{"contact_topic", r.TopicID, id, OptOut, true}, err
}

func (s *Service) handleValues(ctx context.Context, caller api.Caller, r struct {
	contactRequest
	api.PageQuery
}) (page api.Page[valueRecord], err error) {
	if err := r.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		known, d, err := look(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		var all []valueRecord
		for _, p := range known.properties {
			all = append(all, newValueRecord(p, d.values[p.Number].value, d.values[p.Number].at))
		}
		page, err = api.Cut(all, r.PageQuery, api.Ascending, valueRecord.place)
		return err
	})
	return page, err
}

func (s *Service) handleSetValue(ctx context.Context, caller api.Caller, r struct {
	contactRequest
	Property string `path:"propertyId" doc:"Id or key of the property." example:"plan"`
	Body     struct {
		Value json.RawMessage `json:"value" doc:"Of the property's type; null takes it away." example:"\"pro\""`
	}
}) (record valueRecord, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		c, err := lock(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		known, err := loadSchema(tx, caller.Workspace)
		if err != nil {
			return err
		}
		p, err := known.propertyByName(r.Property)
		if err != nil {
			return err
		}
		raw := r.Body.Value
		if raw == nil {
			return api.Invalid("value", "A value is required; null takes it away.")
		}
		w := wish{address: c.Address, values: map[int64]*filter.Value{p.Number: nil}}
		if string(raw) != "null" {
			value, problem := readValue(p.Type, raw)
			if problem != "" {
				return api.Invalid("value", problem)
			}
			w.values[p.Number] = &value
		}
		outcomes, err := s.save(tx, caller.Workspace, known, nil, []wish{w}, update)
		if err != nil {
			return err
		}
		d, err := s.tell(tx, known, *outcomes[0].Contact, updatedEvent)
		record = newValueRecord(p, d.values[p.Number].value, d.values[p.Number].at)
		return err
	})
	return record, err
}
