package audience

import (
	"strconv"
	"strings"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

// reach is a question for some contacts of a workspace, in the order in which they came. It is asked of the table that has the
// fewest rows to read: that of a list, of an index of words, or of the contacts themselves.
type reach struct {
	*filter.Writer
	ws         space.ID
	from       string
	number     string // the column that orders the rows
	collected  bool   // all rows are found before they are ordered
	conditions []string
	// plain questions have a count that is kept; nil if it has to be counted.
	kept func(tx *db.Tx) (*int64, error)
}

func newReach(tx *db.Tx, ws space.ID, known schema, q contactQuery) (*reach, error) {
	r := &reach{Writer: &filter.Writer{Style: filter.Stepwise, Now: tx.Now(), Args: []any{ws}}, ws: ws, from: "contact", number: "contact.number"}
	r.conditions = []string{"contact.workspace_id = $1"}
	if q.Search != "" {
		r.search(tx, q)
	} else if place, ok := q.beyond(); ok {
		comparison := " > "
		if q.part.Down {
			comparison = " < "
		}
		defer func() { r.conditions = append(r.conditions, r.number+comparison+r.Argument(place)) }()
	}
	if err := r.membership(tx, known, q); err != nil {
		return nil, err
	}
	if len(q.Email) > 0 {
		r.conditions = append(r.conditions, "contact.address {in "+r.Argument(q.Email)+"}")
	}
	if len(q.Status) > 0 {
		r.conditions = append(r.conditions, "contact.status {in "+r.Argument(q.Status)+"}")
	}
	if !q.Since.IsZero() {
		r.conditions = append(r.conditions, "contact.created_at >= "+r.Argument(q.Since))
	}
	if !q.Until.IsZero() {
		r.conditions = append(r.conditions, "contact.created_at < "+r.Argument(q.Until))
	}
	if len(r.conditions) == 1 && q.Search == "" {
		r.kept = func(tx *db.Tx) (*int64, error) {
			count, err := total.Of(tx, ws)
			return &count, err
		}
	} else if len(r.conditions) > 2 {
		r.kept = nil
	}
	return r, nil
}

// search reads the index of words. Its moments are the numbers of contacts.
func (r *reach) search(tx *db.Tx, q contactQuery) {
	words := db.Words(q.Search)
	if len(words) == 0 {
		r.conditions = append(r.conditions, "1 = 0")
		return
	}
	last := len(words) - 1
	space, query := r.Argument(r.ws), r.Argument(tx.WordQuery(string(r.ws), words[:last], words[last:]))
	from, until := time.UnixMicro(0), time.UnixMicro(1<<50)
	if place, ok := q.beyond(); ok && q.part.Down {
		until = time.UnixMicro(place - 1)
	} else if ok {
		from = time.UnixMicro(place + 1)
	}
	r.from = searchIndex + " CROSS JOIN contact"
	r.conditions = append(r.conditions, "contact.id = "+searchIndex+".id", "{matching "+searchIndex+" "+space+" "+query+"}",
		"{between "+searchIndex+" "+r.Argument(from.UnixMicro())+" "+r.Argument(until.UnixMicro())+"}")
}

// membership narrows the question to lists, segments and topics; of several, one is enough.
func (r *reach) membership(tx *db.Tx, known schema, q contactQuery) error {
	if err := r.onLists(known, q.ListID); err != nil {
		return err
	}
	if err := r.inSegments(tx, known, q.SegmentID); err != nil {
		return err
	}
	var topics []string
	for _, id := range q.TopicID {
		t, ok := known.Topics[id]
		if !ok {
			return ErrTopicNotFound
		}
		topics = append(topics, r.Topic(t, true))
	}
	r.either(topics)
	return nil
}

// either adds that one of the conditions holds, if there are any.
func (r *reach) either(conditions []string) {
	if len(conditions) > 0 {
		r.conditions = append(r.conditions, "("+strings.Join(conditions, " OR ")+")")
	}
}

func (r *reach) onLists(known schema, ids []string) error {
	lists, numbers := make([]List, len(ids)), make([]int64, len(ids))
	for i, id := range ids {
		l, err := known.listByID(id)
		if err != nil {
			return err
		}
		lists[i], numbers[i] = l, l.Number
	}
	switch len(lists) {
	case 0:
	case 1:
		r.onList(lists[0])
	default:
		r.conditions = append(r.conditions, "EXISTS (SELECT 1 FROM list_contact WHERE list_contact.contact = contact.number AND list {in "+r.Argument(numbers)+"})")
	}
	return nil
}

func (r *reach) inSegments(tx *db.Tx, known schema, ids []string) error {
	segments, conditions := make([]*filter.Segment, len(ids)), make([]string, len(ids))
	for i, id := range ids {
		g, ok := known.Segments[id]
		if !ok {
			return ErrSegmentNotFound
		}
		segments[i] = g
	}
	if len(segments) == 1 {
		return r.inSegment(tx, known, ids[0], segments[0])
	}
	for i, g := range segments {
		conditions[i] = r.Segment(g)
	}
	r.either(conditions)
	return nil
}

func (r *reach) onList(l List) {
	if r.from != "contact" {
		r.conditions = append(r.conditions, "EXISTS (SELECT 1 FROM list_contact WHERE list_contact.contact = contact.number AND list = "+r.Argument(l.Number)+")")
		return
	}
	r.from, r.number = "list_contact CROSS JOIN contact", "list_contact.contact"
	r.conditions = append(r.conditions, "contact.number = list_contact.contact AND list_contact.list = "+r.Argument(l.Number))
	r.kept = func(*db.Tx) (*int64, error) {
		count := l.Subscribed + l.Pending + l.Unsubscribed
		return &count, nil
	}
}

// inSegment comes across those in a segment one after the other; those of a segment that has few among many are collected first.
func (r *reach) inSegment(tx *db.Tx, known schema, id string, g *filter.Segment) error {
	var row Segment
	for _, candidate := range known.segments {
		if string(candidate.ID) == id {
			row = candidate
		}
	}
	if g.Filter == nil && r.from == "contact" {
		r.from, r.number = "segment_contact CROSS JOIN contact", "segment_contact.contact"
		r.conditions = append(r.conditions, "contact.number = segment_contact.contact AND NOT segment_contact.excluded AND segment_contact.segment = "+r.Argument(g.Number))
		return nil
	}
	contacts, err := total.Of(tx, r.ws)
	if err != nil {
		return err
	}
	if !row.CountedAt.IsZero() && contacts > maxCounted {
		if row.Contacts*rareOneIn < contacts {
			if err := r.collect(tx, g); err != nil {
				return err
			}
		}
		if tx.Now().Sub(row.CountedAt) < countFresh {
			r.kept = func(*db.Tx) (*int64, error) { return &row.Contacts, nil }
		}
	}
	r.conditions = append(r.conditions, r.Segment(g))
	r.Style = filter.Stepwise
	return nil
}

// collect finds those in a segment before they are ordered: among the few that one of its conditions leaves, or else among all.
func (r *reach) collect(tx *db.Tx, g *filter.Segment) error {
	r.collected = true
	few, err := selectFew(tx, r.ws, g)
	if err != nil {
		return err
	}
	if few == nil {
		r.Style = filter.Whole
		return nil
	}
	r.conditions = append(r.conditions, "contact.number {in "+r.Argument(few)+"}")
	return nil
}

// maxFew is up to how many contacts are looked at one by one.
const maxFew = 5_000

// selectFew returns the contacts that can be in a segment at all, if an index tells that they are few; nil if it does not.
func selectFew(tx *db.Tx, ws space.ID, g *filter.Segment) ([]int64, error) {
	placed, err := db.All(tx, db.Value[int64], `
		SELECT contact FROM segment_contact
		WHERE segment = $1 AND NOT excluded
		LIMIT $2`, g.Number, maxFew+1)
	if err != nil || len(placed) > maxFew {
		return nil, err
	}
	for _, lead := range g.Filter.Leads(ws) {
		args := append(lead.Args, maxFew+1)
		found, err := db.All(tx, db.Value[int64], db.Composed+lead.Query+" LIMIT $"+strconv.Itoa(len(args)), args...)
		if err != nil {
			return nil, err
		}
		if len(found)+len(placed) <= maxFew {
			return append(append([]int64{}, found...), placed...), nil
		}
	}
	return nil, nil
}

// total returns how many contacts there are over all pages, if that is known or cheap to know.
func (r *reach) total(tx *db.Tx) (*int64, error) {
	if r.kept != nil {
		return r.kept(tx)
	}
	contacts, err := total.Of(tx, r.ws)
	if err != nil || contacts > maxCounted {
		return nil, err
	}
	count, err := db.One(tx, db.Value[int64], db.Composed+`
		SELECT COUNT(*) FROM `+r.from+`
		WHERE `+strings.Join(r.conditions, " AND "), r.Args...)
	return &count, err
}

// selectReach returns some contacts of a part, in its order.
func selectReach(tx *db.Tx, r *reach, part db.Keyset, limit, offset int) ([]Contact, error) {
	order := r.number
	if r.collected {
		order = "+" + order // what is no column cannot be read in order, so an engine does not try
	}
	searched := "{oldest " + searchIndex + "}"
	if part.Down {
		order, searched = order+" DESC", "{newest "+searchIndex+"}"
	}
	if strings.HasPrefix(r.from, searchIndex) {
		order = searched
	}
	args := append(append([]any{}, r.Args...), limit, offset)
	return db.All(tx, scanContact, db.Composed+`
		SELECT `+contactColumns+` FROM `+r.from+`
		WHERE `+strings.Join(r.conditions, " AND ")+`
		ORDER BY `+order+`
		LIMIT $`+strconv.Itoa(len(args)-1)+` OFFSET $`+strconv.Itoa(len(args)), args...)
}
