package db_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
)

func TestStatementRunsForEachRowInTheirOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		write(t, d, func(tx *db.Tx) error {
			if err := tx.ExecEach(`INSERT INTO thing (id, name) VALUES ($1, $2)`, nil); err != nil {
				return err
			}
			if err := tx.ExecEach(`INSERT INTO thing (id, name) VALUES ($1, $2)`, [][]any{{id(1), "a"}, {id(2), "b\x00"}, {id(3), nil}}); err != nil {
				return err
			}
			return tx.ExecEach(`UPDATE thing SET name = COALESCE(name, '') || $1 WHERE id = $2`, [][]any{{"x", id(1)}, {"y", id(1)}, {"z", id(3)}, {"nobody", id(4)}})
		})
		if got := names(t, d); got != "axy b\uFFFD z" {
			t.Fatalf("names = %q", got)
		}
	})
}

func TestRowThatIsRefusedUndoesThoseBeforeIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			return tx.ExecEach(`INSERT INTO thing (id, name) VALUES ($1, $2)`, [][]any{{id(1), "a"}, {id(2), "b"}, {id(1), "again"}, {id(3), "c"}})
		})
		if !errors.Is(err, db.ErrUnique) || names(t, d) != "" {
			t.Fatalf("err = %v, names = %q", err, names(t, d))
		}
		write(t, d, func(tx *db.Tx) error { return addThing(tx, 1, "after") })
		if got := names(t, d); got != "after" {
			t.Fatalf("names = %q", got)
		}
	})
}

func TestServerIsAskedOnceForManyRows(t *testing.T) {
	t.Parallel()
	asked := &questions{server: dbtest.URL(t, "postgres")}
	d, err := db.Open(t.Context(), testWorld(), db.Config{URL: asked.listen(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const rows = 500
	var asks int64
	write(t, d, func(tx *db.Tx) error {
		if _, err := tx.Exec(`CREATE TABLE thing (id {id} PRIMARY KEY, name TEXT)`); err != nil {
			return err
		}
		all := make([][]any, rows)
		for n := range all {
			all[n] = []any{id(n), fmt.Sprint(n)}
		}
		before := asked.count.Load()
		err := tx.ExecEach(`INSERT INTO thing (id, name) VALUES ($1, $2)`, all)
		asks = asked.count.Load() - before
		return err
	})
	// One has the statement prepared, one runs it; the connection that listens for wakes may ask something meanwhile.
	if asks == 0 || asks > 10 {
		t.Errorf("the server was asked %d times for %d rows", asks, rows)
	}
}

// questions stands before a server and counts how often it is asked for an answer: the Sync messages and simple queries of its clients.
type questions struct {
	server string
	count  atomic.Int64
}

// listen returns the address of the server through the counter.
func (q *questions) listen(t *testing.T) string {
	t.Helper()
	server, err := pgconn.ParseConfig(q.server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go q.pass(client, server)
		}
	}()
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", url.UserPassword(server.User, server.Password), listener.Addr(), server.Database)
}

func (q *questions) pass(client net.Conn, server *pgconn.Config) {
	defer client.Close()
	network, address := pgconn.NetworkAddress(server.Host, server.Port)
	behind, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer behind.Close()
	go func() {
		defer client.Close()
		_, _ = io.Copy(client, behind)
	}()
	in := bufio.NewReader(client)
	for kind := byte(0); ; { // the first message has no kind
		if _, err := io.CopyN(behind, in, messageSize(in, kind)); err != nil {
			return
		}
		next, err := in.Peek(1)
		if err != nil {
			return
		}
		if kind = next[0]; kind == 'S' || kind == 'Q' {
			q.count.Add(1)
		}
	}
}

// messageSize is how long the next message is: its kind, then the length of the rest, which counts itself.
func messageSize(in *bufio.Reader, kind byte) int64 {
	head := 1
	if kind == 0 {
		head = 0
	}
	start, err := in.Peek(head + 4)
	if err != nil {
		return 0
	}
	return int64(head) + int64(binary.BigEndian.Uint32(start[head:]))
}
