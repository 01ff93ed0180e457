package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

func customerPages() []page {
	return []page{
		{"GET /customers", listCustomers},
		{"GET /customers/new", needing("tenant:manage", showNewCustomer)}, {"POST /customers/new", createCustomer},
		{"GET /customers/{id}", showCustomer}, {"POST /customers/{id}", changeCustomer},
		{"POST /customers/{id}/pause", pauseCustomer}, {"POST /customers/{id}/delete", deleteCustomer},
		{"POST /customers/{id}/domains", addCustomerDomain}, {"POST /customers/{id}/domains/{domain}/remove", removeCustomerDomain},
	}
}

// customersPage lists the customers that a platform sends for.
type customersPage struct {
	shell
	// Missing tells that the plan has no customers at all.
	Missing       bool
	Tiles         []tile
	Rows          []customerRow
	Query, Status string
	Pager         pager
	Full          bool
}

type customerRow struct {
	Name, ExternalID, Status, Provider, Href string
	Domains, Sent                            string
	Last                                     moment
}

// Filtered tells whether the list shows a choice of all customers.
func (p customersPage) Filtered() bool { return p.Query != "" || p.Status != "" }

type customerRecord struct {
	ID, Name, Status, Provider string
	ExternalID                 string `json:"external_id"`
	DomainCount                int64  `json:"domain_count"`
	Metadata                   json.RawMessage
	PausedAt                   time.Time `json:"paused_at"`
	PauseReason                string    `json:"pause_reason"`
	Usage                      struct {
		EmailsThisMonth int64     `json:"emails_this_month"`
		LastSentAt      time.Time `json:"last_sent_at"`
	}
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Domains   []struct {
		ID, Domain, Status string
		Verified           bool
	}
}

// Paused tells that its mail is refused for now.
func (c customerRecord) Paused() bool { return c.Status == "paused" }

func listCustomers(v *visit) error {
	p := customersPage{shell: v.shell("Customers", "customers"), Query: v.query("q"), Status: v.query("status")}
	query := v.pageQuery()
	for name, value := range map[string]string{"search": p.Query, "status": p.Status} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var list struct {
		Total  int64
		Data   []customerRecord
		Limits struct {
			Plan       string
			MaxTenants *int64 `json:"max_managed_tenants"`
			Used       int64  `json:"used_managed_tenants"`
			Remaining  *int64 `json:"remaining_managed_tenants"`
			MaxDomains *int64 `json:"max_domains_per_tenant"`
			Domains    int64  `json:"used_tenant_domains"`
		}
	}
	err := v.get("/v1/managed-tenants", query, &list)
	if isRefused(err, "managed_tenants_plan_required") {
		p.Missing = true
		return v.show("customers/list", p)
	}
	if err != nil {
		return err
	}
	limits := list.Limits
	p.Full = limits.Remaining != nil && *limits.Remaining == 0
	p.Tiles = []tile{
		{Label: "Customers", Value: v.number(limits.Used), Hint: v.ofLimit(limits.MaxTenants, "allowed by your plan")},
		{Label: "Their domains", Value: v.number(limits.Domains), Hint: v.ofLimit(limits.MaxDomains, "for each customer")},
		{Label: "Plan", Value: words(limits.Plan), Hint: "Their mail counts like your own"},
	}
	for _, c := range list.Data {
		p.Rows = append(p.Rows, customerRow{Name: visible(c.Name), ExternalID: c.ExternalID, Status: c.Status, Provider: wayOf(c.Provider), Domains: v.number(c.DomainCount),
			Sent: v.number(c.Usage.EmailsThisMonth), Last: v.lately(c.Usage.LastSentAt), Href: v.link("customers", c.ID)})
	}
	p.Pager = v.pager(len(p.Rows), list.Total)
	return v.show("customers/list", p)
}

// ofLimit says how much is allowed.
func (v *visit) ofLimit(limit *int64, what string) string {
	if limit == nil {
		return "Without limit"
	}
	return v.number(*limit) + " " + what
}

// wayOf says how mail of a customer goes out.
func wayOf(provider string) string {
	switch provider {
	case "inherit":
		return "As the workspace"
	case "direct":
		return "Direct"
	case "relay":
		return "Relay"
	}
	if node, ok := strings.CutPrefix(provider, nodeWay); ok {
		return "Node " + node
	}
	return words(provider)
}

// newCustomerPage adds a customer.
type newCustomerPage struct {
	shell
	Asked   customerForm
	Ways    []choice
	Problem *problem
}

// customerForm is a customer as it is filled in.
type customerForm struct{ Name, ExternalID, Provider, Metadata string }

func (v *visit) postedCustomer() customerForm {
	return customerForm{v.value("name"), strings.TrimSpace(v.value("external_id")), v.value("provider"), newlines(v.value("metadata"))}
}

// body is the form as the API takes it. Metadata that is not JSON is sent as text, for the API to refuse.
func (f customerForm) body() map[string]any {
	body := map[string]any{"name": f.Name, "provider": f.Provider, "metadata": f.Metadata}
	if strings.TrimSpace(f.Metadata) == "" {
		body["metadata"] = map[string]any{}
	} else if json.Valid([]byte(f.Metadata)) {
		body["metadata"] = json.RawMessage(f.Metadata)
	}
	return body
}

// customerWays are how the mail of a customer can go out: as the API names them, and the sending nodes that there are.
func (v *visit) customerWays(now string) ([]choice, error) {
	pairs := []string{"inherit", "As the workspace does", "direct", "Directly, from this installation", "relay", "Through your relay"}
	nodes, err := every[namedRecord](v, "/v1/sending-nodes", nil, maxOffered)
	if err != nil && !isRefused(err, "insufficient_scope", "workspace_role_required") {
		return nil, err
	}
	for _, node := range nodes {
		pairs = append(pairs, nodeWay+node.ID, "From the node "+visible(node.Name))
	}
	return keeping(choices(now, pairs...), now), nil
}

func showNewCustomer(v *visit) error {
	return v.drawNewCustomer(customerForm{Provider: "inherit"}, nil)
}

func (v *visit) drawNewCustomer(asked customerForm, refused *problem) error {
	p := newCustomerPage{shell: v.shell("Add a customer", "customers").under(crumb{"Customers", v.link("customers")}), Asked: asked, Problem: refused}
	var err error
	if p.Ways, err = v.customerWays(asked.Provider); err != nil {
		return err
	}
	status := http.StatusOK
	if refused != nil {
		status = refused.Status
	}
	return v.showStatus(status, "customers/new", p)
}

func createCustomer(v *visit) error {
	asked := v.postedCustomer()
	body := asked.body()
	body["external_id"] = asked.ExternalID
	var made struct {
		ID         string
		Idempotent bool
	}
	err := v.send(http.MethodPost, "/v1/managed-tenants", body, &made)
	if refused, ok := err.(*problem); ok {
		return v.drawNewCustomer(asked, refused)
	}
	if err != nil {
		return err
	}
	if made.Idempotent {
		return v.redirect(v.link("customers", made.ID), "There is a customer with this external id already. Nothing was changed.")
	}
	return v.redirect(v.link("customers", made.ID), "Customer added. Add the domain it sends from.")
}
