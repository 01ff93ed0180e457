package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

func rowID(n int) string { return fmt.Sprintf("0193a1e0-2222-7000-8000-%012d", n) }

// listServer has shelves with five rows each, the fifth first.
func listServer() *api.Server {
	known := faces{"one": {Workspace: "w1", KeyID: "k1"}, "other": {Workspace: "w2", KeyID: "k2"}}
	return newServer(api.Config{Keys: known}, api.Route{Method: "GET", Path: "/shelves/{id}/rows", Bucket: api.BucketRead,
		Handler: api.Handle(func(_ context.Context, _ api.Caller, r struct {
			ID    string `path:"id"`
			Color string `query:"color"`
			api.PageQuery
		}) (api.Page[string], error) {
			if err := r.Check(200); err != nil {
				return api.Page[string]{}, err
			}
			all := []string{rowID(5), rowID(4), rowID(3), rowID(2), rowID(1)}
			return api.Cut(all, r.PageQuery, api.Descending, func(id string) api.Cursor { return api.Cursor{ID: id} })
		})})
}

type listed struct {
	Data    []string
	Total   *int
	HasMore bool   `json:"has_more"`
	Next    string `json:"next_cursor"`
}

func (l listed) String() string {
	var rows []string
	for _, id := range l.Data {
		rows = append(rows, id[len(id)-1:])
	}
	return strings.Join(rows, " ")
}

func list(t *testing.T, h *api.Server, query string) (page listed) {
	t.Helper()
	got := ask(h, request{path: "/v1/shelves/a/rows?" + query, header: bearer("one")})
	if err := json.Unmarshal(got.Body.Bytes(), &page); err != nil || got.Code != 200 {
		t.Fatalf("%s: %d %s, %v", query, got.Code, got.Body, err)
	}
	return page
}

func TestAPageBeginsAfterARowOrEndsBeforeOne(t *testing.T) {
	t.Parallel()
	h := listServer()
	for query, want := range map[string]string{
		"":                                     "5 4 3 2 1 of 5, more false",
		"limit=2":                              "5 4 of 5, more true",
		"limit=2&offset=4":                     "1 of 5, more false",
		"offset=9":                             " of 5, more false",
		"order=asc&limit=2":                    "1 2 of 5, more true",
		"limit=2&after=" + rowID(4):            "3 2, more true",
		"limit=2&after=" + rowID(3):            "2 1, more false",
		"limit=2&before=" + rowID(2):           "4 3, more true",
		"limit=2&before=" + rowID(3):           "5 4, more false",
		"limit=2&order=asc&after=" + rowID(4):  "5, more false",
		"limit=2&order=asc&before=" + rowID(4): "2 3, more true",
	} {
		page := list(t, h, query)
		of := ""
		if page.Total != nil {
			of = fmt.Sprint(" of ", *page.Total)
		}
		if got := fmt.Sprintf("%s%s, more %v", page, of, page.HasMore); got != want {
			t.Errorf("%s: %s; want %s", query, got, want)
		}
	}
}

func TestCursorsLeadThroughAListOnce(t *testing.T) {
	t.Parallel()
	h := listServer()
	for order, want := range map[string]string{"desc": "5 4|3 2|1", "asc": "1 2|3 4|5"} {
		var pages []string
		for query := "limit=2&order=" + order; query != ""; {
			page := list(t, h, query)
			pages = append(pages, page.String())
			if query = ""; page.Next != "" {
				query = "limit=2&order=" + order + "&cursor=" + url.QueryEscape(page.Next)
			}
		}
		if got := strings.Join(pages, "|"); got != want {
			t.Errorf("%s: %s", order, got)
		}
	}
}

func TestACursorIsOfOneListWithItsFiltersAndOneWorkspace(t *testing.T) {
	t.Parallel()
	h := listServer()
	cursor := url.QueryEscape(list(t, h, "limit=2&color=red").Next)
	for what, c := range map[string]struct {
		path, key string
		status    int
	}{
		"same":            {"/v1/shelves/a/rows?color=red&limit=1&cursor=", "one", 200},
		"other filter":    {"/v1/shelves/a/rows?color=blue&cursor=", "one", 400},
		"no filter":       {"/v1/shelves/a/rows?cursor=", "one", 400},
		"other order":     {"/v1/shelves/a/rows?color=red&order=asc&cursor=", "one", 400},
		"other list":      {"/v1/shelves/b/rows?color=red&cursor=", "one", 400},
		"other workspace": {"/v1/shelves/a/rows?color=red&cursor=", "other", 400},
	} {
		got := ask(h, request{path: c.path + cursor, header: bearer(c.key)})
		if got.Code != c.status || c.status == 400 && !strings.Contains(got.Body.String(), "invalid_cursor") {
			t.Errorf("%s: %d %s", what, got.Code, got.Body)
		}
	}
}

func TestAPageHasOnePlaceAndAKnownOrder(t *testing.T) {
	t.Parallel()
	h := listServer()
	for query, want := range map[string]string{
		"after=" + rowID(1) + "&before=" + rowID(3): "Only one of",
		"after=" + rowID(1) + "&offset=1":           "Only one of",
		"order=up":                                  "Must be asc or desc.",
		"limit=201":                                 "Must be between 1 and 200.",
		"offset=-1":                                 "Must not be negative.",
		"after=" + rowID(9):                         "invalid_cursor",
	} {
		got := ask(h, request{path: "/v1/shelves/a/rows?" + query, header: bearer("one")})
		if got.Code != 400 || !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s: %d %s", query, got.Code, got.Body)
		}
	}
}

func TestARowThatIsMissingOrForeignIsNoPlace(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		after string
		found error
		want  error
	}{
		"no id":          {"row 1", nil, api.ErrInvalidCursor},
		"not in a table": {rowID(1), db.ErrNotFound, api.ErrInvalidCursor},
		"not found":      {rowID(1), api.NotFound("row"), api.ErrInvalidCursor},
		"not readable":   {rowID(1), broken, broken},
	} {
		q := api.PageQuery{After: c.after}
		if _, err := q.Newest(func(string) (time.Time, error) { return time.Time{}, c.found }); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a cursor stands for is in it; a list goes on although the last row of the page before was deleted.
func TestACursorOutlivesItsRow(t *testing.T) {
	t.Parallel()
	at := time.UnixMicro(1_700_000_000_000_001).UTC()
	var beyond []any
	h := newServer(api.Config{Keys: faces{"one": {Workspace: "w1", KeyID: "k1"}}}, api.Route{Method: "GET", Path: "/rows", Bucket: api.BucketRead,
		Handler: api.Handle(func(_ context.Context, _ api.Caller, r struct{ api.PageQuery }) (api.Page[string], error) {
			if err := r.Check(200); err != nil {
				return api.Page[string]{}, err
			}
			part, err := r.Newest(func(string) (time.Time, error) { return time.Time{}, db.ErrNotFound })
			beyond = part.Beyond
			return api.NewPlacedPage([]string{rowID(2), rowID(1)}, r.PageQuery, func(id string) api.Cursor { return api.Cursor{ID: id, At: at} }), err
		})})
	var page listed
	if err := json.Unmarshal(ask(h, request{path: "/v1/rows?limit=1", header: bearer("one")}).Body.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	got := ask(h, request{path: "/v1/rows?limit=1&cursor=" + url.QueryEscape(page.Next), header: bearer("one")})
	if got.Code != 200 || fmt.Sprint(beyond) != fmt.Sprint([]any{at, rowID(2)}) {
		t.Errorf("%d %s beyond %v", got.Code, got.Body, beyond)
	}
}
