// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// TemplateChange is the body of PATCH /v1/templates/{id}.
type TemplateChange struct {
	// Null takes the alias away.
	Alias       *string `json:"alias,omitempty"`
	Description *string `json:"description,omitempty"`
	// Sender of mails that name none.
	From *string `json:"from,omitempty"`
	// Null takes it away; empty text changes nothing.
	HTML *string `json:"html,omitempty"`
	// Copy the rules of style sheets to the elements they are about.
	InlineCss *bool `json:"inline_css,omitempty"`
	// 1 to 120 characters.
	Name string `json:"name,omitzero"`
	// A remark on the new version.
	Note string `json:"note,omitzero"`
	// What mail programs show beside the subject.
	PreviewText *string `json:"preview_text,omitempty"`
	// At most 10 addresses.
	ReplyTo []string `json:"reply_to,omitzero"`
	Subject *string  `json:"subject,omitempty"`
	// Null takes it away: then it is made from the HTML.
	Text *string `json:"text,omitempty"`
	// Replaces all; at most 50.
	Variables []TemplateNewVariable `json:"variables,omitzero"`
}

// TemplateDraftRecord is part of TemplateRecord.
type TemplateDraftRecord struct {
	From        string             `json:"from,omitzero"`
	HTML        string             `json:"html,omitzero"`
	InlineCss   bool               `json:"inline_css,omitzero"`
	PreviewText string             `json:"preview_text,omitzero"`
	ReplyTo     []string           `json:"reply_to,omitzero"`
	Subject     string             `json:"subject,omitzero"`
	Text        string             `json:"text,omitzero"`
	UpdatedAt   time.Time          `json:"updated_at,omitzero"`
	Variables   []TemplateVariable `json:"variables,omitzero"`
}

// TemplateDraftSource is the body of PUT /v1/templates/{id}/draft.
type TemplateDraftSource struct {
	// Sender of mails that name none.
	From *string `json:"from,omitempty"`
	// Either html or text is required.
	HTML *string `json:"html,omitempty"`
	// Copy the rules of style sheets to the elements they are about.
	InlineCss *bool `json:"inline_css,omitempty"`
	// What mail programs show beside the subject.
	PreviewText *string `json:"preview_text,omitempty"`
	// At most 10 addresses.
	ReplyTo []string `json:"reply_to,omitzero"`
	Subject *string  `json:"subject,omitempty"`
	Text    *string  `json:"text,omitempty"`
	// At most 50.
	Variables []TemplateNewVariable `json:"variables,omitzero"`
}

// TemplateLooseSource is the body of POST /v1/templates/render.
type TemplateLooseSource struct {
	// Also warn of what bulk mail must have.
	Bulk bool `json:"bulk,omitzero"`
	// Variables as a template would declare them, with their fallbacks.
	DeclaredVariables []TemplateNewVariable `json:"declared_variables,omitzero"`
	// Either html or text is required.
	HTML        string `json:"html,omitzero"`
	InlineCss   bool   `json:"inline_css,omitzero"`
	PreviewText string `json:"preview_text,omitzero"`
	Subject     string `json:"subject,omitzero"`
	Text        string `json:"text,omitzero"`
	// Values of the variables.
	Variables map[string]any `json:"variables,omitzero"`
}

// TemplateNewTemplate is the body of POST /v1/templates.
type TemplateNewTemplate struct {
	// A name that can be used wherever an id is: lower-case letters, digits and hyphens.
	Alias       string `json:"alias,omitzero"`
	Description string `json:"description,omitzero"`
	// Save it without publishing it.
	Draft bool `json:"draft,omitzero"`
	// Sender of mails that name none.
	From *string `json:"from,omitempty"`
	// Either html or text is required.
	HTML *string `json:"html,omitempty"`
	// Copy the rules of style sheets to the elements they are about.
	InlineCss *bool `json:"inline_css,omitempty"`
	// 1 to 120 characters.
	Name string `json:"name,omitzero"`
	// A remark on this version.
	Note string `json:"note,omitzero"`
	// What mail programs show beside the subject.
	PreviewText *string `json:"preview_text,omitempty"`
	// At most 10 addresses.
	ReplyTo []string `json:"reply_to,omitzero"`
	Subject *string  `json:"subject,omitempty"`
	// Made from the HTML if there is none.
	Text *string `json:"text,omitempty"`
	// At most 50.
	Variables []TemplateNewVariable `json:"variables,omitzero"`
}

// TemplateNewVariable is part of TemplateNewTemplate.
type TemplateNewVariable struct {
	// What stands in for the variable when it is not sent.
	FallbackValue any `json:"fallback_value,omitempty"`
	// Letters, digits and underscores, at most 50.
	Key string `json:"key,omitzero"`
	// Refuse a mail without the variable even if only a condition asks for it.
	Required bool `json:"required,omitzero"`
	// string, number, boolean, object or list.
	Type string `json:"type,omitzero"`
}

// TemplateRecord is the answer to POST /v1/templates.
type TemplateRecord struct {
	ActiveVersion          *int64               `json:"active_version,omitempty"`
	Alias                  string               `json:"alias,omitzero"`
	ArchivedAt             time.Time            `json:"archived_at,omitzero"`
	CreatedAt              time.Time            `json:"created_at,omitzero"`
	CurrentVersionID       string               `json:"current_version_id,omitzero"`
	Description            string               `json:"description,omitzero"`
	Draft                  *TemplateDraftRecord `json:"draft,omitempty"`
	Engine                 string               `json:"engine,omitzero"`
	From                   string               `json:"from,omitzero"`
	HasDraft               bool                 `json:"has_draft,omitzero"`
	HasUnpublishedVersions bool                 `json:"has_unpublished_versions,omitzero"`
	HTML                   string               `json:"html,omitzero"`
	ID                     string               `json:"id,omitzero"`
	InlineCss              bool                 `json:"inline_css,omitzero"`
	LatestVersion          int64                `json:"latest_version,omitzero"`
	Name                   string               `json:"name,omitzero"`
	Object                 string               `json:"object,omitzero"`
	PreviewText            string               `json:"preview_text,omitzero"`
	PublishedAt            time.Time            `json:"published_at,omitzero"`
	ReplyTo                []string             `json:"reply_to,omitzero"`
	Status                 string               `json:"status,omitzero"`
	Subject                string               `json:"subject,omitzero"`
	Text                   string               `json:"text,omitzero"`
	UpdatedAt              time.Time            `json:"updated_at,omitzero"`
	Variables              []TemplateVariable   `json:"variables,omitzero"`
	VersionCount           int64                `json:"version_count,omitzero"`
}

// TemplateRenderRecord is the answer to POST /v1/templates/render.
type TemplateRenderRecord struct {
	HTML             string        `json:"html,omitzero"`
	MissingVariables []string      `json:"missing_variables,omitzero"`
	Object           string        `json:"object,omitzero"`
	PreviewText      string        `json:"preview_text,omitzero"`
	SizeBytes        int64         `json:"size_bytes,omitzero"`
	Subject          string        `json:"subject,omitzero"`
	TemplateID       string        `json:"template_id,omitzero"`
	Text             string        `json:"text,omitzero"`
	UnusedVariables  []string      `json:"unused_variables,omitzero"`
	VariablesUsed    []string      `json:"variables_used,omitzero"`
	Version          *int64        `json:"version,omitempty"`
	Warnings         []PageWarning `json:"warnings,omitzero"`
}

// TemplateRow is the answer to GET /v1/templates.
type TemplateRow struct {
	ActiveVersion          *int64    `json:"active_version,omitempty"`
	Alias                  string    `json:"alias,omitzero"`
	ArchivedAt             time.Time `json:"archived_at,omitzero"`
	CreatedAt              time.Time `json:"created_at,omitzero"`
	CurrentVersionID       string    `json:"current_version_id,omitzero"`
	Description            string    `json:"description,omitzero"`
	HasDraft               bool      `json:"has_draft,omitzero"`
	HasUnpublishedVersions bool      `json:"has_unpublished_versions,omitzero"`
	ID                     string    `json:"id,omitzero"`
	LatestVersion          int64     `json:"latest_version,omitzero"`
	Name                   string    `json:"name,omitzero"`
	Object                 string    `json:"object,omitzero"`
	PublishedAt            time.Time `json:"published_at,omitzero"`
	Status                 string    `json:"status,omitzero"`
	UpdatedAt              time.Time `json:"updated_at,omitzero"`
	VersionCount           int64     `json:"version_count,omitzero"`
}

// TemplateStatsRecord is the answer to GET /v1/templates/{id}/stats.
type TemplateStatsRecord struct {
	End        time.Time              `json:"end,omitzero"`
	LastSentAt time.Time              `json:"last_sent_at,omitzero"`
	Object     string                 `json:"object,omitzero"`
	Start      time.Time              `json:"start,omitzero"`
	TemplateID string                 `json:"template_id,omitzero"`
	Totals     StatsTotals            `json:"totals,omitzero"`
	Versions   []TemplateVersionStats `json:"versions,omitzero"`
}

// TemplateVariable is part of TemplateDraftRecord.
type TemplateVariable struct {
	CreatedAt     time.Time `json:"created_at,omitzero"`
	FallbackValue any       `json:"fallback_value,omitempty"`
	ID            string    `json:"id,omitzero"`
	Key           string    `json:"key,omitzero"`
	Required      bool      `json:"required,omitzero"`
	Type          string    `json:"type,omitzero"`
	UpdatedAt     time.Time `json:"updated_at,omitzero"`
}

// TemplateVersionRecord is the answer to GET /v1/templates/{id}/versions/{version}.
type TemplateVersionRecord struct {
	ActivatedAt time.Time          `json:"activated_at,omitzero"`
	Active      bool               `json:"active,omitzero"`
	Checksum    string             `json:"checksum,omitzero"`
	CreatedAt   time.Time          `json:"created_at,omitzero"`
	CreatedBy   string             `json:"created_by,omitzero"`
	From        string             `json:"from,omitzero"`
	HTML        string             `json:"html,omitzero"`
	ID          string             `json:"id,omitzero"`
	InlineCss   bool               `json:"inline_css,omitzero"`
	Note        string             `json:"note,omitzero"`
	Object      string             `json:"object,omitzero"`
	PreviewText string             `json:"preview_text,omitzero"`
	ReplyTo     []string           `json:"reply_to,omitzero"`
	Subject     string             `json:"subject,omitzero"`
	TemplateID  string             `json:"template_id,omitzero"`
	Text        string             `json:"text,omitzero"`
	Variables   []TemplateVariable `json:"variables,omitzero"`
	Version     int64              `json:"version,omitzero"`
}

// TemplateVersionRow is the answer to GET /v1/templates/{id}/versions.
type TemplateVersionRow struct {
	ActivatedAt time.Time          `json:"activated_at,omitzero"`
	Active      bool               `json:"active,omitzero"`
	Checksum    string             `json:"checksum,omitzero"`
	CreatedAt   time.Time          `json:"created_at,omitzero"`
	CreatedBy   string             `json:"created_by,omitzero"`
	From        string             `json:"from,omitzero"`
	ID          string             `json:"id,omitzero"`
	InlineCss   bool               `json:"inline_css,omitzero"`
	Note        string             `json:"note,omitzero"`
	Object      string             `json:"object,omitzero"`
	PreviewText string             `json:"preview_text,omitzero"`
	ReplyTo     []string           `json:"reply_to,omitzero"`
	Subject     string             `json:"subject,omitzero"`
	TemplateID  string             `json:"template_id,omitzero"`
	Variables   []TemplateVariable `json:"variables,omitzero"`
	Version     int64              `json:"version,omitzero"`
}

// TemplateVersionStats is part of TemplateStatsRecord.
type TemplateVersionStats struct {
	Totals  StatsTotals `json:"totals,omitzero"`
	Version int64       `json:"version,omitzero"`
}
