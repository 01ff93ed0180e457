package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func peoplePages() []page {
	return []page{{"GET /people/{address}", showPerson}, {"GET /find", find}}
}

// personPage is everything about one address: what was sent there, and whether it still is.
type personPage struct {
	shell
	Address string
	emailRows
	Suppressed *suppressionRow
	Sentence   string
	Contact    []fact
	Bounce     *bounce
	BounceAt   moment
	BounceHref string
	Back       string
}

func showPerson(v *visit) error {
	address := v.path("address")
	p := personPage{shell: v.shell(visible(address), "emails").under(crumb{"Emails", v.link("emails")}), Address: address, Back: v.r.URL.RequestURI()}
	if !strings.Contains(address, "@") {
		return notAnAddress()
	}
	for _, fill := range []struct {
		scope string
		read  func(*personPage) error
	}{{"email:read", v.mailTo}, {"email:read", v.lastBounce}, {"suppression:read", v.suppressionOf}, {"audience:read", v.contactOf}} {
		if !v.can(fill.scope) {
			continue
		}
		if err := fill.read(&p); err != nil {
			return err
		}
	}
	return v.show("people/person", p)
}

// mailTo adds the emails to the address.
func (v *visit) mailTo(p *personPage) error {
	rows, err := v.emailsTo(p.Address, map[string]string{"cursor": v.query("cursor")})
	if isRefused(err, "invalid_cursor") {
		rows, err = v.emailsTo(p.Address, nil)
	}
	p.emailRows = rows
	return err
}

// emailsTo is a page of the emails to an address. The API finds parts of addresses, too; the rest is left out here.
func (v *visit) emailsTo(address string, filter map[string]string) (emailRows, error) {
	rows, err := v.emailRows(add(url.Values{"to": {address}, "limit": {strconv.Itoa(pageSize)}}, filter))
	rows.Rows = slices.DeleteFunc(rows.Rows, func(row emailRow) bool { return !row.isTo(address) })
	return rows, err
}

// lastBounce adds why the newest mail that bounced did so. Some of those found may have bounced for another of their recipients.
func (v *visit) lastBounce(p *personPage) error {
	bounced, err := v.emailsTo(p.Address, map[string]string{"status": "bounced"})
	for _, row := range bounced.Rows[:min(len(bounced.Rows), maxBounces)] {
		var e emailDetail
		if err := v.get(apiPath("emails", row.ID), nil, &e); err != nil {
			return err
		}
		for _, r := range e.Recipients {
			if strings.EqualFold(r.Email, p.Address) && r.Bounce != nil {
				p.Bounce, p.BounceAt, p.BounceHref = r.Bounce, v.ago(e.CreatedAt), v.link("emails", e.ID)
				p.Bounce.Message = visible(r.Bounce.Message)
				return nil
			}
		}
	}
	return err
}

// maxBounces is how many emails are opened to find a bounce: each is a request to the API.
const maxBounces = 5

func (v *visit) suppressionOf(p *personPage) error {
	var list listOf[suppressionRecord]
	err := v.get("/v1/suppressions", url.Values{"email": {p.Address}}, &list)
	if isRefused(err, "validation_error") {
		return notAnAddress()
	}
	if err != nil || len(list.Data) == 0 {
		return err
	}
	row := v.suppressionRow(list.Data[0])
	p.Suppressed, p.Sentence = &row, reasonSentences[list.Data[0].Reason]
	return nil
}

func (v *visit) contactOf(p *personPage) error {
	var list listOf[struct {
		ID, Email, Status string
		FirstName         string `json:"first_name"`
		LastName          string `json:"last_name"`
		Lists             []struct{ ID, Name, Status string }
		Topics            []struct{ ID, Name, Subscription string }
	}]
	err := v.get("/v1/audience/contacts", url.Values{"email": {p.Address}}, &list)
	if isRefused(err, "validation_error") {
		return notAnAddress()
	}
	if err != nil {
		return err
	}
	for _, c := range list.Data {
		name := strings.TrimSpace(c.FirstName + " " + c.LastName)
		if name == "" {
			name = c.Email
		}
		p.Contact = append(p.Contact, fact{Name: "Contact", Value: visible(name), Href: v.link("audience", "contacts", c.ID)}, fact{Name: "Status", Value: words(c.Status)})
		for _, l := range c.Lists {
			p.Contact = append(p.Contact, fact{Name: "List", Value: visible(l.Name), Href: v.link("audience", "lists", l.ID)})
		}
		for _, t := range c.Topics {
			p.Contact = append(p.Contact, fact{Name: "Topic", Value: visible(t.Name) + ": " + words(t.Subscription)})
		}
	}
	return nil
}

func notAnAddress() *problem {
	return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "That is not an email address."}
}
