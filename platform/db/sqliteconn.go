package db

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// maxPrepared bounds the statements a connection keeps ready; past it the texts are not from our code and are run once.
const maxPrepared = 2000

// errTransactionLost means SQLite ended the whole transaction by itself, as it does when the disk is full.
var errTransactionLost = errors.New("transaction lost")

// sqliteConn is one connection with its prepared statements. One goroutine owns it at a time.
type sqliteConn struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

func (c *sqliteConn) prepare(query string) (*sql.Stmt, bool, error) {
	if stmt, ok := c.prepared[query]; ok {
		return stmt, true, nil
	}
	stmt, err := c.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, false, err
	}
	if len(c.prepared) >= maxPrepared || strings.HasPrefix(query, Composed) {
		return stmt, false, nil
	}
	c.prepared[query] = stmt
	return stmt, true, nil
}

// exec ignores the caller's cancellation: inside a shared transaction an interrupted statement would hurt the neighbours.
func (c *sqliteConn) exec(_ context.Context, query string, args []any) (sql.Result, error) {
	stmt, kept, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	if !kept {
		defer stmt.Close()
	}
	return stmt.ExecContext(context.Background(), args...)
}

func (c *sqliteConn) execEach(ctx context.Context, query string, rows [][]any) error {
	for _, args := range rows {
		if _, err := c.exec(ctx, query, args); err != nil {
			return err
		}
	}
	return nil
}

func (c *sqliteConn) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	stmt, kept, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	if !kept {
		stmt.Close()
		return c.conn.QueryContext(ctx, query, args...)
	}
	return stmt.QueryContext(context.Background(), args...)
}

func (c *sqliteConn) command(text string) error {
	_, err := c.exec(context.Background(), text, nil)
	return classOf(err)
}

func (c *sqliteConn) savepoint(run func() error) error {
	if err := c.command("SAVEPOINT one"); err != nil {
		return errors.Join(errTransactionLost, err)
	}
	err := run()
	if err != nil {
		if undo := c.command("ROLLBACK TO one"); undo != nil {
			return errors.Join(errTransactionLost, err, undo)
		}
	}
	if release := c.command("RELEASE one"); release != nil {
		return errors.Join(errTransactionLost, err, release)
	}
	return err
}

func (c *sqliteConn) close() {
	for _, stmt := range c.prepared {
		stmt.Close()
	}
	c.conn.Close()
}
