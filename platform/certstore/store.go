package certstore

import (
	"time"
	"unicode/utf8"

	"postrider/platform/db"
)

type file struct {
	path     string
	size     int64
	modified time.Time
}

const fileColumns = `path, size_bytes, modified_at`

func scanFile(s db.Scanner) (f file, err error) {
	err = s.Scan(&f.path, &f.size, db.Time(&f.modified))
	return f, err
}

func saveFile(tx *db.Tx, path string, sealed []byte, size int64) error {
	_, err := tx.Exec(`
		INSERT INTO certificate_file (path, content, size_bytes, modified_at)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (path) DO UPDATE
		SET content = excluded.content, size_bytes = excluded.size_bytes, modified_at = excluded.modified_at`, path, sealed, size, tx.Now())
	return err
}

func selectContent(tx *db.Tx, path string) ([]byte, error) {
	return db.One(tx, db.Value[[]byte], `
		SELECT content FROM certificate_file
		WHERE path = $1`, path)
}

func selectFile(tx *db.Tx, path string) ([]file, error) {
	return db.All(tx, scanFile, `
		SELECT `+fileColumns+` FROM certificate_file
		WHERE path = $1`, path)
}

// selectBelow compares beginnings letter by letter: LIKE ignores case on one engine, and order depends on the language on the other.
func selectBelow(tx *db.Tx, path string) ([]file, error) {
	prefix := below(path)
	return db.All(tx, scanFile, `
		SELECT `+fileColumns+` FROM certificate_file
		WHERE substr(path, 1, $2) = $1`, prefix, int64(utf8.RuneCountInString(prefix)))
}

func deleteTree(tx *db.Tx, path string) error {
	prefix := below(path)
	_, err := tx.Exec(`
		DELETE FROM certificate_file
		WHERE path = $1 OR substr(path, 1, $3) = $2`, path, prefix, int64(utf8.RuneCountInString(prefix)))
	return err
}

// takeLock takes a lock that nobody holds, or whose holder has not been heard of for too long.
func takeLock(tx *db.Tx, name, holder string) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO certificate_lock (name, holder, held_until)
		VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE
		SET holder = excluded.holder, held_until = excluded.held_until
		WHERE certificate_lock.held_until < $4`, name, holder, tx.Now().Add(leaseFor), tx.Now())
	return n == 1, err
}

func keepLock(tx *db.Tx, name, holder string) (bool, error) {
	n, err := tx.Exec(`
		UPDATE certificate_lock SET held_until = $1
		WHERE name = $2 AND holder = $3`, tx.Now().Add(leaseFor), name, holder)
	return n == 1, err
}

func dropLock(tx *db.Tx, name, holder string) error {
	_, err := tx.Exec(`
		DELETE FROM certificate_lock
		WHERE name = $1 AND holder = $2`, name, holder)
	return err
}
