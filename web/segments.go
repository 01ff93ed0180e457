package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

func segmentPages() []page {
	return []page{
		{"GET /audience/segments", listSegments},
		{"GET /audience/segments/new", needing("audience:manage", showNewSegment)}, {"POST /audience/segments/new", saveSegment},
		{"GET /audience/segments/{id}", showSegment},
		{"GET /audience/segments/{id}/edit", needing("audience:manage", showEditSegment)}, {"POST /audience/segments/{id}/edit", saveSegment},
		{"POST /audience/segments/{id}/contacts", fillSegment}, {"POST /audience/segments/{id}/contacts/{contact}/remove", emptySegment},
		{"GET /audience/segments/{id}/delete", needing("audience:manage", removeSegment)}, {"POST /audience/segments/{id}/delete", removeSegment},
	}
}

type segmentRecord struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Type        string          `json:"type"`
	Filter      json.RawMessage `json:"filter"`
	Contacts    int64           `json:"contact_count"`
	CountedAt   *time.Time      `json:"counted_at"`
	CreatedAt   time.Time       `json:"created_at"`
}

// hasRules tells whether the segment fills itself.
func (s segmentRecord) hasRules() bool { return len(s.Filter) > 0 && string(s.Filter) != "null" }

// segmentsPage shows all segments.
type segmentsPage struct {
	shell
	Tabs  []tab
	Rows  []segmentRow
	Pager pager
}

type segmentRow struct {
	Name, Description, Kind, Contacts, Href string
	Counted                                 moment
}

// segmentKinds are how people get into a segment.
func segmentKinds(current string) []choice {
	return choices(current, "dynamic", "By rules", "hybrid", "By rules, and by hand", "manual", "By hand")
}

func kindName(kind string) string {
	for _, c := range segmentKinds(kind) {
		if c.Chosen {
			return c.Label
		}
	}
	return words(kind)
}

func listSegments(v *visit) error {
	p := segmentsPage{shell: v.audienceShell("Segments"), Tabs: v.audienceTabs("segments")}
	var found listOf[segmentRecord]
	if err := v.get("/v1/segments", url.Values{"limit": {"50"}, "offset": {strconv.Itoa(v.offset())}}, &found); err != nil {
		return err
	}
	for _, s := range found.Data {
		row := segmentRow{Name: visible(s.Name), Description: visible(s.Description), Kind: kindName(s.Type), Contacts: v.number(s.Contacts), Href: v.link("audience", "segments", s.ID)}
		if s.CountedAt != nil {
			row.Counted = v.ago(*s.CountedAt)
		}
		p.Rows = append(p.Rows, row)
	}
	p.Pager = beside(v, found)
	return v.show("audience/segments", p)
}

// segmentPage is one segment: what its rules say, and who is in it.
type segmentPage struct {
	shell
	Segment segmentRecord
	Count   string
	Kind    string
	Counted moment
	Rules   *ruleText
	Sample  []contactRow
	// ByHand tells that people can be put in.
	ByHand bool
	All    string
	Facts  []fact
	// Emails are those that were refused, and Problem is why.
	Emails  string
	Problem *problem
}

func (v *visit) readSegment(id string) (s segmentRecord, err error) {
	err = v.get(apiPath("segments", id), nil, &s)
	s.Name, s.Description = visible(s.Name), visible(s.Description)
	return s, err
}

func showSegment(v *visit) error { return v.showSegment(http.StatusOK, "", nil) }

func (v *visit) showSegment(status int, emails string, wrong *problem) error {
	s, err := v.readSegment(v.path("id"))
	if err != nil {
		return err
	}
	p := segmentPage{shell: v.audienceShell(s.Name, crumb{"Segments", v.link("audience", "segments")}), Segment: s, Count: v.plural(s.Contacts, "person", "people"), Kind: kindName(s.Type),
		ByHand: s.Type != "dynamic", Emails: emails, Problem: wrong, All: v.link("audience") + "?" + url.Values{"segment_id": {s.ID}}.Encode()}
	if s.CountedAt != nil {
		p.Counted = v.ago(*s.CountedAt)
	}
	if s.hasRules() {
		book, err := v.ruleBook(s.ID)
		if err != nil {
			return err
		}
		if tree, err := book.read(s.Filter); err == nil {
			text := book.text(tree)
			p.Rules = &text
		}
	}
	var found listOf[contactRecord]
	if err := v.get(apiPath("segments", s.ID, "contacts"), url.Values{"limit": {"10"}}, &found); err != nil {
		return err
	}
	for _, c := range found.Data {
		p.Sample = append(p.Sample, v.contactRow(c))
	}
	p.Facts = []fact{{Name: "Segment ID", Value: s.ID, Code: true, Copy: true}, {Name: "Filled", Value: p.Kind}, {Name: "Created", Value: v.moment(s.CreatedAt).Text}}
	return v.showStatus(status, "audience/segment", p)
}

// fillSegment puts people in by hand, by their addresses.
func fillSegment(v *visit) error {
	id := v.path("id")
	var done struct {
		Added    int64
		NotFound []string `json:"not_found"`
	}
	err := v.send(http.MethodPost, apiPath("segments", id, "contacts"), map[string]any{"emails": addresses(v.value("emails"))}, &done)
	if refused := refusal(err); refused != nil {
		return v.showSegment(refused.Status, v.value("emails"), refused)
	}
	if err != nil {
		return err
	}
	said := v.plural(done.Added, "person was put in.", "people were put in.")
	if named := done.NotFound[:min(3, len(done.NotFound))]; len(named) > 0 {
		said += " No contact has the address " + strings.Join(named, ", ")
		if others := len(done.NotFound) - len(named); others > 0 {
			said += " and " + v.plural(int64(others), "other", "others")
		}
		said += "."
	}
	return v.redirect(v.link("audience", "segments", id), said)
}

func emptySegment(v *visit) error {
	id := v.path("id")
	if err := v.send(http.MethodDelete, apiPath("segments", id, "contacts", v.path("contact")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("audience", "segments", id), "Taken out of the segment. No rule brings the contact back.")
}

func removeSegment(v *visit) error {
	s, err := v.readSegment(v.path("id"))
	if err != nil {
		return err
	}
	here := v.link("audience", "segments", s.ID)
	return v.removing(removePage{shell: v.audienceShell("Delete segment", crumb{"Segments", v.link("audience", "segments")}, crumb{s.Name, here}), Heading: "Delete the segment " + s.Name,
		Button: "Delete segment", Says: []string{"Its rules are deleted, and who was put in by hand is forgotten.", "The contacts stay."}, Back: here},
		apiPath("segments", s.ID), v.link("audience", "segments"), "Segment deleted.")
}
