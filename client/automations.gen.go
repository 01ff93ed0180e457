// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
)

// Automations: Messages that follow from events, step by step.
type Automations struct{ client *Client }

// List calls GET /v1/automations: list automations, newest first, without their steps. Needs the scope `automation:read`. Counted in the rate limit `read`.
func (s *Automations) List(ctx context.Context, params ListAutomationsParams, options ...CallOption) (*Page[AutomationRow], error) {
	return do[Page[AutomationRow]](ctx, s.client, call{method: "GET", path: "/v1/automations", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Automations) All(ctx context.Context, params ListAutomationsParams, options ...CallOption) iter.Seq2[AutomationRow, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AutomationRow], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/automations: create an automation. With status enabled it is validated and published at once. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *Automations) Create(ctx context.Context, body AutomationChange, options ...CallOption) (*AutomationRecord, error) {
	return do[AutomationRecord](ctx, s.client, call{method: "POST", path: "/v1/automations", body: body}, options)
}

// GetMeta calls GET /v1/automations/_meta: tell everything a builder needs: types of steps and triggers with JSON Schemas, fields, operators and limits. Needs the scope `automation:read`. Counted in the rate limit `read`.
func (s *Automations) GetMeta(ctx context.Context, options ...CallOption) (*AutomationMetaRecord, error) {
	return do[AutomationMetaRecord](ctx, s.client, call{method: "GET", path: "/v1/automations/_meta"}, options)
}

// SendEvent calls POST /v1/automations/events: send an event to the automations that wait for it. Needs the scope `automation:run`. Counted in the rate limit `automation_run`.
func (s *Automations) SendEvent(ctx context.Context, body AutomationSending, options ...CallOption) (*AutomationSentRecord, error) {
	return do[AutomationSentRecord](ctx, s.client, call{method: "POST", path: "/v1/automations/events", body: body, once: true}, options)
}

// GetSummary calls GET /v1/automations/summary: count automations and runs. Needs the scope `automation:read`. Counted in the rate limit `read`.
func (s *Automations) GetSummary(ctx context.Context, options ...CallOption) (*AutomationSummaryRecord, error) {
	return do[AutomationSummaryRecord](ctx, s.client, call{method: "GET", path: "/v1/automations/summary"}, options)
}

// Delete calls DELETE /v1/automations/{id}: archive an automation and cancel its runs. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *Automations) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/automations/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/automations/{id}: get an automation with its steps and its newest runs. Needs the scope `automation:read`. Counted in the rate limit `read`.
func (s *Automations) Get(ctx context.Context, id string, params GetAutomationParams, options ...CallOption) (*AutomationRecord, error) {
	return do[AutomationRecord](ctx, s.client, call{method: "GET", path: "/v1/automations/" + url.PathEscape(id), query: params.values()}, options)
}

// Update calls PATCH /v1/automations/{id}: change the draft, the name or the status of an automation. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *Automations) Update(ctx context.Context, id string, body AutomationChange, options ...CallOption) (*AutomationRecord, error) {
	return do[AutomationRecord](ctx, s.client, call{method: "PATCH", path: "/v1/automations/" + url.PathEscape(id), body: body}, options)
}

// Duplicate calls POST /v1/automations/{id}/duplicate: make a disabled copy of an automation. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *Automations) Duplicate(ctx context.Context, id string, body DuplicateAutomationBody, options ...CallOption) (*AutomationRecord, error) {
	return do[AutomationRecord](ctx, s.client, call{method: "POST", path: "/v1/automations/" + url.PathEscape(id) + "/duplicate", body: body}, options)
}

// Publish calls POST /v1/automations/{id}/publish: validate the draft and publish it as the next version. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *Automations) Publish(ctx context.Context, id string, body PublishAutomationBody, options ...CallOption) (*AutomationRecord, error) {
	return do[AutomationRecord](ctx, s.client, call{method: "POST", path: "/v1/automations/" + url.PathEscape(id) + "/publish", body: body}, options)
}

// Run calls POST /v1/automations/{id}/run: begin a run. Needs the scope `automation:run`. Counted in the rate limit `automation_run`.
func (s *Automations) Run(ctx context.Context, id string, body AutomationRunBody, options ...CallOption) (*AutomationRunRecord, error) {
	return do[AutomationRunRecord](ctx, s.client, call{method: "POST", path: "/v1/automations/" + url.PathEscape(id) + "/run", body: body, once: true}, options)
}

// ListRuns calls GET /v1/automations/{id}/runs: list the runs of an automation, newest first. Needs the scope `automation:read`. Counted in the rate limit `read`.
func (s *Automations) ListRuns(ctx context.Context, id string, params ListAutomationRunsParams, options ...CallOption) (*Page[AutomationRunRow], error) {
	return do[Page[AutomationRunRow]](ctx, s.client, call{method: "GET", path: "/v1/automations/" + url.PathEscape(id) + "/runs", query: params.values()}, options)
}

// AllRuns is ListRuns from page to page, to the end of the list.
func (s *Automations) AllRuns(ctx context.Context, id string, params ListAutomationRunsParams, options ...CallOption) iter.Seq2[AutomationRunRow, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AutomationRunRow], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListRuns(ctx, id, page, options...)
	})
}

// GetRun calls GET /v1/automations/{id}/runs/{runId}: get a run with its steps. Needs the scope `automation:read`. Counted in the rate limit `read`.
func (s *Automations) GetRun(ctx context.Context, id string, runID string, options ...CallOption) (*AutomationRunRecord, error) {
	return do[AutomationRunRecord](ctx, s.client, call{method: "GET", path: "/v1/automations/" + url.PathEscape(id) + "/runs/" + url.PathEscape(runID)}, options)
}

// Stop calls POST /v1/automations/{id}/stop: cancel a run; without one, cancel all runs and disable the automation. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *Automations) Stop(ctx context.Context, id string, body StopAutomationBody, options ...CallOption) (*StopAutomationAnswer, error) {
	return do[StopAutomationAnswer](ctx, s.client, call{method: "POST", path: "/v1/automations/" + url.PathEscape(id) + "/stop", body: body}, options)
}

// Test calls POST /v1/automations/{id}/test: go through all steps at once without touching anything, and see what would happen. Needs the scope `automation:run`. Counted in the rate limit `automation_run`.
func (s *Automations) Test(ctx context.Context, id string, body AutomationTrialBody, options ...CallOption) (*AutomationRunRecord, error) {
	return do[AutomationRunRecord](ctx, s.client, call{method: "POST", path: "/v1/automations/" + url.PathEscape(id) + "/test", body: body}, options)
}

// ListVersions calls GET /v1/automations/{id}/versions: list the published versions of an automation, newest first. Needs the scope `automation:read`. Counted in the rate limit `read`.
func (s *Automations) ListVersions(ctx context.Context, id string, params ListAutomationVersionsParams, options ...CallOption) (*Page[AutomationVersionRecord], error) {
	return do[Page[AutomationVersionRecord]](ctx, s.client, call{method: "GET", path: "/v1/automations/" + url.PathEscape(id) + "/versions", query: params.values()}, options)
}

// AllVersions is ListVersions from page to page, to the end of the list.
func (s *Automations) AllVersions(ctx context.Context, id string, params ListAutomationVersionsParams, options ...CallOption) iter.Seq2[AutomationVersionRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AutomationVersionRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListVersions(ctx, id, page, options...)
	})
}

// RollbackVersion calls POST /v1/automations/{id}/versions/{version}/rollback: publish an earlier version again, as a new one. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *Automations) RollbackVersion(ctx context.Context, id string, version string, options ...CallOption) (*AutomationRecord, error) {
	return do[AutomationRecord](ctx, s.client, call{method: "POST", path: "/v1/automations/" + url.PathEscape(id) + "/versions/" + url.PathEscape(version) + "/rollback"}, options)
}

// DuplicateAutomationBody is the body of POST /v1/automations/{id}/duplicate.
type DuplicateAutomationBody struct {
	// Name of the copy.
	Name string `json:"name,omitzero"`
}

// GetAutomationParams are the parameters of GET /v1/automations/{id}; what is empty is not asked for.
type GetAutomationParams struct {
	// Number of a version, or draft; what is published if absent.
	Version string
}

func (p GetAutomationParams) values() url.Values {
	q := query{}
	q.text("version", p.Version)
	return url.Values(q)
}

// ListAutomationRunsParams are the parameters of GET /v1/automations/{id}/runs; what is empty is not asked for.
type ListAutomationRunsParams struct {
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
	// running, completed, failed or cancelled.
	Status []string
	// Ids of contacts.
	ContactID []string
	// Begun at this moment or later.
	Since string
	// Begun before this moment.
	Until string
}

func (p ListAutomationRunsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	q.texts("contact_id", p.ContactID)
	q.text("since", p.Since)
	q.text("until", p.Until)
	return url.Values(q)
}

// ListAutomationVersionsParams are the parameters of GET /v1/automations/{id}/versions; what is empty is not asked for.
type ListAutomationVersionsParams struct {
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

func (p ListAutomationVersionsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	return url.Values(q)
}

// ListAutomationsParams are the parameters of GET /v1/automations; what is empty is not asked for.
type ListAutomationsParams struct {
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
	// enabled, disabled or archived; by default all but those that are archived.
	Status []string
	// Only those that are enabled, or only those that are not.
	Enabled *bool
	// Part of the name.
	Search string
}

func (p ListAutomationsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	q.flag("enabled", p.Enabled)
	q.text("search", p.Search)
	return url.Values(q)
}

// PublishAutomationBody is the body of POST /v1/automations/{id}/publish.
type PublishAutomationBody struct {
	// A remark on the version.
	Note string `json:"note,omitzero"`
}

// StopAutomationAnswer is the answer to POST /v1/automations/{id}/stop.
type StopAutomationAnswer struct {
	ID          string `json:"id,omitzero"`
	Object      string `json:"object,omitzero"`
	Status      string `json:"status,omitzero"`
	StoppedRuns int64  `json:"stopped_runs,omitzero"`
}

// StopAutomationBody is the body of POST /v1/automations/{id}/stop.
type StopAutomationBody struct {
	// The run to cancel; all if absent.
	RunID string `json:"run_id,omitzero"`
}
