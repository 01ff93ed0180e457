package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// templatePage is what there is to know about a template: what became of its mail, its versions, and how to use it.
type templatePage struct {
	shell
	Template templateRecord
	Tiles    []tile
	Versions []templateVersionRow
	Pager    pager
	Snippet  string
	Facts    []fact
	DraftAt  moment
	LastSent moment
	// Asked are the values of a form that was refused.
	Asked   templateSettings
	Problem *problem
}

type templateSettings struct{ Name, Alias, Description string }

type templateVersionRow struct {
	Number, Subject, Note, Href string
	Active                      bool
	At                          moment
	Accepted, Delivered, Opened string
}

type templateVersionRecord struct {
	Version   int64
	Active    bool
	Note      string
	CreatedAt time.Time `json:"created_at"`
	templateSource
}

func showTemplate(v *visit) error {
	p, err := v.templatePage()
	if err != nil {
		return err
	}
	return v.show("templates/detail", p)
}

func (v *visit) templatePage() (templatePage, error) {
	var p templatePage
	id := v.path("id")
	if err := v.get(apiPath("templates", id), nil, &p.Template); err != nil {
		return p, err
	}
	t := p.Template
	p.shell = v.shell(visible(t.Name), "templates").under(crumb{"Templates", v.link("templates")}).with("templates.css")
	p.Template.Name = visible(t.Name)
	p.Asked = templateSettings{t.Name, t.Alias, t.Description}
	if t.Draft != nil {
		p.DraftAt = v.lately(t.Draft.UpdatedAt)
	}
	p.Snippet = v.templateSnippet(t)
	p.Facts = []fact{{Name: "Template ID", Value: t.ID, Code: true, Copy: true}}
	if t.Alias != "" {
		p.Facts = append(p.Facts, fact{Name: "Alias", Value: t.Alias, Code: true, Copy: true})
	}
	if from := t.latest().From; from != "" {
		p.Facts = append(p.Facts, fact{Name: "From", Value: visible(from)})
	}
	p.Facts = append(p.Facts, fact{Name: "Created", Value: v.moment(t.CreatedAt).Text}, fact{Name: "Last edit", Value: v.lately(t.UpdatedAt).Text})
	return p, v.addVersions(&p)
}

// addVersions puts the versions beside what became of their mail.
func (v *visit) addVersions(p *templatePage) error {
	var list struct {
		Total int64
		Data  []templateVersionRecord
	}
	if err := v.get(apiPath("templates", p.Template.ID, "versions"), v.pageQuery(), &list); err != nil {
		return err
	}
	var sent struct {
		Totals     totals
		LastSentAt time.Time `json:"last_sent_at"`
		Versions   []struct {
			Version int64
			Totals  totals
		}
	}
	if err := v.get(apiPath("templates", p.Template.ID, "stats"), v.lastDays(30), &sent); err != nil {
		return err
	}
	p.LastSent = v.lately(sent.LastSentAt)
	all := sent.Totals
	p.Tiles = []tile{
		{State: "", Label: "Accepted", Value: v.number(all.Accepted), Hint: "In the last 30 days"},
		{State: "delivered", Label: "Delivered", Value: v.partOf(all.Delivered, all.Accepted), Hint: v.plural(all.Delivered, "email", "emails")},
		{State: "opened", Label: "Opened", Value: v.partOf(all.UniqueOpened, all.Delivered), Hint: v.plural(all.UniqueOpened, "email", "emails")},
		{State: "clicked", Label: "Clicked", Value: v.partOf(all.UniqueClicked, all.Delivered), Hint: v.plural(all.UniqueClicked, "email", "emails")},
	}
	byVersion := map[int64]totals{}
	for _, one := range sent.Versions {
		byVersion[one.Version] = one.Totals
	}
	for _, one := range list.Data {
		became := byVersion[one.Version]
		p.Versions = append(p.Versions, templateVersionRow{Number: v.number(one.Version), Subject: visible(one.Subject), Note: visible(one.Note), Active: one.Active, At: v.moment(one.CreatedAt),
			Href: v.link("templates", p.Template.ID, "versions", strconv.FormatInt(one.Version, 10)), Accepted: v.number(became.Accepted),
			Delivered: v.partOf(became.Delivered, became.Accepted), Opened: v.partOf(became.UniqueOpened, became.Delivered)})
	}
	p.Pager = v.pager(len(p.Versions), list.Total)
	return nil
}

// partOf writes a part of a whole in percent, or a dash where there is nothing to divide.
func (v *visit) partOf(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return v.percent(float64(part) / float64(whole))
}

// templateSnippet is a request that sends the template and works as it stands.
func (v *visit) templateSnippet(t templateRecord) string {
	source := t.templateSource
	if !t.Live() {
		source = t.latest()
	}
	body := struct {
		From     string `json:"from,omitempty"`
		To       string `json:"to"`
		Template any    `json:"template"`
	}{To: "ada@example.com"}
	if source.From == "" {
		body.From = "hello@example.com"
		if senders, err := v.senders(); err == nil && len(senders) > 0 {
			body.From = "hello@" + senders[0]
		}
	}
	body.Template = struct {
		ID        string         `json:"id"`
		Variables map[string]any `json:"variables"`
	}{t.Handle(), sampleValues(source.Subject, source.PreviewText, source.HTML, source.Text)}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(body); err != nil {
		return ""
	}
	return "curl " + v.dashboard.config.BaseURL + "/v1/emails \\\n  -H \"Authorization: Bearer $POSTRIDER_API_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  -d '" +
		strings.TrimSuffix(text.String(), "\n") + "'"
}

func saveTemplateSettings(v *visit) error {
	id := v.path("id")
	asked := templateSettings{v.value("name"), v.value("alias"), v.value("description")}
	body := map[string]any{"name": asked.Name, "description": asked.Description, "alias": nil}
	if asked.Alias != "" {
		body["alias"] = asked.Alias
	}
	err := v.sendNamed(http.MethodPatch, apiPath("templates", id), body, nil)
	if refused, ok := err.(*problem); ok {
		p, err := v.templatePage()
		if err != nil {
			return err
		}
		p.Asked, p.Problem = asked, refused
		return v.showStatus(refused.Status, "templates/detail", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("templates", id), "Saved.")
}

func duplicateTemplate(v *visit) error {
	var made templateRecord
	if err := v.send(http.MethodPost, apiPath("templates", v.path("id"), "duplicate"), nil, &made); err != nil {
		return err
	}
	return v.redirect(v.link("templates", made.ID), "This is the copy. It has no mail of its own yet.")
}

func archiveTemplate(v *visit) error {
	if err := v.send(http.MethodDelete, apiPath("templates", v.path("id")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("templates"), "Archived. Requests that name it are refused from now on.")
}
