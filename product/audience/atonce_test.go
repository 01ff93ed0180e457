package audience_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/product/audience"
)

// atOnce makes requests at the same moment and returns their statuses in ascending order.
func (h *house) atOnce(requests ...func() int) []int {
	h.t.Helper()
	statuses := make([]int, len(requests))
	var all sync.WaitGroup
	for i, request := range requests {
		all.Go(func() { statuses[i] = request() })
	}
	all.Wait()
	slices.Sort(statuses)
	return statuses
}

func (h *house) patches(path string, body fields) func() int {
	return func() int { return h.Call("PATCH", path, body).Status }
}

func TestTwoSegmentsNeverNameEachOtherAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for i := range 10 {
			one, other := h.made("/segments", fmt.Sprint("one ", i), nil), h.made("/segments", fmt.Sprint("other ", i), nil)
			got := h.atOnce(h.patches("/segments/"+one, fields{"filter": rule("segments", "member_of", other)}),
				h.patches("/segments/"+other, fields{"filter": rule("segments", "member_of", one)}))
			if fmt.Sprint(got) != "[200 400]" {
				t.Fatalf("%v", got)
			}
		}
	})
}

func TestANameThatTwoWantAtOnceGoesToOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for _, base := range []string{"/audience/lists", "/segments", "/topics"} {
			one, other := base+"/"+h.made(base, "one", nil), base+"/"+h.made(base, "other", nil)
			for i := range 5 {
				wanted := fields{"name": fmt.Sprint("wanted ", i)}
				if got := h.atOnce(h.patches(one, wanted), h.patches(other, wanted)); fmt.Sprint(got) != "[200 409]" {
					t.Errorf("%s: %v", base, got)
				}
			}
		}
		one, other := "/contacts/"+h.contact("one@example.net", nil), "/contacts/"+h.contact("other@example.net", nil)
		for i := range 5 {
			wanted := fields{"email": fmt.Sprintf("wanted%d@example.net", i)}
			if got := h.atOnce(h.patches(one, wanted), h.patches(other, wanted)); fmt.Sprint(got) != "[200 409]" {
				t.Errorf("contacts: %v", got)
			}
		}
	})
}

func TestNobodyJoinsAListThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for i := range 10 {
			list := h.made("/audience/lists", fmt.Sprint("A ", i), fields{"double_opt_in": true})
			address := fmt.Sprintf("c%d@example.net", i)
			h.atOnce(func() int { return h.Call("POST", "/contacts", fields{"email": address, "list_id": list}).Status },
				func() int { return h.Call("DELETE", "/audience/lists/"+list, nil).Status })
			if answer := h.Call("GET", "/contacts/"+address, nil); answer.Status == 200 && answer.Text("status") != "subscribed" {
				t.Errorf("waits for a list that is gone: %s", answer.Raw)
			}
		}
	})
}

func TestSegmentsThatNameEachOtherHoldNobodyButThosePutIn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		one := h.made("/segments", "one", nil)
		other := h.made("/segments", "other", fields{"filter": rule("segments", "member_of", one)})
		h.contact("ann@example.net", fields{"segments": []string{one}})
		h.in(func(tx *db.Tx, _ *audience.Service) error { // no request can do this
			circle := `{"type":"rule","field":"segments","operator":"member_of","value":"` + other + `"}`
			_, err := tx.Exec(`UPDATE segment SET filter = $1 WHERE id = $2`, circle, one)
			return err
		})
		if got := h.must(200, "GET", "/segments/"+one+"/contacts", nil).Column("email"); got != "ann@example.net" {
			t.Error(got)
		}
		h.must(200, "PATCH", "/segments/"+one, fields{"filter": nil})
		if got := h.must(200, "GET", "/segments/"+other+"/contacts", nil).Column("email"); got != "ann@example.net" {
			t.Errorf("once mended: %s", got)
		}
	})
}

func TestAnImportIntoAListThatIsDeletedMeanwhileGoesOnWithoutIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		store := &haunted{}
		first, _, upload := h.twins(store)
		list := h.made("/audience/lists", "A", fields{"double_opt_in": true})
		id := upload([]byte("email\nann@example.net\n"), map[string]string{"list_id": list}).Text("id")
		store.onOpen = func() { h.must(200, "DELETE", "/audience/lists/"+list, nil) }
		for first() {
		}
		h.Clock.Advance(time.Minute)
		for first() {
		}
		if got := h.must(200, "GET", "/contacts/imports/"+id, nil).Text("status"); got != "completed" {
			t.Errorf("the import is %s", got)
		}
		if got := h.must(200, "GET", "/contacts/ann@example.net", nil).Pick("status", "lists"); got != `["subscribed",[]]` {
			t.Error(got)
		}
	})
}
