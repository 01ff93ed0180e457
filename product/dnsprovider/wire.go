package dnsprovider

import (
	"postrider/platform/api"
	"postrider/product/domain"
)

// ConnectionRecord is a connection on the wire. Of its token only the end is shown.
type ConnectionRecord struct {
	Object    string   `json:"object" example:"dns_connection"`
	ID        ID       `json:"id" example:"0193a1e0-2222-7000-8000-0000000000c1"`
	Provider  Provider `json:"provider" example:"cloudflare"`
	Name      string   `json:"name" example:"Acme at Cloudflare"`
	TokenEnd  string   `json:"api_token_last4" example:"0000"`
	CreatedBy api.Ref  `json:"created_by" example:"0193a1e0-2222-7000-8000-000000000501"`
	CreatedAt api.Time `json:"created_at"`
}

func newConnectionRecord(c Connection) ConnectionRecord {
	return ConnectionRecord{Object: "dns_connection", ID: c.ID, Provider: c.Provider, Name: c.Name, TokenEnd: c.TokenEnd,
		CreatedBy: api.Ref(c.CreatedBy), CreatedAt: api.Time(c.CreatedAt)}
}

// ApplyRecord is the answer to an Application.
type ApplyRecord struct {
	Object    string         `json:"object" example:"dns_apply_result"`
	DomainID  domain.ID      `json:"domain_id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	Provider  Provider       `json:"provider" example:"cloudflare"`
	ZoneID    string         `json:"zone_id" example:"023e105f4ecef8ad9ca31a8372d0c353"`
	Zone      string         `json:"zone" example:"acme.test"`
	Records   Selection      `json:"records"`
	Results   []ResultRecord `json:"results"`
	Applied   int            `json:"applied" doc:"Records that were written; those that were right already are not counted." example:"1"`
	Failed    int            `json:"failed" doc:"Conflicts and errors." example:"0"`
	AppliedAt api.Time       `json:"applied_at"`
}

// ResultRecord is what became of one record.
type ResultRecord struct {
	Type   string  `json:"type" example:"TXT"`
	Name   string  `json:"name" example:"acme.test"`
	Action Action  `json:"action" doc:"created, updated, merged, unchanged, conflict or error." example:"merged"`
	Error  api.Ref `json:"error"`
}

func newApplyRecord(a Applied) ApplyRecord {
	r := ApplyRecord{Object: "dns_apply_result", DomainID: a.Domain, Provider: Cloudflare, ZoneID: a.ZoneID, Zone: a.Zone, Records: a.Records,
		Results: []ResultRecord{}, AppliedAt: api.Time(a.At)}
	for _, result := range a.Results {
		r.Results = append(r.Results, ResultRecord{result.Type, result.Name, result.Action, api.Ref(result.Why)})
		switch {
		case isWritten(result.Action):
			r.Applied++
		case result.Action != Unchanged:
			r.Failed++
		}
	}
	return r
}

// LinkRecord is a Link on the wire.
type LinkRecord struct {
	Object    string    `json:"object" example:"domain_connect_url"`
	URL       string    `json:"url" example:"https://dash.cloudflare.com/domainconnect/v2/domainTemplates/providers/mail.example.org/services/mail/apply?domain=acme.test"`
	Provider  Provider  `json:"provider" example:"cloudflare"`
	Records   Selection `json:"records"`
	ServiceID string    `json:"service_id" example:"mail"`
	State     string    `json:"state" example:"AQIDBAUGBwg"`
	ExpiresAt api.Time  `json:"expires_at"`
}

func newLinkRecord(l Link) LinkRecord {
	return LinkRecord{Object: "domain_connect_url", URL: l.URL, Provider: Cloudflare, Records: l.Records, ServiceID: l.Service, State: l.State,
		ExpiresAt: api.Time(l.ExpiresAt)}
}
