package custody

import (
	"context"
	"slices"

	"postrider/platform/db"
)

// Reason is why a database is set aside. The empty one is that of a database that does its work.
type Reason string

const (
	// Copied is a copy that came from a backup: what waits in it may have been sent by the original since.
	Copied Reason = "copied"
	// Moving is the source of a move that has not ended: what is written into it may stay behind.
	Moving Reason = "moving"
	// Moved is the source of a move that has ended: another database does its work.
	Moved Reason = "moved"
)

// asideTable is there only while a database is set aside: the databases of dumps and backups have the schema of their time.
const asideTable = "set_aside"

// IsAside tells whether a table is the one in which a database says that it is set aside. It belongs to the database and not to what is in it.
func IsAside(t db.Table) bool { return t.Name == asideTable }

// Aside tells why a database is set aside, if it is.
func Aside(ctx context.Context, d *db.DB) (why Reason, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		tables, err := tx.Tables()
		if err == nil && slices.ContainsFunc(tables, IsAside) {
			why, err = selectReason(tx)
		}
		return err
	})
	return why, err
}

// SetAside lets every server that opens the database know why it is set aside. Without a reason it is no longer.
func SetAside(ctx context.Context, d *db.DB, why Reason) error {
	return d.Write(ctx, func(tx *db.Tx) error {
		if err := dropReason(tx); err != nil || why == "" {
			return err
		}
		return createReason(tx, why)
	})
}
