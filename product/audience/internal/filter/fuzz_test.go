package filter_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"postrider/product/audience/internal/filter"
)

// A filter is read, or the caller is told what is wrong with it and where; one that was read can be asked about anybody, and is of
// bounded size.
func FuzzFiltersAreReadOrBlamed(f *testing.F) {
	for _, seed := range []string{
		`{"type":"rule","field":"email_domain","operator":"eq","value":"example.net"}`,
		`{"type":"and","rules":[{"type":"rule","field":"first_name","operator":"contains","value":"a"},{"type":"not","rules":[{"field":"status","operator":"in","value":["subscribed"]}]}]}`,
		`{"type":"or","rules":[{"field":"properties.plan","operator":"neq","value":"pro"},{"field":"properties.seats","operator":"gt","value":3}]}`,
		`{"type":"rule","field":"created_at","operator":"within","value":"30 days"}`, `{"type":"rule","field":"last_opened_at","operator":"before","value":"2026-01-01"}`,
		`{"type":"rule","field":"topic","operator":"eq","value":"news"}`, `{"type":"rule","field":"segment","operator":"in","value":["s"]}`,
		`{}`, `[]`, `null`, `{"type":"and","rules":[]}`, `{"type":"rule","field":"email","operator":"eq","value":{"a":1}}`, strings.Repeat(`{"type":"not","rules":[`, 40),
	} {
		f.Add([]byte(seed))
	}
	schema := filter.Schema{Properties: map[string]filter.Property{"plan": {Number: 1}, "seats": {Number: 2, Type: "number"}}, Topics: map[string]filter.Topic{"news": {Number: 1}},
		Lists: map[string]int64{"l": 1}, Segments: map[string]*filter.Segment{"s": {Number: 1}}, Events: true}
	contact := &filter.Contact{Email: "ann@example.net", Domain: "example.net", FirstName: "Ann", Status: "subscribed", CreatedAt: time.Unix(1, 0)}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tree, err := filter.Parse(json.RawMessage(raw), schema)
		if err != nil {
			var problem *filter.Problem
			if !errors.As(err, &problem) || problem.Message == "" {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if size := tree.Size(filter.MaxExpanded); size > filter.MaxExpanded {
			t.Fatalf("%q has %d rules", raw, size)
		}
		tree.Matches(contact, time.Unix(1_800_000_000, 0))
		tree.Matches(&filter.Contact{}, time.Unix(1_800_000_000, 0))
		tree.Leads("ws")
		tree.Names()
	})
}
