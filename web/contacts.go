package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

func contactPages() []page {
	return []page{
		{"GET /audience", listContacts},
		{"GET /audience/export", showExport}, {"GET /audience/export/file", exportContacts},
		{"GET /audience/contacts/new", needing("audience:manage", showNewContact)}, {"POST /audience/contacts/new", addContact},
		{"GET /audience/contacts/{id}", showContact},
		{"GET /audience/contacts/{id}/edit", needing("audience:manage", showEditContact)}, {"POST /audience/contacts/{id}/edit", editContact},
		{"GET /audience/contacts/{id}/forget", needing("audience:manage", showForget)}, {"POST /audience/contacts/{id}/delete", deleteContact}, {"POST /audience/contacts/{id}/erase", eraseContact},
		{"POST /audience/contacts/{id}/topics", sayTopic}, {"POST /audience/contacts/{id}/lists", joinList}, {"POST /audience/contacts/{id}/confirm", askToJoin},
		{"POST /audience/contacts/{id}/segments", joinSegment}, {"POST /audience/contacts/{id}/segments/{segment}/leave", leaveSegment},
		{"POST /audience/contacts/{id}/subscription", changeSubscription},
	}
}

type contactRecord struct {
	ID                string         `json:"id"`
	Email             string         `json:"email"`
	FirstName         string         `json:"first_name"`
	LastName          string         `json:"last_name"`
	Unsubscribed      bool           `json:"unsubscribed"`
	Status            string         `json:"status"`
	Properties        map[string]any `json:"properties"`
	Lists             []membership   `json:"lists"`
	Consent           *consent       `json:"consent"`
	SuppressionReason string         `json:"suppression_reason"`
	LastEmailedAt     *time.Time     `json:"last_emailed_at"`
	LastOpenedAt      *time.Time     `json:"last_opened_at"`
	LastClickedAt     *time.Time     `json:"last_clicked_at"`
	CreatedAt         time.Time      `json:"created_at"`
}

type membership struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Status       string     `json:"status"`
	SubscribedAt *time.Time `json:"subscribed_at"`
	ConfirmedAt  *time.Time `json:"confirmed_at"`
}

type consent struct {
	Source string    `json:"source"`
	IP     string    `json:"ip"`
	At     time.Time `json:"at"`
}

// fullName is how a person is called, if that is known.
func (c contactRecord) fullName() string {
	return visible(strings.TrimSpace(c.FirstName + " " + c.LastName))
}

// contactsPage is the list of contacts, newest first.
type contactsPage struct {
	shell
	Tabs  []tab
	Rows  []contactRow
	Pager pager
	Query string
	// Statuses, Lists, Segments and Topics are what the list can be narrowed to.
	Statuses, Lists, Segments, Topics []choice
	Filtered                          bool
}

type contactRow struct {
	ID, Email, Name, Status, Lists, Href string
	At                                   moment
}

// contactStates are those a person filters by.
func contactStates(current string) []choice {
	return choices(current, "", "Every status", "subscribed", "Subscribed", "pending", "Pending", "unsubscribed", "Unsubscribed", "bounced", "Bounced", "complained", "Complained")
}

func listContacts(v *visit) error {
	p := contactsPage{shell: v.shell("Audience", "audience").with("audience.css"), Tabs: v.audienceTabs(""), Query: v.query("q"), Statuses: contactStates(v.query("status"))}
	query := url.Values{}
	for name, value := range map[string]string{"search": p.Query, "status": v.query("status"), "list_id": v.query("list_id"), "segment_id": v.query("segment_id"), "topic_id": v.query("topic_id")} {
		if value != "" {
			query.Set(name, value)
			p.Filtered = true
		}
	}
	var err error
	if p.Rows, p.Pager, err = v.contactRows(query); err != nil {
		return err
	}
	if p.Lists, p.Segments, p.Topics, err = v.audienceChoices("Every list", "Every segment", "Every topic", v.query); err != nil {
		return err
	}
	return v.show("audience/contacts", p)
}

// audienceChoices are the lists, segments and topics of the workspace, for selects.
func (v *visit) audienceChoices(list, segment, topic string, current func(string) string) (lists, segments, topics []choice, err error) {
	for _, kind := range []struct {
		path, nothing, name string
		into                *[]choice
	}{{"/v1/audience/lists", list, "list_id", &lists}, {"/v1/segments", segment, "segment_id", &segments}, {"/v1/topics", topic, "topic_id", &topics}} {
		found, err := v.named(kind.path, nil)
		if err != nil {
			return nil, nil, nil, err
		}
		*kind.into = namesOf(found, kind.nothing, current(kind.name))
	}
	return lists, segments, topics, nil
}

func (v *visit) contactRows(query url.Values) ([]contactRow, pager, error) {
	if query.Get("limit") == "" {
		query.Set("limit", "50")
	}
	query.Set("offset", strconv.Itoa(v.offset()))
	var found listOf[contactRecord]
	if err := v.get("/v1/audience/contacts", query, &found); err != nil {
		return nil, pager{}, err
	}
	var rows []contactRow
	for _, c := range found.Data {
		rows = append(rows, v.contactRow(c))
	}
	return rows, beside(v, found), nil
}

func (v *visit) contactRow(c contactRecord) contactRow {
	row := contactRow{ID: c.ID, Email: visible(c.Email), Name: c.fullName(), Status: c.Status, Href: v.link("audience", "contacts", c.ID)}
	var names []string
	for _, m := range c.Lists {
		names = append(names, visible(m.Name))
	}
	row.Lists = strings.Join(names, ", ")
	row.At = v.ago(latest(&c.CreatedAt, c.LastEmailedAt, c.LastOpenedAt, c.LastClickedAt))
	return row
}

// exportPage chooses who goes into a file.
type exportPage struct {
	shell
	Statuses, Lists, Segments, Topics []choice
}

func showExport(v *visit) error {
	p := exportPage{shell: v.audienceShell("Export"), Statuses: contactStates(v.query("status"))}
	var err error
	if p.Lists, p.Segments, p.Topics, err = v.audienceChoices("Every list", "Everybody", "Every topic", v.query); err != nil {
		return err
	}
	return v.show("audience/export", p)
}

// exportContacts sends the browser to the file itself, which the API writes page by page however long it is.
func exportContacts(v *visit) error {
	query := url.Values{}
	for _, name := range []string{"status", "list_id", "segment_id", "topic_id"} {
		if value := v.query(name); value != "" {
			query.Set(name, value)
		}
	}
	http.Redirect(v.w, v.r, "/v1/audience/contacts/export?"+query.Encode(), http.StatusSeeOther)
	return nil
}
