package email

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/platform/db"
	"postrider/platform/space"
)

// unusual are the states that have an index of their own; few emails are in one of them.
var unusual = []State{Scheduled, Bounced, Complained, Failed, Suppressed, Cancelled}

// pageQuery grows with the filters of a list. Filters are arguments, never text.
type pageQuery struct {
	where []string
	args  []any
	// whole and asked are what the word index is asked for: words as they are, and words that people typed.
	whole, asked []string
	// either are lists of choices of which one each is enough, and typed are those that people typed.
	either [][]db.Choice
	typed  [][][]string
	// follows is the moment of the row that the page follows, or later than any email if it is the first one.
	follows time.Time
}

func (p *pageQuery) add(condition string, value any) {
	p.args = append(p.args, value)
	p.where = append(p.where, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(p.args))))
}

// senderInSearch is the sender as searchText wrote it, after an id of 36 characters and the subject: LOWER knows other letters than
// those of ASCII only on some databases.
const senderInSearch = `SUBSTR(search, 36 + 1 + LENGTH(subject) + 1 + 1, LENGTH(sender))`

// recipientsInSearch are those that the message names, with their names, as searchText wrote them.
const recipientsInSearch = `SUBSTR(search, 36 + 1 + LENGTH(subject) + 1 + LENGTH(sender) + 1 + LENGTH(message_id) + 1 + 1)`

// filter adds the filters of a list. The word index narrows them down to few emails, and the conditions say exactly which are
// meant: the index knows nothing of the order of words.
func (p *pageQuery) filter(q listQuery) {
	if len(q.Status) > 0 {
		p.add("status {in ?}", q.Status)
		if !slices.ContainsFunc(q.Status, func(status string) bool { return !slices.Contains(unusual, State(status)) }) {
			p.where = append(p.where, "status IN ('scheduled', 'bounced', 'complained', 'failed', 'suppressed', 'cancelled')")
		}
	}
	p.ofDomains(q.Domain)
	if len(q.domains) > 0 {
		p.add("domain_id {in ?}", q.domains)
	}
	switch {
	case len(q.domains) == 1:
		p.whole = append(p.whole, wordOfDomain(q.domains[0]))
	case len(q.domains) > 1 && (q.Search != "" || len(q.To)+len(q.From) > 0):
		p.oneOf(q.domains, wordOfDomain) // or mail of other domains would decide how the words are looked for
	}
	if q.Search != "" {
		p.add(`search LIKE ? ESCAPE '\'`, db.Contains(q.Search))
		p.asked = append(p.asked, wordsAsked(q.Search)...)
	}
	p.contains(q.To, p.sentTo)
	p.contains(q.From, func(text string) string { return senderInSearch + p.like(db.Contains(text)) })
	p.tagged(q.Tag)
	p.among("template_id", q.Template, wordOfTemplate)
	p.among("email.broadcast_id", q.Broadcast, nil)
	p.among("tenant_id", q.Tenant, wordOfTenant)
	if !q.Since.IsZero() {
		p.add("created_at >= ?", q.Since)
	}
	if !q.Until.IsZero() {
		p.add("created_at < ?", q.Until)
	}
}

// among keeps to emails that have one of the values in a column. word is what the index knows a value by.
func (p *pageQuery) among(column string, values []string, word func(string) string) {
	switch len(values) {
	case 0:
		return
	case 1:
		p.add(column+" = ?", values[0])
	default:
		p.add(column+" {in ?}", values)
	}
	if word != nil {
		p.oneOf(values, word)
	}
}

// oneOf asks the index for one of the values.
func (p *pageQuery) oneOf(values []string, word func(string) string) {
	choices := make([]db.Choice, len(values))
	for i, value := range values {
		choices[i].Whole = []string{word(value)}
	}
	p.either = append(p.either, choices)
}

// any keeps to emails for which the condition holds with one of the values.
func (p *pageQuery) any(condition string, values []string) {
	var choices []string
	for _, value := range values {
		p.args = append(p.args, value)
		choices = append(choices, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(p.args))))
	}
	p.where = append(p.where, "("+strings.Join(choices, " OR ")+")")
}

// ofDomains keeps to emails of domains that are given by their ids or their names.
func (p *pageQuery) ofDomains(domains []string) {
	var ids, names []string
	for _, d := range domains {
		if id, err := space.Parse(d); err == nil {
			ids = append(ids, string(id))
		} else {
			names = append(names, address.AskedDomain(d))
		}
	}
	switch {
	case len(domains) == 0:
		return
	case len(names) == 0:
		p.among("domain_id", ids, nil)
	case len(ids) == 0:
		p.among("sender_domain", names, nil)
	default:
		p.args = append(p.args, ids, names)
		p.where = append(p.where, fmt.Sprintf("(domain_id {in $%d} OR sender_domain {in $%d})", len(p.args)-1, len(p.args)))
	}
	var choices []db.Choice
	for _, id := range ids {
		choices = append(choices, db.Choice{Whole: []string{wordOfDomain(id)}})
	}
	for _, name := range names {
		choices = append(choices, db.Choice{Whole: db.Words(name)})
	}
	p.either = append(p.either, choices)
}

// contains keeps to emails in which one of the texts is found, each by the condition that is made of it.
func (p *pageQuery) contains(texts []string, condition func(text string) string) {
	if len(texts) == 0 {
		return
	}
	conditions, typed := make([]string, len(texts)), make([][]string, len(texts))
	for i, text := range texts {
		conditions[i], typed[i] = condition(text), db.Words(text)
	}
	p.where = append(p.where, "("+strings.Join(conditions, " OR ")+")")
	if !slices.ContainsFunc(typed, func(words []string) bool { return len(words) == 0 }) {
		p.typed = append(p.typed, typed)
	}
}

// like compares with a pattern.
func (p *pageQuery) like(pattern string) string {
	p.args = append(p.args, pattern)
	return fmt.Sprintf(` LIKE $%d ESCAPE '\'`, len(p.args))
}

// sentTo is the condition of emails to an address in which a text is found. Other letters than those of ASCII are compared where they are folded
// already.
func (p *pageQuery) sentTo(text string) string {
	pattern, exact := db.ContainsLoosely(text)
	condition := `EXISTS (
		SELECT 1 FROM email_recipient
		WHERE email_recipient.email_id = email.id AND LOWER(address)` + p.like(pattern) + `)`
	if exact {
		return condition
	}
	return "(" + condition + " AND " + recipientsInSearch + p.like(db.Contains(text)) + ")"
}

func (p *pageQuery) tagged(tags []string) {
	if len(tags) == 0 {
		return
	}
	written := make([]string, len(tags))
	for i, tag := range tags {
		name, value, _ := strings.Cut(tag, ":")
		written[i] = db.JSON(Tag{name, value})
	}
	p.any(`REPLACE(tags, ?, '') <> tags`, written) // unlike LIKE, it minds the case on both engines
	p.oneOf(tags, func(tag string) string {
		name, value, _ := strings.Cut(tag, ":")
		return wordOfTag(Tag{name, value})
	})
}

// endOfTime is later than any email.
var endOfTime = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// selectPage reads one row more than the page has, to know whether another follows.
func selectPage(tx *db.Tx, ws space.ID, q listQuery, part db.Keyset) ([]Email, error) {
	p := &pageQuery{where: []string{"email.workspace_id = $1"}, args: []any{ws}, follows: endOfTime}
	p.filter(q)
	tables, order := "email", part.Order("created_at", "email.id")
	if len(p.whole)+len(p.asked)+len(p.either)+len(p.typed) == 0 {
		where, args := part.Where(strings.Join(p.where, " AND "), p.args, "created_at", "email.id")
		p.where, p.args = []string{where}, args
	} else {
		tables, order = "email_search JOIN email ON email.id = email_search.id", "{oldest email_search}"
		if part.Down {
			order = "{newest email_search}"
		}
		if err := p.askIndex(tx, ws, p.keepTo(part, q.Since, q.Until)); err != nil {
			return nil, err
		}
	}
	p.args = append(p.args, q.Limit+1, q.Offset)
	return db.All(tx, scanEmail, fmt.Sprintf(`
		SELECT `+emailColumns+` FROM %s
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, tables, strings.Join(p.where, " AND "), order, len(p.args)-1, len(p.args)), p.args...)
}

// span is a time, both ends included.
type span struct{ from, until time.Time }

// keepTo adds what keeps to a part in the order of the word index, and returns the time that the part can be of.
func (p *pageQuery) keepTo(part db.Keyset, from, until time.Time) span {
	if from.IsZero() {
		from = time.Unix(0, 0)
	}
	if until.IsZero() {
		until = endOfTime
	}
	if part.Beyond == nil {
		return span{from, until}
	}
	beyond, at := "{newer email_search $%d $%d}", part.Beyond[0].(time.Time)
	p.follows = at.Add(time.Microsecond) // what came in a crowded microsecond may stand in the next
	if part.Down {
		beyond = "{older email_search $%d $%d}"
		until = p.follows
	} else {
		from = at
	}
	p.args = append(p.args, part.Beyond...)
	p.where = append(p.where, fmt.Sprintf(beyond, len(p.args)-1, len(p.args)))
	return span{from, until}
}

// askIndex asks the word index for the words, in the time that the page can be of.
func (p *pageQuery) askIndex(tx *db.Tx, ws space.ID, of span) error {
	all, err := p.wholeOrBegun(tx, ws, p.asked)
	if err != nil {
		return err
	}
	either := p.either
	for _, texts := range p.typed {
		choices := make([]db.Choice, len(texts))
		for i, words := range texts {
			if choices[i], err = p.wholeOrBegun(tx, ws, words); err != nil {
				return err
			}
		}
		either = append(either, choices)
	}
	p.args = append(p.args, tx.WordQuery(string(ws), slices.Concat(p.whole, all.Whole), all.Begun, either...), of.from, of.until)
	n := len(p.args)
	p.where = append(p.where, fmt.Sprintf("{matching email_search $1 $%d} AND {between email_search $%d $%d}", n-2, n-1, n))
	return nil
}

// wholeOrBegun says how to look for what people typed: as whole words, which are found at once however many emails there are, and
// only if no email has them all, as beginnings of words. A page that follows another one asks the emails that were there before it:
// those that come meanwhile must not turn a list into another one.
func (p *pageQuery) wholeOrBegun(tx *db.Tx, ws space.ID, words []string) (db.Choice, error) {
	if len(words) == 0 {
		return db.Choice{}, nil
	}
	found, err := db.All(tx, db.Value[string], `
		SELECT id FROM email_search
		WHERE {matching email_search $1 $2} AND {between email_search $3 $4}
		LIMIT 1`, ws, tx.WordQuery(string(ws), slices.Concat(p.whole, words), nil, p.either...), time.Unix(0, 0), p.follows)
	if len(found) == 0 {
		return db.Choice{Begun: words}, err
	}
	return db.Choice{Whole: words}, err
}

// selectNextAttempts returns when emails are tried next, those that wait for another attempt.
func selectNextAttempts(tx *db.Tx, ws space.ID, emails []ID) (map[ID]time.Time, error) {
	next := make(map[ID]time.Time, len(emails))
	_, err := db.All(tx, func(s db.Scanner) (none struct{}, err error) {
		var id ID
		var at time.Time
		err = s.Scan(&id, db.Time(&at))
		next[id] = at
		return none, err
	}, `
		SELECT email_id, MIN(next_attempt_at) FROM email_recipient
		WHERE workspace_id = $1 AND email_id {in $2} AND next_attempt_at IS NOT NULL
		GROUP BY email_id`, ws, emails)
	return next, err
}

func selectByMessageID(tx *db.Tx, ws space.ID, id ID, messageID string) ([]Email, error) {
	return db.All(tx, scanEmail, `
		SELECT `+emailColumns+` FROM email
		WHERE workspace_id = $1 AND id = $2 AND message_id = $3`, ws, id, messageID)
}

func selectByWords(tx *db.Tx, ws space.ID, words []string, messageID string) ([]Email, error) {
	return db.All(tx, scanEmail, `
		SELECT `+emailColumns+` FROM email_search JOIN email ON email.id = email_search.id
		WHERE email.workspace_id = $1 AND {matching email_search $1 $2} AND message_id = $3
		LIMIT 1`, ws, tx.WordQuery(string(ws), words, nil), messageID)
}
