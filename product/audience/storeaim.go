package audience

import (
	"strings"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

// aim is the question for the recipients of a target: who is meant, and who of them may be mailed.
type aim struct {
	*filter.Writer
	// from is the table with the fewest rows to read, number its column that orders them.
	from, number string
	// conditions say who is meant; onList that they said yes to the list; wantsTopic that they want to hear of the topic; mayGet that
	// they may get bulk mail at all.
	conditions                 []string
	onList, wantsTopic, mayGet string
}

const always = "(1 = 1)"

func newAim(tx *db.Tx, ws space.ID, known schema, target Target, style filter.Style) (*aim, error) {
	a := &aim{Writer: &filter.Writer{Style: style, Now: tx.Now(), Args: []any{ws}}, from: "contact", number: "contact.number", onList: always, wantsTopic: always, mayGet: mailable}
	a.conditions = []string{"contact.workspace_id = $1"}
	if target.List != "" {
		l, err := known.listByID(target.List)
		if err != nil {
			return nil, err
		}
		a.from, a.number = "list_contact CROSS JOIN contact", "list_contact.contact"
		a.conditions = append(a.conditions, "contact.number = list_contact.contact AND list_contact.list = "+a.Argument(l.Number))
		a.onList = "(list_contact.status = 'subscribed')"
	}
	if target.Segment != "" {
		g, ok := known.Segments[target.Segment]
		if !ok {
			return nil, ErrSegmentNotFound
		}
		if g.Filter == nil && target.List == "" {
			a.from, a.number = "segment_contact CROSS JOIN contact", "segment_contact.contact"
			a.conditions = append(a.conditions, "contact.number = segment_contact.contact AND NOT segment_contact.excluded AND segment_contact.segment = "+a.Argument(g.Number))
		} else {
			a.conditions = append(a.conditions, a.Segment(g))
		}
	}
	if target.Topic != "" {
		t, ok := known.Topics[target.Topic]
		if !ok {
			return nil, ErrTopicNotFound
		}
		a.wantsTopic = a.Topic(t, true)
	}
	return a, nil
}

// mailable is that a contact may get bulk mail at all: it is not unsubscribed, not suppressed, and not waiting for its confirmation.
const mailable = "contact.status = 'subscribed' AND contact.suppression IS NULL"

// selectAimed returns recipients that may be mailed, in the order in which they came.
func selectAimed(tx *db.Tx, a *aim, after int64, limit int) ([]Contact, error) {
	text, args := a.page(contactColumns, after, limit)
	return db.All(tx, scanContact, text, args...)
}

// selectMeant is selectAimed for those who only have to know who it is.
func selectMeant(tx *db.Tx, a *aim, after int64, limit int) ([]Meant, error) {
	text, args := a.page("contact.number, contact.id, contact.address", after, limit)
	return db.All(tx, func(s db.Scanner) (m Meant, err error) {
		err = s.Scan(&m.Number, &m.ID, &m.Address)
		return m, err
	}, text, args...)
}

// page is the question for some columns of the next recipients.
func (a *aim) page(columns string, after int64, limit int) (text string, args []any) {
	w := &filter.Writer{Args: append([]any{}, a.Args...)}
	conditions := append(append([]string{}, a.conditions...), a.mayGet, a.onList, a.wantsTopic, a.number+" > "+w.Argument(after))
	most := w.Argument(limit)
	return db.Composed + `
		SELECT ` + columns + ` FROM ` + a.from + `
		WHERE ` + strings.Join(conditions, " AND ") + `
		ORDER BY ` + a.number + `
		LIMIT ` + most, w.Args
}

// estimate counts who is meant, by the first thing that stands against mailing them.
func estimate(tx *db.Tx, a *aim) (Estimate, error) {
	return db.One(tx, func(s db.Scanner) (e Estimate, err error) {
		err = s.Scan(&e.Total, &e.Suppressed, &e.Unsubscribed, &e.Pending, &e.TopicOptOut)
		e.Eligible = e.Total - e.Suppressed - e.Unsubscribed - e.Pending - e.TopicOptOut
		return e, err
	}, db.Composed+`
		SELECT COUNT(*), COALESCE(CAST(SUM(CASE WHEN reason = 1 THEN 1 ELSE 0 END) AS BIGINT), 0),
			COALESCE(CAST(SUM(CASE WHEN reason = 2 THEN 1 ELSE 0 END) AS BIGINT), 0), COALESCE(CAST(SUM(CASE WHEN reason = 3 THEN 1 ELSE 0 END) AS BIGINT), 0),
			COALESCE(CAST(SUM(CASE WHEN reason = 4 THEN 1 ELSE 0 END) AS BIGINT), 0)
		FROM (
			SELECT `+a.reason()+` AS reason
			FROM `+a.from+`
			WHERE `+strings.Join(a.conditions, " AND ")+`) AS meant`, a.Args...)
}

// reason numbers the first thing that stands against mailing somebody; 0 is nothing.
func (a *aim) reason() string {
	return `CASE
				WHEN contact.suppression IS NOT NULL AND contact.suppression <> 'unsubscribe' THEN 1
				WHEN contact.status = 'unsubscribed' THEN 2
				WHEN contact.status = 'pending' THEN 3
				WHEN NOT ` + a.onList + ` THEN ` + a.leftOrPending() + `
				WHEN NOT ` + a.wantsTopic + ` THEN 4
				ELSE 0 END`
}

// leftOrPending tells those who left the list from those who never confirmed it.
func (a *aim) leftOrPending() string {
	if a.onList == always {
		return "0"
	}
	return "CASE WHEN list_contact.status = 'unsubscribed' THEN 2 ELSE 3 END"
}

// answer is the number of the first thing that stands against mailing a contact.
type answer struct{ number, reason int64 }

// selectReasons tells what stands against mailing contacts that are meant.
func selectReasons(tx *db.Tx, a *aim, numbers []int64) ([]answer, error) {
	conditions := append(append([]string{}, a.conditions...), a.number+" {in "+a.Argument(numbers)+"}")
	return db.All(tx, func(s db.Scanner) (one answer, err error) {
		err = s.Scan(&one.number, &one.reason)
		return one, err
	}, db.Composed+`
		SELECT contact.number, `+a.reason()+`
		FROM `+a.from+`
		WHERE `+strings.Join(conditions, " AND "), a.Args...)
}
