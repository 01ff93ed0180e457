package event

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"postrider/platform/db/dbtest"
)

// Followers look many times a second whether anything is new, and mostly nothing is. That must not cost more with every event there
// ever was.
func TestALookForNewsDoesNotReadTheWholeRecord(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), dbtest.URL(t, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, statement := range []string{
		`INSERT INTO event (id, workspace_id, type, subject_id, occurred_at, data, tx_id)
			SELECT gen_random_uuid(), gen_random_uuid(), 'email.queued', gen_random_uuid(), n, '{}', 1000 + n / 100 FROM generate_series(1, 20000) AS n`,
		`ANALYZE event`, `SET plan_cache_mode = force_generic_plan`, // as it is chosen for statements that are asked often
		`PREPARE after(bigint, bigint) AS ` + queryAfter, `PREPARE count(bigint, bigint, bigint) AS ` + queryCount,
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{`after(5000, 20000)`, `count(5000, 20000, 100)`} {
		rows, err := conn.Query(t.Context(), `EXPLAIN EXECUTE `+query, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if plan := strings.Join(lines, "\n"); err != nil || plan == "" || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s: %v\n%s", query, err, plan)
		}
	}
}
