package audience

import (
	"context"
	"errors"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

type idRequest struct {
	ID string `path:"id" doc:"Its id." example:"0193a1f5-0000-7000-8000-000000000311"`
}

type contactRequest struct {
	ID string `path:"id" doc:"Id or address of the contact, URL-encoded." example:"ann@example.net"`
}

type searchQuery struct {
	api.PageQuery
	Search string `query:"search" doc:"Part of the name."`
}

func (s *Service) handleLists(ctx context.Context, caller api.Caller, q searchQuery) (api.Page[listRecord], error) {
	return listOf(ctx, s.db, lists, caller.Workspace, q, newListRecord)
}

func (s *Service) handleCreateList(ctx context.Context, caller api.Caller, r struct{ Body listBody }) (listRecord, error) {
	l, err := s.createList(ctx, caller.Workspace, r.Body)
	return newListRecord(l), err
}

// one reads a thing of a shelf.
func one[T any](ctx context.Context, d *db.DB, f shelf[T], ws space.ID, id string) (found T, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		found, err = f.find(tx, ws, id)
		return err
	})
	return found, err
}

func (s *Service) handleGetList(ctx context.Context, caller api.Caller, r idRequest) (listRecord, error) {
	l, err := one(ctx, s.db, lists, caller.Workspace, r.ID)
	return newListRecord(l), err
}

func (s *Service) handleUpdateList(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body listBody
}) (listRecord, error) {
	l, err := s.updateList(ctx, caller.Workspace, r.ID, r.Body)
	return newListRecord(l), err
}

func (s *Service) handleDeleteList(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	err := s.deleteList(ctx, caller.Workspace, r.ID)
	return api.Deleted{Object: "audience", ID: r.ID, Deleted: true}, err
}

// isSegment tells whether an audience of older programs is a segment. What is neither is no audience.
func (s *Service) isSegment(ctx context.Context, ws space.ID, id string) (is bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if _, err := lists.find(tx, ws, id); !errors.Is(err, ErrListNotFound) {
			return err
		}
		_, err := segments.find(tx, ws, id)
		is = err == nil
		if errors.Is(err, ErrSegmentNotFound) {
			err = ErrListNotFound
		}
		return err
	})
	return is, err
}

func (s *Service) handleGetAudience(ctx context.Context, caller api.Caller, r idRequest) (listRecord, error) {
	segment, err := s.isSegment(ctx, caller.Workspace, r.ID)
	if err != nil {
		return listRecord{}, err
	}
	if segment {
		g, err := s.counted(ctx, caller.Workspace, r.ID)
		return newAudienceRecord(g), err
	}
	return s.handleGetList(ctx, caller, r)
}

// newAudienceRecord is a segment as older programs read it. Nobody says anything to a segment, so only its contacts are counted.
func newAudienceRecord(g Segment) listRecord {
	record := newListRecord(List{ID: ListID(g.ID), Name: g.Name, Description: g.Description, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt})
	record.Contacts = g.Contacts
	return record
}

func (s *Service) handleDeleteAudience(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	segment, err := s.isSegment(ctx, caller.Workspace, r.ID)
	switch {
	case err != nil:
	case segment:
		err = s.deleteSegment(ctx, caller.Workspace, r.ID)
	default:
		err = s.deleteList(ctx, caller.Workspace, r.ID)
	}
	return api.Deleted{Object: "audience", ID: r.ID, Deleted: true}, err
}

func (s *Service) handleAudienceContacts(ctx context.Context, caller api.Caller, r struct {
	idRequest
	contactQuery
}) (page api.Page[contactRecord], err error) {
	segment, err := s.isSegment(ctx, caller.Workspace, r.ID)
	if err != nil {
		return page, err
	}
	q := r.contactQuery
	if q.ListID = []string{r.ID}; segment {
		q.ListID, q.AudienceID, q.SegmentID = nil, nil, []string{r.ID}
	}
	return s.list(ctx, caller.Workspace, q)
}

func (s *Service) handleAudienceUpsert(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body contactBody
}) (upsertRecord, error) {
	segment, err := s.isSegment(ctx, caller.Workspace, r.ID)
	if err != nil {
		return upsertRecord{}, err
	}
	if r.Body.AudienceID = ""; segment {
		r.Body.Segments = append(r.Body.Segments, named(r.ID))
	} else {
		r.Body.ListIDs = append(r.Body.ListIDs, r.ID)
	}
	record, created, err := s.upsert(ctx, caller, r.Body)
	return upsertRecord{record, created}, err
}

type audienceContactRequest struct {
	idRequest
	Contact string `path:"contactId" doc:"Id or address of the contact, URL-encoded." example:"ann@example.net"`
}

// inAudience refuses contacts that are not in the audience.
func (s *Service) inAudience(ctx context.Context, ws space.ID, r audienceContactRequest) error {
	segment, err := s.isSegment(ctx, ws, r.ID)
	if err != nil {
		return err
	}
	return s.db.Read(ctx, func(tx *db.Tx) error {
		c, err := find(tx, ws, r.Contact)
		if err != nil {
			return err
		}
		known, err := loadSchema(tx, ws)
		if err != nil {
			return err
		}
		details, err := loadDetails(tx, []Contact{c})
		if err != nil {
			return err
		}
		if segment && known.Segments[r.ID].Has(details[0].facts(known), tx.Now()) {
			return nil
		}
		for _, m := range details[0].memberships {
			if !segment && string(known.list[m.List].ID) == r.ID {
				return nil
			}
		}
		return ErrContactNotFound
	})
}

func (s *Service) handleAudienceContact(ctx context.Context, caller api.Caller, r audienceContactRequest) (contactRecord, error) {
	if err := s.inAudience(ctx, caller.Workspace, r); err != nil {
		return contactRecord{}, err
	}
	return s.get(ctx, caller.Workspace, r.Contact)
}

func (s *Service) handleAudiencePatch(ctx context.Context, caller api.Caller, r struct {
	audienceContactRequest
	Body contactBody
}) (contactRecord, error) {
	if err := s.inAudience(ctx, caller.Workspace, r.audienceContactRequest); err != nil {
		return contactRecord{}, err
	}
	r.Body.AudienceID = ""
	return s.patch(ctx, caller, r.Contact, r.Body)
}

func (s *Service) handleAudienceDelete(ctx context.Context, caller api.Caller, r audienceContactRequest) (deletedContact, error) {
	if err := s.inAudience(ctx, caller.Workspace, r); err != nil {
		return deletedContact{}, err
	}
	c, err := s.remove(ctx, caller.Workspace, r.Contact)
	return newDeletedContact(c), err
}

// upsertRecord is the answer to somebody who adds a contact.
type upsertRecord struct {
	contactRecord
	Created bool `json:"created" example:"true"`
}

// Status tells a new contact from one that was there.
func (u upsertRecord) Status() int {
	if u.Created {
		return http.StatusCreated
	}
	return http.StatusOK
}
