package audience

import (
	"context"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

func (s *Service) handleProperties(ctx context.Context, caller api.Caller, q searchQuery) (api.Page[propertyRecord], error) {
	return listOf(ctx, s.db, properties, caller.Workspace, q, newPropertyRecord)
}

func (s *Service) handleCreateProperty(ctx context.Context, caller api.Caller, r struct{ Body propertyBody }) (propertyRecord, error) {
	p, err := s.createProperty(ctx, caller.Workspace, r.Body)
	return newPropertyRecord(p), err
}

func (s *Service) handleGetProperty(ctx context.Context, caller api.Caller, r idRequest) (propertyRecord, error) {
	p, err := one(ctx, s.db, properties, caller.Workspace, r.ID)
	return newPropertyRecord(p), err
}

func (s *Service) handleUpdateProperty(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body propertyBody
}) (propertyRecord, error) {
	p, err := s.updateProperty(ctx, caller.Workspace, r.ID, r.Body)
	return newPropertyRecord(p), err
}

func (s *Service) handleDeleteProperty(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	err := s.deleteProperty(ctx, caller.Workspace, r.ID)
	return api.Deleted{Object: "contact_property", ID: r.ID, Deleted: true}, err
}

func (s *Service) handleTopics(ctx context.Context, caller api.Caller, q searchQuery) (page api.Page[topicRecord], err error) {
	contacts, err := s.contacts(ctx, caller.Workspace)
	if err != nil {
		return page, err
	}
	return listOf(ctx, s.db, topics, caller.Workspace, q, func(t Topic) topicRecord { return newTopicRecord(t, contacts) })
}

// contacts counts those of a workspace.
func (s *Service) contacts(ctx context.Context, ws space.ID) (count int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		count, err = total.Of(tx, ws)
		return err
	})
	return count, err
}

// answerTopic is the answer about a topic that was found or made.
func (s *Service) answerTopic(ctx context.Context, t Topic, err error) (topicRecord, error) {
	if err != nil {
		return topicRecord{}, err
	}
	contacts, err := s.contacts(ctx, t.Workspace)
	return newTopicRecord(t, contacts), err
}

func (s *Service) handleCreateTopic(ctx context.Context, caller api.Caller, r struct{ Body topicBody }) (topicRecord, error) {
	t, err := s.createTopic(ctx, caller.Workspace, r.Body)
	return s.answerTopic(ctx, t, err)
}

func (s *Service) handleGetTopic(ctx context.Context, caller api.Caller, r idRequest) (topicRecord, error) {
	t, err := one(ctx, s.db, topics, caller.Workspace, r.ID)
	return s.answerTopic(ctx, t, err)
}

func (s *Service) handleUpdateTopic(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body topicBody
}) (topicRecord, error) {
	t, err := s.updateTopic(ctx, caller.Workspace, r.ID, r.Body)
	return s.answerTopic(ctx, t, err)
}

func (s *Service) handleDeleteTopic(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	err := s.deleteTopic(ctx, caller.Workspace, r.ID)
	return api.Deleted{Object: "topic", ID: r.ID, Deleted: true}, err
}
