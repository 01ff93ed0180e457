package template

import (
	"fmt"
	"net/http"
	"time"

	"postrider/platform/api"
)

// Row is a template in a list, without its source.
type Row struct {
	Object         string   `json:"object" example:"template"`
	ID             ID       `json:"id" example:"0193a1f4-0000-7000-8000-000000000401"`
	Name           string   `json:"name" example:"Welcome"`
	Alias          api.Ref  `json:"alias" example:"welcome"`
	Description    api.Ref  `json:"description"`
	Status         Status   `json:"status" example:"published"`
	ActiveVersion  *int64   `json:"active_version" example:"3"`
	LatestVersion  int64    `json:"latest_version" example:"3"`
	VersionCount   int64    `json:"version_count" example:"3"`
	CurrentVersion api.Ref  `json:"current_version_id" example:"0193a1f4-0000-7000-8000-000000000413"`
	HasDraft       bool     `json:"has_draft" example:"true"`
	HasUnpublished bool     `json:"has_unpublished_versions" example:"true"`
	CreatedAt      api.Time `json:"created_at"`
	UpdatedAt      api.Time `json:"updated_at"`
	PublishedAt    api.Time `json:"published_at"`
	ArchivedAt     api.Time `json:"archived_at"`
}

func (r Row) place() api.Cursor { return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)} }

func newRow(t Template) Row {
	row := Row{Object: "template", ID: t.ID, Name: t.Name, Alias: api.Ref(t.Alias), Description: api.Ref(t.Description), Status: t.Status,
		LatestVersion: t.Latest, VersionCount: t.Latest, CurrentVersion: api.Ref(t.ActiveID), HasDraft: !t.DraftAt.IsZero(), HasUnpublished: !t.DraftAt.IsZero(),
		CreatedAt: api.Time(t.CreatedAt), UpdatedAt: api.Time(t.UpdatedAt), PublishedAt: api.Time(t.PublishedAt), ArchivedAt: api.Time(t.ArchivedAt)}
	if t.Active != 0 {
		row.ActiveVersion = &t.Active
	}
	return row
}

// words are the fields of a source on the wire.
type words struct {
	From        api.Ref     `json:"from" example:"Acme <hello@acme.test>"`
	Subject     api.Ref     `json:"subject" example:"Hi {{FIRST_NAME|there}}"`
	ReplyTo     api.Strings `json:"reply_to" example:"[\"support@acme.test\"]"`
	PreviewText api.Ref     `json:"preview_text" example:"Two minutes to set up"`
	Variables   []Variable  `json:"variables"`
	InlineCSS   bool        `json:"inline_css" example:"false"`
}

func newWords(s Source) words {
	w := words{From: api.Ref(s.From), Subject: api.Ref(s.Subject), ReplyTo: s.ReplyTo, PreviewText: api.Ref(s.PreviewText),
		Variables: s.Variables, InlineCSS: s.InlineCSS}
	if w.Variables == nil {
		w.Variables = []Variable{}
	}
	return w
}

// bodies are the large fields of a source on the wire.
type bodies struct {
	HTML api.Ref `json:"html" example:"<p>Hi {{FIRST_NAME}}</p>"`
	Text api.Ref `json:"text" example:"Hi {{FIRST_NAME}}"`
}

func newBodies(s Source) bodies { return bodies{HTML: api.Ref(s.HTML), Text: api.Ref(s.Text)} }

// Record is a template with the source of its active version, and with its draft.
type Record struct {
	Row
	words
	bodies
	Engine string       `json:"engine" example:"handlebars"`
	Draft  *draftRecord `json:"draft"`
}

type draftRecord struct {
	words
	bodies
	UpdatedAt api.Time `json:"updated_at"`
}

func newRecord(d Detail) Record {
	r := Record{Row: newRow(d.Template), words: newWords(d.Version.Source), bodies: newBodies(d.Version.Source), Engine: "handlebars"}
	if d.Draft != nil {
		r.Draft = &draftRecord{newWords(*d.Draft), newBodies(*d.Draft), api.Time(d.Template.DraftAt)}
	}
	return r
}

// SetHeaders tells the latest version in a form that If-Match takes.
func (r Record) SetHeaders(header http.Header) {
	header.Set("ETag", fmt.Sprintf(`"%d"`, r.LatestVersion))
}

// VersionRow is a version in a list, without its html and text.
type VersionRow struct {
	Object     string    `json:"object" example:"template_version"`
	ID         VersionID `json:"id" example:"0193a1f4-0000-7000-8000-000000000413"`
	TemplateID ID        `json:"template_id" example:"0193a1f4-0000-7000-8000-000000000401"`
	Version    int64     `json:"version" example:"3"`
	Active     bool      `json:"active" example:"true"`
	words
	Checksum    string   `json:"checksum" example:"sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"`
	Note        api.Ref  `json:"note" example:"New footer"`
	CreatedBy   api.Ref  `json:"created_by" example:"0193a1e0-2222-7000-8000-000000000501"`
	CreatedAt   api.Time `json:"created_at"`
	ActivatedAt api.Time `json:"activated_at"`
}

func (r VersionRow) place() api.Cursor {
	return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)}
}

func newVersionRow(v Version, active int64) VersionRow {
	return VersionRow{Object: "template_version", ID: v.ID, TemplateID: v.Template, Version: v.Number, Active: v.Number == active,
		words: newWords(v.Source), Checksum: v.Checksum, Note: api.Ref(v.Note), CreatedBy: api.Ref(v.CreatedBy),
		CreatedAt: api.Time(v.CreatedAt), ActivatedAt: api.Time(v.ActivatedAt)}
}

// VersionRecord is a version with all of its source.
type VersionRecord struct {
	VersionRow
	bodies
}

// renderRecord is what a preview answers.
type renderRecord struct {
	Object      string      `json:"object" example:"template_render"`
	TemplateID  api.Ref     `json:"template_id"`
	Version     *int64      `json:"version"`
	Subject     api.Ref     `json:"subject" example:"Hi there"`
	HTML        api.Ref     `json:"html" example:"<p>Hi there</p>"`
	Text        api.Ref     `json:"text" example:"Hi there"`
	PreviewText api.Ref     `json:"preview_text"`
	Used        api.Strings `json:"variables_used" example:"[\"FIRST_NAME\"]"`
	Missing     api.Strings `json:"missing_variables" example:"[]"`
	Unused      api.Strings `json:"unused_variables" example:"[]"`
	Warnings    []Warning   `json:"warnings"`
	SizeBytes   int         `json:"size_bytes" example:"1024"`
}

func newRenderRecord(r Rendered) renderRecord {
	record := renderRecord{Object: "template_render", TemplateID: api.Ref(r.Template), Subject: api.Ref(r.Subject), HTML: api.Ref(r.HTML),
		Text: api.Ref(r.Text), PreviewText: api.Ref(r.PreviewText), Used: r.Used, Missing: r.Missing, Unused: r.Unused, Warnings: r.Warnings, SizeBytes: len(r.HTML)}
	if r.HTML == "" {
		record.SizeBytes = len(r.Text)
	}
	if r.Version != 0 {
		record.Version = &r.Version
	}
	if record.Warnings == nil {
		record.Warnings = []Warning{}
	}
	return record
}
