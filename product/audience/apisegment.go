package audience

import (
	"context"
	"fmt"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

func (s *Service) handleSegments(ctx context.Context, caller api.Caller, q searchQuery) (api.Page[segmentRecord], error) {
	return listOf(ctx, s.db, segments, caller.Workspace, q, newSegmentRecord)
}

func (s *Service) handleCreateSegment(ctx context.Context, caller api.Caller, r struct{ Body segmentBody }) (segmentRecord, error) {
	g, err := s.createSegment(ctx, caller.Workspace, r.Body)
	return newSegmentRecord(g), err
}

func (s *Service) handleGetSegment(ctx context.Context, caller api.Caller, r idRequest) (segmentRecord, error) {
	g, err := s.counted(ctx, caller.Workspace, r.ID)
	return newSegmentRecord(g), err
}

func (s *Service) handleUpdateSegment(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body segmentBody
}) (segmentRecord, error) {
	g, err := s.updateSegment(ctx, caller.Workspace, r.ID, r.Body)
	return newSegmentRecord(g), err
}

func (s *Service) handleDeleteSegment(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	err := s.deleteSegment(ctx, caller.Workspace, r.ID)
	return api.Deleted{Object: "segment", ID: r.ID, Deleted: true}, err
}

func (s *Service) handleSegmentContacts(ctx context.Context, caller api.Caller, r struct {
	idRequest
	api.PageQuery
	Search string `query:"search" doc:"Words of the address and of the name; the last may be the beginning of one." example:"ann exam"`
}) (api.Page[contactRecord], error) {
	return s.list(ctx, caller.Workspace, contactQuery{PageQuery: r.PageQuery, SegmentID: []string{r.ID}, Search: r.Search})
}

type segmentContacts struct {
	Object   string   `json:"object" example:"segment_contacts"`
	Segment  string   `json:"segment_id" example:"0193a1f5-0000-7000-8000-000000000321"`
	Added    int64    `json:"added" example:"2"`
	Already  int64    `json:"already" example:"0"`
	NotFound []string `json:"not_found"`
}

func (s *Service) handlePutIn(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		IDs    []string `json:"contact_ids" doc:"1 to 1000 ids." example:"[\"0193a1f5-0000-7000-8000-000000000301\"]"`
		Emails []string `json:"emails" doc:"Instead of ids: 1 to 1000 addresses." example:"[]"`
	}
}) (answer segmentContacts, err error) {
	names := append(r.Body.IDs, r.Body.Emails...)
	if len(names) < 1 || len(names) > maxSegmentCall {
		return answer, api.Invalid("contact_ids", fmt.Sprintf("Must have between 1 and %d entries.", maxSegmentCall))
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		answer = segmentContacts{Object: "segment_contacts", Segment: r.ID}
		g, err := segments.lock(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		var found []Contact
		if found, answer.NotFound, err = findAll(tx, caller.Workspace, names); err != nil {
			return err
		}
		answer.Added, err = s.putIn(tx, g, found)
		answer.Already = int64(len(found)) - answer.Added
		return err
	})
	return answer, err
}

// findAll returns the contacts that ids and addresses name, each once, and the names of those that are not there.
func findAll(tx *db.Tx, ws space.ID, names []string) (found []Contact, missing []string, err error) {
	missing = []string{}
	var ids, keys []string
	for _, name := range names {
		if api.IsID(name) {
			ids = append(ids, name)
		} else if to, err := address.Parse(name); err == nil {
			keys = append(keys, to.Key())
		}
	}
	if found, err = selectNumbers(tx, ws, orNobody(ids), orNobody(keys)); err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, c := range found {
		known[string(c.ID)], known[c.Address] = true, true
	}
	for _, name := range names {
		key := name
		if to, err := address.Parse(name); err == nil {
			key = to.Key()
		}
		if !known[key] {
			missing = append(missing, name)
		}
	}
	return found, missing, nil
}

// orNobody keeps a list from being none, which an engine could not read.
func orNobody(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// contactSegment is a contact that was put into a segment, or taken out.
type contactSegment struct {
	Object  string    `json:"object" example:"contact_segment"`
	ID      string    `json:"id" example:"0193a1f5-0000-7000-8000-000000000321"`
	Contact ContactID `json:"contact_id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Segment string    `json:"segment_id" example:"0193a1f5-0000-7000-8000-000000000321"`
	Deleted bool      `json:"deleted" example:"true"`
}

// takeOutOf takes a contact out of a segment; one that is not in it is not found there.
func (s *Service) takeOutOf(ctx context.Context, ws space.ID, segment, contact string) (answer contactSegment, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		c, err := lock(tx, ws, contact)
		if err != nil {
			return err
		}
		was, err := s.LeaveSegment(tx, ws, c.ID, segment)
		if err == nil && !was {
			err = ErrContactNotFound
		}
		answer = contactSegment{"contact_segment", segment, c.ID, segment, true}
		return err
	})
	return answer, err
}

func (s *Service) handleTakeOut(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Contact string `path:"contactId" doc:"Id or address of the contact, URL-encoded." example:"ann@example.net"`
}) (contactSegment, error) {
	return s.takeOutOf(ctx, caller.Workspace, r.ID, r.Contact)
}

type segmentOfContactRequest struct {
	contactRequest
	Segment string `path:"segmentId" doc:"Id of the segment." example:"0193a1f5-0000-7000-8000-000000000321"`
}

func (s *Service) handleLeaveSegment(ctx context.Context, caller api.Caller, r segmentOfContactRequest) (contactSegment, error) {
	return s.takeOutOf(ctx, caller.Workspace, r.Segment, r.ID)
}

// joinedSegment is the answer to somebody who puts a contact into a segment.
type joinedSegment struct {
	Object  string    `json:"object" example:"contact_segment"`
	ID      string    `json:"id" example:"0193a1f5-0000-7000-8000-000000000321"`
	Contact ContactID `json:"contact_id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Segment string    `json:"segment_id" example:"0193a1f5-0000-7000-8000-000000000321"`
}

func (s *Service) handleJoinSegment(ctx context.Context, caller api.Caller, r segmentOfContactRequest) (answer joinedSegment, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		c, err := lock(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		g, err := segments.lock(tx, caller.Workspace, r.Segment)
		if err != nil {
			return err
		}
		answer = joinedSegment{"contact_segment", r.Segment, c.ID, r.Segment}
		_, err = s.putIn(tx, g, []Contact{c})
		return err
	})
	return answer, err
}

func (s *Service) handleSegmentsOf(ctx context.Context, caller api.Caller, r struct {
	contactRequest
	api.PageQuery
}) (page api.Page[segmentRecord], err error) {
	if err := r.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		known, d, err := look(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		all := []segmentRecord{}
		for _, g := range d.segmentsOf(known, tx) {
			all = append(all, newSegmentRecord(g))
		}
		page, err = api.Cut(all, r.PageQuery, api.Ascending, segmentRecord.place)
		return err
	})
	return page, err
}
