// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
)

// ManagedTenants: The organisations behind a workspace that is a platform.
type ManagedTenants struct{ client *Client }

// List calls GET /v1/managed-tenants: list managed customers, newest first, and the limits of the plan. Needs the scope `tenant:read`. Counted in the rate limit `read`.
func (s *ManagedTenants) List(ctx context.Context, params ListManagedTenantsParams, options ...CallOption) (*TenantPage, error) {
	return do[TenantPage](ctx, s.client, call{method: "GET", path: "/v1/managed-tenants", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *ManagedTenants) All(ctx context.Context, params ListManagedTenantsParams, options ...CallOption) iter.Seq2[TenantRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[TenantRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		answer, err := s.List(ctx, page, options...)
		if err != nil {
			return nil, err
		}
		return &Page[TenantRecord]{Data: answer.Data, HasMore: answer.HasMore, NextCursor: answer.NextCursor}, nil
	})
}

// Create calls POST /v1/managed-tenants: create a managed customer, or get the one with this external id. Needs the scope `tenant:manage`. Counted in the rate limit `write`.
func (s *ManagedTenants) Create(ctx context.Context, body TenantNewTenant, options ...CallOption) (*TenantCreated, error) {
	return do[TenantCreated](ctx, s.client, call{method: "POST", path: "/v1/managed-tenants", body: body}, options)
}

// GetByExternalID calls GET /v1/managed-tenants/by-external-id/{externalId}: get a managed customer by its external id. Needs the scope `tenant:read`. Counted in the rate limit `read`.
func (s *ManagedTenants) GetByExternalID(ctx context.Context, externalID string, options ...CallOption) (*TenantDetail, error) {
	return do[TenantDetail](ctx, s.client, call{method: "GET", path: "/v1/managed-tenants/by-external-id/" + url.PathEscape(externalID)}, options)
}

// Delete calls DELETE /v1/managed-tenants/{id}: delete a managed customer that has no domains. Needs the scope `tenant:manage`. Counted in the rate limit `write`.
func (s *ManagedTenants) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/managed-tenants/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/managed-tenants/{id}: get a managed customer with its domains. Needs the scope `tenant:read`. Counted in the rate limit `read`.
func (s *ManagedTenants) Get(ctx context.Context, id string, options ...CallOption) (*TenantDetail, error) {
	return do[TenantDetail](ctx, s.client, call{method: "GET", path: "/v1/managed-tenants/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/managed-tenants/{id}: change, pause or resume a managed customer. Needs the scope `tenant:manage`. Counted in the rate limit `write`.
func (s *ManagedTenants) Update(ctx context.Context, id string, body TenantChange, options ...CallOption) (*TenantRecord, error) {
	return do[TenantRecord](ctx, s.client, call{method: "PATCH", path: "/v1/managed-tenants/" + url.PathEscape(id), body: body}, options)
}

// CreateDomain calls POST /v1/managed-tenants/{id}/domains: register a sending domain for a managed customer. Needs the scope `tenant:manage`. Counted in the rate limit `write`.
func (s *ManagedTenants) CreateDomain(ctx context.Context, id string, body DomainRegistration, options ...CallOption) (*DomainRecord, error) {
	return do[DomainRecord](ctx, s.client, call{method: "POST", path: "/v1/managed-tenants/" + url.PathEscape(id) + "/domains", body: body}, options)
}

// DeleteDomain calls DELETE /v1/managed-tenants/{id}/domains/{domainId}: remove a domain of a managed customer. Needs the scope `tenant:manage`. Counted in the rate limit `write`.
func (s *ManagedTenants) DeleteDomain(ctx context.Context, id string, domainID string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/managed-tenants/" + url.PathEscape(id) + "/domains/" + url.PathEscape(domainID)}, options)
}

// ListManagedTenantsParams are the parameters of GET /v1/managed-tenants; what is empty is not asked for.
type ListManagedTenantsParams struct {
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
	// active or paused.
	Status []string
	// Part of the name or of the external id.
	Search string
	// One or more external ids.
	ExternalID []string
}

func (p ListManagedTenantsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	q.text("search", p.Search)
	q.texts("external_id", p.ExternalID)
	return url.Values(q)
}
