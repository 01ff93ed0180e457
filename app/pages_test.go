package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

// shelf is a list of an installation that has some rows.
type shelf struct {
	*testing.T
	in *apptest.Installation
	// path may have filters. turn is the order that turns the list round.
	path, turn string
}

func (l shelf) get(query string) apptest.Answer {
	l.Helper()
	mark := "?"
	if strings.Contains(l.path, "?") {
		mark = "&"
	}
	return l.in.Browse(http.MethodGet, "/v1"+l.path+mark+query, nil)
}

// ids returns those of the rows that a query finds.
func (l shelf) ids(query string) []string {
	l.Helper()
	answer := l.get(query)
	if answer.Status != http.StatusOK {
		l.Errorf("%s, %s: %d %s", l.path, query, answer.Status, answer.Raw)
	}
	return strings.Fields(answer.Column("id"))
}

// followed returns the ids of all rows, as one finds them who follows the cursors.
func (l shelf) followed(query string) (all []string) {
	l.Helper()
	next := ""
	for len(all) < 50 {
		page := l.get(query + next)
		all = append(all, strings.Fields(page.Column("id"))...)
		if page.Text("next_cursor") == "" {
			break
		}
		next = "&cursor=" + url.QueryEscape(page.Text("next_cursor"))
	}
	return all
}

// shelves fills every list that is paged by the shared kit.
func shelves(t *testing.T, in *apptest.Installation) []shelf {
	t.Helper()
	for i := range 3 {
		in.Must(201, "POST", "/domains", map[string]any{"domain": fmt.Sprintf("shop%d.test", i)})
		in.Must(201, "POST", "/managed-tenants", map[string]any{"external_id": fmt.Sprint("shop", i), "name": "Shop"})
		in.Must(201, "POST", "/suppressions", map[string]any{"email": fmt.Sprintf("gone%d@example.net", i)})
		in.Must(201, "POST", "/emails/receiving/forwarding", map[string]any{"address": fmt.Sprintf("box%d@acme.test", i), "forward_to": []string{"ann@example.net"}})
		in.Must(201, "POST", "/webhooks", map[string]any{"url": fmt.Sprintf("https://hooks%d.example.com/", i), "events": []string{"*"}})
		newKey(t, in, "email:read")
	}
	files := []map[string]any{{"filename": "a.txt", "content": "YQ=="}, {"filename": "b.txt", "content": "Yg=="}, {"filename": "c.txt", "content": "Yw=="}}
	sent := in.Must(202, "POST", "/emails", map[string]any{"from": "hello@acme.test", "to": []string{"ann@example.net", "bob@example.net", "eve@example.net"},
		"subject": "Three", "text": "x", "attachments": files})
	in.Deliver()
	in.CatchUp(in.App.Webhooks.Followers())
	hook, _, _ := strings.Cut(in.Call("GET", "/webhooks", nil).Column("id"), " ")
	if err := in.App.Logs.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	email := "/emails/" + sent.Text("id")
	all := []shelf{}
	for path, turn := range map[string]string{
		"/domains": "asc", "/domains?search=shop&status=not_started": "asc", "/managed-tenants": "asc", "/managed-tenants?status=active&search=shop": "asc",
		"/suppressions": "asc", "/suppressions?reason=manual,bounce": "asc", "/suppressions?search=gone": "desc", "/suppressions?search=example.net": "desc",
		"/suppressions?email=gone0@example.net,gone1@example.net,gone2@example.net": "asc",
		"/webhooks": "asc", "/webhooks?status=enabled": "asc", "/webhook-deliveries": "asc", "/webhook-deliveries?status=pending": "asc", "/webhooks/" + hook + "/deliveries": "asc",
		"/logs?method=POST":               "asc",
		"/logs?method=POST&search=emails": "asc", "/api-keys": "asc", "/api-keys?status=active": "asc", "/emails/receiving/forwarding": "asc",
		email + "/events": "desc", email + "/attempts": "desc", email + "/attachments": "desc",
	} {
		all = append(all, shelf{t, in, path, turn})
	}
	return all
}

func TestListsArePagedByTheirRows(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for _, l := range shelves(t, in) {
			in.Clock.Advance(time.Minute) // sessions have a rate
			all := l.ids("limit=100")
			if len(all) < 3 {
				t.Errorf("%s has %d rows", l.path, len(all))
				continue
			}
			last := len(all) - 1
			turned := slices.Clone(all)
			slices.Reverse(turned)
			for query, want := range map[string][]string{
				"limit=1&after=" + all[0]:                          all[1:2],
				"after=" + all[0]:                                  all[1:],
				"after=" + all[last]:                               {},
				"limit=1&before=" + all[2]:                         all[1:2],
				"before=" + all[last]:                              all[:last],
				"before=" + all[0]:                                 {},
				"order=" + l.turn:                                  turned,
				"limit=2&order=" + l.turn + "&offset=1":            turned[1:3],
				"limit=1&order=" + l.turn + "&after=" + turned[0]:  turned[1:2],
				"limit=1&order=" + l.turn + "&before=" + turned[2]: turned[1:2],
			} {
				if got := l.ids(query); !slices.Equal(got, want) {
					t.Errorf("%s, %s: %v, want %v of %v", l.path, query, got, want, all)
				}
			}
			if got := l.followed("limit=2"); !slices.Equal(got, all) {
				t.Errorf("%s: the cursors lead to %v, not to %v", l.path, got, all)
			}
			if got := l.followed("limit=1&order=" + l.turn); !slices.Equal(got, turned) {
				t.Errorf("%s: turned, the cursors lead to %v, not to %v", l.path, got, turned)
			}
			if page := l.get("limit=1&after=" + all[0]); page.Text("has_more") != "true" || page.Body["total"] != nil {
				t.Errorf("%s: %s", l.path, page.Raw)
			}
			if page := l.get("after=" + all[last-1]); page.Text("has_more") != "false" || page.Body["next_cursor"] != nil {
				t.Errorf("%s: %s", l.path, page.Raw)
			}
		}
	})
}

func TestPlacesOfOtherListsAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		stranger, _ := in.NewWorkspace(plan.Unlimited)
		foreign := in.VerifiedDomain(stranger, "foreign.test")
		all := shelves(t, in)
		for i, l := range all {
			in.Clock.Advance(time.Minute) // sessions have a rate
			cursor := url.QueryEscape(all[(i+1)%len(all)].get("limit=1").Text("next_cursor"))
			if cursor == "" {
				t.Errorf("%s: no cursor", l.path)
			}
			for _, query := range []string{"after=" + nobody, "before=" + foreign, "after=1", "cursor=" + cursor, "cursor=x"} {
				if answer := l.get(query); answer.Status != 400 || answer.Text("error", "code") != "invalid_cursor" {
					t.Errorf("%s, %s: %d %s", l.path, query, answer.Status, answer.Raw)
				}
			}
			own := url.QueryEscape(l.get("limit=1").Text("next_cursor"))
			for _, query := range []string{"after=" + nobody + "&offset=1", "after=" + nobody + "&before=" + nobody, "offset=1&cursor=" + own, "order=up", "limit=0", "offset=9223372036854775807"} {
				if answer := l.get(query); answer.Status != 400 || answer.Text("error", "code") != "validation_error" {
					t.Errorf("%s, %s: %d %s", l.path, query, answer.Status, answer.Raw)
				}
			}
			if answer := l.get("order=" + l.turn + "&cursor=" + own); answer.Text("error", "code") != "invalid_cursor" {
				t.Errorf("%s: the cursor of another order is answered with %s", l.path, answer.Raw)
			}
		}
	})
}

func TestNoListIsAskedForPagesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	lists := 0
	for _, route := range public(in) {
		if route.Method != http.MethodGet {
			continue
		}
		path := "/v1" + at(route, nobody)
		if strings.HasPrefix(route.Path, "/workspaces/{id}") {
			path = "/v1" + at(route, string(in.Workspace))
		}
		if in.Browse(http.MethodGet, path+"?limit=many", nil).Status != http.StatusBadRequest {
			continue // no list
		}
		lists++
		for _, query := range []string{"limit=0", "limit=100000", "offset=9223372036854775807", "offset=-1", "search=%zz"} {
			answer := in.Browse(http.MethodGet, path+"?"+query, nil)
			if answer.Status != http.StatusBadRequest && answer.Status != http.StatusNotFound {
				t.Errorf("%s?%s: %d %s", path, query, answer.Status, answer.Raw)
			}
		}
	}
	if lists < 30 {
		t.Errorf("only %d lists", lists)
	}
}
