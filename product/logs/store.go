package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/world"
)

// insertEntries serves the writers, which work across workspaces. What is there already stays as it is.
func insertEntries(tx *db.Tx, entries []Entry) error {
	values := make([]any, 0, 20*len(entries))
	var docs []db.Document
	for _, e := range entries {
		values = append(values, e.ID, e.Workspace, e.Kind, e.Level, e.CreatedAt, e.Method, e.Endpoint, e.Route, e.ResponseStatus, e.Took.Microseconds(),
			db.NullText(e.KeyID), db.NullText(e.UserID), db.NullText(e.Email), db.NullText(e.Subject), db.NullText(e.Domain), db.NullText(e.Tenant),
			e.Status, e.Recipients, e.Message, string(write(e.Details)))
		if len(e.words) > 0 {
			docs = append(docs, db.Document{Space: string(e.Workspace), ID: string(e.ID), At: e.CreatedAt, Words: e.words})
		}
	}
	if _, err := tx.InsertRows(`
		INSERT INTO log_entry (id, workspace_id, kind, level, created_at, method, endpoint, route, response_status, duration_us, key_id, user_id,
			email_id, subject_id, domain_id, tenant_id, status, recipients, message, details)`, 20, values, `ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	return tx.IndexWords("log_search", docs...)
}

const columns = `log_entry.id, log_entry.workspace_id, kind, level, created_at, method, endpoint, route, response_status, duration_us, key_id, user_id,
	email_id, subject_id, domain_id, tenant_id, status, recipients, message, details`

func scanEntry(s db.Scanner) (Entry, error) {
	var e Entry
	var micros int64
	var details string
	if err := s.Scan(&e.ID, &e.Workspace, &e.Kind, &e.Level, db.Time(&e.CreatedAt), &e.Method, &e.Endpoint, &e.Route, &e.ResponseStatus,
		&micros, db.Text(&e.KeyID), db.Text(&e.UserID), db.Text(&e.Email), db.Text(&e.Subject), db.Text(&e.Domain), db.Text(&e.Tenant), &e.Status,
		&e.Recipients, &e.Message, &details); err != nil {
		return e, err
	}
	e.Took = time.Duration(micros) * time.Microsecond
	return e, json.Unmarshal([]byte(details), &e.Details)
}

func selectEntry(tx *db.Tx, ws space.ID, id ID) (Entry, error) {
	return db.One(tx, scanEntry, `
		SELECT `+columns+` FROM log_entry
		WHERE workspace_id = $1 AND id = $2`, ws, id)
}

// selectEntryOf returns the entry of a mail by the id of that.
func selectEntryOf(tx *db.Tx, ws space.ID, mail string) (Entry, error) {
	return db.One(tx, scanEntry, `
		SELECT `+columns+` FROM log_entry
		WHERE workspace_id = $1 AND email_id = $2 AND kind = 'email'`, ws, mail)
}

// selectMails returns the entries of mails by the ids of these, to tell how they stand.
func selectMails(tx *db.Tx, ws space.ID, ids []string) (map[string]Entry, error) {
	return byMail(tx, ws, ids, columns, scanEntry)
}

// selectStates tells how mails stand as far as the tape knows.
func selectStates(tx *db.Tx, ws space.ID, ids []string) (map[string]Entry, error) {
	return byMail(tx, ws, ids, "id, workspace_id, email_id, status, recipients", func(s db.Scanner) (e Entry, err error) {
		return e, s.Scan(&e.ID, &e.Workspace, &e.Email, &e.Status, &e.Recipients)
	})
}

// byMail looks for the entries of mails under the ids of these, and only for the others by what they tell of: few have an id of their own.
func byMail(tx *db.Tx, ws space.ID, ids []string, what string, scan func(db.Scanner) (Entry, error)) (map[string]Entry, error) {
	found := map[string]Entry{}
	for _, column := range []string{"id", "email_id"} {
		var missing []string
		for _, id := range ids {
			if _, ok := found[id]; !ok {
				missing = append(missing, id)
			}
		}
		if len(missing) == 0 {
			return found, nil
		}
		rows, err := db.All(tx, scan, `
		SELECT `+what+` FROM log_entry
		WHERE workspace_id = $1 AND `+column+` {in $2} AND kind = 'email'`, ws, missing)
		if err != nil {
			return nil, err
		}
		for _, e := range rows {
			found[e.Email] = e
		}
	}
	return found, nil
}

// updateStates writes how entries stand, in the order of their ids so that two nodes cannot wait for each other.
func updateStates(tx *db.Tx, entries map[ID]Entry) error {
	rows := make([][]any, 0, len(entries))
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		e := entries[id]
		rows = append(rows, []any{e.Status, e.Level, e.Workspace, e.ID})
	}
	return tx.ExecEach(`
		UPDATE log_entry SET status = $1, level = $2
		WHERE workspace_id = $3 AND id = $4`, rows)
}

// selection grows with the filters of a list. Filters are arguments, never text.
type selection struct {
	from  string
	where []string
	args  []any
	order string
}

func (s *selection) add(condition string, values ...any) {
	for _, value := range values {
		s.args = append(s.args, value)
		condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(s.args)), 1)
	}
	s.where = append(s.where, condition)
}

// endOfTime is later than any entry.
var endOfTime = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// newSelection turns filters into a selection of a part of the tape.
func newSelection(tx *db.Tx, ws space.ID, q filter, part db.Keyset) (*selection, error) {
	s := &selection{from: "log_entry", where: []string{"log_entry.workspace_id = $1"}, args: []any{ws}}
	for _, f := range []struct {
		column string
		values []string
	}{{"kind", q.Kind}, {"level", q.Level}, {"method", q.Method}, {"key_id", q.Key}, {"email_id", q.Email}, {"domain_id", q.Domain}, {"tenant_id", q.Tenant}} {
		switch len(f.values) {
		case 0:
		case 1: // an index that begins with the column has these in order
			s.add(f.column+" = ?", f.values[0])
		default:
			s.add(f.column+" {in ?}", f.values)
		}
	}
	s.statuses(q)
	// Engines use an index of a part of the table only for a question that names the part.
	if q.onlyTrouble() {
		s.add("level <> 'info'")
	}
	if q.onlyRare() {
		s.add("kind NOT IN ('api_request', 'smtp_submission', 'email', 'webhook')")
	}
	s.add("created_at >= ? AND log_entry.id >= ?", q.Since, lowestID(q.Since.Add(-slack)))
	if !q.Until.IsZero() {
		s.add("created_at < ? AND log_entry.id < ?", q.Until, lowestID(q.Until.Add(slack)))
	}
	words := db.Words(q.Search)
	if len(words) == 0 {
		byID := part
		if part.Beyond != nil {
			byID.Beyond = part.Beyond[1:] // ids tell the time as well, and entries are kept in their order
		}
		s.keepTo(byID, "log_entry.id")
		return s, nil
	}
	return s, s.search(tx, ws, words, q, part)
}

func (s *selection) keepTo(part db.Keyset, columns ...string) {
	condition, args := part.Where(strings.Join(s.where, " AND "), s.args, columns...)
	s.where, s.args, s.order = []string{condition}, args, part.Order(columns...)
}

// statuses adds alternatives: classes and codes of answers, and states. Requests stand as the mail does that they are about.
func (s *selection) statuses(q filter) {
	if len(q.Status) == 0 {
		return
	}
	var parts []string
	var states []string
	for _, status := range q.Status {
		if low, high, ok := codesOf(status); ok {
			s.args = append(s.args, low, high)
			parts = append(parts, fmt.Sprintf("response_status BETWEEN $%d AND $%d", len(s.args)-1, len(s.args)))
			continue
		}
		states = append(states, status)
	}
	if len(states) > 0 {
		s.args = append(s.args, states)
		parts = append(parts, fmt.Sprintf("log_entry.status {in $%d}", len(s.args)))
	}
	if len(states) > 0 && q.asksForRequests() {
		parts = append(parts, fmt.Sprintf(`log_entry.email_id IS NOT NULL AND log_entry.kind <> 'email' AND EXISTS (
			SELECT 1 FROM log_entry AS mail
			WHERE mail.workspace_id = $1 AND mail.email_id = log_entry.email_id AND mail.kind = 'email' AND mail.status {in $%d})`, len(s.args)))
	}
	s.where = append(s.where, "("+strings.Join(parts, " OR ")+")")
}

// search asks the word index. What people typed is first taken for whole words, which are found at once however many entries there
// are; only if no entry has them all, for beginnings of words.
func (s *selection) search(tx *db.Tx, ws space.ID, words []string, q filter, part db.Keyset) error {
	asked := tx.WordQuery(string(ws), words, nil)
	found, err := db.All(tx, db.Value[string], `
		SELECT id FROM log_search
		WHERE {matching log_search $1 $2}
		LIMIT 1`, ws, asked)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		asked = tx.WordQuery(string(ws), nil, words)
	}
	since, until := q.Since, q.Until
	if until.IsZero() {
		until = endOfTime
	}
	s.from = "log_search JOIN log_entry ON log_entry.workspace_id = $1 AND log_entry.id = log_search.id"
	s.order = "{oldest log_search}"
	beyond := "{newer log_search ? ?}"
	if part.Down {
		s.order, beyond = "{newest log_search}", "{older log_search ? ?}"
	}
	if part.Beyond != nil {
		s.add(beyond, part.Beyond...)
		// The index need not go through what was on the pages before.
		if at := part.Beyond[0].(time.Time); part.Down {
			until = at.Add(time.Microsecond) // what came in a crowded microsecond may stand in the next
		} else {
			since = at
		}
	}
	s.args = append(s.args, asked, since, until)
	n := len(s.args)
	s.where = append(s.where, fmt.Sprintf("{matching log_search $1 $%d} AND {between log_search $%d $%d}", n-2, n-1, n))
	return nil
}

// page reads one row more than the page has, to know whether another follows.
func (s *selection) page(tx *db.Tx, limit, offset int) ([]Entry, error) {
	query, args := s.query(limit+1, offset)
	return db.All(tx, scanEntry, query, args...)
}

func (s *selection) query(limit, offset int) (query string, args []any) {
	args = append(slices.Clone(s.args), limit, offset)
	return fmt.Sprintf(`
		SELECT `+columns+` FROM %s
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, s.from, strings.Join(s.where, " AND "), s.order, len(args)-1, len(args)), args
}

// group is how many entries have something in common.
type group struct {
	text   string
	number int64
	count  int64
}

// groups counts entries by a text and a number; the columns are ours.
func (s *selection) groups(tx *db.Tx, text, number string) ([]group, error) {
	return db.All(tx, func(row db.Scanner) (group, error) {
		var g group
		err := row.Scan(&g.text, &g.number, &g.count)
		return g, err
	}, fmt.Sprintf(`
		SELECT %s AS text, %s AS number, COUNT(*) FROM %s
		WHERE %s
		GROUP BY 1, 2`, text, number, s.from, strings.Join(s.where, " AND ")), s.args...)
}

// nextWorkspace returns the first workspace after another that has entries.
func nextWorkspace(tx *db.Tx, after space.ID) (space.ID, error) {
	return db.One(tx, db.Value[space.ID], `
		SELECT workspace_id FROM log_entry
		WHERE workspace_id > $1
		ORDER BY workspace_id
		LIMIT 1`, after)
}

// deleteBefore removes the oldest entries of a workspace, up to a moment.
func deleteBefore(tx *db.Tx, ws space.ID, before time.Time, limit int) (int, error) {
	gone, err := db.All(tx, scanEntry, `
		SELECT `+columns+` FROM log_entry
		WHERE workspace_id = $1 AND id < $2 AND created_at < $3
		ORDER BY id
		LIMIT $4`, ws, lowestID(before.Add(slack)), before, limit)
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	ids := make([]ID, len(gone))
	for i, e := range gone {
		ids[i] = e.ID
	}
	if err := unindex(tx, gone); err != nil {
		return 0, err
	}
	_, err = tx.Exec(`DELETE FROM log_entry WHERE workspace_id = $1 AND id {in $2}`, ws, ids)
	return len(gone), err
}

// slack is how far the moment of an id may be from that of its entry: the id of a mail is a little older than its first event.
const slack = time.Second

// lowestID returns what no id of a moment or a later one is lower than.
func lowestID(at time.Time) string { return world.IDAt(at, bytes.NewReader(make([]byte, 8))) }

func unindex(tx *db.Tx, entries []Entry) error {
	docs := make([]db.Document, len(entries))
	for i, e := range entries {
		docs[i] = db.Document{Space: string(e.Workspace), ID: string(e.ID), At: e.CreatedAt}
	}
	return tx.UnindexWords("log_search", docs...)
}

// selectNaming finds entries with the words of an address before a place, newest first.
func selectNaming(tx *db.Tx, ws space.ID, address string, place db.Place, limit int) ([]Entry, error) {
	return db.All(tx, scanEntry, `
		SELECT `+columns+` FROM log_search JOIN log_entry ON log_entry.workspace_id = $1 AND log_entry.id = log_search.id
		WHERE {matching log_search $1 $2} AND {older log_search $3 $4}
		ORDER BY {newest log_search}
		LIMIT $5`, ws, tx.WordQuery(string(ws), db.Words(address), nil), place.At, place.ID, limit)
}

// selectReceived returns what is told of received messages.
func selectReceived(tx *db.Tx, ws space.ID, messages []string) ([]Entry, error) {
	return db.All(tx, scanEntry, `
		SELECT `+columns+` FROM log_entry
		WHERE workspace_id = $1 AND email_id {in $2} AND kind = $3`, ws, messages, Inbound)
}

// updateErased leaves of an entry only what it is and when it was.
func updateErased(tx *db.Tx, e Entry) error {
	_, err := tx.Exec(`
		UPDATE log_entry SET message = $1, endpoint = $2, details = $3
		WHERE workspace_id = $4 AND id = $5`, e.Message, e.Endpoint, string(write(e.Details)), e.Workspace, e.ID)
	return err
}
