package web

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

func broadcastPages() []page {
	return []page{
		{"GET /broadcasts", listBroadcasts},
		{"GET /broadcasts/new", needing("email:send", showNewBroadcast)}, {"POST /broadcasts/new", saveBroadcast},
		{"GET /broadcasts/{id}", showBroadcast},
		{"GET /broadcasts/{id}/edit", showEditBroadcast}, {"POST /broadcasts/{id}/edit", saveBroadcast},
		{"GET /broadcasts/{id}/review", showReview}, {"GET /broadcasts/{id}/body", showBroadcastBody},
		{"POST /broadcasts/{id}/test", testBroadcast}, {"POST /broadcasts/{id}/send", sendBroadcast},
		{"POST /broadcasts/{id}/pause", pauseBroadcast}, {"POST /broadcasts/{id}/resume", resumeBroadcast},
		{"GET /broadcasts/{id}/cancel", needing("email:send", askToCancel)}, {"POST /broadcasts/{id}/cancel", cancelBroadcast}, {"POST /broadcasts/{id}/retry", retryBroadcast},
		{"POST /broadcasts/{id}/duplicate", duplicateBroadcast},
		{"GET /broadcasts/{id}/delete", needing("email:send", removeBroadcast)}, {"POST /broadcasts/{id}/delete", removeBroadcast},
		{"GET /broadcasts/{id}/recipients", listRecipients}, {"GET /broadcasts/{id}/message", showMessage},
	}
}

// broadcastRecord is a broadcast as the API tells it. Lists leave out what it says.
type broadcastRecord struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Status     string         `json:"status"`
	AudienceID string         `json:"audience_id"`
	SegmentID  string         `json:"segment_id"`
	TopicID    string         `json:"topic_id"`
	From       string         `json:"from"`
	ReplyTo    []string       `json:"reply_to"`
	Subject    string         `json:"subject"`
	Preview    string         `json:"preview_text"`
	HTML       string         `json:"html"`
	Text       string         `json:"text"`
	TemplateID string         `json:"template_id"`
	Variables  valueMap       `json:"variables"`
	Tags       []tagRecord    `json:"tags"`
	Tracking   trackingRecord `json:"tracking"`
	Throttle   *int64         `json:"throttle_per_hour"`
	Window     *windowRecord  `json:"sending_window"`
	Failure    *struct{ Reason, Message string }
	Stats      broadcastStats

	ScheduledAt *time.Time `json:"scheduled_at"`
	StartedAt   *time.Time `json:"started_at"`
	HandedAt    *time.Time `json:"handed_at"`
	PausedAt    *time.Time `json:"paused_at"`
	SentAt      *time.Time `json:"sent_at"`
	CancelledAt *time.Time `json:"cancelled_at"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
}

type broadcastStats struct {
	Recipients, Queued, Sent, Delivered, Bounced, Complained, Suppressed, Skipped, Failed, Cancelled, Unsubscribed int64
	UniqueOpened                                                                                                   int64   `json:"unique_opened"`
	UniqueClicked                                                                                                  int64   `json:"unique_clicked"`
	DeliveryRate                                                                                                   float64 `json:"delivery_rate"`
	ClickRate                                                                                                      float64 `json:"click_rate"`
}

// state is how a broadcast looks to people, to whom one that is held is paused.
func (b broadcastRecord) state() string {
	if b.PausedAt != nil && (b.Status == "queued" || b.Status == "sending") {
		return "paused"
	}
	return b.Status
}

// open tells whether it can still be changed.
func (b broadcastRecord) open() bool { return b.Status == "draft" || b.Status == "scheduled" }

// running tells whether there is more to come by itself.
func (b broadcastRecord) running() bool { return b.Status == "queued" || b.Status == "sending" }

func (b broadcastRecord) title() string {
	if name := visible(strings.TrimSpace(b.Name)); name != "" {
		return name
	}
	return "Untitled"
}

// shown is the broadcast with its texts as pages show them.
func (b broadcastRecord) shown() broadcastRecord {
	b.Name, b.Subject, b.From = b.title(), visible(b.Subject), visible(b.From)
	return b
}

// broadcastsPage lists broadcasts, newest first.
type broadcastsPage struct {
	shell
	Tabs  []tab
	Rows  []broadcastRow
	Pager pager
	Query string
	State string
	// Any tells whether there is a broadcast at all, Missing what one needs first.
	Any     bool
	Missing []finding
}

type broadcastRow struct {
	ID, Name, Subject, State, Audience, Href string
	People, Delivered, Clicked               string
	At                                       moment
}

func listBroadcasts(v *visit) error {
	p := broadcastsPage{shell: v.shell("Broadcasts", "broadcasts").with("audience.css", "broadcast.css"), Query: v.query("q"), State: v.query("status")}
	var summary struct {
		Total    int64
		ByStatus map[string]int64 `json:"by_status"`
	}
	if err := v.get("/v1/broadcasts/summary", nil, &summary); err != nil {
		return err
	}
	p.Any = summary.Total > 0
	p.Tabs = []tab{{Label: "All", Href: v.link("broadcasts"), Count: v.number(summary.Total), Current: p.State == ""}}
	for _, status := range []string{"draft", "scheduled", "queued", "sending", "sent", "cancelled", "failed"} {
		if n := summary.ByStatus[status]; n > 0 || p.State == status {
			label := newBadge(status).Label
			if status == "draft" {
				label = "Drafts"
			}
			p.Tabs = append(p.Tabs, tab{Label: label, Href: v.link("broadcasts") + "?status=" + status, Count: v.number(n), Current: p.State == status})
		}
	}
	if !p.Any {
		var err error
		if p.Missing, err = v.beforeBroadcasts(); err != nil {
			return err
		}
		return v.show("broadcasts/list", p)
	}
	var found listOf[broadcastRecord]
	query := add(url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(v.offset())}}, map[string]string{"status": p.State, "search": p.Query})
	if err := v.get("/v1/broadcasts", query, &found); err != nil {
		return err
	}
	names, err := v.audienceNames()
	if err != nil {
		return err
	}
	for _, b := range found.Data {
		p.Rows = append(p.Rows, v.broadcastRow(b, names))
	}
	p.Pager = beside(v, found)
	return v.show("broadcasts/list", p)
}

// audienceNames are the names of all lists and segments, by id.
func (v *visit) audienceNames() (map[string]string, error) {
	names := map[string]string{}
	for _, path := range []string{"/v1/audience/lists", "/v1/segments", "/v1/topics"} {
		found, err := v.named(path, nil)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			names[one.ID] = visible(one.Name)
		}
	}
	return names, nil
}

func (v *visit) broadcastRow(b broadcastRecord, names map[string]string) broadcastRow {
	row := broadcastRow{ID: b.ID, Name: b.title(), Subject: visible(b.Subject), State: b.state(), Audience: b.audience(names), Href: v.link("broadcasts", b.ID), At: v.ago(b.UpdatedAt)}
	switch {
	case b.Status == "draft":
		row.Href = v.link("broadcasts", b.ID, "edit")
	case b.Status == "scheduled" && b.ScheduledAt != nil:
		row.At = v.ago(*b.ScheduledAt)
	case b.StartedAt != nil:
		row.At = v.moment(*b.StartedAt)
	}
	if b.Stats.Recipients > 0 {
		row.People, row.Delivered, row.Clicked = v.number(b.Stats.Recipients), v.percent(b.Stats.DeliveryRate), v.percent(b.Stats.ClickRate)
	}
	return row
}

// audience says for whom a broadcast is.
func (b broadcastRecord) audience(names map[string]string) string {
	var parts []string
	for _, id := range []string{b.AudienceID, b.SegmentID} {
		if id == "" {
			continue
		}
		name := names[id]
		if name == "" {
			name = "Deleted"
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, " and ")
}

// beforeBroadcasts tells what a first broadcast needs, and whether it is there.
func (v *visit) beforeBroadcasts() ([]finding, error) {
	var found []finding
	if v.can("domain:read") {
		senders, err := v.senders()
		if err != nil {
			return nil, err
		}
		if len(senders) > 0 {
			found = append(found, good("A verified domain", "You can write from "+senders[0]+"."))
		} else {
			found = append(found, bad("A verified domain", "Mail has to come from a domain of yours.").to(v.link("domains"), "Add one"))
		}
	}
	var people listOf[contactRecord]
	if err := v.get("/v1/audience/contacts", url.Values{"limit": {"1"}}, &people); err != nil {
		return nil, err
	}
	if len(people.Data) > 0 {
		return append(found, good("People to write to", "You have contacts.")), nil
	}
	return append(found, bad("People to write to", "There are no contacts yet.").to(v.linkFor("audience:manage", "audience", "import"), "Import some")), nil
}

func (v *visit) readBroadcast(id string) (b broadcastRecord, err error) {
	err = v.get(apiPath("broadcasts", id), nil, &b)
	return b, err
}

// broadcastShell begins a page about a broadcast.
func (v *visit) broadcastShell(title string, above ...crumb) shell {
	return v.shell(title, "broadcasts").with("audience.css", "broadcast.css").under(append([]crumb{{"Broadcasts", v.link("broadcasts")}}, above...)...)
}
