package web

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

func emailPages() []page {
	return []page{
		{"GET /emails", listEmails},
		{"GET /emails/new", needing("email:send", showNewEmail)}, {"POST /emails/new", sendEmail},
		{"GET /emails/check", needing("email:send", showSpamCheck)}, {"POST /emails/check", checkSpam},
		{"GET /emails/{id}", showEmail},
		{"GET /emails/{id}/body", showEmailBody},
		{"POST /emails/{id}/cancel", cancelEmail}, {"POST /emails/{id}/reschedule", rescheduleEmail},
		{"POST /emails/{id}/share", shareEmail},
	}
}

// emailsPage is the list of emails, newest first.
type emailsPage struct {
	shell
	emailRows
	Query, Status, Since string
	States               []badge
	// Reset tells that the place in the list was no longer good, and the list begins again.
	Reset bool
}

// emailRows are some emails, and how to get at the next.
type emailRows struct {
	Rows []emailRow
	// Older is where the next page is; empty at the end.
	Older string
	// First is the first page, where this one is past the end.
	First string
}

// Filtered tells whether the list shows a choice of all emails.
func (p emailsPage) Filtered() bool { return p.Query != "" || p.Status != "" || p.Since != "" }

type emailRow struct {
	ID, To, Subject, Status, Href string
	At                            moment
	everybody                     []string
}

// isTo tells whether the email went to an address, openly or not.
func (r emailRow) isTo(address string) bool {
	return slices.ContainsFunc(r.everybody, func(one string) bool { return strings.EqualFold(bareAddress(one), address) })
}

// bareAddress is an address without the name before it.
func bareAddress(text string) string {
	if at := strings.LastIndex(text, "<"); at >= 0 {
		text = strings.TrimSuffix(strings.TrimSpace(text[at+1:]), ">")
	}
	return strings.TrimSpace(text)
}

type emailRecord struct {
	ID          string     `json:"id"`
	To          []string   `json:"to"`
	Cc          []string   `json:"cc"`
	Bcc         []string   `json:"bcc"`
	Subject     string     `json:"subject"`
	Status      string     `json:"status"`
	CreatedAt   time.Time  `json:"created_at"`
	ScheduledAt *time.Time `json:"scheduled_at"`
}

// emailStates are those a person filters by, in the order of a mail's life.
var emailStates = []string{"scheduled", "queued", "sending", "sent", "delivered", "opened", "clicked", "delivery_delayed", "bounced", "complained", "failed", "suppressed", "cancelled"}

func listEmails(v *visit) error {
	p := emailsPage{shell: v.shell("Emails", "emails"), Query: v.query("q"), Status: v.query("status"), Since: v.query("since")}
	query := url.Values{"limit": {"50"}}
	for name, value := range map[string]string{"search": p.Query, "status": p.Status, "cursor": v.query("cursor"), "since": v.sinceOf(p.Since)} {
		if value != "" {
			query.Set(name, value)
		}
	}
	rows, err := v.emailRows(query)
	if isRefused(err, "invalid_cursor") {
		query.Del("cursor")
		p.Reset = true
		rows, err = v.emailRows(query)
	}
	if err != nil {
		return err
	}
	p.emailRows = rows
	for _, state := range emailStates {
		b := newBadge(state)
		p.States = append(p.States, badge{state, b.Icon, b.Label})
	}
	return v.show("emails/list", p)
}

// sinceOf turns a choice of the filter into a time.
func (v *visit) sinceOf(choice string) string {
	spans := map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour, "month": 30 * 24 * time.Hour}
	span, ok := spans[choice]
	if !ok {
		return ""
	}
	return v.now.Add(-span).UTC().Format(time.RFC3339)
}

func (v *visit) emailRows(query url.Values) (emailRows, error) {
	var list struct {
		Data       []emailRecord `json:"data"`
		NextCursor *string       `json:"next_cursor"`
	}
	if err := v.get("/v1/emails", query, &list); err != nil {
		return emailRows{}, err
	}
	var rows emailRows
	for _, e := range list.Data {
		at := v.moment(e.CreatedAt)
		if e.Status == "scheduled" && e.ScheduledAt != nil {
			at = v.ago(*e.ScheduledAt)
		}
		rows.Rows = append(rows.Rows, emailRow{ID: e.ID, To: visible(recipients(e.To)), Subject: visible(e.Subject), Status: e.Status, At: at, Href: v.link("emails", e.ID),
			everybody: slices.Concat(e.To, e.Cc, e.Bcc)})
	}
	if list.NextCursor != nil {
		older := v.r.URL.Query()
		older.Set("cursor", *list.NextCursor)
		rows.Older = v.r.URL.Path + "?" + older.Encode()
	}
	if query.Has("cursor") && len(list.Data) == 0 {
		first := v.r.URL.Query()
		first.Del("cursor")
		rows.First = v.r.URL.Path + "?" + first.Encode()
	}
	return rows, nil
}

func recipients(to []string) string {
	switch len(to) {
	case 0:
		return ""
	case 1, 2:
		return strings.Join(to, ", ")
	}
	return to[0] + " and others"
}

// senders are the domains that mail may come from.
func (v *visit) senders() ([]string, error) {
	var found struct{ Data []struct{ Domain string } }
	if err := v.get("/v1/domains", url.Values{"verified": {"true"}, "limit": {"50"}}, &found); err != nil {
		return nil, err
	}
	var names []string
	for _, d := range found.Data {
		names = append(names, d.Domain)
	}
	return names, nil
}

// addresses are those of a line, between commas. A comma in a name that is quoted belongs to the name.
func addresses(line string) []string {
	var all []string
	take := func(one string) {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	from, quoted, escaped := 0, false, false
	for i, r := range line {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case r == '\n' || !quoted && (r == ',' || r == ';'):
			take(line[from:i])
			from, quoted = i+1, false
		}
	}
	take(line[from:])
	return all
}

// instant reads what a date-and-time input holds, in the zone of the visitor; what it cannot read is left for the API to refuse.
func (v *visit) instant(text string) string {
	at, err := time.ParseInLocation("2006-01-02T15:04", text, v.zone())
	if err != nil {
		return text
	}
	return at.UTC().Format(time.RFC3339)
}
