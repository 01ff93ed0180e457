package web

import (
	"net/http"
	"net/url"
)

// customerPage is one customer: its domains, its facts, and how to stop or remove it.
type customerPage struct {
	shell
	Customer customerRecord
	Facts    []fact
	Domains  []customerDomain
	Latest   []emailRow
	Paused   moment
	Ways     []choice
	Asked    customerForm
	Domain   string
	Reason   string
	// Steps are what has to be done before the customer can be deleted.
	Steps []step
	// At is the form that was refused: "domain", "change", "pause" or "delete".
	At      string
	Problem *problem
}

type customerDomain struct{ ID, Name, Status, Href string }

// Wrong returns the problem of a form of the page, or nil.
func (p customerPage) Wrong(form string) *problem {
	if p.At == form {
		return p.Problem
	}
	return nil
}

func (v *visit) customerPage() (customerPage, error) {
	var p customerPage
	if err := v.get(apiPath("managed-tenants", v.path("id")), nil, &p.Customer); err != nil {
		return p, err
	}
	c := p.Customer
	p.shell = v.shell(visible(c.Name), "customers").under(crumb{"Customers", v.link("customers")}).with("ask.css")
	p.Customer.Name, p.Customer.PauseReason = visible(c.Name), visible(c.PauseReason)
	p.Facts = []fact{{Name: "Customer ID", Value: c.ID, Code: true, Copy: true}, {Name: "External ID", Value: c.ExternalID, Code: true, Copy: true}, {Name: "Mail goes out", Value: wayOf(c.Provider)},
		{Name: "This month", Value: v.plural(c.Usage.EmailsThisMonth, "email", "emails")}, {Name: "Last sent", Value: "Never"}, {Name: "Added", Value: v.moment(c.CreatedAt).Text}}
	if last := v.lately(c.Usage.LastSentAt); last.Known() {
		p.Facts[4].Value = last.Text
	}
	p.Paused = v.lately(c.PausedAt)
	p.Asked = customerForm{Name: c.Name, ExternalID: c.ExternalID, Provider: c.Provider, Metadata: indented(c.Metadata)}
	for _, d := range c.Domains {
		p.Domains = append(p.Domains, customerDomain{d.ID, d.Domain, d.Status, v.link("domains", d.ID)})
	}
	p.Steps = []step{
		{Done: c.Paused(), Title: "Pause the customer", Text: "Its mail is refused from then on, so that nothing is lost on its way."},
		{Done: len(c.Domains) == 0, Title: "Remove its domains", Text: "Each of them, in the list above. DNS records can stay."},
		{Title: "Delete the customer", Text: "Emails that were sent for it stay in your list."},
	}
	var err error
	if p.Ways, err = v.customerWays(c.Provider); err != nil {
		return p, err
	}
	if v.can("email:read") {
		latest, err := v.emailRows(url.Values{"limit": {"5"}, "managed_tenant_id": {c.ID}})
		if err != nil {
			return p, err
		}
		p.Latest = latest.Rows
	}
	return p, nil
}

func showCustomer(v *visit) error {
	p, err := v.customerPage()
	if err != nil {
		return err
	}
	return v.show("customers/detail", p)
}

// refuseCustomer draws the page again with what was filled in, if the API refused it.
func (v *visit) refuseCustomer(err error, form string, fill func(*customerPage)) error {
	refused, ok := err.(*problem)
	if !ok || refused.Status == http.StatusNotFound {
		return err
	}
	p, err := v.customerPage()
	if err != nil {
		return err
	}
	p.At, p.Problem = form, refused
	fill(&p)
	return v.showStatus(refused.Status, "customers/detail", p)
}

func changeCustomer(v *visit) error {
	asked := v.postedCustomer()
	if err := v.sendNamed(http.MethodPatch, apiPath("managed-tenants", v.path("id")), asked.body(), nil); err != nil {
		return v.refuseCustomer(err, "change", func(p *customerPage) { p.Asked = asked })
	}
	return v.redirect(v.link("customers", v.path("id")), "Saved.")
}

// pauseCustomer stops a customer, or lets it go on.
func pauseCustomer(v *visit) error {
	body, said := map[string]any{"status": "paused", "pause_reason": v.value("reason")}, "Paused. Its mail is refused until you resume it."
	if v.value("to") == "active" {
		body, said = map[string]any{"status": "active"}, "Resumed. Its mail is accepted again."
	}
	if err := v.send(http.MethodPatch, apiPath("managed-tenants", v.path("id")), body, nil); err != nil {
		return v.refuseCustomer(err, "pause", func(p *customerPage) { p.Reason = v.value("reason") })
	}
	return v.redirect(v.link("customers", v.path("id")), said)
}

func deleteCustomer(v *visit) error {
	if err := v.send(http.MethodDelete, apiPath("managed-tenants", v.path("id")), nil, nil); err != nil {
		return v.refuseCustomer(err, "delete", func(*customerPage) {})
	}
	return v.redirect(v.link("customers"), "Customer deleted.")
}

func addCustomerDomain(v *visit) error {
	name := v.value("domain")
	var made struct{ ID string }
	if err := v.send(http.MethodPost, apiPath("managed-tenants", v.path("id"), "domains"), map[string]string{"domain": name}, &made); err != nil {
		return v.refuseCustomer(err, "domain", func(p *customerPage) { p.Domain = name })
	}
	return v.redirect(v.link("domains", made.ID), "Domain added. Its owner publishes these records, then mail can go out.")
}

func removeCustomerDomain(v *visit) error {
	if err := v.send(http.MethodDelete, apiPath("managed-tenants", v.path("id"), "domains", v.path("domain")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("customers", v.path("id")), "Domain removed.")
}
