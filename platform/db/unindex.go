package db

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
