package reseal

import (
	"fmt"
	"strings"

	"postrider/platform/db"
)

// row is a sealed value and where it stands.
type row struct {
	key           []string
	sealed, fresh []byte
}

// page returns the next rows of any workspace, in the order of their keys.
func (c Column) page(tx *db.Tx, after []string) ([]row, error) {
	condition, args := c.Name+" IS NOT NULL", []any(nil)
	if after != nil {
		marks := make([]string, len(after))
		for i, part := range after {
			args = append(args, part)
			marks[i] = fmt.Sprintf("$%d", len(args))
		}
		condition += fmt.Sprintf(" AND (%s) > (%s)", strings.Join(c.Key, ", "), strings.Join(marks, ", "))
	}
	args = append(args, pageRows)
	return db.All(tx, c.scan, fmt.Sprintf(`
		SELECT %[1]s, %[2]s FROM %[3]s
		WHERE %[4]s
		ORDER BY %[1]s
		LIMIT $%[5]d`, strings.Join(c.Key, ", "), c.Name, c.Table, condition, len(args)), args...)
}

func (c Column) scan(s db.Scanner) (row, error) {
	found := row{key: make([]string, len(c.Key))}
	into := make([]any, 0, len(c.Key)+1)
	for i := range found.key {
		into = append(into, &found.key[i])
	}
	err := s.Scan(append(into, &found.sealed)...)
	return found, err
}

// replace writes the fresh value, unless somebody has written another one since the row was read.
func (c Column) replace(tx *db.Tx, r row) (int64, error) {
	args := []any{r.fresh, r.sealed}
	conditions := make([]string, len(c.Key))
	for i, name := range c.Key {
		args = append(args, r.key[i])
		conditions[i] = fmt.Sprintf("%s = $%d", name, len(args))
	}
	return tx.Exec(fmt.Sprintf(`
		UPDATE %[1]s SET %[2]s = $1
		WHERE %[2]s = $2 AND %[3]s`, c.Table, c.Name, strings.Join(conditions, " AND ")), args...)
}

// insertWitness leaves the first witness alone.
func insertWitness(tx *db.Tx, name string, sealed []byte) error {
	_, err := tx.Exec(`INSERT INTO reseal_witness (name, sealed) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, sealed)
	return err
}
