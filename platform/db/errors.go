package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrNotFound means that a row which must exist does not.
	ErrNotFound = errors.New("row not found")
	// ErrUnique means that a unique constraint refused a row.
	ErrUnique = errors.New("row already exists")
	// ErrUnavailable means that the database cannot take the work now: disk full, connection lost, shutting down. Nothing
	// of the transaction was kept.
	ErrUnavailable = errors.New("database unavailable")
	// ErrDamaged means that what was stored cannot be read any more: the disk, or somebody, has changed it.
	ErrDamaged = errors.New("the database is damaged: stop the server, keep the files as they are, and put the last backup back (postrider restore)")
	// ErrConflict means that another transaction came first. A write function may return it to be run again.
	ErrConflict = errors.New("transaction conflict")
)

// OrMissing puts what a caller calls a row that is not there in the place of ErrNotFound; other errors stay.
func OrMissing(err, missing error) error {
	if errors.Is(err, ErrNotFound) {
		return missing
	}
	return err
}

// classify adds the class of an engine's error, and the statement it came from.
func classify(err error, query string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q: %w", firstLine(query), classOf(err))
}

func classOf(err error) error {
	var lite *sqlite.Error
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &lite):
		return sqliteClass(lite)
	case errors.As(err, &pg):
		return postgresClass(pg)
	case isConnectionLoss(err):
		return errors.Join(ErrUnavailable, err)
	}
	return err
}

func sqliteClass(err *sqlite.Error) error {
	switch err.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return errors.Join(ErrUnique, err)
	}
	switch err.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return errors.Join(ErrUnavailable, ErrDamaged, err)
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM:
		return errors.Join(ErrUnavailable, err)
	}
	return err
}

// postgresClass reads the SQLSTATE (PostgreSQL manual, appendix A).
func postgresClass(err *pgconn.PgError) error {
	switch {
	case err.Code == "23505":
		return errors.Join(ErrUnique, err)
	case err.Code == "40001", err.Code == "40P01":
		return errors.Join(ErrConflict, err)
	case err.Code == "XX001", err.Code == "XX002":
		return errors.Join(ErrUnavailable, ErrDamaged, err)
	case err.Code == "57014", err.Code == "55P03", err.Code == "25P03": // one of the limits on a session was passed
		return errors.Join(ErrUnavailable, err)
	case strings.HasPrefix(err.Code, "08"), strings.HasPrefix(err.Code, "53"), strings.HasPrefix(err.Code, "57P"),
		strings.HasPrefix(err.Code, "58"), err.Code == "25006":
		return errors.Join(ErrUnavailable, err)
	}
	return err
}

func isConnectionLoss(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) || errors.As(err, &network) || errors.As(err, &connect)
}
