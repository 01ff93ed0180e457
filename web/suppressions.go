package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func suppressionPages() []page {
	return []page{
		{"GET /suppressions", listSuppressions},
		{"GET /suppressions/new", needing("suppression:manage", showNewSuppression)}, {"POST /suppressions/new", addSuppressions},
		{"POST /suppressions/remove", removeSuppressions},
	}
}

// suppressionRecord is an address that is not mailed, as the API tells it.
type suppressionRecord struct {
	Email, Reason, Note string
	Detail              json.RawMessage
	EmailID             string    `json:"email_id"`
	ExpiresAt           time.Time `json:"expires_at"`
	Hits                int64
	CreatedAt           time.Time `json:"created_at"`
}

// suppressionsPage is the list of addresses that are not mailed.
type suppressionsPage struct {
	shell
	Rows                 []suppressionRow
	Query, Reason, Since string
	Reasons, Spans       []choice
	Total                string
	Pager                pager
	// Back is the place in the list to come back to.
	Back string
}

// Filtered tells whether the list shows a choice of all entries.
func (p suppressionsPage) Filtered() bool { return p.Query != "" || p.Reason != "" || p.Since != "" }

type suppressionRow struct {
	Email, Why, Href, Source string
	State                    badge
	At, Ends                 moment
	Hits                     string
}

// reasonBadges are how the reasons look.
var reasonBadges = map[string]badge{"bounce": {"bounced", "mail-x", "Bounced"}, "complaint": {"complained", "flag", "Complained"},
	"unsubscribe": {"cancelled", "circle-minus", "Unsubscribed"}, "manual": {"queued", "user", "By hand"}, "invalid": {"failed", "circle-x", "Not an address"}}

// reasonSentences say what a reason means for mail to the address.
var reasonSentences = map[string]string{
	"bounce":      "A server said that the mailbox does not exist. Mailing it again would harm your reputation.",
	"complaint":   "The person reported a mail of yours as spam. Do not write again unless they ask you to.",
	"unsubscribe": "The person unsubscribed. Broadcasts and other mail with an unsubscribe link are held back; a receipt still goes out.",
	"manual":      "Somebody of your team put the address on the list.",
	"invalid":     "The address cannot be right.",
}

func reasonChoices(now, first string) []choice {
	all := choices(now, "manual", "By hand", "bounce", "Bounced", "complaint", "Complained", "unsubscribe", "Unsubscribed", "invalid", "Not an address")
	if first == "" {
		return all
	}
	return append([]choice{{Label: first, Chosen: now == ""}}, all...)
}

func listSuppressions(v *visit) error {
	p := suppressionsPage{shell: v.shell("Suppressions", "suppressions"), Query: v.query("q"), Reason: v.query("reason"), Since: v.query("since"), Back: v.r.URL.RequestURI()}
	p.Reasons, p.Spans = reasonChoices(p.Reason, "Every reason"), spans(p.Since)
	var list listOf[suppressionRecord]
	if err := v.get("/v1/suppressions", add(v.pageQuery(), map[string]string{"search": p.Query, "reason": p.Reason, "since": v.sinceOf(p.Since)}), &list); err != nil {
		return err
	}
	for _, s := range list.Data {
		p.Rows = append(p.Rows, v.suppressionRow(s))
	}
	if list.Total != nil {
		p.Total = v.plural(*list.Total, "address", "addresses")
	}
	p.Pager = beside(v, list)
	return v.show("suppressions/list", p)
}

func (v *visit) suppressionRow(s suppressionRecord) suppressionRow {
	row := suppressionRow{Email: visible(s.Email), Href: v.link("people", s.Email), Why: whyOf(s), State: reasonBadges[s.Reason], At: v.moment(s.CreatedAt), Ends: v.ago(s.ExpiresAt)}
	if row.State.Label == "" {
		row.State = newBadge(s.Reason)
	}
	if s.EmailID != "" {
		row.Source = v.link("emails", s.EmailID)
	}
	if s.Hits > 0 {
		row.Hits = v.plural(s.Hits, "email held back", "emails held back")
	}
	return row
}

// whyOf is the remark of a person, or what the server said.
func whyOf(s suppressionRecord) string {
	if s.Note != "" {
		return visible(s.Note)
	}
	var detail struct{ Message string }
	_ = json.Unmarshal(s.Detail, &detail) // what cannot be read is not shown
	return visible(detail.Message)
}

// newSuppressionPage puts addresses on the list.
type newSuppressionPage struct {
	shell
	Emails, Note, ExpiresAt string
	Reasons                 []choice
	Problem                 *problem
	// Wrong names the addresses that were refused.
	Wrong []string
}

func (v *visit) newSuppressionPage(reason string) newSuppressionPage {
	return newSuppressionPage{shell: v.shell("Add addresses", "suppressions").under(crumb{"Suppressions", v.link("suppressions")}).with("unsaved.js"), Reasons: reasonChoices(reason, "")}
}

func showNewSuppression(v *visit) error {
	p := v.newSuppressionPage("manual")
	p.Emails = v.query("email")
	return v.show("suppressions/new", p)
}

func addSuppressions(v *visit) error {
	p := v.newSuppressionPage(v.value("reason"))
	p.Emails, p.Note, p.ExpiresAt = v.value("emails"), v.value("note"), v.value("expires_at")
	body := map[string]any{"emails": addresses(p.Emails), "reason": v.value("reason"), "note": p.Note}
	if p.ExpiresAt != "" {
		body["expires_at"] = v.instant(p.ExpiresAt)
	}
	var added struct{ Data []suppressionRecord }
	err := v.send(http.MethodPost, "/v1/suppressions/batch/add", body, &added)
	if p.Problem = refusal(err); p.Problem != nil {
		p.Wrong = wrongOf(p.Problem, addresses(p.Emails))
		return v.showStatus(p.Problem.Status, "suppressions/new", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("suppressions"), v.plural(int64(len(added.Data)), "address is", "addresses are")+" on the list. No mail goes there any more.")
}

// wrongOf puts the addresses that were refused beside what is wrong with them.
func wrongOf(refused *problem, all []string) []string {
	var wrong []string
	for i, one := range all {
		if said := refused.Fields["emails["+strconv.Itoa(i)+"]"]; said != "" {
			wrong = append(wrong, visible(one)+": "+said)
		}
	}
	if len(wrong) == 0 && refused.Field("emails") != "" {
		wrong = append(wrong, refused.Field("emails"))
	}
	return wrong
}

func removeSuppressions(v *visit) error {
	emails := v.form["emails"]
	back := local(v.value("back"), v.link("suppressions"))
	var removed struct{ Data []json.RawMessage }
	if err := v.send(http.MethodPost, "/v1/suppressions/batch/remove", map[string]any{"emails": emails}, &removed); err != nil {
		return err
	}
	if len(emails) == 1 {
		return v.redirect(back, "Mail goes to "+strings.ToLower(visible(emails[0]))+" again.")
	}
	return v.redirect(back, v.plural(int64(len(removed.Data)), "address was", "addresses were")+" taken off the list.")
}
