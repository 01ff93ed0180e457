package webhook

import (
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/space"
	"postrider/world"
)

// crowded runs ask in a workspace with many deliveries, of which nearly all wait for another attempt of one endpoint. The other
// endpoint, and each event, has few.
func crowded(t *testing.T, ask func(t *testing.T, d *db.DB, tx *db.Tx, engine string, ws space.ID, failing, quiet ID)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w := world.New(slog.New(slog.DiscardHandler))
			d := dbtest.Open(t, w, engine)
			ws, failing, quiet := space.ID(w.NewID()), ID(w.NewID()), ID(w.NewID())
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				var all []Delivery
				for n := range 5000 {
					one := Delivery{ID: DeliveryID(w.NewID()), Workspace: ws, Webhook: failing, EventID: w.NewID(), EventType: "email.sent", Status: Retrying,
						Attempts: 1, MaxAttempts: maxAttempts, DueAt: tx.Now().Add(time.Hour + time.Duration(n)*time.Second), CreatedAt: tx.Now()}
					if n%1000 == 0 {
						one.Webhook = quiet
					}
					all = append(all, one)
				}
				if err := insertDeliveries(tx, all); err != nil {
					return err
				}
				if engine == "postgres" { // which looks at its tables by itself, but not so soon
					if _, err := tx.Exec(`ANALYZE webhook_delivery`); err != nil {
						return err
					}
				}
				ask(t, d, tx, engine, ws, failing, quiet)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestDeliveriesAreListedByTheIndexOfWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	crowded(t, func(t *testing.T, _ *db.DB, tx *db.Tx, engine string, ws space.ID, _, quiet ID) {
		one, event := []string{string(quiet)}, []string{"0193a1ef-15ea-7000-8000-000000000001"}
		for _, c := range []struct {
			query deliveryQuery
			index string
		}{
			{deliveryQuery{Webhook: one}, "webhook_delivery_webhook"},
			{deliveryQuery{EventID: event}, "webhook_delivery_event"},
			{deliveryQuery{EventID: event, Webhook: one}, "webhook_delivery_event"},
			{deliveryQuery{Status: []string{"failed"}, Webhook: one}, "webhook_delivery_failed"},
		} {
			c.query.Limit = 50
			text, args := c.query.page(ws, db.Keyset{Down: true})
			if plan := dbtest.Explain(t, tx, engine, text, args...); !strings.Contains(plan, c.index) {
				t.Errorf("%s is not used for %+v:\n%s", c.index, c.query, plan)
			}
		}
	})
}

// An endpoint that fails for days has hundreds of thousands of deliveries waiting, and is given back after every new one.
func TestTheNextDueDeliveryIsFoundWithoutReadingAllThatWait(t *testing.T) {
	t.Parallel()
	many := regexp.MustCompile(`actual .*rows=\d{4,}|LIST SUBQUERY`) // SQLite does not count, but a list of statuses has no first row
	crowded(t, func(t *testing.T, d *db.DB, tx *db.Tx, engine string, _ space.ID, failing, _ ID) {
		asked := map[string][]any{}
		stop := d.Watch(func(query string, args []any) { asked[query] = args })
		due, err := selectNextDue(tx, failing)
		stop()
		if want := tx.Now().Add(time.Hour + time.Second); err != nil || !due.Equal(want) {
			t.Errorf("due %s, want %s (%v)", due, want, err)
		}
		for query, args := range asked {
			if engine == "postgres" {
				query = "ANALYZE " + query
			}
			if plan := dbtest.Explain(t, tx, engine, query, args...); !strings.Contains(plan, "webhook_delivery_due") || many.MatchString(plan) {
				t.Errorf("%s\n%s", query, plan)
			}
		}
	})
}
