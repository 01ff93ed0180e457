// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
)

// Domains: The domains mail is sent from and received at, with the DNS records they need.
type Domains struct{ client *Client }

// List calls GET /v1/domains: list domains. Needs the scope `domain:read`. Counted in the rate limit `read`.
func (s *Domains) List(ctx context.Context, params ListDomainsParams, options ...CallOption) (*Page[DomainRecord], error) {
	return do[Page[DomainRecord]](ctx, s.client, call{method: "GET", path: "/v1/domains", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Domains) All(ctx context.Context, params ListDomainsParams, options ...CallOption) iter.Seq2[DomainRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[DomainRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/domains: register a sending domain. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Domains) Create(ctx context.Context, body DomainRegistration, options ...CallOption) (*DomainCreated, error) {
	return do[DomainCreated](ctx, s.client, call{method: "POST", path: "/v1/domains", body: body}, options)
}

// Delete calls DELETE /v1/domains/{id}: remove a domain. Needs a session of the dashboard; a key is refused. Asks for a fresh second factor of users who have one. Counted in the rate limit `write`.
func (s *Domains) Delete(ctx context.Context, id string, params DeleteDomainParams, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/domains/" + url.PathEscape(id), query: params.values()}, options)
}

// Get calls GET /v1/domains/{id}: get a domain with the DNS records to publish. Needs the scope `domain:read`. Counted in the rate limit `read`.
func (s *Domains) Get(ctx context.Context, id string, options ...CallOption) (*DomainRecord, error) {
	return do[DomainRecord](ctx, s.client, call{method: "GET", path: "/v1/domains/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/domains/{id}: change the settings of a domain. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Domains) Update(ctx context.Context, id string, body DomainUpdate, options ...CallOption) (*DomainRecord, error) {
	return do[DomainRecord](ctx, s.client, call{method: "PATCH", path: "/v1/domains/" + url.PathEscape(id), body: body}, options)
}

// ApplyToCloudflare calls POST /v1/domains/{id}/cloudflare/apply: publish the DNS records of a domain at Cloudflare. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Domains) ApplyToCloudflare(ctx context.Context, id string, body DnsproviderApplyBody, options ...CallOption) (*DnsproviderApplyRecord, error) {
	return do[DnsproviderApplyRecord](ctx, s.client, call{method: "POST", path: "/v1/domains/" + url.PathEscape(id) + "/cloudflare/apply", body: body}, options)
}

// CloudflareLink calls POST /v1/domains/{id}/domain-connect/cloudflare-url: make a signed link to Cloudflare that sets up the DNS records of a domain. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Domains) CloudflareLink(ctx context.Context, id string, body DomainConnectCloudflareURLDomainBody, options ...CallOption) (*DnsproviderLinkRecord, error) {
	return do[DnsproviderLinkRecord](ctx, s.client, call{method: "POST", path: "/v1/domains/" + url.PathEscape(id) + "/domain-connect/cloudflare-url", body: body}, options)
}

// SetReceiving calls POST /v1/domains/{id}/receiving: switch receiving on or off. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Domains) SetReceiving(ctx context.Context, id string, body ReceivingDomainBody, options ...CallOption) (*DomainRecord, error) {
	return do[DomainRecord](ctx, s.client, call{method: "POST", path: "/v1/domains/" + url.PathEscape(id) + "/receiving", body: body}, options)
}

// RotateDKIM calls POST /v1/domains/{id}/rotate-dkim: make a new signing key. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Domains) RotateDKIM(ctx context.Context, id string, options ...CallOption) (*DomainRecord, error) {
	return do[DomainRecord](ctx, s.client, call{method: "POST", path: "/v1/domains/" + url.PathEscape(id) + "/rotate-dkim"}, options)
}

// Verify calls POST /v1/domains/{id}/verify: check the DNS records of a domain now. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Domains) Verify(ctx context.Context, id string, options ...CallOption) (*DomainRecord, error) {
	return do[DomainRecord](ctx, s.client, call{method: "POST", path: "/v1/domains/" + url.PathEscape(id) + "/verify"}, options)
}

// DeleteDomainParams are the parameters of DELETE /v1/domains/{id}; what is empty is not asked for.
type DeleteDomainParams struct {
	// Remove it even if scheduled emails need it; they will fail.
	Force *bool
}

func (p DeleteDomainParams) values() url.Values {
	q := query{}
	q.flag("force", p.Force)
	return url.Values(q)
}

// DomainConnectCloudflareURLDomainBody is the body of POST /v1/domains/{id}/domain-connect/cloudflare-url.
type DomainConnectCloudflareURLDomainBody struct {
	// Mail unless this says otherwise.
	Records *DnsproviderSelection `json:"records,omitempty"`
}

// ListDomainsParams are the parameters of GET /v1/domains; what is empty is not asked for.
type ListDomainsParams struct {
	// Rows of a page.
	Limit int
	// Rows to skip.
	Offset int
	// next_cursor of the page before, unchanged.
	Cursor string
	// Id of the last row of the page before.
	After string
	// Id of the first row of the page after.
	Before string
	// desc (newest first) or asc.
	Order string
	// Only verified, or only other domains.
	Verified *bool
	// Only domains of one of these statuses.
	Status []string
	// Part of the name.
	Search string
	// Only domains of these customers; none for those of the workspace itself.
	ManagedTenantID []string
}

func (p ListDomainsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.flag("verified", p.Verified)
	q.texts("status", p.Status)
	q.text("search", p.Search)
	q.texts("managed_tenant_id", p.ManagedTenantID)
	return url.Values(q)
}

// ReceivingDomainBody is the body of POST /v1/domains/{id}/receiving.
type ReceivingDomainBody struct {
	Enabled *bool `json:"enabled,omitempty"`
}
