package audience

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

// SegmentID names a segment.
type SegmentID string

// Segment is a part of an audience: those a filter finds, those put in by hand, or both.
type Segment struct {
	Number      int64
	ID          SegmentID
	Workspace   space.ID
	Name        string
	Description string
	Type        SegmentType
	// Filter is the tree of rules as it was sent; nil if there is none.
	Filter json.RawMessage
	// Contacts is how many were in the segment at CountedAt.
	Contacts int64

	CountedAt, CreatedAt, UpdatedAt time.Time
}

// SegmentType tells how contacts get into a segment.
type SegmentType string

// Types of segments.
const (
	Dynamic SegmentType = "dynamic"
	Manual  SegmentType = "manual"
	Hybrid  SegmentType = "hybrid"
)

const (
	// countFresh is how old the count of a segment may be before it is counted again when somebody looks.
	countFresh = time.Minute
	// maxSegmentCall is how many contacts one request may put in.
	maxSegmentCall = 1000
	// maxFilter is far above what 50 rules need.
	maxFilter = 256 << 10
)

// segmentBody is a segment as it is asked for, and what is to be different in one.
type segmentBody struct {
	Name        string                        `json:"name" doc:"1 to 120 characters, unique in the workspace." example:"Active Pro"`
	Description api.Optional[string]          `json:"description" example:"Opened something this month"`
	Filter      api.Optional[json.RawMessage] `json:"filter" doc:"A tree of rules; without one, contacts are put in by hand." example:"{\"type\":\"rule\",\"field\":\"email_domain\",\"operator\":\"eq\",\"value\":\"example.net\"}"`
	Type        SegmentType                   `json:"type" doc:"hybrid lets a segment with a filter also have contacts that were put in by hand." example:"dynamic"`
}

func (b segmentBody) apply(wrong *api.Fields, g Segment) Segment {
	if b.Name != "" || g.ID == "" {
		g.Name = api.CheckName(wrong, "name", b.Name, maxName)
	}
	g.Description = api.CheckText(wrong, "description", b.Description.Or(g.Description), maxDescription)
	if b.Filter.Set {
		g.Filter = nil
		if raw := b.Filter.Value; len(raw) > 0 && string(raw) != "null" {
			if g.Filter = raw; len(raw) > maxFilter {
				wrong.Add("filter", "Is too large.")
			}
		}
	}
	switch {
	case b.Type != "" && b.Type != Dynamic && b.Type != Manual && b.Type != Hybrid:
		wrong.Add("type", "Must be dynamic, manual or hybrid.")
	case g.Filter == nil:
		g.Type = Manual
	case b.Type == Hybrid || b.Type == "" && g.Type == Hybrid:
		g.Type = Hybrid
	default:
		g.Type = Dynamic
	}
	return g
}

// checkFilter reads the filter of a segment against the workspace, and refuses segments that name themselves or grow too large by it.
func checkFilter(known schema, g Segment) error {
	if g.Filter == nil {
		return nil
	}
	tree, err := filter.Parse(g.Filter, known.Schema)
	if err != nil {
		return wrongFilter("filter", err)
	}
	self := known.Segments[string(g.ID)]
	if self == nil {
		return nil
	}
	self.Filter = tree
	if tree.Reaches(self) {
		return api.Invalid("filter", "The segment would depend on itself.")
	}
	for _, other := range known.Segments {
		if other.Filter != nil && other.Filter.Size(filter.MaxExpanded) > filter.MaxExpanded {
			return api.Invalid("filter", "A segment that names this one would have too many rules.")
		}
	}
	return nil
}

// wrongFilter turns what is wrong with a tree into the error of a field.
func wrongFilter(field string, err error) error {
	var problem *filter.Problem
	if errors.As(err, &problem) {
		return api.Invalid(field+problem.Path, problem.Message)
	}
	return err
}

func (s *Service) createSegment(ctx context.Context, ws space.ID, body segmentBody) (made Segment, err error) {
	var wrong api.Fields
	wish := body.apply(&wrong, Segment{Workspace: ws})
	if err := wrong.Err(); err != nil {
		return made, err
	}
	wish.ID = SegmentID(s.world.NewID())
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		made = wish
		made.CreatedAt, made.UpdatedAt = tx.Now(), tx.Now()
		if err := segments.room(tx, ws, maxNamed, "name", "segments"); err != nil {
			return err
		}
		known, err := loadSchema(tx, ws)
		if err != nil {
			return err
		}
		if err := checkFilter(known, made); err != nil {
			return err
		}
		inserted, err := insertSegment(tx, made)
		if err == nil && !inserted {
			err = segments.taken(tx, ws, filter.Fold(made.Name), "segment")
		}
		return err
	})
	if err != nil {
		return made, err
	}
	return s.counted(ctx, ws, string(made.ID))
}

func (s *Service) updateSegment(ctx context.Context, ws space.ID, id string, body segmentBody) (changed Segment, err error) {
	var wrong api.Fields
	body.apply(&wrong, Segment{ID: "known"})
	if err := wrong.Err(); err != nil {
		return changed, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if body.Filter.Set { // two that change at the same moment could come to name each other
			if err := lockSegments(tx, ws); err != nil {
				return err
			}
		}
		before, err := segments.lock(tx, ws, id)
		if err != nil {
			return err
		}
		changed = body.apply(&wrong, before)
		changed.UpdatedAt = tx.Now()
		if body.Filter.Set {
			changed.CountedAt = time.Time{}
			known, err := loadSchema(tx, ws)
			if err != nil {
				return err
			}
			if err := checkFilter(known, changed); err != nil {
				return err
			}
		}
		if folded := filter.Fold(changed.Name); folded != filter.Fold(before.Name) {
			if err := segments.vacant(tx, ws, folded, "segment"); err != nil {
				return err
			}
		}
		return ifTaken(updateSegment(tx, changed))
	})
	if err != nil {
		return changed, err
	}
	return s.counted(ctx, ws, id)
}

// counted returns a segment, counted now unless it was a moment ago. The counting reads; only the number is written.
func (s *Service) counted(ctx context.Context, ws space.ID, id string) (g Segment, err error) {
	fresh := false
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if g, err = segments.find(tx, ws, id); err != nil {
			return err
		}
		if fresh = !g.CountedAt.IsZero() && tx.Now().Sub(g.CountedAt) < countFresh; fresh {
			return nil
		}
		known, err := loadSchema(tx, ws)
		if err != nil {
			return err
		}
		g.CountedAt = tx.Now()
		g.Contacts, err = countSegment(tx, ws, known.Segments[id])
		return err
	})
	if err != nil || fresh {
		return g, err
	}
	return g, s.db.Write(ctx, func(tx *db.Tx) error { return updateCount(tx, g) })
}

// deleteSegment removes a segment. Those that were put in by hand go in steps.
func (s *Service) deleteSegment(ctx context.Context, ws space.ID, id string) error {
	return s.discard(ctx, ws, aSegment, func(tx *db.Tx) (int64, error) {
		gone, err := segments.lock(tx, ws, id)
		if err != nil {
			return 0, err
		}
		if err := s.free(tx, ws, id); err != nil {
			return 0, err
		}
		return gone.Number, deleteNamed(tx, ws, segments.table, id)
	})
}

// putIn puts contacts into a segment and tells of those who were not in it yet. It returns how many they were.
func (s *Service) putIn(tx *db.Tx, g Segment, contacts []Contact) (int64, error) {
	before, err := selectPlacedIn(tx, g.Number, numbersOf(contacts))
	if err != nil {
		return 0, err
	}
	already := map[int64]bool{}
	for _, p := range before {
		already[p.contact] = !p.excluded
	}
	var rows []placement
	var added []Contact
	for _, c := range contacts {
		if !already[c.Number] {
			rows, added = append(rows, placement{segment: g.Number, contact: c.Number}), append(added, c)
		}
	}
	if err := errors.Join(savePlaced(tx, rows), staleCount(tx, g)); err != nil || len(added) == 0 {
		return 0, err
	}
	known, err := loadSchema(tx, g.Workspace)
	if err != nil {
		return 0, err
	}
	return int64(len(added)), s.tellAll(tx, known, added, updatedEvent)
}

// takeOut takes a contact out of a segment. If the filter would find it again, that it was taken out is remembered. It tells whether
// the contact was in.
func takeOut(tx *db.Tx, known schema, g Segment, c Contact) (bool, error) {
	details, err := loadDetails(tx, []Contact{c})
	if err != nil {
		return false, err
	}
	facts, segment := details[0].facts(known), known.Segments[string(g.ID)]
	if !segment.Has(facts, tx.Now()) {
		return false, nil
	}
	if segment.Filter != nil {
		err = savePlaced(tx, []placement{{segment: g.Number, contact: c.Number, excluded: true}})
	} else {
		err = deletePlaced(tx, g.Number, c.Number)
	}
	return true, errors.Join(err, staleCount(tx, g))
}

// segmentRecord is a segment on the wire.
type segmentRecord struct {
	Object      string          `json:"object" example:"segment"`
	ID          SegmentID       `json:"id" example:"0193a1f5-0000-7000-8000-000000000321"`
	Name        string          `json:"name" example:"Active Pro"`
	Description api.Ref         `json:"description"`
	Type        SegmentType     `json:"type" example:"dynamic"`
	Filter      json.RawMessage `json:"filter" example:"{\"type\":\"rule\",\"field\":\"email_domain\",\"operator\":\"eq\",\"value\":\"example.net\"}"`
	Contacts    int64           `json:"contact_count" example:"321"`
	CountedAt   api.Time        `json:"counted_at"`
	CreatedAt   api.Time        `json:"created_at"`
	UpdatedAt   api.Time        `json:"updated_at"`
}

func (r segmentRecord) place() api.Cursor {
	return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)}
}

func newSegmentRecord(g Segment) segmentRecord {
	rules := g.Filter
	if rules == nil {
		rules = json.RawMessage("null")
	}
	return segmentRecord{Object: "segment", ID: g.ID, Name: g.Name, Description: api.Ref(g.Description), Type: g.Type, Filter: rules, Contacts: g.Contacts,
		CountedAt: api.Time(g.CountedAt), CreatedAt: api.Time(g.CreatedAt), UpdatedAt: api.Time(g.UpdatedAt)}
}
