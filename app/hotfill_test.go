package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/world"
)

const (
	// crowd is how many rows each large table gets: enough that an engine which reads one through is found out.
	crowd = 20_000
	// crowdEvery is how far apart in time they are, so that the oldest are older than any plan keeps things.
	crowdEvery = 2 * time.Minute
)

// crowded are the tables that grow with every message or customer, and what differs between the rows that fill them. A row is a copy of
// one that the program has written. s is a line of crowd_series, b the row that is copied.
func crowded() map[string]map[string]string {
	const workspace = `CASE WHEN s.n % 10 = 0 THEN b.workspace_id ELSE CAST('0193a000-0000-7000-8000-00000000000' || CAST(s.n % 10 AS TEXT) AS {id}) END`
	return map[string]map[string]string{
		"email": {"id": "s.id", "workspace_id": workspace, "created_at": "s.at", "updated_at": "s.at",
			"status": "CASE WHEN s.n % 100 = 50 THEN 'bounced' ELSE 'delivered' END"},
		"email_content":   {"email_id": "s.id", "workspace_id": workspace},
		"email_recipient": {"id": "s.id", "email_id": "s.id", "workspace_id": workspace},
		"email_attempt":   {"id": "s.id", "email_id": "s.id", "recipient_id": "s.id", "workspace_id": workspace, "started_at": "s.at"},
		"event": {"id": "s.id", "subject_id": "s.id", "workspace_id": workspace, "occurred_at": "s.at",
			"tx_id": "CASE WHEN b.tx_id = 0 THEN 0 ELSE s.n / 4 - 100000 END"}, // as they are after a move to another server
		"queue_item":       {"id": "s.id", "flow": "'flow' || CAST(s.n % 50 AS TEXT)", "due_at": "b.due_at + s.n * 60000000"},
		"webhook_payload":  {"event_id": "s.id", "workspace_id": workspace, "expires_at": "s.at + 27 * 86400000000"},
		"webhook_delivery": {"id": "s.id", "event_id": "s.id", "workspace_id": workspace, "created_at": "s.at", "webhook_id": "CASE WHEN s.n % 10 = 0 THEN b.webhook_id ELSE s.id END"},
		"webhook_attempt":  {"delivery_id": "s.id", "workspace_id": workspace, "started_at": "s.at"},
		"api_idempotency":  {"key": "'key' || CAST(s.n AS TEXT)", "workspace_id": workspace, "expires_at": "s.at + 27 * 86400000000"}, // few are over
		"suppression": {"id": "s.id", "mailbox": "s.id", "workspace_id": workspace, "created_at": "s.at",
			"address": "CAST('person' || CAST(s.n AS TEXT) || '@example.org' AS {blob})"},
		"apikey_key":          {"id": "s.id", "public_id": "'public' || CAST(s.n AS TEXT)", "workspace_id": workspace},
		"log_entry":           {"id": "s.id", "workspace_id": workspace, "created_at": "s.at"},
		"plan_usage":          {"workspace_id": "s.id"},
		"domain":              {"id": "s.id", "name": "'d' || CAST(s.n AS TEXT) || '.test'", "workspace_id": workspace, "created_at": "s.at", "next_check_at": "b.next_check_at + s.n * 60000000"},
		"inbound_received":    {"id": "s.id", "workspace_id": workspace, "created_at": "s.at", "message_id": "'<' || CAST(s.n AS TEXT) || '@example.org>'", "thread_id": "s.id"},
		"inbound_message":     {"received_id": "s.id", "workspace_id": workspace},
		"contact":             {"id": "s.id", "number": "1000000 + s.n", "workspace_id": workspace, "address": "'person' || CAST(s.n AS TEXT) || '@example.org'"},
		"broadcast_recipient": {"id": "s.id", "workspace_id": workspace, "broadcast_id": "s.id", "contact": "1000000 + s.n", "contact_id": "s.id", "email_id": "s.id"},
		"account_session":     {"id": "s.id", "token_hash": "CAST('token' || CAST(s.n AS TEXT) AS {blob})", "user_id": "s.id", "seen_at": "s.at + 27 * 86400000000"},
	}
}

// fill gives the large tables their crowd.
func fill(t *testing.T, in *apptest.Installation, engine string) {
	t.Helper()
	now := in.Clock.Now()
	at := func(n int) time.Time { return now.Add(-time.Duration(crowd-n) * crowdEvery) }
	ids := make([]string, crowd)
	for n := range ids {
		ids[n] = world.IDAt(at(n), in.App.World.Random)
	}
	write(t, in, func(tx *db.Tx) error {
		if _, err := tx.Exec(`CREATE TABLE crowd_series (n BIGINT PRIMARY KEY, id {id} NOT NULL, at BIGINT NOT NULL)`); err != nil {
			return err
		}
		var rows []any
		for n, id := range ids {
			rows = append(rows, n, id, at(n))
		}
		_, err := tx.InsertRows(`INSERT INTO crowd_series (n, id, at)`, 3, rows, ``)
		return err
	})
	write(t, in, func(tx *db.Tx) error { return copyRows(tx) })
	const batch = 2000
	for from := 0; from < crowd; from += batch {
		var docs []db.Document
		for n := from; n < from+batch; n++ {
			docs = append(docs, db.Document{Space: string(in.Workspace), ID: ids[n], At: at(n), Words: []string{"order", fmt.Sprintf("user%d", n), "example", "net"}})
		}
		write(t, in, func(tx *db.Tx) error {
			if err := tx.IndexWords("email_search", docs...); err != nil {
				return err
			}
			return tx.IndexWords("log_search", docs...)
		})
	}
	if engine == "postgres" { // which does both by itself, but not so soon
		write(t, in, func(tx *db.Tx) error {
			for _, statement := range []string{`SELECT gin_clean_pending_list('email_search_words')`, `SELECT gin_clean_pending_list('log_search_words')`, `ANALYZE`} {
				if _, err := tx.Exec(statement); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func copyRows(tx *db.Tx) error {
	tables, err := tx.Tables()
	if err != nil {
		return err
	}
	for _, table := range tables {
		differing := crowded()[table.Name]
		if differing == nil {
			continue
		}
		var columns, values []string
		for _, column := range table.Columns {
			if column == table.Numbered { // the engine fills it
				continue
			}
			value := "b." + column
			if differing[column] != "" {
				value = differing[column]
			}
			columns, values = append(columns, column), append(values, value)
		}
		n, err := tx.Exec(fmt.Sprintf(`INSERT INTO %[1]s (%[2]s) SELECT %[3]s FROM crowd_series AS s CROSS JOIN (SELECT * FROM %[1]s ORDER BY 1 DESC LIMIT 1) AS b`,
			table.Name, strings.Join(columns, ", "), strings.Join(values, ", ")))
		if err != nil {
			return fmt.Errorf("%s: %w", table.Name, err)
		}
		if n != crowd {
			return fmt.Errorf("%s got %d rows: the program has written none to copy", table.Name, n)
		}
	}
	return nil
}

func write(t *testing.T, in *apptest.Installation, fn func(tx *db.Tx) error) {
	t.Helper()
	if err := in.App.DB.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}
