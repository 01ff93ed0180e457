package template_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/app/apptest/pages"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/stats"
)

func names(list apptest.Answer) string {
	var all []string
	for _, row := range list.Body["data"].([]any) {
		all = append(all, fmt.Sprint(row.(fields)["name"]))
	}
	return strings.Join(all, " ")
}

func TestListIsFilteredAndPaged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		ids := map[string]string{}
		for _, name := range []string{"Alpha", "Beta", "Gamma", "Delta_50%"} {
			ids[name] = h.create(fields{"name": name, "alias": "the-" + strings.ToLower(name[:3]), "draft": name == "Beta"})
			h.Clock.Advance(time.Second)
		}
		for query, want := range map[string]string{
			"":                                    "Delta_50% Gamma Beta Alpha",
			"?status=published":                   "Delta_50% Gamma Alpha",
			"?status=draft":                       "Beta",
			"?status=draft,published":             "Delta_50% Gamma Beta Alpha",
			"?status=archived":                    "",
			"?search=AMM":                         "Gamma",
			"?search=the-al":                      "Alpha",
			"?search=50%25":                       "Delta_50%",
			"?search=a_p":                         "",
			"?limit=2":                            "Delta_50% Gamma",
			"?limit=2&offset=2":                   "Beta Alpha",
			"?offset=9":                           "",
			"?after=" + ids["Gamma"]:              "Beta Alpha",
			"?limit=1&after=" + ids["Gamma"]:      "Beta",
			"?before=" + ids["Beta"]:              "Delta_50% Gamma",
			"?limit=1&before=" + ids["Beta"]:      "Gamma",
			"?status=draft&after=" + ids["Gamma"]: "Beta",
		} {
			if got := names(h.must(200, "GET", "/templates"+query, nil)); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		page := h.must(200, "GET", "/templates?limit=3", nil)
		if page.Pick("object", "limit", "offset", "total", "has_more") != `["list",3,0,4,true]` {
			t.Errorf("%s", page.Raw)
		}
		if row := page.Body["data"].([]any)[0].(fields); row["active_version"] != 1.0 || row["html"] != nil || row["alias"] != "the-del" {
			t.Errorf("%v", row)
		}
		if page := h.must(200, "GET", "/templates?limit=1&after="+ids["Gamma"], nil); page.Body["has_more"] != true {
			t.Errorf("%s", page.Raw)
		}
		for query, field := range map[string]string{"?limit=201": "limit", "?limit=-1": "limit", "?offset=-1": "offset", "?status=gone": "status", "?search=" + strings.Repeat("x", 400): "search",
			"?after=" + nobody + "&before=" + nobody: "after", "?after=" + nobody + "&offset=1": "after"} {
			if answer := h.must(400, "GET", "/templates"+query, nil); !strings.HasPrefix(answer.Problems(), field+":") {
				t.Errorf("%s: %s", query, answer.Raw)
			}
		}
		if answer := h.must(400, "GET", "/templates?after="+nobody, nil); code(answer) != "invalid_cursor" {
			t.Errorf("%s", answer.Raw)
		}
	})
}

func (h *house) walk(path, column string) string {
	h.t.Helper()
	return pages.Walk(h.t, func(at string) apptest.Answer { return h.must(200, "GET", at, nil) }, path, column)
}

func TestTemplatesAndVersionsAreFollowedByCursorInEitherOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		var id string
		for _, name := range []string{"One", "Two", "Three"} {
			id = h.create(fields{"name": name})
			h.must(200, "PATCH", "/templates/"+id, fields{"html": "2"})
			h.must(200, "PATCH", "/templates/"+id, fields{"html": "3"})
		}
		versions := "/templates/" + id + "/versions?"
		for path, want := range map[string][2]string{
			"/templates?":           {"name", "Three Two One"},
			"/templates?order=asc&": {"name", "One Two Three"},
			versions:                {"version", "3 2 1"},
			versions + "order=asc&": {"version", "1 2 3"},
		} {
			if got := h.walk(path, want[0]); got != want[1] {
				t.Errorf("%s: %s", path, got)
			}
		}
		page := h.must(200, "GET", versions+"limit=1&offset=1", nil)
		if page.Column("version") != "2" || page.Pick("total", "has_more") != "[3,true]" {
			t.Errorf("%s", page.Raw)
		}
		second := page.Column("id")
		if got := h.must(200, "GET", versions+"after="+second, nil).Column("version") + " " + h.must(200, "GET", versions+"before="+second, nil).Column("version"); got != "1 3" {
			t.Errorf("around the second: %s", got)
		}
		for _, query := range []string{"templates?cursor=x", "templates/" + id + "/versions?after=" + nobody, "templates/" + id + "/versions?cursor=" + h.must(200, "GET", "/templates?limit=1", nil).Text("next_cursor")} {
			if refused := h.must(400, "GET", "/"+query, nil); code(refused) != "invalid_cursor" {
				t.Errorf("%s: %s", query, refused.Raw)
			}
		}
	})
}

func TestStatisticsAreThoseOfTheTemplate(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			in := apptest.New(t, engine)
			sent := in.Clock.Now().Add(-time.Hour)
			var from, to time.Time
			h := newHouse(t, in, func(_ *db.Tx, _ space.ID, _ string, _ []int64, start, end time.Time) (stats.OfTemplate, error) {
				from, to = start, end
				return stats.OfTemplate{Totals: stats.Totals{Sent: 3}, Versions: map[int64]stats.Totals{2: {Sent: 3, Opened: 1}}, LastSentAt: sent}, nil
			})
			id := h.create(nil)
			h.must(200, "PATCH", "/templates/"+id, fields{"html": "2"})

			told := h.must(200, "GET", "/templates/"+id+"/stats?days=7", nil)

			versions := told.Body["versions"].([]any)
			first, second := versions[0].(fields), versions[1].(fields)
			if told.Pick("object", "template_id") != fmt.Sprintf(`["template_stats",%q]`, id) || told.Body["totals"].(fields)["sent"] != 3.0 || told.Body["last_sent_at"] == nil ||
				first["version"] != 2.0 || first["totals"].(fields)["opened"] != 1.0 || second["totals"].(fields)["opened"] != 0.0 {
				t.Errorf("%s", told.Raw)
			}
			if days := to.Sub(from).Hours() / 24; days < 7 || days > 8 {
				t.Errorf("%v days", days)
			}
			h.must(200, "GET", "/templates/"+id+"/stats?start=2026-10-01T00:00:00Z&end=2026-10-02T00:00:00Z", nil)
			if !to.Equal(time.Date(2026, 10, 2, 0, 0, 0, 0, time.UTC)) || to.Sub(from) != 24*time.Hour {
				t.Errorf("%s to %s", from, to)
			}
			for _, query := range []string{"days=-1", "days=0", "days=366", "days=x", "start=2026-10-01T00:00:00Z", "start=2026-10-02T00:00:00Z&end=2026-10-01T00:00:00Z", "days=1&start=2026-10-01T00:00:00Z&end=2026-10-02T00:00:00Z",
				"start=2020-10-02T00:00:00Z&end=2026-10-01T00:00:00Z"} {
				h.must(400, "GET", "/templates/"+id+"/stats?"+query, nil)
			}
		})
	}
}

func TestWithoutStatisticsEveryCountIsZero(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		totals := h.must(200, "GET", "/templates/"+h.create(nil)+"/stats", nil).Body["totals"].(fields)
		if len(totals) != 20 {
			t.Errorf("%d counts", len(totals))
		}
		for name, count := range totals {
			if count != 0.0 {
				t.Errorf("%s is %v", name, count)
			}
		}
	})
}

func TestEveryRouteAsksForItsScope(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for _, route := range h.templates.Routes() {
			want := []string{"template:manage"}
			if route.Method == "GET" {
				want = []string{"template:read"}
			}
			if !slices.Contains(want, string(route.Scope)) {
				t.Errorf("%s %s: %s", route.Method, route.Path, route.Scope)
			}
		}
	})
}
