package audience

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
	"postrider/world"
)

// everyRule returns each operator with each value, for a field of every kind.
func everyRule() []tree {
	var rules []tree
	add := func(field, operator string, value any) {
		rules = append(rules, tree{"type": "rule", "field": field, "operator": operator, "value": value})
	}
	for _, field := range []string{"first_name", "properties.text"} {
		for _, text := range texts {
			for _, operator := range []string{"eq", "neq", "contains", "not_contains", "starts_with", "ends_with"} {
				add(field, operator, text)
			}
			add(field, "in", []string{text, "pro"})
			add(field, "not_in", []string{text})
		}
	}
	for _, field := range []string{"properties.amount", "engagement.sent_count"} {
		for _, amount := range amounts {
			for _, operator := range []string{"eq", "neq", "gt", "gte", "lt", "lte"} {
				add(field, operator, amount)
			}
			add(field, "in", []float64{amount, 5})
			add(field, "not_in", []float64{amount})
		}
	}
	for _, field := range []string{"properties.day", "created_at", "engagement.last_sent_at"} {
		for _, at := range moments {
			for _, operator := range []string{"gt", "gte", "lt", "lte"} {
				add(field, operator, at.Format(time.RFC3339Nano))
			}
		}
		for _, span := range []string{"0 hours", "1 hours", "24 hours", "1 days", "8 weeks"} {
			add(field, "within_last", span)
			add(field, "not_within_last", span)
		}
	}
	for _, field := range []string{"first_name", "properties.text", "properties.amount", "properties.day", "engagement.last_sent_at", "engagement.sent_count"} {
		for _, truth := range []bool{true, false} {
			add(field, "exists", truth)
			add(field, "is_empty", truth)
		}
	}
	return rules
}

func TestTheDatabaseAndGoAgreeOnEveryOperator(t *testing.T) {
	t.Parallel()
	w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			d, err := db.Open(context.Background(), w, db.Config{URL: dbtest.URL(t, engine)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			var in town
			err = d.Write(context.Background(), func(tx *db.Tx) (err error) {
				in, err = settleAll(tx, w)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, rules := range everyRule() {
				agree(t, d, in, rules)
			}
		})
	}
}

// settleAll makes a contact for every value there is, and one that has none.
func settleAll(tx *db.Tx, w world.World) (town, error) {
	ws := space.ID(w.NewID())
	for _, p := range []Property{{Key: "text", Type: filter.String}, {Key: "amount", Type: filter.Number}, {Key: "day", Type: filter.Date}} {
		p.ID, p.Workspace, p.CreatedAt, p.UpdatedAt = PropertyID(w.NewID()), ws, tx.Now(), tx.Now()
		if _, err := insertProperty(tx, p); err != nil {
			return town{}, err
		}
	}
	known, err := loadSchema(tx, ws)
	if err != nil {
		return town{}, err
	}
	for i := range len(texts) + 1 {
		c := &Contact{ID: ContactID(w.NewID()), Workspace: ws, Address: fmt.Sprintf("%d@example.net", i), Status: Subscribed, CreatedAt: moments[i%len(moments)], UpdatedAt: moments[0]}
		if i < len(texts) {
			c.FirstName = texts[i]
		}
		if _, err := insertContacts(tx, []*Contact{c}); err != nil {
			return town{}, err
		}
		numbers, err := selectNumbersOf(tx, ws, []string{c.Address})
		if err != nil || i == len(texts) {
			return town{ws, known}, err
		}
		if err := addEngagement(tx, []mailbox{{ws, c.Address}}, map[mailbox]engagement{{ws, c.Address}: {sent: int64(i % 3), sentAt: moments[i%len(moments)]}}); err != nil {
			return town{}, err
		}
		var values []held
		for _, p := range known.properties {
			value := map[filter.Type]filter.Value{filter.String: filter.Text(texts[i]), filter.Number: filter.Amount(amounts[i%len(amounts)]),
				filter.Date: filter.Moment(moments[i%len(moments)].Truncate(time.Millisecond))}[p.Type]
			values = append(values, held{numbers[c.Address], p.Number, value, tx.Now()})
		}
		if err := saveHeld(tx, values, known.types()); err != nil {
			return town{}, err
		}
	}
	return town{ws, known}, nil
}

func TestASegmentWhoseFilterNamesWhatIsGoneHasOnlyThosePutIn(t *testing.T) {
	t.Parallel()
	var s schema
	s.segments = []Segment{{Number: 1, ID: "a", Filter: json.RawMessage(`{"type":"rule","field":"properties.gone","operator":"exists"}`)}}
	s.index()
	g := s.Segments["a"]
	if g.Filter != nil || g.Has(&filter.Contact{}, moments[0]) || !g.Has(&filter.Contact{In: map[int64]bool{1: true}}, moments[0]) {
		t.Errorf("%+v", g)
	}
}
