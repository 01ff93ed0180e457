package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// migrationLock is the advisory lock that nodes hold while they change the schema: "postride" in ASCII.
	migrationLock = 0x706f737472696465
	// applicationName is how servers and verbs are known in pg_stat_activity; one that moves data has another name.
	applicationName = "postrider"
	moverName       = "postrider-move"
)

// postgresEngine runs every write as a transaction of its own; the server shares the fsync between those that commit together.
type postgresEngine struct {
	handle *sql.DB
}

func openPostgres(ctx context.Context, address, name string, log *slog.Logger) (*postgresEngine, *waker, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, nil, err
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectWithin
	}
	most, err := poolSize(config.RuntimeParams)
	if err != nil {
		return nil, nil, err
	}
	config.RuntimeParams["application_name"] = name
	if name == applicationName {
		setLimits(config.RuntimeParams)
	}
	handle := stdlib.OpenDB(*config)
	handle.SetMaxOpenConns(most)
	handle.SetMaxIdleConns(most)
	handle.SetConnMaxIdleTime(idleConnection)
	if err := handle.PingContext(ctx); err != nil {
		handle.Close()
		return nil, nil, classOf(err)
	}
	w := newWaker()
	listenForWakes(config, handle, w, log)
	return &postgresEngine{handle: handle}, w, nil
}

const (
	// poolWord is how an address bounds the connections of a node, in the word that other programs use for it.
	poolWord = "pool_max_conns"
	// leastPool leaves room for requests while every long-lived worker is in a transaction.
	leastPool = 4
	// connectWithin is how long a server may take to let somebody in, unless the address says another time (connect_timeout).
	connectWithin = 10 * time.Second
	// idleConnection is how long a connection that nobody needs is kept: a quiet night gives the server its memory back.
	idleConnection = 5 * time.Minute
)

// poolSize is how many connections a node may have, beside the one that listens. It takes the word out of the parameters, which are
// the server's.
func poolSize(parameters map[string]string) (int, error) {
	asked, ok := parameters[poolWord]
	if !ok {
		return max(16, 8*runtime.GOMAXPROCS(0)), nil
	}
	delete(parameters, poolWord)
	size, err := strconv.Atoi(asked)
	if err != nil || size < leastPool {
		return 0, fmt.Errorf("%s=%s in the address of the database: must be a whole number of at least %d", poolWord, asked, leastPool)
	}
	return size, nil
}

// setLimits bounds what one session may take, unless the address says otherwise. A node that is frozen in the middle of a transaction
// holds locks that all others wait for; so does one whose statement never ends.
func setLimits(parameters map[string]string) {
	for name, value := range map[string]string{"statement_timeout": "60s", "idle_in_transaction_session_timeout": "30s"} {
		if parameters[name] == "" {
			parameters[name] = value
		}
	}
}

func (e *postgresEngine) read(ctx context.Context, run func(statements) error) error {
	return e.transact(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}, run)
}

func (e *postgresEngine) glance(ctx context.Context, run func(statements) error) error {
	conn, err := e.handle.Conn(ctx)
	if err != nil {
		return classOf(err)
	}
	defer conn.Close()
	return run(postgresTx{conn, conn})
}

func (e *postgresEngine) write(ctx context.Context, level isolation, run func(statements) error) error {
	options := &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	if level == serializable {
		options.Isolation = sql.LevelSerializable
	}
	return e.transact(ctx, options, run)
}

func (e *postgresEngine) transact(ctx context.Context, options *sql.TxOptions, run func(statements) error) error {
	conn, err := e.handle.Conn(ctx) // one that is alive: the pool tries those that were idle
	if err != nil {
		return classOf(err)
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, options)
	if err != nil {
		return classOf(err)
	}
	defer tx.Rollback()
	if err := run(postgresTx{conn, tx}); err != nil {
		return err
	}
	// A commit whose answer is lost may have happened. The caller hears "unavailable", and idempotency makes a retry safe.
	return classOf(tx.Commit())
}

func (e *postgresEngine) migrate(ctx context.Context, apply func(statements) error) error {
	return e.transact(ctx, &sql.TxOptions{}, func(s statements) error {
		if _, err := s.exec(ctx, postgresCatalog.unhurried, nil); err != nil {
			return classOf(err)
		}
		if _, err := s.exec(ctx, "SELECT pg_advisory_xact_lock($1)", []any{int64(migrationLock)}); err != nil {
			return classOf(err)
		}
		return apply(s)
	})
}

func (e *postgresEngine) ping(ctx context.Context) error { return classOf(e.handle.PingContext(ctx)) }

func (e *postgresEngine) close() error { return e.handle.Close() }

// postgresTx is one transaction and the connection it has to itself; the driver keeps its statements prepared. For a glance there is
// only the connection.
type postgresTx struct {
	conn *sql.Conn
	tx   interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (p postgresTx) exec(ctx context.Context, query string, args []any) (sql.Result, error) {
	return p.tx.ExecContext(ctx, query, args...)
}

// execEach sends everything before it reads the first answer, which database/sql has no word for.
func (p postgresTx) execEach(ctx context.Context, query string, rows [][]any) error {
	batch := &pgx.Batch{}
	for _, args := range rows {
		batch.Queue(query, args...)
	}
	return p.conn.Raw(func(driven any) error {
		return driven.(*stdlib.Conn).Conn().SendBatch(ctx, batch).Close()
	})
}

func (p postgresTx) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	if strings.Contains(query, "tsquery") {
		// How to look for words depends on the words: some are in every row, some in none. A plan that is kept for all of them
		// would be good for few.
		args = append([]any{pgx.QueryExecModeCacheDescribe}, args...)
	}
	return p.tx.QueryContext(ctx, query, args...)
}

func (p postgresTx) savepoint(run func() error) error {
	ctx := context.Background()
	if _, err := p.tx.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		return classOf(err)
	}
	if err := run(); err != nil {
		_, undo := p.tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT one")
		return errors.Join(err, undo)
	}
	_, err := p.tx.ExecContext(ctx, "RELEASE SAVEPOINT one")
	return classOf(err)
}
