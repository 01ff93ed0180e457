package web

import (
	"fmt"
	"net/http"
	"time"

	"postrider/web/internal/tree"
)

// versionsPage lists what was published.
type versionsPage struct {
	automationHead
	Rows  []versionRow
	Pager pager
}

type versionRow struct {
	Number, Note, Steps, Runs, Href, Back string
	Active                                bool
	At                                    moment
}

type versionRecord struct {
	Version    int64     `json:"version"`
	Active     bool      `json:"active"`
	Note       *string   `json:"note"`
	RolledBack *int64    `json:"rolled_back_from"`
	RunCount   int64     `json:"run_count"`
	CreatedAt  time.Time `json:"created_at"`
	tree.Definition
}

func listVersions(v *visit) error {
	a, err := v.automation("draft")
	if err != nil {
		return err
	}
	p := versionsPage{automationHead: v.automationHead(a, "versions")}
	var list listOf[versionRecord]
	if err := v.get(apiPath("automations", a.ID, "versions"), v.pageQuery(), &list); err != nil {
		return err
	}
	for _, r := range list.Data {
		row := versionRow{Number: fmt.Sprint(r.Version), Steps: v.plural(int64(len(r.Steps)), "step", "steps"), Runs: v.number(r.RunCount), Active: r.Active, At: v.moment(r.CreatedAt),
			Href: v.link("automations", a.ID, "versions", fmt.Sprint(r.Version)), Back: v.link("automations", a.ID, "versions", fmt.Sprint(r.Version), "rollback")}
		if r.Note != nil {
			row.Note = visible(*r.Note)
		}
		if r.RolledBack != nil {
			row.Note = fmt.Sprintf("Version %d again", *r.RolledBack)
		}
		p.Rows = append(p.Rows, row)
	}
	p.Pager = beside(v, list)
	return v.show("automations/versions", p)
}

// versionPage is a version drawn as it was published.
type versionPage struct {
	automationHead
	Number     string
	Active     bool
	Tree       *tree.Tree
	Definition string
}

func showVersion(v *visit) error {
	a, err := v.automation(v.path("version"))
	if err != nil {
		return err
	}
	f, err := v.newFlow()
	if err != nil {
		return err
	}
	p := versionPage{automationHead: v.automationHead(a, "versions"), Number: v.path("version"), Definition: definitionText(a.Definition)}
	p.Active = p.Number == p.Version
	p.shell = v.shell("Version "+p.Number, "automations").with("flow.css", "flow.js").under(crumb{"Automations", v.link("automations")}, crumb{visible(a.Name), v.link("automations", a.ID)},
		crumb{"Versions", v.link("automations", a.ID, "versions")})
	p.Tree = f.grow(a.Definition).Fixed()
	return v.show("automations/version", p)
}

func rollBack(v *visit) error {
	id, number := v.path("id"), v.path("version")
	if err := v.send(http.MethodPost, apiPath("automations", id, "versions", number, "rollback"), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("automations", id, "versions"), "Version "+number+" is live again, as a new version.")
}

// automationSettingsPage names an automation, copies it and puts it away.
type automationSettingsPage struct {
	automationHead
	Name, Description string
	Facts             []fact
}

func showAutomationSettings(v *visit) error {
	a, err := v.automation("draft")
	if err != nil {
		return err
	}
	p := automationSettingsPage{automationHead: v.automationHead(a, "settings"), Name: a.Name, Facts: []fact{{Name: "Automation ID", Value: a.ID, Code: true, Copy: true}}}
	if a.Description != nil {
		p.Description = *a.Description
	}
	return v.show("automations/settings", p)
}

func saveAutomationSettings(v *visit) error {
	a, err := v.automation("draft")
	if err != nil {
		return err
	}
	p := automationSettingsPage{automationHead: v.automationHead(a, "settings"), Name: v.value("name"), Description: v.value("description"), Facts: []fact{{Name: "Automation ID", Value: a.ID, Code: true, Copy: true}}}
	if p.Name == "" {
		p.Problem = &problem{Status: http.StatusBadRequest, Message: "Give the automation a name.", Fields: map[string]string{"name": "A name is required."}}
		return v.showStatus(p.Problem.Status, "automations/settings", p)
	}
	err = v.send(http.MethodPatch, apiPath("automations", a.ID), map[string]string{"name": p.Name, "description": p.Description}, nil)
	if p.Problem = refusal(err); p.Problem != nil {
		return v.showStatus(p.Problem.Status, "automations/settings", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("automations", a.ID, "settings"), "Saved.")
}

func duplicateAutomation(v *visit) error {
	var copied struct{ ID string }
	if err := v.send(http.MethodPost, apiPath("automations", v.path("id"), "duplicate"), nil, &copied); err != nil {
		return err
	}
	return v.redirect(v.link("automations", copied.ID), "This is the copy. It is disabled until you publish it.")
}

func stopAutomation(v *visit) error {
	id := v.path("id")
	var stopped struct {
		Runs int64 `json:"stopped_runs"`
	}
	if err := v.send(http.MethodPost, apiPath("automations", id, "stop"), nil, &stopped); err != nil {
		return err
	}
	return v.redirect(v.link("automations", id), "Disabled, and "+v.plural(stopped.Runs, "run", "runs")+" stopped.")
}

func archiveAutomation(v *visit) error {
	if err := v.send(http.MethodDelete, apiPath("automations", v.path("id")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("automations"), "Archived. Its runs are stopped; you find it under the status Archived.")
}
