package broadcast_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestABroadcastReachesEverybodyOnceWithAMailOfTheirOwn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.must(201, "POST", "/contact-properties", fields{"key": "plan", "type": "string", "fallback_value": "free"})
		list := h.list("ann@example.net", "bob@example.net")
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"first_name": "Ann", "properties": fields{"plan": "pro"}})
		h.must(201, "POST", "/contacts", fields{"email": "stranger@example.net"})

		id := h.sent(list, fields{"subject": "Hi {{{FIRST_NAME|you}}}", "html": "<p>Your plan: {{contact.plan}}. Until {{END}}.</p>", "variables": fields{"END": "May"}, "tags": []fields{{"name": "campaign", "value": "nov"}}})
		if b := h.get(id); b.Text("status") != "queued" || b.Text("queued_at") == "" {
			t.Fatalf("%s", b.Raw)
		}
		h.hand()
		if b := h.get(id); b.Text("status") != "sending" || b.Text("handed_at") == "" || b.Text("sent_at") != "" {
			t.Fatalf("handed over: %s", b.Raw)
		}
		h.must(409, "POST", "/broadcasts/"+id+"/pause", nil) // nothing is left that could be held
		h.finish()

		if b := h.get(id); b.Text("status") != "sent" || b.Text("sent_at") == "" {
			t.Errorf("%s", b.Raw)
		}
		if got := h.stats(id, "recipients", "queued", "sent", "delivered", "delivery_rate"); got != "recipients 2, queued 0, sent 2, delivered 2, delivery_rate 1" {
			t.Error(got)
		}
		ann, bob := h.Mailbox("ann@example.net"), h.Mailbox("bob@example.net")
		if len(ann) != 1 || len(bob) != 1 || len(h.Mailbox("stranger@example.net")) != 0 {
			t.Fatalf("%d for ann, %d for bob", len(ann), len(bob))
		}
		if ann[0].Subject != "Hi Ann" || bob[0].Subject != "Hi you" || !strings.Contains(ann[0].Raw, "Your plan: pro. Until May.") || !strings.Contains(bob[0].Raw, "Your plan: free.") {
			t.Errorf("%s\n%s", ann[0].Raw, bob[0].Raw)
		}
		if !strings.Contains(ann[0].Raw, "List-Unsubscribe-Post: List-Unsubscribe=One-Click") {
			t.Errorf("no header to unsubscribe with: %s", ann[0].Raw)
		}
		if !strings.Contains(ann[0].Raw, "Feedback-ID: "+id+":"+string(h.Workspace)+":broadcast:postrider\r\n") {
			t.Errorf("complaints cannot be told apart: %s", ann[0].Raw)
		}
		mails := h.must(200, "GET", "/emails?broadcast_id="+id, nil).Body["data"].([]any)
		if len(mails) != 2 || mails[0].(fields)["source"] != "broadcast" || mails[0].(fields)["contact_id"] == nil {
			t.Errorf("%v", mails)
		}
		if got := h.told(id); got != "broadcast.sent" {
			t.Errorf("told %q", got)
		}
	})
}

var unsubscribeLink = regexp.MustCompile(`https://[^\s"<>]+/v1/unsubscribe/[^\s"<>]+`)

// unwrapped undoes the soft line breaks of quoted-printable, and folded headers.
func unwrapped(raw string) string {
	return strings.NewReplacer("=\r\n", "", "=3D", "=", "\r\n ", "").Replace(raw)
}

func TestALinkToUnsubscribeIsInEveryMailAndIsNeverPutInTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net")
		h.sent(list, fields{"subject": "without", "html": "<html><body><p>News</p></body></html>"})
		h.sent(list, fields{"subject": "with", "html": `<p>News</p><a href="{{{RESEND_UNSUBSCRIBE_URL}}}">Bye</a>`, "text": "News. Bye: {{{UNSUBSCRIBE_URL}}}"})
		h.finish()
		mails := h.Mailbox("ann@example.net")
		if len(mails) != 2 {
			t.Fatalf("%d mails", len(mails))
		}
		for _, m := range mails {
			links := unsubscribeLink.FindAllString(unwrapped(m.Raw), -1)
			if len(links) != 3 || links[1] != links[2] {
				t.Errorf("%s: %d links, want one in the header, and one in the text and the page", m.Subject, len(links))
			}
		}
	})
}

func TestABroadcastToNobodyIsSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list(), nil)
		h.finish()
		if b := h.get(id); b.Text("status") != "sent" || h.stats(id, "recipients") != "recipients 0" {
			t.Errorf("%s", b.Raw)
		}
	})
}

func TestAScheduledBroadcastWaitsCanBeMovedAndTakenBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net")
		id := h.must(201, "POST", "/broadcasts", news(list, nil)).Text("id")
		b := h.must(202, "POST", "/broadcasts/"+id+"/send", fields{"scheduled_at": "in 1 hour"})
		if b.Text("status") != "scheduled" || b.Text("scheduled_at") == "" {
			t.Fatalf("%s", b.Raw)
		}
		h.must(200, "PATCH", "/broadcasts/"+id, fields{"scheduled_at": "in 3 hours", "subject": "Later"})
		h.Clock.Advance(2 * time.Hour)
		h.hand()
		if got := h.get(id).Text("status"); got != "scheduled" {
			t.Fatalf("%s before its time", got)
		}
		h.Clock.Advance(2 * time.Hour)
		h.finish()
		if got := h.get(id).Text("status"); got != "sent" || len(h.Mailbox("ann@example.net")) != 1 || h.Mailbox("ann@example.net")[0].Subject != "Later" {
			t.Errorf("%s, %v", got, h.Mailbox("ann@example.net"))
		}

		other := h.sent(list, fields{"scheduled_at": "in 1 hour"})
		if back := h.must(200, "PATCH", "/broadcasts/"+other, fields{"scheduled_at": nil}); back.Text("status") != "draft" {
			t.Errorf("without a time: %s", back.Raw)
		}
		third := h.sent(list, fields{"scheduled_at": "in 1 hour"})
		h.must(200, "POST", "/broadcasts/"+third+"/cancel", nil)
		h.Clock.Advance(2 * time.Hour)
		h.finish()
		if n := len(h.Mailbox("ann@example.net")); n != 1 || h.get(third).Text("status") != "cancelled" || h.told(third) != "broadcast.cancelled" {
			t.Errorf("%d mails, %s", n, h.get(third).Raw)
		}
	})
}

func TestSendingTwiceIsAConflictUnlessTheKeyIsTheSame(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.must(201, "POST", "/broadcasts", news(h.list("ann@example.net"), nil)).Text("id")
		header := map[string]string{"Idempotency-Key": "november-news"}
		first := h.CallAs(h.Key, "POST", "/broadcasts/"+id+"/send", nil, header)
		again := h.CallAs(h.Key, "POST", "/broadcasts/"+id+"/send", nil, header)
		if first.Status != 202 || again.Status != 200 || again.Body["idempotent"] != true || again.Text("id") != id {
			t.Errorf("%s\n%s", first.Raw, again.Raw)
		}
		for _, body := range []fields{{}, {"idempotency_key": "november-news"}} {
			if same := h.CallAs(h.Key, "POST", "/broadcasts/"+id+"/send", body, header); same.Status != 200 || same.Body["idempotent"] != true {
				t.Errorf("%v says no more than no body: %s", body, same.Raw)
			}
		}
		next := h.must(201, "POST", "/broadcasts", news(h.list("bob@example.net"), nil)).Text("id")
		if sent := h.CallAs(h.Key, "POST", "/broadcasts/"+next+"/send", nil, header); sent.Status != 202 || sent.Text("id") != next {
			t.Errorf("another broadcast with the same key: %s", sent.Raw)
		}
		other := h.CallAs(h.Key, "POST", "/broadcasts/"+id+"/send", fields{"scheduled_at": "in 1 hour"}, header)
		if other.Status != 409 || other.Text("error", "code") != "idempotency_key_reused" {
			t.Errorf("%s", other.Raw)
		}
		refused := h.must(409, "POST", "/broadcasts/"+id+"/send", nil)
		if refused.Text("error", "code") != "invalid_state" || refused.Text("error", "details", "current") != "queued" {
			t.Errorf("%s", refused.Raw)
		}
		h.finish()
		if n := len(h.Mailbox("ann@example.net")); n != 1 {
			t.Errorf("%d mails", n)
		}
	})
}

func TestAThrottledBroadcastIsSpreadEvenly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list(crowd(10)...), fields{"throttle_per_hour": 720}) // two every ten seconds
		for want := 8; want >= 0; want -= 2 {
			h.hand()
			if got := strings.Count(h.roster(id, "&status=pending"), "pending"); got != want {
				t.Fatalf("%d wait, want %d", got, want)
			}
			h.Clock.Advance(10 * time.Second)
		}
		h.finish()
		if got := h.get(id).Text("status"); got != "sent" {
			t.Error(got)
		}
	})
}

func TestMailGoesOutOnlyWithinTheWindow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		now := h.Clock.Now()
		opens := now.Add(3 * time.Hour)
		window := fields{"start": opens.Format("15:04"), "end": opens.Add(2 * time.Hour).Format("15:04"), "timezone": "UTC"}
		id := h.sent(h.list("ann@example.net"), fields{"sending_window": window})
		h.finish()
		if len(h.Mailbox("ann@example.net")) != 0 || h.stats(id, "queued") != "queued 1" {
			t.Fatal("mail went out before the window")
		}
		h.Clock.Advance(3*time.Hour + time.Minute)
		h.finish()
		if len(h.Mailbox("ann@example.net")) != 1 {
			t.Errorf("%s", h.get(id).Raw)
		}
	})
}

func TestAudienceIDsOfSegmentsAreTakenAsSegments(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		segment := h.must(201, "POST", "/segments", fields{"name": "Friends"}).Text("id")
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "segments": []string{segment}})
		h.must(201, "POST", "/contacts", fields{"email": "bob@example.net"})
		id := h.sent(segment, nil)
		h.finish()
		if b := h.get(id); b.Text("segment_id") != segment || b.Text("audience_id") != "" || h.stats(id, "delivered") != "delivered 1" {
			t.Errorf("%s", b.Raw)
		}
	})
}

func TestWhatIsWrongWithABroadcastIsToldBeforeItIsSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net")
		empty := h.must(201, "POST", "/broadcasts", fields{}).Text("id")
		for name, c := range map[string]struct {
			answer interface{ Text(...string) string }
			want   string
		}{
			"nothing": {h.must(400, "POST", "/broadcasts/"+empty+"/send", nil), ""},
			"domain":  {h.must(403, "POST", "/broadcasts", news(list, fields{"send": true, "from": "x@other.test"})), "invalid_from_address"},
			"syntax":  {h.must(422, "POST", "/broadcasts", news(list, fields{"html": "{{#if x}}"})), "template_render_failed"},
			"time":    {h.must(400, "POST", "/broadcasts", news(list, fields{"scheduled_at": "yesterday"})), "validation_error"},
		} {
			if got := c.answer.Text("error", "code"); c.want != "" && got != c.want {
				t.Errorf("%s: %s", name, got)
			}
		}
		got := problems(h.must(400, "POST", "/broadcasts/"+empty+"/send", nil))
		if got != "audience_id: A list or a segment is required.; from: A sender is required.; html: Either html, text or a template is required.; subject: A subject is required." {
			t.Error(got)
		}
		got = problems(h.must(400, "POST", "/broadcasts", fields{"audience_id": nobody, "template_id": "missing", "topic_id": nobody}))
		if got != "audience_id: There is none with this id.; template_id: There is no such template.; topic_id: There is none with this id." {
			t.Error(got)
		}
		got = problems(h.must(400, "POST", "/broadcasts", news(list, fields{"text": "begin 644 x.exe\n#0V%T\n`\nend\n"})))
		if got != "text: File type .exe is not allowed." {
			t.Error(got)
		}
		got = problems(h.must(400, "POST", "/broadcasts", fields{"throttle_per_hour": 0, "name": "a\nb", "reply_to": []string{"x"}, "tags": []fields{{"name": "a b", "value": "c"}},
			"sending_window": fields{"start": "9", "end": "25:00", "timezone": "Nowhere", "days": []int{8}}, "html": "x", "template_id": "y"}))
		if n := strings.Count(got, ";") + 1; n != 9 {
			t.Errorf("%d problems: %s", n, got)
		}
		got = problems(h.must(400, "POST", "/broadcasts", fields{"sending_window": fields{"start": "09:00", "end": "18:00", "timezone": "Local", "days": []int{1, 2, 3, 4, 5, 6, 7, 1}}}))
		if got != "sending_window.days: At most 7 days are allowed.; sending_window.timezone: Must be the name of a time zone like Europe/Berlin." {
			t.Error(got)
		}
	})
}

func TestDraftsAreChangedDuplicatedAndDeleted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.must(201, "POST", "/broadcasts", news(h.list("ann@example.net"), fields{"throttle_per_hour": 100})).Text("id")
		changed := h.must(200, "PATCH", "/broadcasts/"+id, fields{"name": "", "subject": "December", "throttle_per_hour": nil, "html": "", "scheduled_at": ""})
		if changed.Text("name") != "November news" || changed.Text("subject") != "December" || changed.Body["throttle_per_hour"] != nil || changed.Text("html") == "" {
			t.Errorf("%s", changed.Raw)
		}
		copied := h.must(201, "POST", "/broadcasts/"+id+"/duplicate", nil)
		if copied.Text("name") != "November news (copy)" || copied.Text("status") != "draft" || copied.Text("html") != changed.Text("html") {
			t.Errorf("%s", copied.Raw)
		}
		h.must(202, "POST", "/broadcasts/"+id+"/send", nil)
		h.must(409, "PATCH", "/broadcasts/"+id, fields{"subject": "Too late"})
		h.must(409, "DELETE", "/broadcasts/"+id, nil)
		h.must(200, "DELETE", "/broadcasts/"+copied.Text("id"), nil)
		h.must(404, "GET", "/broadcasts/"+copied.Text("id"), nil)
		summary := h.must(200, "GET", "/broadcasts/summary", nil)
		if got := fmt.Sprint(summary.Body["total"], summary.Body["by_status"]); got != "1 map[cancelled:0 draft:0 failed:0 queued:1 scheduled:0 sending:0 sent:0]" {
			t.Error(got)
		}
	})
}

func TestABroadcastThatATestKeyScheduledStaysATestUntilALiveKeySendsIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		trial := h.Browse("POST", "/v1/api-keys", fields{"name": "trial", "preset": "full_access", "mode": "test"}).Text("key")
		list := h.list("ann@example.net")
		scheduled := func(key, subject string) string {
			t.Helper()
			return h.mustAs(key, 202, "POST", "/broadcasts", news(list, fields{"subject": subject, "scheduled_at": "in 10 minutes", "send": true})).Text("id")
		}
		changed := scheduled(trial, "Changed")
		h.must(200, "PATCH", "/broadcasts/"+changed, fields{"subject": "Changed twice", "scheduled_at": "in 20 minutes"})
		touched := scheduled(h.Key, "Touched")
		h.mustAs(trial, 200, "PATCH", "/broadcasts/"+touched, fields{"subject": "Touched by a test"})
		sent := scheduled(trial, "Sent")
		h.must(202, "POST", "/broadcasts/"+sent+"/send", fields{"scheduled_at": "in 20 minutes"})
		keyed := h.must(201, "POST", "/broadcasts", news(list, fields{"subject": "Keyed"})).Text("id")
		for _, key := range []string{trial, h.Key} {
			answer := h.CallAs(key, "POST", "/broadcasts/"+keyed+"/send", fields{"scheduled_at": "in 20 minutes"}, map[string]string{"Idempotency-Key": "november-news"})
			if answer.Status != 202 {
				t.Errorf("the key of a test is no key of what counts: %d %s", answer.Status, answer.Raw)
			}
		}
		h.Clock.Advance(30 * time.Minute)
		h.finish()

		for _, id := range []string{changed, touched, sent, keyed} {
			if got := h.get(id).Text("status"); got != "sent" {
				t.Errorf("%s: %s", h.get(id).Text("subject"), got)
			}
		}
		var subjects []string
		for _, m := range h.Mailbox("ann@example.net") {
			subjects = append(subjects, m.Subject)
		}
		if slices.Sort(subjects); !slices.Equal(subjects, []string{"Keyed", "Sent"}) {
			t.Errorf("arrived: %v", subjects)
		}
	})
}

func TestAScheduledBroadcastStaysFitToBeSentOrBecomesADraft(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list("ann@example.net"), fields{"scheduled_at": "in 1 hour"})
		refused := h.must(403, "PATCH", "/broadcasts/"+id, fields{"from": "news@stranger.test"})
		if b := h.get(id); refused.Text("error", "code") != "invalid_from_address" || b.Text("from") != "Acme <news@acme.test>" || b.Text("status") != "scheduled" {
			t.Errorf("%s %s", refused.Raw, b.Raw)
		}
		h.write(`UPDATE domain SET verified = FALSE WHERE id = $1`, h.DomainID)
		h.Clock.Advance(2 * time.Second) // the standing of a domain is remembered for a moment
		h.must(403, "PATCH", "/broadcasts/"+id, fields{"subject": "December"})

		back := h.must(200, "PATCH", "/broadcasts/"+id, fields{"scheduled_at": nil})

		if back.Text("status") != "draft" || back.Text("scheduled_at") != "" {
			t.Errorf("%s", back.Raw)
		}
	})
}

func TestAScheduledBroadcastThatIsSentAgainGoesOutNowWithTheTemplateOfNow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		made := h.must(201, "POST", "/templates", fields{"name": "News", "subject": "Template", "html": "<p>One</p>"}).Text("id")
		id := h.sent(h.list("ann@example.net"), fields{"html": nil, "template_id": made, "scheduled_at": "in 1 hour"})
		h.must(200, "PATCH", "/templates/"+made, fields{"html": "<p>Two</p>"})
		h.must(200, "POST", "/templates/"+made+"/publish", nil)

		now := h.must(202, "POST", "/broadcasts/"+id+"/send", nil)

		if now.Text("status") != "queued" || now.Text("scheduled_at") != "" || now.Text("template_version") != "2" {
			t.Errorf("%s", now.Raw)
		}
		h.finish()
		if mails := h.Mailbox("ann@example.net"); len(mails) != 1 || !strings.Contains(mails[0].Raw, "Two") {
			t.Errorf("%v", mails)
		}
	})
}

func TestACopySaysTheSameToTheSamePeopleAtTheSamePace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		made := h.must(201, "POST", "/broadcasts", news(h.list(), fields{"throttle_per_hour": 100, "sending_window": fields{"start": "09:00", "end": "18:00", "days": []int{1}},
			"tags": []fields{{"name": "campaign", "value": "nov"}}, "tracking": fields{"opens": true}, "reply_to": "support@acme.test", "preview_text": "What is new", "variables": fields{"END": "May"}}))
		copied := h.must(201, "POST", "/broadcasts/"+made.Text("id")+"/duplicate", fields{"name": "Again"})
		for name, value := range made.Body {
			switch name {
			case "id", "name", "created_at", "updated_at":
			default:
				if got := fmt.Sprint(copied.Body[name]); got != fmt.Sprint(value) {
					t.Errorf("%s is %s, and was %v", name, got, value)
				}
			}
		}
	})
}

func TestWhatABroadcastSaysGoesBeforePropertiesAndNothingBeforeWhoSomebodyIs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.must(201, "POST", "/contact-properties", fields{"key": "plan", "type": "string"})
		list := h.list("ann@example.net")
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"properties": fields{"plan": "pro"}})
		h.sent(list, fields{"html": "<p>{{plan}}, {{contact.plan}}, {{FIRST_NAME|you}}, {{EMAIL}}</p>", "variables": fields{"plan": "team", "FIRST_NAME": "Nobody", "EMAIL": "x@example.net"}})
		nameless := h.sent(list, fields{"subject": "{{TITLE}}", "variables": fields{"TITLE": ""}})
		h.finish()
		if mails := h.Mailbox("ann@example.net"); len(mails) != 1 || !strings.Contains(mails[0].Raw, "team, pro, you, ann@example.net") {
			t.Errorf("%v", mails)
		}
		if got := h.roster(nameless, ""); got != "ann failed (template_render_failed)" {
			t.Errorf("without a subject: %s", got)
		}
	})
}

func TestABroadcastWithoutANameHasNone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		made := h.must(201, "POST", "/broadcasts", fields{"name": ""})
		copied := h.must(201, "POST", "/broadcasts/"+made.Text("id")+"/duplicate", nil)
		if made.Pick("name") != "[null]" || copied.Pick("name") != "[null]" {
			t.Errorf("%s\n%s", made.Raw, copied.Raw)
		}
	})
}
