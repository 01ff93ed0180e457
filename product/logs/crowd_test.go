package logs_test

import (
	"fmt"
	"net/http"
	"testing"

	"postrider/app/apptest"
)

// Many entries of one moment are read by several transactions and shown on several pages.
func TestASearchFindsEachEntryOfACrowdedMomentOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		const all, limit = 1000, 90
		addresses := make([]string, all)
		for i := range addresses {
			addresses[i] = fmt.Sprintf("gone%d@example.net", i)
		}
		if answer := in.Call(http.MethodPost, "/suppressions/batch/add", fields{"emails": addresses}); answer.Status != http.StatusCreated {
			t.Fatalf("the addresses were answered with %s", answer.Raw)
		}
		settle(t, in)
		for _, direction := range []string{"after", "before"} {
			seen, query := map[any]int{}, ""
			if direction == "before" {
				last := list(t, in, "search=suppression&kind=system&limit=1&offset=999")
				if len(last) != 1 {
					t.Fatal("not all entries are found")
				}
				query = fmt.Sprintf("&before=%v", last[0]["id"])
				seen[last[0]["id"]]++
			}
			for {
				page := list(t, in, fmt.Sprintf("search=suppression&kind=system&limit=%d%s", limit, query))
				for _, e := range page {
					seen[e["id"]]++
				}
				if len(page) < limit {
					break
				}
				next := page[len(page)-1]
				if direction == "before" {
					next = page[0]
				}
				query = fmt.Sprintf("&%s=%v", direction, next["id"])
			}
			twice := 0
			for _, times := range seen {
				twice += times - 1
			}
			if len(seen) != all || twice != 0 {
				t.Errorf("%s: %d of %d entries were found, and %d again", direction, len(seen), all, twice)
			}
		}
	})
}
