package audience

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/product/audience/internal/filter"
	"postrider/product/audience/internal/table"
)

// importRow is a row of an import: a wish, or what is wrong with it.
type importRow struct {
	wish
	email   string
	problem string
}

// rows reads the rows of an import one after the other.
type rows interface {
	// next returns io.EOF after the last row. Of other errors isOfFile tells whether they end the import.
	next() (importRow, error)
	// offset is where in what was kept the row that was read last ends.
	offset() int64
}

// openRows reads on after an offset. Every row also wishes what the import says of all.
func openRows(r io.Reader, im Import, known schema, all wish, now time.Time) (rows, error) {
	if im.Source == "json" {
		if _, err := io.CopyN(io.Discard, r, im.done); err != nil {
			return nil, err
		}
		return &jsonRows{lines: bufio.NewReader(r), at: im.done, known: known, all: all, now: now}, nil
	}
	t, err := table.NewReader(r, im.done)
	if err != nil {
		return nil, err
	}
	columns, missing := im.options.Columns.find(t.Header, known)
	if missing != "" {
		return nil, errColumns(missing)
	}
	return &tableRows{table: t, columns: columns, all: all}, nil
}

// errColumns is what the columns of a file lack.
type errColumns string

func (e errColumns) Error() string { return string(e) }

// isOfFile tells errors that the file itself will always have from those of the store that holds it.
func isOfFile(err error) bool {
	for _, known := range []error{table.ErrRow, table.ErrEmpty, errTooManyRows, blob.ErrNotFound, blob.ErrDamaged} {
		if errors.Is(err, known) {
			return true
		}
	}
	var columns errColumns
	return errors.As(err, &columns)
}

// join adds what is said of all to what a row says.
func (w wish) join(all wish) wish {
	w.lists = append(slices.Clone(all.lists), w.lists...)
	w.segments = append(slices.Clone(all.segments), w.segments...)
	w.presumed = all.presumed
	said := maps.Clone(all.topics)
	maps.Copy(said, w.topics)
	w.topics = said
	return w
}

// jsonRows are contacts as they are added one by one, each on a line.
type jsonRows struct {
	lines *bufio.Reader
	at    int64
	known schema
	all   wish
	now   time.Time
}

func (j *jsonRows) offset() int64 { return j.at }

func (j *jsonRows) next() (importRow, error) {
	line, err := j.lines.ReadBytes('\n')
	if err != nil {
		return importRow{}, err
	}
	j.at += int64(len(line))
	var body contactBody
	if json.Unmarshal(line, &body) != nil {
		return importRow{problem: "Is not a contact."}, nil
	}
	var wrong api.Fields
	w := body.check(&wrong, j.now)
	body.resolve(&wrong, j.known, &w)
	row := importRow{wish: w.join(j.all), email: body.Email, problem: firstProblem(wrong)}
	row.setAddress(body.Email)
	return row, nil
}

// firstProblem tells the first thing that is wrong, as one sentence.
func firstProblem(wrong api.Fields) string {
	for _, field := range slices.Sorted(maps.Keys(wrong)) {
		return field + ": " + wrong[field][0]
	}
	return ""
}

func (r *importRow) setAddress(text string) {
	to, err := address.Parse(text)
	if err != nil {
		r.problem = "Invalid email address."
		return
	}
	r.address = to.Key()
}

// columns are the places of what a table holds; -1 is nowhere.
type columns struct {
	email, first, last, unsubscribed int
	properties                       []propertyPlace
}

type propertyPlace struct {
	place    int
	key      string
	property filter.Property
}

// usualNames are how people call their columns.
var usualNames = map[string][]string{
	"email":        {"email", "e_mail", "email_address", "mail"},
	"first_name":   {"first_name", "firstname", "given_name", "first"},
	"last_name":    {"last_name", "lastname", "surname", "family_name", "last"},
	"unsubscribed": {"unsubscribed"},
}

var plainName = strings.NewReplacer(" ", "_", "-", "_")

// find returns where the columns of a table are, or what is missing. Columns that nobody asks for are left alone.
func (m columnMap) find(header []string, known schema) (c columns, missing string) {
	place := func(name string) int {
		return slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, strings.TrimSpace(name)) })
	}
	usual := func(mapped, target string) int {
		if mapped != "" {
			return place(mapped)
		}
		return slices.IndexFunc(header, func(h string) bool { return slices.Contains(usualNames[target], plainName.Replace(strings.ToLower(h))) })
	}
	c = columns{email: usual(m.Email, "email"), first: usual(m.FirstName, "first_name"), last: usual(m.LastName, "last_name"), unsubscribed: usual(m.Unsubscribed, "unsubscribed")}
	if c.email < 0 {
		return c, "No column holds addresses. Name it as column_map.email."
	}
	for _, column := range []struct {
		mapped string
		at     int
	}{{m.FirstName, c.first}, {m.LastName, c.last}, {m.Unsubscribed, c.unsubscribed}} {
		if column.mapped != "" && column.at < 0 {
			return c, fmt.Sprintf("There is no column %q.", column.mapped)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.Properties)) {
		at := place(m.Properties[key].Column)
		if at < 0 {
			return c, fmt.Sprintf("There is no column %q.", m.Properties[key].Column)
		}
		c.properties = append(c.properties, propertyPlace{at, key, known.Properties[key]})
	}
	if m.Properties == nil {
		for at, name := range header {
			key := plainName.Replace(strings.ToLower(name))
			if property, ok := known.Properties[key]; ok {
				c.properties = append(c.properties, propertyPlace{at, key, property})
			}
		}
	}
	return c, ""
}

// tableRows are the rows of a file.
type tableRows struct {
	table   *table.Reader
	columns columns
	all     wish
}

func (t *tableRows) offset() int64 { return t.table.Offset() }

func (t *tableRows) next() (importRow, error) {
	cells, err := t.table.Next()
	if err != nil {
		return importRow{}, err
	}
	cell := func(place int) string {
		if place < 0 || place >= len(cells) {
			return ""
		}
		return strings.Clone(strings.TrimSpace(cells[place])) // the reader will write over its rows
	}
	row := importRow{email: cell(t.columns.email), wish: wish{values: map[int64]*filter.Value{}}}
	if strings.ContainsRune(strings.Join(cells, ""), 0) {
		row.problem = "The row contains NUL characters."
		return row, nil
	}
	t.readNames(&row, cell)
	for _, p := range t.columns.properties {
		text := cell(p.place)
		if text == "" {
			continue
		}
		value, problem := readText(p.property.Type, text)
		if problem != "" {
			row.problem = p.key + ": " + problem
		}
		row.values[p.property.Number] = &value
	}
	row.setAddress(row.email)
	row.wish = row.wish.join(t.all)
	return row, nil
}

func (t *tableRows) readNames(row *importRow, cell func(int) string) {
	for _, name := range []struct {
		place int
		into  *api.Optional[string]
	}{{t.columns.first, &row.first}, {t.columns.last, &row.last}} {
		text := cell(name.place)
		if text == "" {
			continue
		}
		if utf8.RuneCountInString(text) > maxPersonName || strings.ContainsAny(text, "\r\n") {
			row.problem = fmt.Sprintf("A name must be one line of at most %d characters.", maxPersonName)
		}
		*name.into = api.Optional[string]{Value: text, Set: true}
	}
	text := cell(t.columns.unsubscribed)
	if text == "" {
		return
	}
	left, ok := readTruth(text)
	if !ok {
		row.problem = "unsubscribed: Must be true or false."
	}
	row.unsubscribed = &left
}
