package audience

import (
	"context"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

// TopicID names a topic.
type TopicID string

// Topic is a kind of mail that people can leave without leaving everything.
type Topic struct {
	Number      int64
	ID          TopicID
	Workspace   space.ID
	Name        string
	Description string
	// Default holds for contacts that have said nothing.
	Default    Subscription
	Visibility string

	in, out              int64
	CreatedAt, UpdatedAt time.Time
}

// Subscription is what somebody said about a topic.
type Subscription string

// Subscriptions to a topic.
const (
	OptIn  Subscription = "opt_in"
	OptOut Subscription = "opt_out"
)

func (s Subscription) known() bool { return s == OptIn || s == OptOut }

const (
	maxTopicName        = 50
	maxTopicDescription = 200
	public              = "public"
	private             = "private"
)

// topicBody is a topic as it is asked for, and what is to be different in one.
type topicBody struct {
	Name         string               `json:"name" doc:"1 to 50 characters, unique in the workspace." example:"Product news"`
	Description  api.Optional[string] `json:"description" doc:"At most 200 characters." example:"Monthly"`
	Default      Subscription         `json:"default_subscription" doc:"opt_in or opt_out: what holds for contacts that have said nothing. It never changes." example:"opt_in"`
	DefaultCamel Subscription         `json:"defaultSubscription" doc:"The same as default_subscription."`
	Visibility   string               `json:"visibility" doc:"public topics are shown to people who change what they get." example:"public"`
}

func (b topicBody) apply(wrong *api.Fields, t Topic) Topic {
	if b.Name != "" || t.ID == "" {
		t.Name = api.CheckName(wrong, "name", b.Name, maxTopicName)
	}
	t.Description = api.CheckText(wrong, "description", b.Description.Or(t.Description), maxTopicDescription)
	if b.Default == "" {
		b.Default = b.DefaultCamel
	}
	switch {
	case b.Default != "" && !b.Default.known():
		wrong.Add("default_subscription", "Must be opt_in or opt_out.")
	case t.ID == "" && b.Default == "":
		t.Default = OptIn
	case t.ID == "":
		t.Default = b.Default
	case b.Default != "" && t.Default != "" && b.Default != t.Default:
		wrong.Add("default_subscription", "Cannot be changed. Make another topic.")
	}
	switch {
	case b.Visibility == public || b.Visibility == private:
		t.Visibility = b.Visibility
	case b.Visibility != "":
		wrong.Add("visibility", "Must be public or private.")
	case t.ID == "":
		t.Visibility = private
	}
	return t
}

func (s *Service) createTopic(ctx context.Context, ws space.ID, body topicBody) (made Topic, err error) {
	var wrong api.Fields
	wish := body.apply(&wrong, Topic{Workspace: ws})
	if err := wrong.Err(); err != nil {
		return made, err
	}
	wish.ID = TopicID(s.world.NewID())
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		made = wish
		made.CreatedAt, made.UpdatedAt = tx.Now(), tx.Now()
		if err := topics.room(tx, ws, maxNamed, "name", "topics"); err != nil {
			return err
		}
		inserted, err := insertTopic(tx, made)
		if err == nil && !inserted {
			err = topics.taken(tx, ws, filter.Fold(made.Name), "topic")
		}
		return err
	})
	return made, err
}

func (s *Service) updateTopic(ctx context.Context, ws space.ID, id string, body topicBody) (changed Topic, err error) {
	var wrong api.Fields
	body.apply(&wrong, Topic{ID: "known"})
	if err := wrong.Err(); err != nil {
		return changed, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		before, err := topics.lock(tx, ws, id)
		if err != nil {
			return err
		}
		var wrong api.Fields
		changed = body.apply(&wrong, before)
		if err := wrong.Err(); err != nil {
			return err
		}
		changed.UpdatedAt = tx.Now()
		if folded := filter.Fold(changed.Name); folded != filter.Fold(before.Name) {
			if err := topics.vacant(tx, ws, folded, "topic"); err != nil {
				return err
			}
		}
		return ifTaken(updateTopic(tx, changed))
	})
	return changed, err
}

// deleteTopic removes a topic and what was said about it. What was said by many goes in steps.
func (s *Service) deleteTopic(ctx context.Context, ws space.ID, id string) error {
	return s.discard(ctx, ws, aTopic, func(tx *db.Tx) (int64, error) {
		gone, err := topics.lock(tx, ws, id)
		if err != nil {
			return 0, err
		}
		if err := s.free(tx, ws, id); err != nil {
			return 0, err
		}
		return gone.Number, deleteNamed(tx, ws, topics.table, id)
	})
}

// topicRecord is a topic on the wire.
type topicRecord struct {
	Object      string       `json:"object" example:"topic"`
	ID          TopicID      `json:"id" example:"0193a1f5-0000-7000-8000-000000000331"`
	Name        string       `json:"name" example:"Product news"`
	Description api.Ref      `json:"description" example:"Monthly"`
	Default     Subscription `json:"default_subscription" example:"opt_in"`
	Visibility  string       `json:"visibility" example:"public"`
	Subscribers int64        `json:"subscriber_count" doc:"Contacts that get mail about it, if they get any." example:"900"`
	CreatedAt   api.Time     `json:"created_at"`
	UpdatedAt   api.Time     `json:"updated_at"`
}

func (r topicRecord) place() api.Cursor {
	return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)}
}

// newTopicRecord needs the number of contacts of the workspace: who has said nothing is counted too.
func newTopicRecord(t Topic, contacts int64) topicRecord {
	subscribers := t.in
	if t.Default == OptIn {
		subscribers = contacts - t.out
	}
	return topicRecord{Object: "topic", ID: t.ID, Name: t.Name, Description: api.Ref(t.Description), Default: t.Default, Visibility: t.Visibility,
		Subscribers: subscribers, CreatedAt: api.Time(t.CreatedAt), UpdatedAt: api.Time(t.UpdatedAt)}
}
