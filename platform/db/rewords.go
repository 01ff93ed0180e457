package db

import (
	"slices"
	"strings"
	"time"
)

// Reading a word index row by row and writing it again, on the same engine or the other.

// ReadWords returns up to limit rows of a word index after the given place, and the place of the last; a nil place is the beginning.
func (tx *Tx) ReadWords(t Table, after []any, limit int) ([]Document, []any, error) {
	query := tx.db.dialect.index.read
	if after != nil {
		query = tx.db.dialect.index.readAfter
	}
	var docs []Document
	place := after
	_, err := All(tx, func(s Scanner) (struct{}, error) {
		doc, at, err := tx.db.dialect.index.scan(s)
		docs, place = append(docs, doc), at
		return struct{}{}, err
	}, strings.NewReplacer("NAME", t.Name).Replace(query), append(slices.Clone(after), limit)...)
	return docs, place, err
}

// RestoreWords writes rows into a word index that already holds others. IndexWords is faster and does so for new rows, whose moments
// are not yet in the index.
func (tx *Tx) RestoreWords(index string, docs ...Document) error {
	return tx.db.dialect.index.restore(tx, index, docs)
}

const (
	readFTS         = `SELECT rowid, words, id FROM NAME ORDER BY rowid LIMIT $1`
	readFTSAfter    = `SELECT rowid, words, id FROM NAME WHERE rowid > $1 ORDER BY rowid LIMIT $2`
	readVectors     = `SELECT space, at, id, array_to_string(tsvector_to_array(words), ' ') FROM NAME ORDER BY space, at, id LIMIT $1`
	readVectorAfter = `SELECT space, at, id, array_to_string(tsvector_to_array(words), ' ') FROM NAME
		WHERE (space, at, id) > ($1, $2, $3) ORDER BY space, at, id LIMIT $4`
)

func scanFTS(s Scanner) (Document, []any, error) {
	var rowID int64
	var doc Document
	var text string
	err := s.Scan(&rowID, &text, &doc.ID)
	doc.At = momentOf(rowID, doc.ID)
	words := strings.Fields(text)
	if len(words) > 0 { // it is added after those of the text, which may look like it
		doc.Space = spaceOf(words[len(words)-1])
	}
	doc.setWords(words)
	return doc, []any{rowID}, err
}

// momentOf returns the moment of a row. One that had to make way for others of its moment may stand in the next: its number ends with less
// than its id does.
func momentOf(number int64, id string) time.Time {
	micros := number >> 10
	if number&0x3ff < idBits(id) {
		micros--
	}
	return time.UnixMicro(micros).UTC()
}

func scanVector(s Scanner) (Document, []any, error) {
	var doc Document
	var text string
	var at int64
	err := s.Scan(&doc.Space, &at, &doc.ID, &text)
	doc.At = time.UnixMicro(at).UTC()
	doc.setWords(strings.Fields(text))
	return doc, []any{doc.Space, at, doc.ID}, err
}

// spaceOf returns the owner that a spaceWord stands for.
func spaceOf(word string) string {
	hex := strings.TrimPrefix(word, "0s")
	if len(hex) != 32 {
		return hex
	}
	return hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:]
}

// setWords keeps each word once, in order, but for the one that tells whose the row is.
func (doc *Document) setWords(words []string) {
	own := spaceWord(doc.Space)
	doc.Words = slices.DeleteFunc(words, func(word string) bool { return word == own })
	slices.Sort(doc.Words)
	doc.Words = slices.Compact(doc.Words)
}

// restoreFTS looks for a number that is free: rows of one moment may come in several calls.
func restoreFTS(tx *Tx, index string, docs []Document) error {
	for _, doc := range docs {
		rowID := doc.At.UnixMicro()<<10 | idBits(doc.ID)
		for {
			taken, err := One(tx, Value[int64], `SELECT COUNT(*) FROM `+index+` WHERE rowid = $1`, rowID)
			if err != nil {
				return err
			}
			if taken == 0 {
				break
			}
			rowID++
		}
		if _, err := tx.Exec(`INSERT INTO `+index+` (rowid, words, id) VALUES ($1, $2, $3)`, rowID, doc.ftsText(), doc.ID); err != nil {
			return err
		}
	}
	return nil
}
