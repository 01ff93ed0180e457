package lookup

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"testing"
	"time"

	"postrider/platform/db"
)

var entries = flag.Int("entries", 200_000, "how many entries the searched log has; a mail is one entry, and about four events")

// BenchmarkLogs looks through the log of one workspace: a mail of every second entry, and requests between them.
func BenchmarkLogs(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			h := fill(b, engine)
			now := h.app.World.Clock.Now()
			const batch = 2000
			for from := 0; from < *entries; from += batch {
				if err := h.app.DB.Write(context.Background(), func(tx *db.Tx) error { return insertEntries(tx, h.workspace, now, from, from+batch) }); err != nil {
					b.Fatal(err)
				}
			}
			settle(b, h, engine)
			half := *entries / 4 * 2
			for name, query := range map[string]url.Values{
				"newest":      {},
				"recipient":   {"search": {fmt.Sprintf("user%d@example.net", half)}},
				"domain":      {"domain_id": {id(1, 77)}},
				"domain-rare": {"domain_id": {id(1, 99_999)}},
				"customer":    {"managed_tenant_id": {id(2, 7)}},
				"email":       {"email_id": {entryID(now, half)}},
				"id":          {"search": {entryID(now, half)}},
				"nowhere":     {"search": {"unheard"}},
			} {
				b.Run(name, func(b *testing.B) { h.measure(b, "/logs?"+query.Encode()) })
			}
			b.Run("one", func(b *testing.B) { h.measure(b, "/logs/"+entryID(now, half)) })
		})
	}
}

// entryID is the id of an entry; entries are ten to a second, back from now.
func entryID(now time.Time, n int) string {
	at := entryAt(now, n).UnixMilli()
	return fmt.Sprintf("%08x-%04x-7000-8000-%012x", at>>16, at&0xffff, n)
}

func entryAt(now time.Time, n int) time.Time {
	return now.Add(-time.Duration(*entries-n) * 100 * time.Millisecond).Truncate(time.Microsecond)
}

func insertEntries(tx *db.Tx, workspace string, now time.Time, from, to int) error {
	var rows []any
	var docs []db.Document
	for n := from; n < to; n++ {
		at, entry, mail := entryAt(now, n), entryID(now, n), entryID(now, n/2*2)
		kind, method, path, status, state, message := "email", "", "", 0, "delivered", fmt.Sprintf("Your order %d to user%d@example.net", n, n)
		if n%2 == 1 {
			kind, method, path, status, state, message = "api_request", "POST", "/emails", 202, "", "POST /emails 202"
		}
		domain, tenant := id(1, n%1000), db.NullText("")
		if n%500 == 0 {
			tenant = db.NullText(id(2, n/500%20))
		}
		rows = append(rows, entry, workspace, kind, "info", at, method, path, path, status, 900, nil, nil, mail, nil, domain, tenant, state, 1, message,
			`{"request_body":{"to":["user@example.net"],"html":"[redacted 2000 bytes]"}}`)
		docs = append(docs, db.Document{Space: workspace, ID: entry, At: at, Words: db.Words(fmt.Sprintf("%s %s user%d@example.net %s", message, mail, n/2*2, state))})
	}
	if _, err := tx.InsertRows(`
		INSERT INTO log_entry (id, workspace_id, kind, level, created_at, method, endpoint, route, response_status, duration_us, key_id, user_id,
			email_id, subject_id, domain_id, tenant_id, status, recipients, message, details)`, 20, rows, ``); err != nil {
		return err
	}
	return tx.IndexWords("log_search", docs...)
}
