package broadcast_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/app/apptest/pages"
	"postrider/mail/message"
	"postrider/mail/report"
	"postrider/platform/db"
	"postrider/product/email"
	"postrider/product/plan"
)

var (
	trackedLink = regexp.MustCompile(`https://track\.acme\.test/v1/links/[A-Za-z0-9_-]+`)
	pixel       = regexp.MustCompile(`https://track\.acme\.test/v1/images/[A-Za-z0-9_-]+`)
)

const (
	person  = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	machine = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
)

// visit follows the first link of a kind in somebody's mail.
func (h *house) visit(to string, kind *regexp.Regexp, agent string) {
	h.t.Helper()
	h.open(kind.FindString(h.page(to)), agent)
}

// page returns the HTML of somebody's mail.
func (h *house) page(to string) string {
	h.t.Helper()
	content, err := message.ReadContent(strings.NewReader(h.Mailbox(to)[0].Raw), 1<<20, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return content.HTML
}

// open goes where a link leads.
func (h *house) open(link, agent string) {
	h.t.Helper()
	request := httptest.NewRequest(http.MethodGet, link, nil)
	request.Header.Set("User-Agent", agent)
	request.RemoteAddr = "198.51.100.7:4711"
	answer := httptest.NewRecorder()
	h.App.API.ServeHTTP(answer, request)
	if answer.Code >= 400 {
		h.t.Fatalf("%d %s", answer.Code, answer.Body)
	}
}

func TestStatisticsCountPeopleOnceAndProgramsApart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net", "bob@gmail.com", "bounced@simulator.mail.postrider.test", "deferred@simulator.mail.postrider.test")
		id := h.sent(list, fields{"tracking": fields{"opens": true, "clicks": true}})
		h.finish()
		if got := h.get(id).Text("status"); got != "sending" {
			t.Errorf("%s although one is still tried", got)
		}
		h.Clock.Advance(time.Minute)
		h.visit("ann@example.net", pixel, person)
		h.visit("ann@example.net", pixel, person)
		h.visit("bob@gmail.com", pixel, machine)
		h.visit("ann@example.net", trackedLink, person)
		h.visit("ann@example.net", trackedLink, person)
		h.follow()

		stats := h.must(200, "GET", "/broadcasts/"+id+"/stats", nil)
		totals := stats.Body["totals"].(fields)
		var got []string
		for _, name := range []string{"recipients", "queued", "sent", "delivered", "bounced", "bounced_hard", "opened", "unique_opened", "automated_opens", "clicked", "unique_clicked", "automated_clicks"} {
			got = append(got, fmt.Sprint(totals[name]))
		}
		if strings.Join(got, " ") != "4 1 3 2 1 1 2 1 1 2 1 0" {
			t.Errorf("%v", got)
		}
		if rates := stats.Body["rates"].(fields); rates["open_rate"] != 0.5 || rates["delivery_rate"] != 0.6667 || rates["bounce_rate"] != 0.3333 {
			t.Errorf("%v", rates)
		}
		links := stats.Body["links"].([]any)
		if len(links) != 1 || links[0].(fields)["url"] != "https://acme.test/start" || links[0].(fields)["clicks"] != 2.0 || links[0].(fields)["unique_clicks"] != 1.0 {
			t.Errorf("%v", links)
		}
		sum, isps := 0.0, map[string]any{}
		for _, hour := range stats.Body["timeseries"].([]any) {
			sum += hour.(fields)["delivered"].(float64)
		}
		for _, row := range stats.Body["by_isp"].([]any) {
			isps[row.(fields)["isp"].(string)] = row.(fields)["delivered"]
		}
		if sum != 2 || isps["google"] != 1.0 || isps["other"] != 1.0 {
			t.Errorf("%v delivered by the hour, by provider %v", sum, isps)
		}
		if clicked := h.rows("/broadcasts/" + id + "/clicked-links"); len(clicked) != 1 || clicked[0]["url"] != "https://acme.test/start" {
			t.Errorf("%v", clicked)
		}
	})
}

func TestTheRosterIsFilteredByWhatRecipientsHaveDoneSoFar(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list("ann@example.net", "bob@example.net", "bounced@simulator.mail.postrider.test"), fields{"tracking": fields{"opens": true, "clicks": true}})
		h.finish()
		h.Clock.Advance(time.Minute)
		h.visit("ann@example.net", trackedLink, person)
		h.follow()
		for query, want := range map[string]string{
			"":                                 "ann clicked, bob delivered, bounced bounced (hard_bounce)",
			"&status=delivered":                "ann clicked, bob delivered",
			"&status=sent":                     "ann clicked, bob delivered, bounced bounced (hard_bounce)",
			"&type=clicked":                    "ann clicked",
			"&status=bounced":                  "bounced bounced (hard_bounce)",
			"&bounce_type=permanent":           "bounced bounced (hard_bounce)",
			"&bounce_type=transient":           "",
			"&bounce_type=transient,permanent": "bounced bounced (hard_bounce)",
			"&email=BOB":                       "bob delivered",
			"&email=bob,ann@example":           "ann clicked, bob delivered",
			"&email=bob&email=bounced":         "bob delivered, bounced bounced (hard_bounce)",
			"&email=bob,ann&status=clicked":    "ann clicked",
			"&status=pending":                  "",
		} {
			if got := h.roster(id, query); got != want {
				t.Errorf("%q: got %q, want %q", query, got, want)
			}
		}
		clicked := h.rows("/broadcasts/" + id + "/recipients?type=clicked")[0]
		if clicked["count"] != 1.0 || fmt.Sprint(clicked["clicked_links"]) != "[map[clicks:1 url:https://acme.test/start]]" || clicked["email_id"] == nil || clicked["delivered_at"] == nil {
			t.Errorf("%v", clicked)
		}
		first := h.rows("/broadcasts/" + id + "/recipients?limit=1")
		rest := h.rows("/broadcasts/" + id + "/recipients?limit=5&after=" + first[0]["id"].(string))
		back := h.rows("/broadcasts/" + id + "/recipients?limit=1&before=" + rest[0]["id"].(string))
		if len(rest) != 2 || back[0]["id"] != first[0]["id"] {
			t.Errorf("%v %v %v", first, rest, back)
		}
		h.must(400, "GET", "/broadcasts/"+id+"/recipients?status=happy", nil)
		h.must(400, "GET", "/broadcasts/"+id+"/recipients?limit=501", nil)
		h.must(400, "GET", "/broadcasts/"+id+"/recipients?email="+strings.Repeat("a,", 101), nil)
		h.must(400, "GET", "/broadcasts/"+id+"/recipients?after="+nobody, nil)
		problem := h.rows("/broadcasts/" + id + "/recipient-errors?email=nobody,bounced@")[0]
		if problem["reason"] != "hard_bounce" || problem["smtp_code"] != 550.0 || problem["enhanced_code"] != "5.1.1" || problem["class"] != "hard" || problem["stage"] != "delivery" {
			t.Errorf("%v", problem)
		}
	})
}

// report lets a mail server say something about the mail of somebody.
func (h *house) report(id, to string, said email.Reported) {
	h.t.Helper()
	err := h.App.DB.Write(h.t.Context(), func(tx *db.Tx) (err error) {
		said.At = tx.Now()
		said.Recipient, err = db.One(tx, db.Value[email.RecipientID], `
			SELECT email_recipient.id FROM email_recipient JOIN broadcast_recipient ON broadcast_recipient.email_id = email_recipient.email_id
			WHERE broadcast_recipient.broadcast_id = $1 AND broadcast_recipient.address = $2`, id, to)
		if err == nil {
			_, err = h.App.Emails.Report(tx, said)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.follow()
}

func TestWhoOpenedOrClickedHasDoneSoWhateverCameAfter(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list("ann@example.net", "bob@example.net", "carl@example.net"), fields{"tracking": fields{"opens": true, "clicks": true}})
		h.finish()
		h.Clock.Advance(time.Minute)
		h.visit("ann@example.net", pixel, person)
		h.visit("ann@example.net", trackedLink, person)
		h.visit("bob@example.net", pixel, person)
		h.report(id, "ann@example.net", email.Reported{Complaint: &email.Complaint{Type: "abuse", Source: "fbl"}})
		for query, want := range map[string]string{"&type=opened": "ann complained, bob opened", "&status=clicked": "ann complained", "&type=complained": "ann complained"} {
			if got := h.roster(id, query); got != want {
				t.Errorf("%s: %s", query, got)
			}
		}
		if got := h.rows("/broadcasts/" + id + "/recipients?type=Opened"); len(got) != 2 || got[0]["count"] != 1.0 || got[1]["count"] != 1.0 {
			t.Errorf("%v", got)
		}
		if got := h.stats(id, "delivered", "unique_opened", "complained", "complaint_rate"); got != "delivered 3, unique_opened 2, complained 1, complaint_rate 0.3333" {
			t.Error(got)
		}
	})
}

func TestALateBounceTakesTheDeliveryBackInTheHourOfTheDelivery(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list("ann@example.net", "bob@example.net"), fields{"tracking": fields{"opens": true}})
		h.finish()
		h.Clock.Advance(2 * time.Hour)
		h.visit("bob@example.net", pixel, person)
		for _, to := range []string{"ann@example.net", "bob@example.net"} {
			h.report(id, to, email.Reported{Bounce: &email.LateBounce{Class: report.Verdict{Class: report.Hard, Type: report.TypePermanent}, Enhanced: "5.1.1", Message: "550 5.1.1 No such user."}})
		}
		if got := h.roster(id, ""); got != "ann bounced (hard_bounce), bob opened" { // who has read a mail has it
			t.Error(got)
		}
		if got := h.stats(id, "sent", "delivered", "bounced", "opened"); got != "sent 2, delivered 1, bounced 1, opened 1" {
			t.Error(got)
		}
		var hours []string
		for _, row := range h.must(200, "GET", "/broadcasts/"+id+"/stats", nil).Body["timeseries"].([]any) {
			hours = append(hours, fmt.Sprint(row.(fields)["sent"], " ", row.(fields)["delivered"], " ", row.(fields)["opened"]))
		}
		if got := strings.Join(hours, ", "); got != "2 1 0, 0 0 1" {
			t.Errorf("by the hour: %s", got)
		}
	})
}

func TestBroadcastsAreListedNewestFirstAndFound(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list()
		var ids []string
		for _, name := range []string{"One", "Two", "Three"} {
			ids = append(ids, h.must(201, "POST", "/broadcasts", fields{"name": name, "audience_id": list}).Text("id"))
			h.Clock.Advance(time.Hour)
		}
		segment := h.must(201, "POST", "/segments", fields{"name": "Some"}).Text("id")
		h.must(200, "PATCH", "/broadcasts/"+ids[0], fields{"segment_id": segment, "audience_id": nil})
		then := h.Clock.Now().Add(-90 * time.Minute).UTC().Format(time.RFC3339) // after the second, before the third
		names := func(query string) string {
			var all []string
			for _, row := range h.rows("/broadcasts?" + query) {
				all = append(all, row["name"].(string))
				if _, has := row["html"]; has {
					t.Error("a list has no html")
				}
			}
			return strings.Join(all, " ")
		}
		for query, want := range map[string]string{"": "Three Two One", "limit=1&offset=1": "Two", "after=" + ids[2]: "Two One", "before=" + ids[0]: "Three Two", "search=tw": "Two",
			"since=" + then: "Three", "until=" + then: "Two One", "status=sent": "", "status=draft,sent": "Three Two One", "audience_id=" + list: "Three Two", "segment_id=" + nobody: "", "segment_id=" + segment: "One",
			"audience_id=" + segment: "One", "audience_id=" + nobody + "," + list: "Three Two", "audience_id=" + list + "&audience_id=" + segment: "Three Two One"} {
			if got := names(query); got != want {
				t.Errorf("%q: %q, want %q", query, got, want)
			}
		}
		_, stranger := h.NewWorkspace(plan.Unlimited)
		page, summary := h.mustAs(stranger, 200, "GET", "/broadcasts", nil), h.mustAs(stranger, 200, "GET", "/broadcasts/summary", nil)
		if len(page.Body["data"].([]any)) != 0 || page.Text("total") != "0" || summary.Text("total") != "0" {
			t.Errorf("a stranger sees %s and %s", page.Raw, summary.Raw)
		}
		h.must(400, "GET", "/broadcasts?status=unknown", nil)
		h.must(400, "GET", "/broadcasts?limit=201", nil)
		if page := h.must(200, "GET", "/broadcasts?limit=2", nil); page.Body["total"] != 3.0 || page.Body["has_more"] != true {
			t.Errorf("%s", page.Raw)
		}
	})
}

func (h *house) walk(path, column string) string {
	h.t.Helper()
	return pages.Walk(h.t, func(at string) apptest.Answer { return h.must(200, "GET", at, nil) }, path, column)
}

func TestEveryListOfBroadcastsIsFollowedByCursorInEitherOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("person1@example.net", "person2@example.net", "person3@example.net", "bounced+1@example.net", "bounced+2@example.net", "bounced+3@example.net")
		for _, name := range []string{"One", "Two"} {
			h.must(201, "POST", "/broadcasts", fields{"name": name, "audience_id": list})
		}
		id := h.sent(list, fields{"name": "Three"})
		h.finish()
		h.write(`INSERT INTO broadcast_link (id, broadcast_id, url, clicks, unique_clicks) VALUES ($1, $4, 'a', 9, 9), ($2, $4, 'b', 8, 8), ($3, $4, 'c', 7, 7)`,
			h.App.World.NewID(), h.App.World.NewID(), h.App.World.NewID(), id)
		roster := "/broadcasts/" + id + "/recipients?"
		for path, want := range map[string]string{
			"/broadcasts?":           "Three Two One",
			"/broadcasts?order=asc&": "One Two Three",
		} {
			if got := h.walk(path, "name"); got != want {
				t.Errorf("%s: %s", path, got)
			}
		}
		for path, want := range map[string]string{
			roster:                                 "bounced+3@example.net bounced+2@example.net bounced+1@example.net person3@example.net person2@example.net person1@example.net",
			roster + "order=asc&status=delivered&": "person1@example.net person2@example.net person3@example.net",
			"/broadcasts/" + id + "/recipient-errors?":                   "bounced+3@example.net bounced+2@example.net bounced+1@example.net",
			"/broadcasts/" + id + "/recipient-errors?order=asc&":         "bounced+1@example.net bounced+2@example.net bounced+3@example.net",
			"/broadcasts/" + id + "/recipient-errors?email=bounced%2B2&": "bounced+2@example.net",
		} {
			if got := h.walk(path, "email"); got != want {
				t.Errorf("%s: %s", path, got)
			}
		}
		links := "/broadcasts/" + id + "/clicked-links?"
		if got := h.walk(links, "url") + ", " + h.walk(links+"order=asc&", "url"); got != "a b c, c b a" {
			t.Errorf("links: %s", got)
		}
		if page := h.must(200, "GET", links+"limit=1&offset=1", nil); page.Column("url") != "b" || page.Text("total") != "3" {
			t.Errorf("%s", page.Raw)
		}
		other := h.must(200, "GET", "/broadcasts?limit=1", nil).Text("next_cursor")
		if refused := h.must(400, "GET", roster+"cursor="+other, nil); refused.Text("error", "code") != "invalid_cursor" {
			t.Errorf("%s", refused.Raw)
		}
	})
}

// links returns the links of a broadcast with how often, and by how many people, each was followed.
func (h *house) links(id string) string {
	h.t.Helper()
	var all []string
	for _, row := range h.rows("/broadcasts/" + id + "/clicked-links?limit=200") {
		if row["clicks"] != 0.0 {
			all = append(all, fmt.Sprint(row["url"], " ", row["clicks"], " ", row["unique_clicks"]))
		}
	}
	return strings.Join(all, ", ")
}

func TestALinkIsFollowedByPeopleOnceEachHoweverOftenTheyComeBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list("ann@example.net"), fields{"tracking": fields{"clicks": true}})
		h.finish()
		h.visit("ann@example.net", trackedLink, person) // sooner than anybody reads: a program that looks for bad links
		h.follow()
		if got := h.links(id) + h.stats(id, "clicked", "automated_clicks"); got != "clicked 0, automated_clicks 1" {
			t.Error(got)
		}
		for range 2 {
			h.Clock.Advance(time.Hour)
			h.visit("ann@example.net", trackedLink, person)
			h.follow()
		}
		if got := h.links(id); got != "https://acme.test/start 2 1" {
			t.Error(got)
		}
	})
}

// haveLinks gives a broadcast links that nobody has followed.
func (h *house) haveLinks(id string, count int) {
	h.t.Helper()
	err := h.App.DB.Write(h.t.Context(), func(tx *db.Tx) error {
		var values []any
		for n := range count {
			values = append(values, h.App.World.NewID(), id, fmt.Sprint("https://acme.test/", n), 0, 0)
		}
		_, err := tx.InsertRows(`INSERT INTO broadcast_link (id, broadcast_id, url, clicks, unique_clicks)`, 5, values, ``)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func TestLinksBeyondTheFirstFiveHundredAreCountedTogether(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list("ann@example.net"), fields{"tracking": fields{"clicks": true}})
		h.finish()
		h.haveLinks(id, 500)
		h.Clock.Advance(time.Minute)
		h.visit("ann@example.net", trackedLink, person)
		h.follow()
		if got := h.links(id); got != "(other links) 1 1" {
			t.Error(got)
		}
	})
}

func TestOfLinksThatComeTogetherTheFirstByAddressAreCountedApart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		var html string
		for _, name := range []string{"e", "c", "a", "d", "b"} {
			html += `<a href="https://acme.test/` + name + `">x</a> `
		}
		id := h.sent(h.list("ann@example.net"), fields{"tracking": fields{"clicks": true}, "html": html})
		h.finish()
		h.haveLinks(id, 498)
		h.Clock.Advance(time.Minute)
		for _, link := range trackedLink.FindAllString(h.page("ann@example.net"), 5) {
			h.open(link, person)
		}
		h.follow()
		got := strings.Split(h.links(id), ", ")
		slices.Sort(got)
		if want := "(other links) 3 1, https://acme.test/a 1 1, https://acme.test/b 1 1"; strings.Join(got, ", ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	})
}
