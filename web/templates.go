package web

import (
	"encoding/json"
	"net/http"
	"time"
)

func templatePages() []page {
	return []page{
		{"GET /templates", listTemplates},
		{"GET /templates/new", needing("template:manage", showNewTemplate)}, {"POST /templates/new", createTemplate},
		{"GET /templates/{id}", showTemplate},
		{"POST /templates/{id}/settings", saveTemplateSettings}, {"POST /templates/{id}/duplicate", duplicateTemplate}, {"POST /templates/{id}/archive", archiveTemplate},
		{"GET /templates/{id}/edit", needing("template:manage", editTemplate)}, {"POST /templates/{id}/edit", saveTemplate},
		{"POST /templates/{id}/check", checkTemplate}, {"POST /templates/{id}/frame", showRenderedTemplate}, {"POST /templates/{id}/preview", previewTemplate},
		{"GET /templates/{id}/body", showTemplateBody},
		{"GET /templates/{id}/publish", needing("template:manage", reviewTemplate)}, {"POST /templates/{id}/publish", publishTemplate},
		{"GET /templates/{id}/versions/{version}", showTemplateVersion},
	}
}

// templateRecord is a template as the API tells it, with the source of its live version and its draft.
type templateRecord struct {
	ID, Name, Alias, Description, Status string
	ActiveVersion                        int64     `json:"active_version"`
	LatestVersion                        int64     `json:"latest_version"`
	HasDraft                             bool      `json:"has_draft"`
	CreatedAt                            time.Time `json:"created_at"`
	UpdatedAt                            time.Time `json:"updated_at"`
	templateSource
	Draft *struct {
		templateSource
		UpdatedAt time.Time `json:"updated_at"`
	}
}

// templateSource is what a mail is made from.
type templateSource struct {
	From        string             `json:"from"`
	Subject     string             `json:"subject"`
	ReplyTo     []string           `json:"reply_to"`
	PreviewText string             `json:"preview_text"`
	HTML        string             `json:"html"`
	Text        string             `json:"text"`
	Variables   []templateVariable `json:"variables"`
	InlineCSS   bool               `json:"inline_css"`
}

type templateVariable struct {
	Key      string          `json:"key"`
	Type     string          `json:"type"`
	Fallback json.RawMessage `json:"fallback_value"`
	Required bool            `json:"required"`
}

// Live tells whether mail can be made from the template.
func (t templateRecord) Live() bool { return t.ActiveVersion > 0 }

// Archived tells that it can only be looked at and copied.
func (t templateRecord) Archived() bool { return t.Status == "archived" }

// Handle is what programs call the template by.
func (t templateRecord) Handle() string {
	if t.Alias != "" {
		return t.Alias
	}
	return t.ID
}

// latest is the source that an author goes on with: the draft, or what is live.
func (t templateRecord) latest() templateSource {
	if t.Draft != nil {
		return t.Draft.templateSource
	}
	return t.templateSource
}

// templatesPage is the list of templates.
type templatesPage struct {
	shell
	Rows          []templateRow
	Query, Status string
	Starters      []templateStarter
	Pager         pager
}

type templateRow struct {
	ID, Name, Alias, Status, Live, Href string
	HasDraft                            bool
	Edited                              moment
}

// Filtered tells whether the list shows a choice of all templates.
func (p templatesPage) Filtered() bool { return p.Query != "" || p.Status != "" }

func listTemplates(v *visit) error {
	p := templatesPage{shell: v.shell("Templates", "templates").with("templates.css"), Query: v.query("q"), Status: v.query("status"), Starters: templateStarters[:3]}
	query := v.pageQuery()
	for name, value := range map[string]string{"search": p.Query, "status": p.Status} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var list struct {
		Total int64
		Data  []templateRecord
	}
	if err := v.get("/v1/templates", query, &list); err != nil {
		return err
	}
	for _, t := range list.Data {
		row := templateRow{ID: t.ID, Name: visible(t.Name), Alias: t.Alias, Status: t.Status, HasDraft: t.HasDraft, Href: v.link("templates", t.ID), Edited: v.lately(t.UpdatedAt)}
		if t.Live() {
			row.Live = "Version " + v.number(t.ActiveVersion)
		}
		p.Rows = append(p.Rows, row)
	}
	p.Pager = v.pager(len(p.Rows), list.Total)
	return v.show("templates/list", p)
}

// newTemplatePage asks for a name and what to begin with.
type newTemplatePage struct {
	shell
	Name, Alias, Starter string
	Starters             []templateStarter
	Problem              *problem
}

func (v *visit) newTemplatePage() newTemplatePage {
	return newTemplatePage{shell: v.shell("New template", "templates").under(crumb{"Templates", v.link("templates")}).with("templates.css"), Starters: templateStarters}
}

func showNewTemplate(v *visit) error {
	p := v.newTemplatePage()
	p.Starter = templateStarterOf(v.query("starter")).Name
	return v.show("templates/new", p)
}

// createTemplate makes a template that nobody can send yet: its author looks at it in the editor first.
func createTemplate(v *visit) error {
	p := v.newTemplatePage()
	p.Name, p.Alias, p.Starter = v.value("name"), v.value("alias"), v.value("starter")
	chosen := templateStarterOf(p.Starter)
	source, err := chosen.source()
	if err != nil {
		return err
	}
	name := p.Name
	if name == "" && v.checked("quick") {
		name = chosen.Label
	}
	body := map[string]any{"name": name, "draft": true, "subject": source.Subject, "preview_text": source.PreviewText, "html": source.HTML, "text": source.Text}
	if p.Alias != "" {
		body["alias"] = p.Alias
	}
	var made templateRecord
	err = v.send(http.MethodPost, "/v1/templates", body, &made)
	if refused, ok := err.(*problem); ok {
		p.Problem = refused
		return v.showStatus(refused.Status, "templates/new", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("templates", made.ID, "edit"), "Created. Nothing is sent from it until you publish it.")
}

// lately writes how long ago something is, without counting the seconds.
func (v *visit) lately(at time.Time) moment {
	m := v.ago(at)
	if m.Known() && v.now.Sub(at) < time.Minute {
		m.Text = "just now"
	}
	return m
}
