package email

import (
	"context"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/suppression"
)

// Topics knows what people want to hear of. It stands above mail, and is asked.
type Topics interface {
	// TopicExists tells whether a workspace has a topic.
	TopicExists(tx *db.Tx, ws space.ID, id string) (bool, error)
	// OptedOut returns those of the addresses, as suppression.Key writes them, that do not want mail about a topic.
	OptedOut(tx *db.Tx, ws space.ID, id string, addresses []string) (map[string]bool, error)
	// Left returns those of the contacts, by their ids, that have unsubscribed from everything, or from a list if one is named.
	Left(tx *db.Tx, ws space.ID, list string, contacts []string) (map[string]bool, error)
}

const noSuchTopic = "There is no such topic."

func checkTopic(wrong *api.Fields, field, id string) string {
	if id != "" && !api.IsID(id) {
		wrong.Add(field, noSuchTopic)
		return ""
	}
	return id
}

// admitTopic refuses mail about something that nobody can opt out of because it does not exist.
func (s *Service) admitTopic(ctx context.Context, ws space.ID, id string) error {
	if id == "" {
		return nil
	}
	exists := false
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		exists, err = s.topics.TopicExists(tx, ws, id)
		return err
	})
	if err != nil || exists {
		return err
	}
	var wrong api.Fields
	wrong.Add("topic_id", noSuchTopic)
	return wrong.Err()
}

// findOptOuts finds those who do not want to hear of what the mail is about.
func (b *batch) findOptOuts(asked []*Recipient) error {
	type question struct {
		workspace space.ID
		topic     string
	}
	groups := map[question][]*Recipient{}
	for _, r := range asked {
		if topic := b.emails[r.Email].Topic; topic != "" && b.stops[r.ID] == nil {
			q := question{r.Workspace, topic}
			groups[q] = append(groups[q], r)
		}
	}
	for q, recipients := range groups {
		addresses := make([]string, len(recipients))
		for i, r := range recipients {
			addresses[i] = r.Address
		}
		out, err := b.service.topics.OptedOut(b.tx, q.workspace, q.topic, addresses)
		if err != nil {
			return err
		}
		for _, r := range recipients {
			if out[suppression.Key(r.Address)] {
				b.stops[r.ID] = &stop{"topic_opt_out", "The recipient does not want mail about this topic."}
			}
		}
	}
	return nil
}

// findLeavers finds those who unsubscribed while mail to many waited for them.
func (b *batch) findLeavers(asked []*Recipient) error {
	type question struct {
		workspace space.ID
		list      string
	}
	groups := map[question][]*Recipient{}
	for _, r := range asked {
		if e := b.emails[r.Email]; e.Contact != "" && e.ListUnsubscribe && b.stops[r.ID] == nil {
			q := question{r.Workspace, e.List}
			groups[q] = append(groups[q], r)
		}
	}
	for q, recipients := range groups {
		contacts := make([]string, len(recipients))
		for i, r := range recipients {
			contacts[i] = b.emails[r.Email].Contact
		}
		left, err := b.service.topics.Left(b.tx, q.workspace, q.list, contacts)
		if err != nil {
			return err
		}
		for _, r := range recipients {
			if left[b.emails[r.Email].Contact] {
				b.stops[r.ID] = &stop{"unsubscribed", "The recipient unsubscribed before the mail was sent."}
			}
		}
	}
	return nil
}
