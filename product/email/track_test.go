package email_test

import (
	"bytes"
	"fmt"
	"image/gif"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/message"
)

const (
	firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	gmail   = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
	page    = `<html><!--[if mso]><a href="https://acme.test/outlook">x</a><![endif]--><BODY class='b'><p>Hi &amp; welcome &eacute;</p>
<a href="https://acme.test/start?a=1&amp;b=2#top">Go</a> <a href='mailto:x@acme.test'>write</a> <a href=#top>up</a>
<a href="https://postrider.test/v1/unsubscribe/abc">leave</a> <a href="https://acme.test/leave">leave</a></BODY></html>`
)

var (
	tracked     = fields{"opens": true, "clicks": true}
	trackedLink = regexp.MustCompile(`https://track\.acme\.test/v1/links/[A-Za-z0-9_-]+`)
	pixelTag    = regexp.MustCompile(`<img src="(https://track\.acme\.test/v1/images/[A-Za-z0-9_-]+)"[^>]*>`)
)

// delivered is what a recipient got.
type delivered struct {
	html, text string
	links      []string
	pixel      string
}

// received returns the only message of a mailbox, which must be signed well.
func received(t *testing.T, in *apptest.Installation, to string) delivered {
	t.Helper()
	box := in.Mailbox(to)
	if len(box) != 1 || box[0].Authentication["dkim"] != "pass" {
		t.Fatalf("mailbox of %s: %+v", to, box)
	}
	content, err := message.ReadContent(strings.NewReader(box[0].Raw), 1<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := delivered{html: strings.ReplaceAll(strings.TrimSuffix(content.HTML, "\r\n"), "\r\n", "\n"), text: content.Text, links: trackedLink.FindAllString(content.HTML, -1)}
	if found := pixelTag.FindStringSubmatch(content.HTML); found != nil {
		got.pixel = found[1]
	}
	return got
}

// visitor asks for addresses in mail.
type visitor struct {
	method, agent, ip string
	header            map[string]string
}

var person = visitor{agent: firefox, ip: "198.51.100.7"}

func (v visitor) visit(in *apptest.Installation, address string) *httptest.ResponseRecorder {
	if v.method == "" {
		v.method = http.MethodGet
	}
	request := httptest.NewRequest(v.method, address, nil)
	request.Header.Set("User-Agent", v.agent)
	request.RemoteAddr = v.ip + ":4711"
	for name, value := range v.header {
		request.Header.Set(name, value)
		if name == "Host" {
			request.Host = value
		}
	}
	recorder := httptest.NewRecorder()
	in.App.API.ServeHTTP(recorder, request)
	return recorder
}

// standing tells of each recipient of an email its state, its opens and clicks, and those of programs.
func standing(record apptest.Answer) string {
	list, _ := record.Body["recipients"].([]any)
	texts := make([]string, len(list))
	for i := range list {
		r, _ := list[i].(map[string]any)
		texts[i] = fmt.Sprintf("%v %v %v%v%v%v", r["email"], r["status"], r["opens"], r["clicks"], r["automated_opens"], r["automated_clicks"])
	}
	return strings.Join(texts, ", ")
}

// told returns the facts of all opens or clicks of an email, in order.
func told(t *testing.T, in *apptest.Installation, id, what string) (facts []map[string]any) {
	t.Helper()
	answer := in.Call(http.MethodGet, "/emails/"+id+"/events?limit=200", nil)
	for _, row := range rows(answer) {
		data, _ := row["data"].(map[string]any)
		if found, ok := data[what].(map[string]any); ok {
			facts = append(facts, found)
		}
	}
	return facts
}

func TestTrackedMailTellsWhoReadIt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"to": "ann@example.net", "cc": "bob@example.net", "bcc": "carl@example.net", "html": page, "text": "Go: https://acme.test/start",
			"tracking": tracked, "headers": fields{"List-Unsubscribe": "<https://acme.test/leave>", "X-Ref": "7"}})
		in.Deliver()
		in.Clock.Advance(time.Minute)
		seen := map[string]bool{}
		for _, to := range []string{"ann", "bob", "carl"} {
			got := received(t, in, to+"@example.net")
			if len(got.links) != 1 || got.pixel == "" || seen[got.links[0]] || seen[got.pixel] {
				t.Fatalf("%s got %+v", to, got)
			}
			seen[got.links[0]], seen[got.pixel] = true, true
			plain := strings.Replace(got.html, got.links[0], "https://acme.test/start?a=1&amp;b=2#top", 1)
			if tag := pixelTag.FindString(plain); strings.Replace(plain, tag, "", 1) != page || !strings.Contains(plain, tag+"</BODY>") {
				t.Errorf("%s got another page:\n%s", to, got.html)
			}
			if strings.TrimSpace(got.text) != "Go: https://acme.test/start" {
				t.Errorf("the text is changed: %q", got.text)
			}
		}

		shown := person.visit(in, received(t, in, "ann@example.net").pixel)
		picture, err := gif.Decode(bytes.NewReader(shown.Body.Bytes()))
		if shown.Code != 200 || shown.Header().Get("Content-Type") != "image/gif" || shown.Header().Get("Cache-Control") != "no-store" ||
			shown.Header().Get("X-Robots-Tag") == "" || err != nil {
			t.Fatalf("%d %v %v", shown.Code, shown.Header(), err)
		}
		if _, _, _, alpha := picture.At(0, 0).RGBA(); alpha != 0 || picture.Bounds().Dx() != 1 {
			t.Error("the pixel can be seen")
		}
		if record := in.Email(id); record.Text("status") != "opened" || standing(record) != "ann@example.net opened 1000, bob@example.net delivered 0000, carl@example.net delivered 0000" {
			t.Errorf("after an open: %s %s", record.Text("status"), standing(record))
		}
		followed := person.visit(in, received(t, in, "carl@example.net").links[0])
		if followed.Code != 302 || followed.Header().Get("Location") != "https://acme.test/start?a=1&b=2#top" || followed.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v", followed.Code, followed.Header())
		}
		person.visit(in, received(t, in, "carl@example.net").pixel)
		record := in.Email(id)
		if record.Text("status") != "clicked" || standing(record) != "ann@example.net opened 1000, bob@example.net delivered 0000, carl@example.net clicked 1100" {
			t.Errorf("after a click: %s %s", record.Text("status"), standing(record))
		}
		if row := rows(in.Call(http.MethodGet, "/emails", nil))[0]; fmt.Sprint(row["opens"], row["clicks"]) != "2 1" || record.Text("opens") != "2" {
			t.Errorf("listed as %v", row)
		}
		clicks, opens := told(t, in, id, "click"), told(t, in, id, "open")
		if len(clicks) != 1 || len(opens) != 2 || clicks[0]["link"] != "https://acme.test/start?a=1&b=2#top" ||
			clicks[0]["ipAddress"] != "198.51.100.7" || clicks[0]["userAgent"] != firefox || clicks[0]["automated"] != false ||
			clicks[0]["automated_reason"] != nil || fmt.Sprint(clicks[0]["count"]) != "1" {
			t.Errorf("told %v and %v", clicks, opens)
		}
		if got := story(record); !strings.HasSuffix(got, "opened clicked opened") {
			t.Errorf("story: %s", got)
		}
	})
}

func TestProgramsAreCountedApartAndChangeNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"html": page, "tracking": tracked})
		in.Deliver()
		got := received(t, in, "ann@example.net")
		person.visit(in, got.pixel) // within two seconds
		in.Clock.Advance(time.Minute)
		for _, v := range []visitor{
			{agent: gmail, ip: "66.249.84.1"}, {agent: "Mozilla/5.0", ip: "104.28.1.1"},
			{agent: firefox, ip: "198.51.100.7", header: map[string]string{"X-Moz": "prefetch"}},
		} {
			v.visit(in, got.pixel)
		}
		scanner := visitor{agent: "Barracuda Sentinel (EE)", ip: "203.0.113.9"}
		if answer := scanner.visit(in, got.links[0]); answer.Code != 302 {
			t.Errorf("a scanner was answered with %d", answer.Code)
		}
		for _, address := range []string{got.pixel, got.links[0]} {
			if answer := (visitor{method: http.MethodHead, agent: firefox, ip: "198.51.100.7"}).visit(in, address); answer.Body.Len() != 0 || answer.Code >= 400 {
				t.Errorf("HEAD %s: %d", address, answer.Code)
			}
		}
		record := in.Email(id)
		if record.Text("status") != "delivered" || standing(record) != "ann@example.net delivered 0041" || record.Text("opens") != "0" {
			t.Errorf("%s %s", record.Text("status"), standing(record))
		}
		var reasons []string
		for _, facts := range append(told(t, in, id, "open"), told(t, in, id, "click")...) {
			reasons = append(reasons, fmt.Sprint(facts["automated"], " ", facts["automated_reason"], " ", facts["count"]))
		}
		if got := strings.Join(reasons, ", "); got != "true too_fast 1, true image_proxy 2, true privacy_proxy 3, true security_scanner 4, true security_scanner 1" {
			t.Errorf("told: %s", got)
		}
		for _, entry := range record.Body["timeline"].([]any) {
			if status := entry.(map[string]any)["status"]; status == "opened" || status == "clicked" {
				t.Errorf("the timeline says %v of mail that nobody has read", entry)
			}
		}
		person.visit(in, got.pixel)
		if record := in.Email(id); record.Text("status") != "opened" || standing(record) != "ann@example.net opened 1041" {
			t.Errorf("after a person: %s %s", record.Text("status"), standing(record))
		}
	})
}

func TestTrackingIsSwitchedByDomainAndMessage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		count := 0
		try := func(name string, tracking any, wantLinks int, wantPixel bool) {
			t.Helper()
			count++
			to := fmt.Sprintf("user%d@example.net", count)
			id := accepted(t, in, fields{"to": to, "html": page, "tracking": tracking})
			in.Deliver()
			got := received(t, in, to)
			if len(got.links) != wantLinks || (got.pixel != "") != wantPixel || wantLinks == 0 && !wantPixel && got.html != page {
				t.Errorf("%s: %+v", name, got)
			}
			raw := in.Call(http.MethodGet, "/emails/"+id+"/raw", nil).Text("download_url")
			if looked := in.Download(raw); strings.Contains(string(looked), "track.acme.test") {
				t.Errorf("%s: looking at the message makes links:\n%s", name, looked)
			}
		}
		try("nothing asked for", nil, 0, false)
		try("asked by the message", fields{"clicks": true}, 2, false)
		if answer := in.Call(http.MethodPatch, "/domains/"+in.DomainID, fields{"open_tracking": true, "click_tracking": true}); answer.Status != 200 {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		try("asked by the domain", nil, 2, true)
		try("half refused by the message", fields{"clicks": false}, 0, true)
		try("refused by the message", fields{"opens": false, "clicks": false}, 0, false)
	})
}

func TestLinksLeadToTheInstallationUntilTheDomainHasAHost(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Call(http.MethodPatch, "/domains/"+in.DomainID, fields{"tracking_subdomain": "go"})
		accepted(t, in, fields{"html": page, "tracking": tracked, "list_unsubscribe": true})
		in.Deliver()
		raw := in.Mailbox("ann@example.net")[0].Raw
		got := received(t, in, "ann@example.net")
		if strings.Count(got.html, "https://postrider.test/v1/links/") != 2 || strings.Count(got.html, "https://postrider.test/v1/images/") != 1 ||
			!strings.Contains(raw, "<https://postrider.test/v1/unsubscribe/") || strings.Contains(raw, "go.acme.test") {
			t.Errorf("%s\n%s", raw, got.html)
		}
	})
}
