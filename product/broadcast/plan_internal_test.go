package broadcast

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/world"
)

// Rows that are settled are many; looking for open ones, or for those that failed, must not read them.
func TestOpenAndFailedRowsAreFoundByTheirIndexes(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, world.New(slog.New(slog.NewTextHandler(io.Discard, nil))), "sqlite")
	err := d.Read(context.Background(), func(tx *db.Tx) error {
		for text, args := range map[string][]any{
			`SELECT address FROM broadcast_recipient WHERE broadcast_id = $1 AND ` + openRows + ` AND state = $2 AND contact > $3 ORDER BY contact LIMIT $4`: {"x", "pending", 0, 10},
			`SELECT contact FROM broadcast_recipient WHERE broadcast_id = $1 AND ` + openRows + ` LIMIT 1`:                                                   {"x"},
			`SELECT contact FROM broadcast_recipient WHERE broadcast_id = $1 AND state = 'failed' AND contact > $2 ORDER BY contact LIMIT $3`:                {"x", 0, 10},
		} {
			plan := dbtest.Explain(t, tx, "sqlite", text, args...)
			index := "broadcast_recipient_open"
			if strings.Contains(text, "'failed'") {
				index = "broadcast_recipient_failed"
			}
			if !strings.Contains(plan, index) || strings.Contains(plan, "TEMP") {
				t.Errorf("%s: %s", text, plan)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
