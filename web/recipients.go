package web

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// recipientsPage lists the people a broadcast was for, and what became of the mail of each.
type recipientsPage struct {
	shell
	Broadcast broadcastRecord
	State     string
	Tabs      []tab
	Rows      []rosterRow
	Pager     pager
	Query     string
	States    []choice
	Filtered  bool
}

type rosterRow struct {
	Email, Href, Status, Opens, Clicks, Error, Mail string
	At                                              moment
}

func listRecipients(v *visit) error {
	b, err := v.readBroadcast(v.path("id"))
	if err != nil {
		return err
	}
	p := recipientsPage{shell: v.broadcastShell("Recipients", crumb{b.title(), v.link("broadcasts", b.ID)}), Broadcast: b.shown(), State: b.state(), Tabs: v.broadcastTabs(b, "recipients"), Query: v.query("email")}
	pairs := []string{"", "Every state"}
	for _, state := range []string{"pending", "queued", "sent", "delivered", "opened", "clicked", "bounced", "complained", "failed", "suppressed", "skipped", "cancelled"} {
		pairs = append(pairs, state, newBadge(state).Label)
	}
	p.States, p.Filtered = choices(v.query("status"), pairs...), p.Query+v.query("status") != ""
	var found listOf[struct {
		Email       string
		Status      string
		ContactID   string `json:"contact_id"`
		EmailID     string `json:"email_id"`
		Opens       int64  `json:"open_count"`
		Clicks      int64  `json:"click_count"`
		Error       *struct{ Message string }
		SentAt      *time.Time `json:"sent_at"`
		DeliveredAt *time.Time `json:"delivered_at"`
	}]
	query := add(url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(v.offset())}}, map[string]string{"status": v.query("status"), "email": p.Query})
	if err := v.get(apiPath("broadcasts", b.ID, "recipients"), query, &found); err != nil {
		return err
	}
	for _, r := range found.Data {
		row := rosterRow{Email: visible(r.Email), Href: v.link("audience", "contacts", r.ContactID), Status: r.Status, Opens: v.number(r.Opens), Clicks: v.number(r.Clicks)}
		if r.EmailID != "" {
			row.Mail = v.link("emails", r.EmailID)
		}
		if r.Error != nil {
			row.Error = visible(r.Error.Message)
		}
		if at := latest(r.SentAt, r.DeliveredAt); !at.IsZero() {
			row.At = v.moment(at)
		}
		p.Rows = append(p.Rows, row)
	}
	p.Pager = beside(v, found)
	return v.show("broadcasts/recipients", p)
}

// messagePage is what a broadcast says.
type messagePage struct {
	shell
	Broadcast   broadcastRecord
	State       string
	Tabs        []tab
	Facts       []fact
	Frame, Text string
}

func showMessage(v *visit) error {
	b, err := v.readBroadcast(v.path("id"))
	if err != nil {
		return err
	}
	names, err := v.audienceNames()
	if err != nil {
		return err
	}
	p := messagePage{shell: v.broadcastShell("Message", crumb{b.title(), v.link("broadcasts", b.ID)}), Broadcast: b.shown(), State: b.state(), Tabs: v.broadcastTabs(b, "message"), Facts: v.broadcastFacts(b, names), Text: b.Text}
	if strings.TrimSpace(b.HTML) != "" || b.TemplateID != "" && v.can("template:manage") {
		p.Frame = v.link("broadcasts", b.ID, "body")
	}
	return v.show("broadcasts/message", p)
}
