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

var emails = flag.Int("emails", 200_000, "how many emails the searched workspace has")

// BenchmarkSearch looks through the emails of one workspace: for words that are everywhere, rare, old, or nowhere.
func BenchmarkSearch(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			h := fill(b, engine)
			mail(b, h, *emails)
			settle(b, h, engine)
			half := *emails / 2
			for name, query := range map[string]url.Values{
				"newest":         {},
				"everywhere":     {"search": {"order"}},
				"one":            {"search": {fmt.Sprintf("user%d@example", half)}},
				"old-campaign":   {"search": {"spring sale"}},
				"nowhere":        {"search": {"unheard"}},
				"beginning":      {"search": {fmt.Sprintf("user%d", half/10)}},
				"typed-so-far":   {"search": {fmt.Sprintf("user%d@exam", half)}},
				"two-words":      {"search": {fmt.Sprintf("order %d", half)}},
				"recipient":      {"to": {fmt.Sprintf("user%d@", half)}},
				"domain":         {"domain": {"shop77.test"}},
				"rare-status":    {"status": {"bounced"}},
				"absent-status":  {"status": {"complained"}},
				"search-by-id":   {"search": {id(9, half)}},
				"month-and-word": {"search": {"order"}, "until": {start.Add(time.Duration(half) * time.Second).Format(time.RFC3339)}},
			} {
				b.Run(name, func(b *testing.B) { h.measure(b, "/emails?"+query.Encode()) })
			}
		})
	}
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// mail gives the workspace its emails: one a second, every tenth of the first tenth of a campaign, one in a thousand bounced.
func mail(b *testing.B, h house, count int) {
	b.Helper()
	const batch = 2000
	for from := 0; from < count; from += batch {
		err := h.app.DB.Write(context.Background(), func(tx *db.Tx) error { return insertEmails(tx, h.workspace, from, from+batch, count) })
		if err != nil {
			b.Fatal(err)
		}
	}
}

// settle does what PostgreSQL does by itself in quiet moments.
func settle(b *testing.B, h house, engine string) {
	b.Helper()
	if engine != "postgres" {
		return
	}
	err := h.app.DB.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`SELECT gin_clean_pending_list('email_search_words'), gin_clean_pending_list('log_search_words')`)
		if err == nil {
			_, err = tx.Exec(`ANALYZE`)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

func insertEmails(tx *db.Tx, workspace string, from, to, count int) error {
	var rows []any
	var docs []db.Document
	for n := from; n < to; n++ {
		at := start.Add(time.Duration(n) * time.Second)
		subject, status, domain := fmt.Sprintf("Your order %d", n), "delivered", fmt.Sprintf("shop%d.test", n%1000)
		if n < count/10 && n%10 == 0 {
			subject = "Spring sale"
		}
		if n%1000 == 1 {
			status = "bounced"
		}
		recipient := fmt.Sprintf("user%d@example.net", n)
		text := fmt.Sprintf("%s\n%s\nhello@%s\n<%s@%s>\n%s", id(9, n), subject, domain, id(9, n), domain, recipient)
		rows = append(rows, id(9, n), workspace, id(1, n%1000), "api", "<"+id(9, n)+"@"+domain+">", status, "hello@"+domain, domain,
			`{"to":["`+recipient+`"]}`, subject, `[]`, `{}`, text, 1000, 0, 1, false, false, false, "direct", at, at, at)
		words := append(db.Words(fmt.Sprintf("%s hello@%s %s", subject, domain, recipient)), fmt.Sprintf("%08x000070008000%012x", 9, n))
		docs = append(docs, db.Document{Space: workspace, ID: id(9, n), At: at, Words: words})
	}
	if _, err := tx.InsertRows(`
		INSERT INTO email (id, workspace_id, domain_id, source, message_id, status, sender, sender_domain, addresses, subject, tags, metadata, search,
			size_bytes, attachment_count, recipient_count, track_opens, track_clicks, test, provider, created_at, updated_at, expires_at)`, 23, rows, ``); err != nil {
		return err
	}
	return tx.IndexWords("email_search", docs...)
}
