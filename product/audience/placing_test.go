package audience_test

import (
	"fmt"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/product/audience"
)

func TestPuttingInAndTakingOutIsToldAndCountedAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		segment := h.made("/segments", "A", fields{"filter": rule("email_domain", "eq", "example.org")})
		id := h.contact("ann@example.net", nil)
		step := func(method, path string, body any, count, news string) {
			t.Helper()
			h.must(200, method, path, body)
			if got := h.must(200, "GET", "/segments/"+segment, nil).Pick("contact_count"); got != count || h.news(id) != news {
				t.Errorf("%s: %s contacts, told %s", path, got, h.news(id))
			}
		}
		step("POST", "/segments/"+segment+"/contacts", fields{"contact_ids": []string{id}}, "[1]", "created updated")
		step("POST", "/segments/"+segment+"/contacts", fields{"contact_ids": []string{id}}, "[1]", "created updated")
		step("DELETE", "/segments/"+segment+"/contacts/"+id, nil, "[0]", "created updated updated")
		step("POST", "/segments/"+segment+"/contacts", fields{"contact_ids": []string{id}}, "[1]", "created updated updated updated")
		step("PATCH", "/segments/"+segment, fields{"filter": rule("email_domain", "eq", "example.com")}, "[1]", "created updated updated updated")
		h.contact("bob@example.net", nil)
		step("PATCH", "/segments/"+segment, fields{"filter": rule("email_domain", "eq", "example.net")}, "[2]", "created updated updated updated")
	})
}

func TestASegmentDoesNotOutgrowThoseThatNameIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		many := func(n int, one fields) fields {
			rules := make([]fields, n)
			for i := range rules {
				rules[i] = one
			}
			return fields{"type": "or", "rules": rules}
		}
		inner := h.made("/segments", "Inner", fields{"filter": rule("email", "exists", true)})
		h.made("/segments", "Outer", fields{"filter": many(10, rule("segments", "member_of", inner))})
		h.must(200, "PATCH", "/segments/"+inner, fields{"filter": many(19, rule("email", "exists", true))})
		refused := h.must(400, "PATCH", "/segments/"+inner, fields{"filter": many(20, rule("email", "exists", true))})
		if refused.Problems() != "filter: A segment that names this one would have too many rules." {
			t.Errorf("%s", refused.Raw)
		}
	})
}

func TestASegmentOfFewAmongManyHasThosePutInByHand(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		segment := h.made("/segments", "Few", fields{"filter": rule("email_domain", "eq", "example.org")})
		for i := range 3 {
			h.contact(fmt.Sprintf("c%d@example.net", i), nil)
		}
		h.contact("d@example.org", nil)
		h.must(200, "POST", "/segments/"+segment+"/contacts", fields{"emails": []string{"c1@example.net"}})
		h.must(200, "GET", "/segments/"+segment, nil)
		h.Clock.Advance(time.Hour)
		h.in(func(tx *db.Tx, _ *audience.Service) error { // as if there were many others
			_, err := tx.Exec(`UPDATE contact_total SET contacts = 1000000 WHERE workspace_id = $1`, h.Workspace)
			return err
		})
		if got := h.must(200, "GET", "/segments/"+segment+"/contacts", nil).Column("email"); got != "d@example.org c1@example.net" {
			t.Error(got)
		}
	})
}

func TestAContactIsListedByATopicThatHasToBeAskedFor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		quiet := h.made("/topics", "A", fields{"default_subscription": "opt_out"})
		h.contact("ann@example.net", fields{"topics": []fields{{"id": quiet, "subscription": "opt_in"}}})
		h.contact("bob@example.net", nil)
		if got := h.must(200, "GET", "/contacts?topic_id="+quiet, nil).Column("email"); got != "ann@example.net" {
			t.Error(got)
		}
		h.in(func(tx *db.Tx, s *audience.Service) error {
			out, err := s.OptedOut(tx, h.Workspace, quiet, []string{"ann@example.net", "bob@example.net"})
			if err == nil && (len(out) != 1 || !out["bob@example.net"]) {
				t.Errorf("opted out: %v", out)
			}
			return err
		})
	})
}

func TestWhoLeftAListHasLeftNoOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		one, other := h.made("/audience/lists", "A", nil), h.made("/audience/lists", "B", nil)
		ann := h.contact("ann@example.net", fields{"list_ids": []string{one, other}})
		bob := h.contact("bob@example.net", fields{"unsubscribed": true})
		h.leaves("ann@example.net", one, "list")
		h.in(func(tx *db.Tx, s *audience.Service) error {
			for list, want := range map[string]bool{one: true, other: false, "": false} {
				left, err := s.Left(tx, h.Workspace, list, []string{ann, bob})
				if err != nil {
					return err
				}
				if left[ann] != want || !left[bob] {
					t.Errorf("%q was left by %v", list, left)
				}
			}
			return nil
		})
	})
}
