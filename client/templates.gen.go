// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Templates: Messages with places for values, in versions.
type Templates struct{ client *Client }

// List calls GET /v1/templates: list templates, newest first. Needs the scope `template:read`. Counted in the rate limit `read`.
func (s *Templates) List(ctx context.Context, params ListTemplatesParams, options ...CallOption) (*Page[TemplateRow], error) {
	return do[Page[TemplateRow]](ctx, s.client, call{method: "GET", path: "/v1/templates", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Templates) All(ctx context.Context, params ListTemplatesParams, options ...CallOption) iter.Seq2[TemplateRow, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[TemplateRow], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/templates: create a template. Its first version is active at once. Needs the scope `template:manage`. Counted in the rate limit `write`.
func (s *Templates) Create(ctx context.Context, body TemplateNewTemplate, options ...CallOption) (*TemplateRecord, error) {
	return do[TemplateRecord](ctx, s.client, call{method: "POST", path: "/v1/templates", body: body}, options)
}

// Render calls POST /v1/templates/render: render a source without saving it. Needs the scope `template:manage`. Counted in the rate limit `spam_check`.
func (s *Templates) Render(ctx context.Context, body TemplateLooseSource, options ...CallOption) (*TemplateRenderRecord, error) {
	return do[TemplateRenderRecord](ctx, s.client, call{method: "POST", path: "/v1/templates/render", body: body}, options)
}

// TestSendUnsaved calls POST /v1/templates/test-send: send a template that has not been saved to people who want to look at it. Needs the scope `email:send`. Counted in the rate limit `email_send`.
func (s *Templates) TestSendUnsaved(ctx context.Context, body TestSendTemplatesBody, options ...CallOption) (*EmailTestSendAnswer, error) {
	return do[EmailTestSendAnswer](ctx, s.client, call{method: "POST", path: "/v1/templates/test-send", body: body}, options)
}

// Delete calls DELETE /v1/templates/{id}: archive a template. Needs the scope `template:manage`. Counted in the rate limit `write`.
func (s *Templates) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/templates/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/templates/{id}: get a template with the source of its active version. Needs the scope `template:read`. Counted in the rate limit `read`.
func (s *Templates) Get(ctx context.Context, id string, options ...CallOption) (*TemplateRecord, error) {
	return do[TemplateRecord](ctx, s.client, call{method: "GET", path: "/v1/templates/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/templates/{id}: change a template. A change of its source is the next version, and active at once. Needs the scope `template:manage`. Counted in the rate limit `write`.
func (s *Templates) Update(ctx context.Context, id string, body TemplateChange, options ...CallOption) (*TemplateRecord, error) {
	return do[TemplateRecord](ctx, s.client, call{method: "PATCH", path: "/v1/templates/" + url.PathEscape(id), body: body}, options)
}

// PutDraft calls PUT /v1/templates/{id}/draft: save a draft without publishing it. Needs the scope `template:manage`. Counted in the rate limit `write`.
func (s *Templates) PutDraft(ctx context.Context, id string, body TemplateDraftSource, options ...CallOption) (*TemplateRecord, error) {
	return do[TemplateRecord](ctx, s.client, call{method: "PUT", path: "/v1/templates/" + url.PathEscape(id) + "/draft", body: body}, options)
}

// Duplicate calls POST /v1/templates/{id}/duplicate: make a new template from another. Needs the scope `template:manage`. Counted in the rate limit `write`.
func (s *Templates) Duplicate(ctx context.Context, id string, body DuplicateTemplateBody, options ...CallOption) (*TemplateRecord, error) {
	return do[TemplateRecord](ctx, s.client, call{method: "POST", path: "/v1/templates/" + url.PathEscape(id) + "/duplicate", body: body}, options)
}

// Preview calls POST /v1/templates/{id}/preview: render a template with values to look at. Needs the scope `template:manage`. Counted in the rate limit `spam_check`.
func (s *Templates) Preview(ctx context.Context, id string, body PreviewTemplateBody, options ...CallOption) (*TemplateRenderRecord, error) {
	return do[TemplateRenderRecord](ctx, s.client, call{method: "POST", path: "/v1/templates/" + url.PathEscape(id) + "/preview", body: body}, options)
}

// Publish calls POST /v1/templates/{id}/publish: activate a version, or publish the draft. Needs the scope `template:manage`. Counted in the rate limit `write`.
func (s *Templates) Publish(ctx context.Context, id string, body PublishTemplateBody, options ...CallOption) (*TemplateRecord, error) {
	return do[TemplateRecord](ctx, s.client, call{method: "POST", path: "/v1/templates/" + url.PathEscape(id) + "/publish", body: body}, options)
}

// GetStats calls GET /v1/templates/{id}/stats: tell what became of the mails that were made from a template. Needs the scope `template:read`. Counted in the rate limit `read`.
func (s *Templates) GetStats(ctx context.Context, id string, params GetTemplateStatsParams, options ...CallOption) (*TemplateStatsRecord, error) {
	return do[TemplateStatsRecord](ctx, s.client, call{method: "GET", path: "/v1/templates/" + url.PathEscape(id) + "/stats", query: params.values()}, options)
}

// TestSend calls POST /v1/templates/{id}/test-send: send a template to people who want to look at it. Needs the scope `template:manage` and `email:send`. Counted in the rate limit `email_send`.
func (s *Templates) TestSend(ctx context.Context, id string, body TestSendTemplateBody, options ...CallOption) (*EmailTestSendAnswer, error) {
	return do[EmailTestSendAnswer](ctx, s.client, call{method: "POST", path: "/v1/templates/" + url.PathEscape(id) + "/test-send", body: body}, options)
}

// ListVersions calls GET /v1/templates/{id}/versions: list the versions of a template, newest first, without their html and text. Needs the scope `template:read`. Counted in the rate limit `read`.
func (s *Templates) ListVersions(ctx context.Context, id string, params ListTemplateVersionsParams, options ...CallOption) (*Page[TemplateVersionRow], error) {
	return do[Page[TemplateVersionRow]](ctx, s.client, call{method: "GET", path: "/v1/templates/" + url.PathEscape(id) + "/versions", query: params.values()}, options)
}

// AllVersions is ListVersions from page to page, to the end of the list.
func (s *Templates) AllVersions(ctx context.Context, id string, params ListTemplateVersionsParams, options ...CallOption) iter.Seq2[TemplateVersionRow, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[TemplateVersionRow], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListVersions(ctx, id, page, options...)
	})
}

// GetVersion calls GET /v1/templates/{id}/versions/{version}: get a version with its source. Needs the scope `template:read`. Counted in the rate limit `read`.
func (s *Templates) GetVersion(ctx context.Context, id string, version string, options ...CallOption) (*TemplateVersionRecord, error) {
	return do[TemplateVersionRecord](ctx, s.client, call{method: "GET", path: "/v1/templates/" + url.PathEscape(id) + "/versions/" + url.PathEscape(version)}, options)
}

// DuplicateTemplateBody is the body of POST /v1/templates/{id}/duplicate.
type DuplicateTemplateBody struct {
	// Name of the copy.
	Name string `json:"name,omitzero"`
}

// GetTemplateStatsParams are the parameters of GET /v1/templates/{id}/stats; what is empty is not asked for.
type GetTemplateStatsParams struct {
	// How many days back, 1 to 365; 30 if nothing is given.
	Days int
	// Together with end, instead of days.
	Start time.Time
	// Together with start, instead of days.
	End time.Time
}

func (p GetTemplateStatsParams) values() url.Values {
	q := query{}
	q.number("days", p.Days)
	q.time("start", p.Start)
	q.time("end", p.End)
	return url.Values(q)
}

// ListTemplateVersionsParams are the parameters of GET /v1/templates/{id}/versions; what is empty is not asked for.
type ListTemplateVersionsParams struct {
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
}

func (p ListTemplateVersionsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	return url.Values(q)
}

// ListTemplatesParams are the parameters of GET /v1/templates; what is empty is not asked for.
type ListTemplatesParams struct {
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
	// published, draft or archived; by default all but those that are archived.
	Status []string
	// Part of the name or of the alias.
	Search string
}

func (p ListTemplatesParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	q.text("search", p.Search)
	return url.Values(q)
}

// PreviewTemplateBody is the body of POST /v1/templates/{id}/preview.
type PreviewTemplateBody struct {
	// Also warn of what bulk mail must have.
	Bulk bool `json:"bulk,omitzero"`
	// Values of the variables.
	Variables map[string]any `json:"variables,omitzero"`
	// A version or draft; by default the active version.
	Version any `json:"version,omitempty"`
}

// PublishTemplateBody is the body of POST /v1/templates/{id}/publish.
type PublishTemplateBody struct {
	// The version to activate; without one the draft is published.
	Version *int64 `json:"version,omitempty"`
}

// TestSendTemplateBody is the body of POST /v1/templates/{id}/test-send.
type TestSendTemplateBody struct {
	From    string `json:"from,omitzero"`
	Subject string `json:"subject,omitzero"`
	// At most 5 recipients; each gets an email of their own.
	To        []string       `json:"to,omitzero"`
	Variables map[string]any `json:"variables,omitzero"`
	Version   any            `json:"version,omitempty"`
}

// TestSendTemplatesBody is the body of POST /v1/templates/test-send.
type TestSendTemplatesBody struct {
	From    string `json:"from,omitzero"`
	HTML    string `json:"html,omitzero"`
	Subject string `json:"subject,omitzero"`
	Text    string `json:"text,omitzero"`
	// At most 5 recipients; each gets an email of their own.
	To        []string       `json:"to,omitzero"`
	Variables map[string]any `json:"variables,omitzero"`
}
