package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

func webhookPages() []page {
	return []page{
		{"GET /webhooks", listWebhooks},
		{"GET /webhooks/new", needing("webhook:manage", showNewWebhook)}, {"POST /webhooks/new", createWebhook},
		{"GET /webhooks/deliveries", listDeliveries}, {"GET /webhooks/deliveries/{id}", showDelivery}, {"POST /webhooks/deliveries/{id}/replay", replayDelivery},
		{"GET /webhooks/{id}", showWebhook},
		{"POST /webhooks/{id}/settings", saveWebhook}, {"POST /webhooks/{id}/status", switchWebhook}, {"POST /webhooks/{id}/delete", deleteWebhook},
		{"POST /webhooks/{id}/test", testWebhook}, {"POST /webhooks/{id}/live", testWebhookLive}, {"POST /webhooks/{id}/replay", replayFailed},
		{"POST /webhooks/{id}/rotate", rotateWebhookSecret}, {"POST /webhooks/{id}/revoke", revokeWebhookSecret},
	}
}

// webhookRecord is a webhook as the API tells it.
type webhookRecord struct {
	ID, URL, Description, Status string
	Events                       []string
	DisabledReason               string            `json:"disabled_reason"`
	SecretPrefix                 string            `json:"secret_prefix"`
	PreviousUntil                time.Time         `json:"previous_secret_expires_at"`
	DomainIDs                    []string          `json:"domain_ids"`
	TenantIDs                    []string          `json:"managed_tenant_ids"`
	Headers                      map[string]string `json:"custom_headers"`
	IncludeBody                  bool              `json:"include_body"`
	Failures                     int64             `json:"consecutive_failures"`
	FirstFailureAt               time.Time         `json:"first_failure_at"`
	LastDeliveryAt               time.Time         `json:"last_delivery_at"`
	LastStatusCode               int               `json:"last_status_code"`
	CreatedAt                    time.Time         `json:"created_at"`
	// Secret comes once.
	Secret string
}

// webhooksPage is the list of webhooks.
type webhooksPage struct {
	shell
	Rows  []webhookRow
	Pager pager
}

type webhookRow struct {
	URL, Description, Href, Hears string
	State                         badge
	LastCode                      int
	LastAt                        moment
}

func listWebhooks(v *visit) error {
	p := webhooksPage{shell: v.shell("Webhooks", "webhooks").with("build.css")}
	var list listOf[webhookRecord]
	if err := v.get("/v1/webhooks", v.pageQuery(), &list); err != nil {
		return err
	}
	for _, w := range list.Data {
		p.Rows = append(p.Rows, webhookRow{URL: visible(w.URL), Description: visible(w.Description), Href: v.link("webhooks", w.ID), Hears: v.hears(w.Events),
			State: v.webhookState(w), LastCode: w.LastStatusCode, LastAt: v.ago(w.LastDeliveryAt)})
	}
	p.Pager = beside(v, list)
	return v.show("webhooks/list", p)
}

// hears says in a few words what a webhook is told of.
func (v *visit) hears(events []string) string {
	switch {
	case slices.Contains(events, "*"):
		return "Everything"
	case len(events) <= 2:
		return strings.Join(events, ", ")
	}
	return events[0] + " and " + v.number(int64(len(events)-1)) + " more"
}

// webhookState tells a webhook that works from one that is failing.
func (v *visit) webhookState(w webhookRecord) badge {
	switch {
	case w.Status == "disabled" && w.DisabledReason == "gone":
		return badge{"bounced", "circle-x", "Disabled: your server said that it is gone"}
	case w.Status == "disabled" && w.DisabledReason == "failing":
		return badge{"bounced", "circle-x", "Disabled: it failed for days"}
	case w.Status == "disabled":
		return newBadge("disabled")
	case w.Failures > 0:
		return badge{"suppressed", "triangle-alert", "Failing: " + v.plural(w.Failures, "time", "times") + " in a row"}
	case w.LastDeliveryAt.IsZero():
		return badge{"queued", "clock", "Nothing sent yet"}
	}
	return newBadge("healthy")
}

// eventKind is an entry of the catalogue of events.
type eventKind struct {
	Type, Category, Description string
	Sample                      json.RawMessage
}

// eventFamily are the events about one kind of thing.
type eventFamily struct {
	Name, Label string
	Kinds       []eventChoice
	// All tells that the whole family is subscribed to, events to come included; Open that something in it is.
	All, Open bool
}

type eventChoice struct {
	choice
	Sample string
}

// families are the events of the catalogue, those of the names ticked.
func (v *visit) families(names []string) ([]eventFamily, error) {
	var list listOf[eventKind]
	if err := v.get("/v1/webhook-events", nil, &list); err != nil {
		return nil, err
	}
	var all []eventFamily
	for _, k := range list.Data {
		i := slices.IndexFunc(all, func(f eventFamily) bool { return f.Name == k.Category })
		if i < 0 {
			i = len(all)
			all = append(all, eventFamily{Name: k.Category, Label: familyLabel(k.Category), All: slices.Contains(names, k.Category+".*")})
			all[i].Open = all[i].All || k.Category == "email"
		}
		chosen := slices.Contains(names, k.Type)
		all[i].Open = all[i].Open || chosen
		all[i].Kinds = append(all[i].Kinds, eventChoice{choice{k.Type, k.Type, k.Description, chosen}, indented(k.Sample)})
	}
	return all, nil
}

// familyLabel names a family of events as the rest of the dashboard does.
func familyLabel(category string) string {
	if category == "managed_tenant" {
		return "Customer"
	}
	return words(category)
}

// webhookForm is what a webhook is made or changed with.
type webhookForm struct {
	URL, Description, Headers string
	IncludeBody, All          bool
	Families                  []eventFamily
	Domains, Tenants          []choice
}

// webhookForm fills in the form of a webhook.
func (v *visit) webhookForm(w webhookRecord) (form webhookForm, err error) {
	form = webhookForm{URL: w.URL, Description: w.Description, Headers: headerLines(w.Headers), IncludeBody: w.IncludeBody, All: slices.Contains(w.Events, "*")}
	if form.Families, err = v.families(w.Events); err != nil {
		return form, err
	}
	if form.Domains, err = v.domainChoices(w.DomainIDs); err != nil {
		return form, err
	}
	form.Tenants, err = v.tenantChoices(w.TenantIDs)
	return form, err
}

// tenantChoices are the customers of the workspace as boxes, those of the ids ticked.
func (v *visit) tenantChoices(ticked []string) ([]choice, error) {
	if !v.can("tenant:read") {
		return keeping(nil, ticked...), nil
	}
	found, err := every[namedRecord](v, "/v1/managed-tenants", nil, maxOffered)
	if isRefused(err, "managed_tenants_plan_required") {
		return keeping(nil, ticked...), nil
	}
	if err != nil {
		return nil, err
	}
	var all []choice
	for _, t := range found {
		all = append(all, choice{Value: t.ID, Label: visible(t.Name), Chosen: slices.Contains(ticked, t.ID)})
	}
	return v.keepingNamed(all, "managed-tenants", ticked)
}

// postedWebhook is the webhook that a form asks for.
func (v *visit) postedWebhook() webhookRecord {
	w := webhookRecord{URL: strings.TrimSpace(v.value("url")), Description: v.value("description"), Events: append([]string{}, v.form["events"]...), DomainIDs: orNone(v.form["domain_ids"]),
		TenantIDs: orNone(v.form["managed_tenant_ids"]), IncludeBody: v.checked("include_body"), Headers: map[string]string{}}
	if v.checked("all") {
		w.Events = []string{"*"}
	}
	for line := range strings.Lines(v.value("custom_headers")) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(line) != "" {
			w.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return w
}

func orNone(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}

// body is the webhook as the API takes it.
func (w webhookRecord) body() map[string]any {
	return map[string]any{"url": w.URL, "events": w.Events, "description": w.Description, "domain_ids": w.DomainIDs, "managed_tenant_ids": w.TenantIDs,
		"include_body": w.IncludeBody, "custom_headers": w.Headers}
}

// newWebhookPage makes a webhook.
type newWebhookPage struct {
	shell
	Form    webhookForm
	Problem *problem
}

func (v *visit) newWebhookPage(w webhookRecord) (newWebhookPage, error) {
	form, err := v.webhookForm(w)
	return newWebhookPage{shell: v.shell("Add webhook", "webhooks").under(crumb{"Webhooks", v.link("webhooks")}).with("build.css"), Form: form}, err
}

func showNewWebhook(v *visit) error {
	p, err := v.newWebhookPage(webhookRecord{Events: []string{"email.delivered", "email.bounced", "email.complained"}})
	if err != nil {
		return err
	}
	return v.show("webhooks/new", p)
}

func createWebhook(v *visit) error {
	asked := v.postedWebhook()
	var made webhookRecord
	err := v.send(http.MethodPost, "/v1/webhooks", asked.body(), &made)
	if refused := refusal(err); refused != nil {
		p, err := v.newWebhookPage(asked)
		if err != nil {
			return err
		}
		p.Problem = refused
		return v.showStatus(refused.Status, "webhooks/new", p)
	}
	if err != nil {
		return err
	}
	return v.showWebhookSecret(made, "Your webhook is ready")
}
