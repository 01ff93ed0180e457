package audience_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/product/audience"
)

func TestWhatTheSuppressionListSaysFollowsTheAddress(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.contact("ann@example.net", nil)
		h.must(201, "POST", "/suppressions", fields{"email": "angry@example.net", "reason": "complaint"})
		h.must(201, "POST", "/suppressions", fields{"email": "broken@example.net", "reason": "invalid"})
		h.follow()
		for _, step := range []struct{ email, want string }{
			{"angry@example.net", `["complained",true,"complaint"]`}, {"broken@example.net", `["bounced",true,"invalid"]`},
			{"ann@example.net", `["subscribed",false,null]`},
		} {
			if got := h.must(200, "PATCH", "/contacts/"+id, fields{"email": step.email}).Pick("status", "suppressed", "suppression_reason"); got != step.want {
				t.Errorf("%s: %s", step.email, got)
			}
		}
	})
}

func TestWhoIsOnTheSuppressionListGetsNoBulkMailThoughSubscribed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.contact("ann@example.net", nil)
		h.contact("blocked@example.net", nil)
		h.must(201, "POST", "/suppressions", fields{"email": "blocked@example.net", "reason": "manual"})
		h.follow()
		if got := h.must(200, "GET", "/contacts/blocked@example.net", nil).Text("status"); got != "subscribed" {
			t.Fatal(got)
		}
		h.in(func(tx *db.Tx, s *audience.Service) error {
			page, err := s.Recipients(tx, h.Workspace, audience.Target{}, 0, 10)
			if err == nil && (len(page) != 1 || page[0].Address != "ann@example.net") {
				t.Errorf("%+v", page)
			}
			return err
		})
	})
}

func TestContactsAreFoundByTheNameTheyHaveNow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.contact("ann@example.net", fields{"first_name": "Ann", "last_name": "Lee"})
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"last_name": "Moss"})
		if got := h.must(200, "GET", "/contacts?search=moss", nil).Column("email"); got != "ann@example.net" {
			t.Errorf("the new name finds %q", got)
		}
		if got := h.must(200, "GET", "/contacts?search=lee", nil).Column("email"); got != "" {
			t.Errorf("the old name finds %q", got)
		}
	})
}

func TestASkippedUpsertTellsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.contact("ann@example.net", nil)
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "first_name": "Eve", "on_conflict": "skip"})
		if got := h.news(id); got != "created" {
			t.Error(got)
		}
	})
}

func TestOnlyAContactOfTheAudienceIsChangedOrDeletedByIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list, segment := h.made("/audience/lists", "A", nil), h.made("/segments", "B", nil)
		h.contact("ann@example.net", nil)
		for _, audience := range []string{list, segment} {
			base := "/audiences/" + audience + "/contacts/ann@example.net"
			h.must(404, "GET", base, nil)
			h.must(404, "PATCH", base, fields{"first_name": "Eve"})
			h.must(404, "DELETE", base, nil)
		}
		if got := h.must(200, "GET", "/contacts/ann@example.net", nil).Pick("first_name"); got != "[null]" {
			t.Error(got)
		}
		h.must(200, "DELETE", "/audiences/"+segment, nil)
		h.must(404, "GET", "/segments/"+segment, nil)
		h.must(200, "DELETE", "/audiences/"+list, nil)
		h.must(404, "GET", "/audience/lists/"+list, nil)
	})
}

func TestCountsFollowEveryChangeOfAContact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list, topic := h.made("/audience/lists", "A", nil), h.made("/topics", "B", nil)
		quiet := h.made("/topics", "C", fields{"default_subscription": "opt_out"})
		h.contact("bob@example.net", nil)
		for range 2 {
			h.Call("POST", "/contacts", fields{"email": "ann@example.net", "list_ids": []string{list, list},
				"topics": []fields{{"id": topic, "subscription": "opt_out"}, {"id": quiet, "subscription": "opt_in"}}})
		}
		counts := func() string {
			count := func(path string, names ...string) string { return h.must(200, "GET", path, nil).Pick(names...) }
			return count("/audience/lists/"+list, "contact_count", "subscribed_count", "unsubscribed_count") + count("/topics/"+topic, "subscriber_count") +
				count("/topics/"+quiet, "subscriber_count") + count("/contacts", "total")
		}
		if got := counts(); got != "[1,1,0][1][1][2]" {
			t.Errorf("joined twice: %s", got)
		}
		h.leaves("ann@example.net", list, "list")
		if got := h.must(200, "GET", "/contacts?list_id="+list, nil).Pick("total"); got != "[1]" {
			t.Errorf("the list of who left has %s", got)
		}
		if got := h.must(200, "GET", "/contacts?list_id="+list+"&status=pending", nil).Pick("total"); got != "[0]" {
			t.Errorf("nobody is pending, but %s", got)
		}
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "list_id": list, "resubscribe": true})
		if got := counts(); got != "[1,1,0][1][1][2]" {
			t.Errorf("came back: %s", got)
		}
		h.must(200, "DELETE", "/contacts/ann@example.net", nil)
		if got := counts(); got != "[0,0,0][1][0][1]" {
			t.Errorf("deleted: %s", got)
		}
	})
}

func TestWhoIsOffTheListIsNotWaitingForIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		ann, bob := h.contact("ann@example.net", fields{"list_id": list}), h.contact("bob@example.net", fields{"list_id": list})
		h.in(func(tx *db.Tx, s *audience.Service) error {
			_, err := s.LeaveList(tx, h.Workspace, audience.ContactID(ann), list)
			return err
		})
		if got := h.must(200, "GET", "/audience/lists/"+list, nil).Pick("contact_count", "pending_count"); got != "[1,1]" {
			t.Errorf("taken off: %s", got)
		}
		h.must(200, "DELETE", "/audience/lists/"+list, nil)
		for _, id := range []string{ann, bob} {
			if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("status", "lists"); got != `["subscribed",[]]` {
				t.Error(got)
			}
		}
	})
}

func TestPropertiesAndWhatOneRequestAttachesAreLimited(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for i := range 100 {
			h.property(fmt.Sprintf("p%d", i), "string")
		}
		refused := h.must(400, "POST", "/contact-properties", fields{"key": "more", "type": "string"})
		if refused.Problems() != "key: A workspace can have at most 100 properties." {
			t.Errorf("%s", refused.Raw)
		}
		list, topic, segment := h.made("/audience/lists", "A", nil), h.made("/topics", "B", nil), h.made("/segments", "C", nil)
		for field, one := range map[string]any{"list_ids": list, "topics": fields{"id": topic, "subscription": "opt_in"}, "segments": segment} {
			many := make([]any, 101)
			for i := range many {
				many[i] = one
			}
			refused := h.must(400, "POST", "/contacts", fields{"email": "ann@example.net", field: many})
			if !strings.HasPrefix(refused.Problems(), field+": At most 100") {
				t.Errorf("%s: %s", field, refused.Problems())
			}
			h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", field: many[1:]})
			h.must(200, "DELETE", "/contacts/ann@example.net", nil)
		}
	})
}

func TestContactsAreListedFromASinceToAnUntil(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		var at []string
		for _, name := range []string{"a", "b", "c"} {
			h.Clock.Advance(time.Minute)
			id := h.contact(name+"@example.net", nil)
			var c audience.Contact
			h.in(func(tx *db.Tx, s *audience.Service) (err error) {
				c, err = s.Find(tx, h.Workspace, id)
				return err
			})
			at = append(at, url.QueryEscape(c.CreatedAt.UTC().Format(time.RFC3339Nano)))
		}
		first, last := at[0], at[2]
		for query, want := range map[string]string{
			"since=" + first:                              "c@example.net b@example.net a@example.net",
			"since=" + last:                               "c@example.net",
			"until=" + last:                               "b@example.net a@example.net",
			"since=" + first + "&until=" + first:          "",
			"order=asc&since=" + first + "&until=" + last: "a@example.net b@example.net",
		} {
			if got := h.must(200, "GET", "/contacts?"+query, nil).Column("email"); got != want {
				t.Errorf("%s: %s", query, got)
			}
		}
		file := h.ask("GET", "/audience/contacts/export?order=asc", nil, map[string]string{"Authorization": "Bearer " + h.Key})
		if got := string(file.Raw); strings.Index(got, "a@example.net") > strings.Index(got, "c@example.net") {
			t.Errorf("oldest first: %s", got)
		}
	})
}
