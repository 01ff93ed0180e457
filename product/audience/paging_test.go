package audience_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/app/apptest/pages"
)

func (h *house) walk(path, column string) string {
	h.t.Helper()
	return pages.Walk(h.t, func(at string) apptest.Answer { return h.must(200, "GET", at, nil) }, path, column)
}

func TestEveryListOfTheAudienceIsFollowedByCursorInEitherOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		topics, lists, segments, people := []string{}, []string{}, []string{}, []string{}
		for i := range 3 {
			h.property(fmt.Sprintf("p%d", i), "string")
			topics = append(topics, h.made("/topics", fmt.Sprintf("t%d", i), nil))
			lists = append(lists, h.made("/audience/lists", fmt.Sprintf("l%d", i), nil))
			segments = append(segments, h.made("/segments", fmt.Sprintf("s%d", i), nil))
		}
		for i := range 5 {
			people = append(people, h.contact(fmt.Sprintf("c%d@example.net", i), fields{"list_ids": lists[:1], "segments": segments}))
		}
		var imports []string
		for range 3 {
			imports = append(imports, h.must(202, "POST", "/contacts/imports", fields{"contacts": []fields{{"email": "c0@example.net"}}}).Text("id"))
			h.Clock.Advance(1e9)
		}
		up := func(rows []string) string { return strings.Join(rows, " ") }
		down := func(rows []string) string {
			turned := slices.Clone(rows)
			slices.Reverse(turned)
			return strings.Join(turned, " ")
		}
		for _, list := range []struct {
			path, column string
			rows         []string
		}{
			{"/audience/lists", "id", lists}, {"/segments", "id", segments}, {"/topics", "id", topics}, {"/contact-properties", "key", []string{"p0", "p1", "p2"}},
			{"/contacts", "id", people}, {"/contacts?search=example", "id", people}, {"/audience/contacts?list_id=" + lists[0], "id", people},
			{"/segments/" + segments[0] + "/contacts", "id", people}, {"/audiences/" + lists[0] + "/contacts", "id", people}, {"/contacts/imports", "id", imports},
		} {
			path := list.path + "?"
			if strings.Contains(list.path, "?") {
				path = list.path + "&"
			}
			if got := h.walk(path, list.column); got != down(list.rows) {
				t.Errorf("%s: %s", list.path, got)
			}
			if got := h.walk(path+"order=asc&", list.column); got != up(list.rows) {
				t.Errorf("%s, oldest first: %s", list.path, got)
			}
		}
		for path, want := range map[string]string{"/topics": up(topics), "/segments": up(segments)} {
			if got := h.walk("/contacts/"+people[0]+path+"?", "id"); got != want {
				t.Errorf("%s of a contact: %s", path, got)
			}
			if got := h.walk("/contacts/"+people[0]+path+"?order=desc&", "id"); got == want || len(got) != len(want) {
				t.Errorf("%s of a contact, turned: %s", path, got)
			}
		}
		if got := h.walk("/contacts/"+people[0]+"/properties?", "key"); got != "p0 p1 p2" {
			t.Errorf("properties of a contact: %s", got)
		}
	})
}

func TestACursorOfContactsOutlivesItsContactAndFitsNoOtherList(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for i := range 4 {
			h.contact(fmt.Sprintf("c%d@example.net", i), nil)
		}
		page := h.must(200, "GET", "/contacts?limit=2", nil)
		if page.Column("email") != "c3@example.net c2@example.net" || page.Text("total") != "4" {
			t.Fatalf("%s", page.Raw)
		}
		h.must(200, "DELETE", "/contacts/c2@example.net", nil)
		rest := h.must(200, "GET", "/contacts?limit=2&cursor="+page.Text("next_cursor"), nil)
		if rest.Column("email") != "c1@example.net c0@example.net" || rest.Body["next_cursor"] != nil || rest.Body["total"] != nil {
			t.Errorf("%s", rest.Raw)
		}
		for _, path := range []string{"/contacts?status=subscribed&cursor=", "/contacts?order=asc&cursor=", "/topics?cursor=", "/contacts?cursor=x"} {
			if refused := h.must(400, "GET", path+page.Text("next_cursor"), nil); refused.Text("error", "code") != "invalid_cursor" {
				t.Errorf("%s: %s", path, refused.Raw)
			}
		}
		for _, query := range []string{"order=up", "offset=1&cursor=" + page.Text("next_cursor")} {
			h.must(400, "GET", "/contacts?"+query, nil)
		}
	})
}
