package db

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A word index finds rows by the words in them, newest first, among millions: FTS5 on SQLite, a GIN index on PostgreSQL. A
// migration makes one with
//
//	{word_index NAME}
//
// and a query joins it to the table it speaks of:
//
//	SELECT … FROM NAME JOIN thing ON thing.id = NAME.id
//	WHERE {matching NAME $1 $2} AND {between NAME $3 $4} ORDER BY {newest NAME}
//
// $1 is the owner of the rows, $2 a WordQuery, $3 and $4 moments. What follows a row in that order is {older NAME $5 $6}, and in the
// other one {newer NAME $5 $6}, of its moment and its id.
//
// Words are letters and digits in lower case; see Words. To ask for the beginning of a word costs as much as there are rows that
// have one; to ask for whole words costs as much as rows are read.

// Document is a row of a word index.
type Document struct {
	// Space keeps rows of different owners apart; a query names one.
	Space string
	// ID is a UUID; with At it decides the order.
	ID    string
	At    time.Time
	Words []string
}

// Place is where a row stands in the order of an index. What follows it is found by {older …} and {newer …}.
type Place struct {
	At time.Time
	ID string
}

// PlaceAfter is the place right after all rows of a moment.
func PlaceAfter(at time.Time) Place {
	return Place{at.Add(time.Microsecond), "00000000-0000-0000-0000-000000000000"}
}

// maxWord bounds a word in bytes; PostgreSQL refuses those beyond 2046. Some languages are written without spaces.
const maxWord = 1024

// Words cuts text into the words that an index knows. Of a very long one it is the beginning.
func Words(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		if len(word) > maxWord {
			words[i] = strings.ToValidUTF8(word[:maxWord], "")
		}
	}
	return words
}

// words is what the engines differ in.
type words struct {
	// Texts in which NAME stands for the index, FIRST and SECOND for the arguments.
	create, matching, between, newest, oldest, older, newer, row string

	query  func(space string, all Choice, either [][]Choice) string
	insert func(tx *Tx, index string, docs []Document) error

	// How all rows are read and written again: see rewords.go.
	read, readAfter string
	scan            func(Scanner) (Document, []any, error)
	restore         func(tx *Tx, index string, docs []Document) error
}

var sqliteWords = words{
	// The words of the text are not kept (detail, columnsize): an index of a million emails stays small.
	create:   `CREATE VIRTUAL TABLE NAME USING fts5(words, id UNINDEXED, tokenize = "unicode61 remove_diacritics 0", detail = none, columnsize = 0)`,
	matching: `NAME MATCH SECOND`,
	between:  `NAME.rowid >= FIRST * 1024 AND NAME.rowid < (SECOND + 1) * 1024`,
	newest:   `NAME.rowid DESC`,
	oldest:   `NAME.rowid`,
	older: `NAME.rowid < COALESCE(
		(SELECT here.rowid FROM NAME AS here WHERE here.rowid >= FIRST * 1024 AND here.rowid < (FIRST + 2) * 1024 AND here.id = SECOND),
		FIRST * 1024)`,
	newer: `NAME.rowid > COALESCE(
		(SELECT here.rowid FROM NAME AS here WHERE here.rowid >= FIRST * 1024 AND here.rowid < (FIRST + 2) * 1024 AND here.id = SECOND),
		(FIRST + 1) * 1024 - 1)`,
	row: `rowid >= SECOND * 1024 AND rowid < (SECOND + 2) * 1024`, // a number that was taken has moved a row on
	query: func(space string, all Choice, either [][]Choice) string {
		return language{`"`, `"`, `"*`, " AND ", " OR "}.query(space, all, either)
	},
	insert: insertFTS,
	read:   readFTS, readAfter: readFTSAfter, scan: scanFTS, restore: restoreFTS,
}

var postgresWords = words{
	create: `
		CREATE TABLE NAME (space UUID NOT NULL, at BIGINT NOT NULL, id UUID NOT NULL, words TSVECTOR NOT NULL, PRIMARY KEY (space, at, id));
		CREATE INDEX NAME_words ON NAME USING GIN (words)`,
	matching: `NAME.space = FIRST AND NAME.words @@ CAST(SECOND AS tsquery)`,
	between:  `NAME.at BETWEEN FIRST AND SECOND`,
	newest:   `NAME.at DESC, NAME.id DESC`,
	oldest:   `NAME.at, NAME.id`,
	older:    `(NAME.at, NAME.id) < (FIRST, SECOND)`,
	newer:    `(NAME.at, NAME.id) > (FIRST, SECOND)`,
	row:      `space = FIRST AND at = SECOND`,
	// Every word is asked for twice. PostgreSQL takes one row of two hundred to have a word that is not among the most common ones, and
	// would look for it through all rows, newest first; twice, it takes one of forty thousand and asks the index.
	query: func(space string, all Choice, either [][]Choice) string {
		twice := Choice{slices.Concat(all.Whole, all.Whole), slices.Concat(all.Begun, all.Begun)}
		return language{`'`, `'`, `':*`, " & ", " | "}.query(space, twice, slices.Concat(either, either))
	},
	insert: insertVectors,
	read:   readVectors, readAfter: readVectorAfter, scan: scanVector, restore: insertVectors,
}

// spaceWord is the word by which an index knows the owner of a row.
func spaceWord(space string) string { return "0s" + strings.ReplaceAll(space, "-", "") }

// Choice is what a row may be found by: all whole words, and words that begin with all begun ones.
type Choice struct{ Whole, Begun []string }

func (c Choice) empty() bool { return len(c.Whole)+len(c.Begun) == 0 }

// language is how an engine is asked for words.
type language struct{ open, shut, shutBegun, and, or string }

func (l language) query(space string, all Choice, either [][]Choice) string {
	terms := append([]string{l.open + spaceWord(space) + l.shut}, l.terms(all)...)
	for _, choices := range either {
		if slices.ContainsFunc(choices, Choice.empty) {
			continue // every row has all of no words
		}
		texts := make([]string, len(choices))
		for i, choice := range choices {
			texts[i] = "(" + strings.Join(l.terms(choice), l.and) + ")"
		}
		terms = append(terms, "("+strings.Join(texts, l.or)+")")
	}
	return strings.Join(terms, l.and)
}

// terms quotes the words of a choice.
func (l language) terms(c Choice) (quoted []string) {
	for _, word := range c.Whole {
		quoted = append(quoted, l.open+word+l.shut)
	}
	for _, word := range c.Begun {
		quoted = append(quoted, l.open+word+l.shutBegun)
	}
	return quoted
}

// WordQuery asks for rows of the space that have all whole words, words that begin with all begun ones, and one choice of each list.
func (tx *Tx) WordQuery(space string, whole, begun []string, either ...[]Choice) string {
	return tx.db.dialect.index.query(space, Choice{whole, begun}, either)
}

// IndexWords makes rows findable by their words.
func (tx *Tx) IndexWords(index string, docs ...Document) error {
	if len(docs) == 0 {
		return nil
	}
	return tx.db.dialect.index.insert(tx, index, docs)
}

// UnindexWords forgets rows of a word index, by their space, moment and id. Together with IndexWords it replaces the words of a row.
func (tx *Tx) UnindexWords(index string, docs ...Document) error {
	for _, doc := range docs {
		if _, err := tx.Exec(`
		DELETE FROM `+index+`
		WHERE {the_row `+index+` $1 $2} AND id = $3`, doc.Space, doc.At, doc.ID); err != nil {
			return err
		}
	}
	return nil
}

// insertFTS numbers the rows by their moment, so that the index itself is in order. Ten bits of the id tell apart what came in the
// same microsecond; should even these be equal, the next number is as good. They are added in the order of their numbers: at
// every step back the index would be written out.
func insertFTS(tx *Tx, index string, docs []Document) error {
	rows := make([]ftsRow, len(docs))
	for i, doc := range docs {
		rows[i] = ftsRow{doc.At.UnixMicro()<<10 | idBits(doc.ID), doc}
	}
	slices.SortStableFunc(rows, func(a, b ftsRow) int { return cmp.Compare(a.number, b.number) })
	for i := range rows {
		if i > 0 && rows[i].number <= rows[i-1].number {
			rows[i].number = rows[i-1].number + 1
		}
	}
	added, err := insertFTSRows(tx, index, rows)
	if err != nil || int(added) == len(rows) {
		return err
	}
	return placeFTSRows(tx, index, rows)
}

// idBits are the first bits of a UUID that do not tell the time.
func idBits(id string) int64 {
	if len(id) < 23 {
		return 0
	}
	bits, err := strconv.ParseInt(id[19:23], 16, 64)
	if err != nil {
		return 0
	}
	return bits >> 4 & 0x3ff
}

func insertVectors(tx *Tx, index string, docs []Document) error {
	values := make([]any, 0, 4*len(docs))
	for _, doc := range docs {
		list := append(slices.Clone(doc.Words), spaceWord(doc.Space))
		slices.Sort(list)
		values = append(values, doc.Space, doc.At, doc.ID, "'"+strings.Join(slices.Compact(list), "' '")+"'")
	}
	_, err := tx.InsertRows(`INSERT INTO `+index+` (space, at, id, words)`, 4, values, `ON CONFLICT DO NOTHING`)
	return err
}

var wordClause = regexp.MustCompile(`\{(word_index|matching|between|newest|oldest|older|newer|the_row) (\w+)(?: (\$\d+))?(?: (\$\d+))?\}`)

// clauses writes what a query asks of a word index in the engine's own words.
func (w words) clauses(query string) string {
	return wordClause.ReplaceAllStringFunc(query, func(found string) string {
		match := wordClause.FindStringSubmatch(found)
		text := map[string]string{"word_index": w.create, "matching": w.matching, "between": w.between, "newest": w.newest, "oldest": w.oldest,
			"older": w.older, "newer": w.newer, "the_row": w.row}[match[1]]
		return strings.NewReplacer("NAME", match[2], "FIRST", match[3], "SECOND", match[4]).Replace(text)
	})
}
