package db

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// ftsRow is a row of an FTS5 index.
type ftsRow struct {
	number int64
	doc    Document
}

// ftsText is what FTS5 is given to index: the words, and last the one that tells whose they are.
func (doc Document) ftsText() string {
	return strings.Join(doc.Words, " ") + " " + spaceWord(doc.Space)
}

// insertFTSRows adds rows whose numbers are free and returns how many they were. They come one by one: a statement of many rows begins a
// savepoint, before which the index is written out, and what was written out in pieces has to be merged.
func insertFTSRows(tx *Tx, index string, rows []ftsRow) (int64, error) {
	var added int64
	for _, r := range rows {
		n, err := tx.Exec(`INSERT OR IGNORE INTO `+index+` (rowid, words, id) VALUES ($1, $2, $3)`, r.number, r.doc.ftsText(), r.doc.ID)
		if err != nil {
			return added, err
		}
		added += n
	}
	return added, nil
}

// placeFTSRows adds those of some rows whose numbers belong to others, which came in the same microsecond but in an earlier
// transaction. Rows that are in the index already stay where they are.
func placeFTSRows(tx *Tx, index string, rows []ftsRow) error {
	numbers := make([]int64, len(rows))
	for i, r := range rows {
		numbers[i] = r.number
	}
	owners, err := selectOwners(tx, `
		SELECT rowid, id FROM `+index+`
		WHERE rowid {in $1}`, numbers)
	if err != nil {
		return err
	}
	var left []ftsRow
	taken, present, looked := map[int64]bool{}, map[string]bool{}, map[int64]bool{}
	for _, r := range rows {
		if owners[r.number] == r.doc.ID {
			continue
		}
		if micros := r.doc.At.UnixMicro(); !looked[micros] {
			looked[micros] = true
			near, err := selectOwners(tx, `
				SELECT rowid, id FROM `+index+`
				WHERE {between `+index+` $1 $2}`, r.doc.At, r.doc.At.Add(time.Microsecond)) // a crowd reaches into the next
			if err != nil {
				return err
			}
			for number, id := range near {
				taken[number], present[id] = true, true
			}
		}
		if present[r.doc.ID] {
			continue
		}
		for taken[r.number] {
			r.number++
		}
		taken[r.number] = true
		left = append(left, r)
	}
	slices.SortFunc(left, func(a, b ftsRow) int { return cmp.Compare(a.number, b.number) })
	_, err = insertFTSRows(tx, index, left)
	return err
}

// selectOwners returns the ids of rows by their numbers.
func selectOwners(tx *Tx, query string, args ...any) (map[int64]string, error) {
	owners := map[int64]string{}
	_, err := All(tx, func(s Scanner) (number int64, err error) {
		var id string
		err = s.Scan(&number, &id)
		owners[number] = id
		return number, err
	}, query, args...)
	return owners, err
}
