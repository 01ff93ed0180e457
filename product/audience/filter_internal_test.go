package audience

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
	"postrider/product/suppression"
	"postrider/world"
)

// texts are values that look alike to one engine and not to another, or mean something to a pattern.
var texts = []string{"", "pro", "PRO", "Pro ", "ÄRGER", "ärger", "İstanbul", "100%", "a_b", "axb", `back\slash`, "'; --", "ß", "ſ", "K", "日本", "{in $1}"}

var moments = []time.Time{time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 14, 12, 0, 0, 1000, time.UTC), time.Date(2026, 10, 1, 0, 0, 0, 123456000, time.UTC),
	time.Date(1969, 12, 31, 23, 59, 59, 999000000, time.UTC), time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)}

var amounts = []float64{0, 1, -1, 0.1, 5, 1e300, -2.5, 9007199254740993}

// town is a workspace with everything that a tree can ask about.
type town struct {
	ws    space.ID
	known schema
}

func settle(t *rapid.T, tx *db.Tx, w world.World) (town, error) {
	ws := space.ID(w.NewID())
	for _, p := range []Property{{Key: "text", Type: filter.String}, {Key: "amount", Type: filter.Number}, {Key: "truth", Type: filter.Boolean}, {Key: "day", Type: filter.Date}} {
		p.ID, p.Workspace, p.CreatedAt, p.UpdatedAt = PropertyID(w.NewID()), ws, tx.Now(), tx.Now()
		if _, err := insertProperty(tx, p); err != nil {
			return town{}, err
		}
	}
	for i, subscription := range []Subscription{OptIn, OptOut} {
		if _, err := insertTopic(tx, Topic{ID: TopicID(w.NewID()), Workspace: ws, Name: fmt.Sprint(i), Default: subscription, Visibility: private, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}); err != nil {
			return town{}, err
		}
		if _, err := insertList(tx, List{ID: ListID(w.NewID()), Workspace: ws, Name: fmt.Sprint(i), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}); err != nil {
			return town{}, err
		}
	}
	for name, rules := range map[string]string{"manual": "", "pros": `{"type":"rule","field":"properties.text","operator":"eq","value":"pro"}`} {
		if _, err := insertSegment(tx, Segment{ID: SegmentID(w.NewID()), Workspace: ws, Name: name, Type: Hybrid, Filter: json.RawMessage(rules), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}); err != nil {
			return town{}, err
		}
	}
	known, err := loadSchema(tx, ws)
	if err != nil {
		return town{}, err
	}
	for i := range rapid.IntRange(1, 12).Draw(t, "contacts") {
		if err := moveIn(t, tx, w, ws, known, i); err != nil {
			return town{}, err
		}
	}
	return town{ws, known}, nil
}

// moveIn adds a contact that has some of everything.
func moveIn(t *rapid.T, tx *db.Tx, w world.World, ws space.ID, known schema, i int) error {
	maybe := rapid.Bool()
	text, at := rapid.SampledFrom(texts), rapid.SampledFrom(moments)
	c := &Contact{ID: ContactID(w.NewID()), Workspace: ws, Address: fmt.Sprintf("%d@%s", i, rapid.SampledFrom([]string{"example.net", "example.org", "xn--mnchen-3ya.de"}).Draw(t, "host")),
		FirstName: text.Draw(t, "first"), LastName: text.Draw(t, "last"), Unsubscribed: maybe.Draw(t, "unsubscribed"), CreatedAt: at.Draw(t, "created"), UpdatedAt: at.Draw(t, "updated")}
	if maybe.Draw(t, "suppressed") {
		c.Suppression = suppression.Bounce
	}
	c.settle()
	if _, err := insertContacts(tx, []*Contact{c}); err != nil {
		return err
	}
	numbers, err := selectNumbersOf(tx, ws, []string{c.Address})
	if err != nil {
		return err
	}
	number := numbers[c.Address]
	if maybe.Draw(t, "engaged") {
		if err := addEngagement(tx, []mailbox{{ws, c.Address}}, map[mailbox]engagement{{ws, c.Address}: {sent: 5, opened: 1, sentAt: at.Draw(t, "sent"), openedAt: at.Draw(t, "opened")}}); err != nil {
			return err
		}
	}
	var values []held
	for _, p := range known.properties {
		if maybe.Draw(t, "has "+p.Key) {
			v := map[filter.Type]filter.Value{filter.String: filter.Text(text.Draw(t, "text")), filter.Number: filter.Amount(rapid.SampledFrom(amounts).Draw(t, "amount")),
				filter.Boolean: filter.Truth(maybe.Draw(t, "truth")), filter.Date: filter.Moment(at.Draw(t, "day").Truncate(time.Millisecond))}[p.Type]
			values = append(values, held{number, p.Number, v, tx.Now()})
		}
	}
	if err := saveHeld(tx, values, known.types()); err != nil {
		return err
	}
	for _, l := range known.lists {
		if maybe.Draw(t, "joins") {
			if err := saveMemberships(tx, []Membership{{List: l.Number, Contact: number, Status: rapid.SampledFrom([]Status{Subscribed, Pending, Unsubscribed}).Draw(t, "status")}}); err != nil {
				return err
			}
		}
	}
	for _, topic := range known.topics {
		if maybe.Draw(t, "says") {
			if err := saveSaid(tx, []said{{topic.Number, number, rapid.SampledFrom([]Subscription{OptIn, OptOut}).Draw(t, "said"), tx.Now(), false}}); err != nil {
				return err
			}
		}
	}
	for _, g := range known.segments {
		if maybe.Draw(t, "placed") {
			if err := savePlaced(tx, []placement{{g.Number, number, maybe.Draw(t, "out")}}); err != nil {
				return err
			}
		}
	}
	return nil
}

type tree = map[string]any

// drawTree draws a tree about what the town has.
func drawTree(t *rapid.T, known schema, depth int) tree {
	if depth > 0 && rapid.IntRange(0, 2).Draw(t, "group") > 0 {
		kind := rapid.SampledFrom([]string{"and", "or", "not"}).Draw(t, "kind")
		count := 1
		if kind != "not" {
			count = rapid.IntRange(1, 3).Draw(t, "count")
		}
		var rules []tree
		for range count {
			rules = append(rules, drawTree(t, known, depth-1))
		}
		return tree{"type": kind, "rules": rules}
	}
	return drawRule(t, known)
}

func drawRule(t *rapid.T, known schema) tree {
	operator := func(names ...string) string { return rapid.SampledFrom(names).Draw(t, "operator") }
	field := func(names ...string) string { return rapid.SampledFrom(names).Draw(t, "field") }
	r := tree{"type": "rule"}
	switch rapid.IntRange(0, 5).Draw(t, "about") {
	case 0:
		r["field"] = field("email", "email_domain", "first_name", "last_name", "status", "properties.text")
		r["operator"] = operator("eq", "neq", "contains", "not_contains", "starts_with", "ends_with", "in", "not_in", "exists", "is_empty")
		value := rapid.SampledFrom(append([]string{"example", "0@", "org", "subscribed", "bounced", "r"}, texts...))
		r["value"] = listed(r["operator"].(string), value.Draw(t, "value"), value.Draw(t, "other"))
	case 1:
		r["field"] = field("properties.amount", "engagement.sent_count", "engagement.open_count", "engagement.click_count")
		r["operator"] = operator("eq", "neq", "gt", "gte", "lt", "lte", "in", "not_in", "exists", "is_empty")
		value := rapid.SampledFrom(amounts)
		r["value"] = listed(r["operator"].(string), value.Draw(t, "value"), value.Draw(t, "other"))
	case 2:
		r["field"], r["operator"] = field("unsubscribed", "suppressed", "properties.truth"), operator("eq", "neq", "exists")
		r["value"] = rapid.Bool().Draw(t, "value")
	case 3:
		r["field"] = field("created_at", "updated_at", "engagement.last_sent_at", "engagement.last_opened_at", "engagement.last_clicked_at", "properties.day")
		r["operator"] = operator("gt", "gte", "lt", "lte", "within_last", "not_within_last", "exists", "is_empty")
		r["value"] = rapid.SampledFrom(moments).Draw(t, "value").Format(time.RFC3339Nano)
		if op := r["operator"]; op == "within_last" || op == "not_within_last" {
			r["value"] = rapid.SampledFrom([]string{"1 hours", "24 hours", "1 days", "7 weeks"}).Draw(t, "span")
		}
		if op := r["operator"]; op == "exists" || op == "is_empty" {
			r["value"] = rapid.Bool().Draw(t, "value")
		}
	case 4:
		r["field"], r["operator"] = "lists", operator("member_of", "not_member_of")
		r["value"] = known.lists[rapid.IntRange(0, 1).Draw(t, "list")].ID
		if rapid.Bool().Draw(t, "segment") {
			r["field"], r["value"] = "segments", known.segments[rapid.IntRange(0, 1).Draw(t, "segment")].ID
		}
	default:
		topic := known.topics[rapid.IntRange(0, 1).Draw(t, "topic")]
		r["field"], r["operator"], r["value"] = "topics."+string(topic.ID), "eq", rapid.SampledFrom([]string{"opt_in", "opt_out"}).Draw(t, "said")
	}
	return r
}

func listed[T any](operator string, one, two T) any {
	switch operator {
	case "in", "not_in":
		return []T{one, two}
	case "exists", "is_empty":
		return nil
	}
	return one
}

// The heart of segments: what the database finds, in both ways of asking, is what Go says of each contact.
func TestTheDatabaseAndGoAgreeOnEveryFilter(t *testing.T) {
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
			rapid.Check(t, func(t *rapid.T) {
				var in town
				err := d.Write(context.Background(), func(tx *db.Tx) (err error) {
					in, err = settle(t, tx, w)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				for range 20 {
					agree(t, d, in, drawTree(t, in.known, 4))
				}
			})
		})
	}
}

// judge is a test that can fail.
type judge interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func agree(t judge, d *db.DB, in town, rules tree) {
	raw, _ := json.Marshal(rules)
	parsed, err := filter.Parse(raw, in.known.Schema)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	now := moments[0]
	err = d.Read(context.Background(), func(tx *db.Tx) error {
		all, err := db.All(tx, scanContact, `SELECT `+contactColumns+` FROM contact WHERE workspace_id = $1 ORDER BY number`, in.ws)
		if err != nil {
			return err
		}
		details, err := loadDetails(tx, all)
		if err != nil {
			return err
		}
		var want []int64
		for _, c := range details {
			if parsed.Matches(c.facts(in.known), now) {
				want = append(want, c.Number)
			}
		}
		for _, style := range []filter.Style{filter.Whole, filter.Stepwise} {
			w := &filter.Writer{Style: style, Now: now, Args: []any{in.ws}}
			condition := w.Tree(parsed)
			got, err := db.All(tx, db.Value[int64], `SELECT number FROM contact WHERE workspace_id = $1 AND `+condition+` ORDER BY number`, w.Args...)
			if err != nil {
				return err
			}
			if !slices.Equal(got, want) {
				t.Fatalf("style %d: the database finds %v, Go %v\n%s\n%s", style, got, want, raw, condition)
			}
		}
		for _, lead := range parsed.Leads(in.ws) {
			found, err := db.All(tx, db.Value[int64], lead.Query, lead.Args...)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(want, func(n int64) bool { return !slices.Contains(found, n) }); i >= 0 {
				t.Fatalf("the lead misses contact %d\n%s\n%s", want[i], raw, lead.Query)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
