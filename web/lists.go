package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

func listPages() []page {
	return []page{
		{"GET /audience/lists", listLists},
		{"GET /audience/lists/new", needing("audience:manage", showNewList)}, {"POST /audience/lists/new", saveList},
		{"GET /audience/lists/{id}", showList},
		{"GET /audience/lists/{id}/edit", needing("audience:manage", showEditList)}, {"POST /audience/lists/{id}/edit", saveList},
		{"POST /audience/lists/{id}/confirmations", askList},
		{"GET /audience/lists/{id}/delete", needing("audience:manage", removeList)}, {"POST /audience/lists/{id}/delete", removeList},
	}
}

type listRecord struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Description  string `json:"description"`
	DoubleOptIn  bool   `json:"double_opt_in"`
	Confirmation struct {
		From        string `json:"from"`
		Subject     string `json:"subject"`
		TemplateID  string `json:"template_id"`
		RedirectURL string `json:"redirect_url"`
	} `json:"confirmation"`
	Contacts     int64     `json:"contact_count"`
	Subscribed   int64     `json:"subscribed_count"`
	Pending      int64     `json:"pending_count"`
	Unsubscribed int64     `json:"unsubscribed_count"`
	CreatedAt    time.Time `json:"created_at"`
}

// listsPage shows all lists.
type listsPage struct {
	shell
	Tabs  []tab
	Rows  []listRow
	Pager pager
}

type listRow struct {
	Name, Description, Href           string
	DoubleOptIn                       bool
	Subscribed, Pending, Unsubscribed string
}

func listLists(v *visit) error {
	p := listsPage{shell: v.audienceShell("Lists"), Tabs: v.audienceTabs("lists")}
	var found listOf[listRecord]
	if err := v.get("/v1/audience/lists", url.Values{"limit": {"50"}, "offset": {strconv.Itoa(v.offset())}}, &found); err != nil {
		return err
	}
	for _, l := range found.Data {
		p.Rows = append(p.Rows, listRow{Name: visible(l.Name), Description: visible(l.Description), DoubleOptIn: l.DoubleOptIn, Href: v.link("audience", "lists", l.ID),
			Subscribed: v.number(l.Subscribed), Pending: v.number(l.Pending), Unsubscribed: v.number(l.Unsubscribed)})
	}
	p.Pager = beside(v, found)
	return v.show("audience/lists", p)
}

// listPage is one list and who joined it last.
type listPage struct {
	shell
	List   listRecord
	Tiles  []tile
	Newest []contactRow
	Facts  []fact
	// Waiting says how many have not confirmed; empty if nobody has to.
	Waiting string
}

func (v *visit) readList(id string) (l listRecord, err error) {
	err = v.get(apiPath("audience", "lists", id), nil, &l)
	l.Name, l.Description = visible(l.Name), visible(l.Description)
	return l, err
}

func showList(v *visit) error {
	l, err := v.readList(v.path("id"))
	if err != nil {
		return err
	}
	p := listPage{shell: v.audienceShell(l.Name, crumb{"Lists", v.link("audience", "lists")}), List: l}
	contacts := v.link("audience") + "?" + url.Values{"list_id": {l.ID}}.Encode()
	p.Tiles = []tile{{"delivered", "Subscribed", v.number(l.Subscribed), "Get what you send to the list", contacts},
		{"", "Pending", v.number(l.Pending), "Have not confirmed yet", contacts},
		{"", "Unsubscribed", v.number(l.Unsubscribed), "Left the list", contacts}}
	if l.DoubleOptIn && l.Pending > 0 {
		p.Waiting = v.plural(l.Pending, "person has not confirmed", "people have not confirmed")
	}
	if p.Newest, _, err = v.contactRows(url.Values{"list_id": {l.ID}, "limit": {"10"}}); err != nil {
		return err
	}
	p.Facts = v.listFacts(l)
	return v.show("audience/list", p)
}

func (v *visit) listFacts(l listRecord) []fact {
	facts := []fact{{Name: "List ID", Value: l.ID, Code: true, Copy: true}, {Name: "Created", Value: v.moment(l.CreatedAt).Text}}
	if !l.DoubleOptIn {
		return append(facts, fact{Name: "Joining", Value: "At once, without a confirmation"})
	}
	facts = append(facts, fact{Name: "Joining", Value: "After confirming by email (double opt-in)"})
	for _, f := range []fact{{Name: "Sender", Value: visible(l.Confirmation.From)}, {Name: "Subject", Value: visible(l.Confirmation.Subject)},
		{Name: "Template", Value: l.Confirmation.TemplateID, Code: true, Href: v.link("templates", l.Confirmation.TemplateID)}, {Name: "Leads to", Value: visible(l.Confirmation.RedirectURL)}} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

// listFormPage makes a list, or changes one.
type listFormPage struct {
	shell
	Name, Description                  string
	DoubleOptIn                        bool
	From, Subject, Template, Redirects string
	Templates                          []choice
	Action, Back                       string
	Problem                            *problem
}

func (v *visit) listForm(l listRecord, wrong *problem) (listFormPage, error) {
	p := listFormPage{Name: l.Name, Description: l.Description, DoubleOptIn: l.DoubleOptIn, From: l.Confirmation.From, Subject: l.Confirmation.Subject, Template: l.Confirmation.TemplateID,
		Redirects: l.Confirmation.RedirectURL, Action: v.r.URL.Path, Back: v.link("audience", "lists"), Problem: wrong}
	p.shell = v.audienceShell("New list", crumb{"Lists", p.Back})
	if id := v.path("id"); id != "" {
		p.Back = v.link("audience", "lists", id)
		p.shell = v.audienceShell("Edit list", crumb{"Lists", v.link("audience", "lists")}, crumb{"List", p.Back})
	}
	var err error
	p.Templates, err = v.templateChoices("The usual words", p.Template)
	return p, err
}

// templateChoices are the templates that mail can be made from.
func (v *visit) templateChoices(nothing, current string) ([]choice, error) {
	if !v.can("template:read") {
		return namesOf(nil, nothing, current), nil
	}
	found, err := v.named("/v1/templates", url.Values{"status": {"published"}})
	return namesOf(found, nothing, current), err
}

func showNewList(v *visit) error {
	p, err := v.listForm(listRecord{}, nil)
	if err != nil {
		return err
	}
	return v.show("audience/listform", p)
}

func showEditList(v *visit) error {
	l, err := v.readList(v.path("id"))
	if err != nil {
		return err
	}
	p, err := v.listForm(l, nil)
	if err != nil {
		return err
	}
	return v.show("audience/listform", p)
}

func saveList(v *visit) error {
	l := listRecord{Name: v.value("name"), Description: v.value("description"), DoubleOptIn: v.checked("double_opt_in")}
	l.Confirmation.From, l.Confirmation.Subject, l.Confirmation.TemplateID, l.Confirmation.RedirectURL = v.value("from"), v.value("subject"), v.value("template_id"), v.value("redirect_url")
	body := map[string]any{"name": strings.TrimSpace(l.Name), "description": strings.TrimSpace(l.Description), "double_opt_in": l.DoubleOptIn, "confirmation": l.Confirmation}
	method, path, done := http.MethodPost, "/v1/audience/lists", "List created."
	if id := v.path("id"); id != "" {
		method, path, done = http.MethodPatch, apiPath("audience", "lists", id), "Saved."
	}
	var made struct{ ID string }
	err := v.sendNamed(method, path, body, &made)
	if refused := refusal(err); refused != nil {
		p, err := v.listForm(l, nameTaken(refused, "list"))
		if err != nil {
			return err
		}
		return v.showStatus(refused.Status, "audience/listform", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("audience", "lists", made.ID), done)
}

// nameTaken says of a name that is taken what it is taken by, beside the name.
func nameTaken(refused *problem, what string) *problem {
	if refused.Code == "already_exists" {
		refused.Message, refused.Fields = "The name is taken.", map[string]string{"name": "There is already a " + what + " with this name."}
	}
	return refused
}

func askList(v *visit) error {
	id := v.path("id")
	var asked struct{ Queued int64 }
	if err := v.send(http.MethodPost, apiPath("audience", "lists", id, "send-confirmations"), nil, &asked); err != nil {
		return err
	}
	said := v.plural(asked.Queued, "person was asked to confirm.", "people were asked to confirm.")
	if asked.Queued == 0 {
		said = "Nobody was asked: all have confirmed, or were asked a short while ago."
	}
	return v.redirect(v.link("audience", "lists", id), said)
}

func removeList(v *visit) error {
	l, err := v.readList(v.path("id"))
	if err != nil {
		return err
	}
	here := v.link("audience", "lists", l.ID)
	return v.removing(removePage{shell: v.audienceShell("Delete list", crumb{"Lists", v.link("audience", "lists")}, crumb{l.Name, here}), Heading: "Delete the list " + l.Name, Button: "Delete list",
		Says: []string{"That " + v.plural(l.Contacts, "person", "people") + " joined it, and when they confirmed, is forgotten.", "The contacts themselves stay, and so do the topics they chose."},
		Name: l.Name, Back: here}, apiPath("audience", "lists", l.ID), v.link("audience", "lists"), "List deleted.")
}
