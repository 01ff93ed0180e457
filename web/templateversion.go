package web

import (
	"net/http"
	"strconv"
	"strings"
)

// templateVersionPage is one version, which never changes, beside the one that is live.
type templateVersionPage struct {
	shell
	Template templateRecord
	Version  templateVersionRecord
	Number   string
	At       moment
	Tab      string
	Tabs     []tab
	Changes  []partDiff
	Facts    []fact
}

// partDiff is what changes in one part of a template.
type partDiff struct {
	Part  string
	Lines []diffLine
}

// sourceDiff compares two sources, part by part. Parts that are equal are left out.
func sourceDiff(before, after templateSource) []partDiff {
	var parts []partDiff
	for _, part := range []struct{ name, before, after string }{
		{"From", before.From, after.From}, {"Subject", before.Subject, after.Subject}, {"Preview text", before.PreviewText, after.PreviewText},
		{"Style sheets are copied to elements", yesNo(before.InlineCSS), yesNo(after.InlineCSS)},
		{"HTML", before.HTML, after.HTML}, {"Text", before.Text, after.Text},
	} {
		if lines := diffLines(part.before, part.after); lines != nil {
			parts = append(parts, partDiff{part.name, lines})
		}
	}
	return parts
}

func yesNo(is bool) string {
	if is {
		return "Yes"
	}
	return "No"
}

func showTemplateVersion(v *visit) error {
	p := templateVersionPage{Tab: v.query("tab")}
	id, number := v.path("id"), v.path("version")
	if err := v.get(apiPath("templates", id), nil, &p.Template); err != nil {
		return err
	}
	if err := v.get(apiPath("templates", id, "versions", number), nil, &p.Version); err != nil {
		return err
	}
	t := p.Template
	name := visible(t.Name)
	p.Number, p.At = v.number(p.Version.Version), v.moment(p.Version.CreatedAt)
	p.shell = v.shell("Version "+p.Number+" of "+name, "templates").under(crumb{"Templates", v.link("templates")}, crumb{name, v.link("templates", t.ID)}).with("templates.css")
	p.shell.Crumbs[2].Label = "Version " + p.Number
	p.Template.Name, p.Version.Note = name, visible(p.Version.Note)
	p.Version.Subject, p.Version.PreviewText = visible(p.Version.Subject), visible(p.Version.PreviewText)
	tabs := []tab{{Name: "", Label: "Source"}, {Name: "rendered", Label: "Rendered"}, {Name: "changes", Label: "Compared with the live version"}}
	if !v.can("template:manage") {
		tabs = []tab{tabs[0], tabs[2]} // only who may change templates may render them
	}
	here := v.link("templates", t.ID, "versions", strconv.FormatInt(p.Version.Version, 10))
	for _, one := range tabs {
		one.Href, one.Current = here, one.Name == p.Tab
		if one.Name != "" {
			one.Href += "?tab=" + one.Name
		}
		p.Tabs = append(p.Tabs, one)
	}
	p.Changes = sourceDiff(t.templateSource, p.Version.templateSource)
	p.Facts = []fact{{Name: "Subject", Value: p.Version.Subject}, {Name: "Preview text", Value: p.Version.PreviewText}}
	return v.show("templates/version", p)
}

// templateReviewPage shows what publishing the draft would change.
type templateReviewPage struct {
	shell
	Template templateRecord
	Next     string
	Changes  []partDiff
	Problem  *problem
}

func (v *visit) templateReviewPage() (templateReviewPage, error) {
	var p templateReviewPage
	if err := v.get(apiPath("templates", v.path("id")), nil, &p.Template); err != nil {
		return p, err
	}
	t := p.Template
	name := visible(t.Name)
	p.Next = v.number(t.LatestVersion + 1)
	p.shell = v.shell("Publish "+name, "templates").under(crumb{"Templates", v.link("templates")}, crumb{name, v.link("templates", t.ID)}).with("templates.css")
	p.shell.Crumbs[2].Label = "Publish"
	p.Template.Name = name
	p.Changes = sourceDiff(t.templateSource, t.latest())
	return p, nil
}

func reviewTemplate(v *visit) error {
	p, err := v.templateReviewPage()
	if err != nil {
		return err
	}
	return v.show("templates/publish", p)
}

// publishTemplate makes a version live: the one that the form names, or a new one from the draft.
func publishTemplate(v *visit) error {
	id := v.path("id")
	body := map[string]any{}
	if number, err := strconv.ParseInt(strings.TrimSpace(v.value("version")), 10, 64); err == nil {
		body["version"] = number
	}
	var now templateRecord
	err := v.send(http.MethodPost, apiPath("templates", id, "publish"), body, &now)
	if refused, ok := err.(*problem); ok && len(body) == 0 && refused.Status != http.StatusNotFound {
		p, err := v.templateReviewPage()
		if err != nil {
			return err
		}
		p.Problem = refused
		return v.showStatus(refused.Status, "templates/publish", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("templates", id), "Version "+v.number(now.ActiveVersion)+" is live.")
}
