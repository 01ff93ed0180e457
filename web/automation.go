package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"postrider/web/internal/tree"
)

func automationPages() []page {
	return []page{
		{"GET /automations", listAutomations},
		{"GET /automations/new", needing("automation:manage", showNewAutomation)}, {"POST /automations/new", createAutomation},
		{"GET /automations/{id}", showBuilder}, {"POST /automations/{id}", lookAgain},
		{"POST /automations/{id}/draft", saveDraft}, {"POST /automations/{id}/add", addStep},
		{"POST /automations/{id}/step", changeStep}, {"POST /automations/{id}/remove", removeStep},
		{"POST /automations/{id}/publish", publishAutomation}, {"POST /automations/{id}/status", switchAutomation},
		{"POST /automations/{id}/check", checkAutomation},
		{"GET /automations/{id}/try", showTry}, {"POST /automations/{id}/test", testAutomation}, {"POST /automations/{id}/run", runAutomation},
		{"GET /automations/{id}/runs", listRuns}, {"GET /automations/{id}/runs/{run}", showRun}, {"POST /automations/{id}/runs/{run}/stop", stopRun},
		{"GET /automations/{id}/versions", listVersions}, {"GET /automations/{id}/versions/{version}", showVersion},
		{"POST /automations/{id}/versions/{version}/rollback", rollBack},
		{"GET /automations/{id}/settings", showAutomationSettings}, {"POST /automations/{id}/settings", saveAutomationSettings},
		{"POST /automations/{id}/duplicate", duplicateAutomation}, {"POST /automations/{id}/stop", stopAutomation},
		{"POST /automations/{id}/archive", archiveAutomation},
	}
}

// automationRecord is an automation as the API tells of it.
type automationRecord struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Description *string `json:"description"`
	Status      string  `json:"status"`
	Published   *int64  `json:"published_version"`
	Draft       *int64  `json:"draft_version"`
	Changed     bool    `json:"has_unpublished_changes"`
	Triggers    []struct {
		EventName string `json:"event_name"`
	} `json:"triggers"`
	Stats struct {
		Total     int64 `json:"runs_total"`
		Running   int64 `json:"running"`
		Completed int64 `json:"completed"`
		Failed    int64 `json:"failed"`
	} `json:"stats"`
	UpdatedAt time.Time `json:"updated_at"`
	tree.Definition
}

// State is how an automation that was never published is told from one that was switched off.
func (a automationRecord) State() string {
	if a.Status == "disabled" && a.Published == nil {
		return "draft"
	}
	return a.Status
}

// Archived tells that nothing about it can change any more.
func (a automationRecord) Archived() bool { return a.Status == "archived" }

// automationsPage is the list of automations, newest first.
type automationsPage struct {
	shell
	Tabs     []tab
	Tiles    []tile
	Rows     []automationRow
	Pager    pager
	Query    string
	States   []choice
	Starters []starter
	Filtered bool
}

type automationRow struct {
	Name, State, Trigger, Href           string
	Inside, Finished, Failed, FailedHref string
	Changed                              bool
	UpdatedAt                            moment
}

// automationTabs lead between the areas around automations.
func (v *visit) automationTabs(current string) []tab {
	tabs := []tab{{Name: "", Label: "Automations", Href: v.link("automations")}, {Name: "events", Label: "Events", Href: v.link("events")},
		{Name: "credentials", Label: "Credentials", Href: v.link("credentials")}}
	for i := range tabs {
		tabs[i].Current = tabs[i].Name == current
	}
	return tabs
}

func listAutomations(v *visit) error {
	p := automationsPage{shell: v.shell("Automations", "automations").with("flow.css"), Tabs: v.automationTabs(""), Query: v.query("q"), Starters: starters}
	state := v.query("status")
	p.States = choices(state, "", "All but archived", "enabled", "Enabled", "disabled", "Disabled", "archived", "Archived")
	p.Filtered = p.Query != "" || state != ""
	var list listOf[automationRecord]
	if err := v.get("/v1/automations", add(v.pageQuery(), map[string]string{"search": p.Query, "status": state}), &list); err != nil {
		return err
	}
	var summary struct {
		Enabled int64 `json:"enabled"`
		Total   int64 `json:"total"`
		Runs    struct {
			Running   int64 `json:"running"`
			Completed int64 `json:"completed_24h"`
			Failed    int64 `json:"failed_24h"`
		} `json:"runs"`
	}
	if err := v.get("/v1/automations/summary", nil, &summary); err != nil {
		return err
	}
	if summary.Total > 0 {
		p.Tiles = []tile{{"", "Enabled", v.number(summary.Enabled), "of " + v.plural(summary.Total, "automation", "automations"), v.link("automations") + "?status=enabled"},
			{"", "Inside now", v.number(summary.Runs.Running), "contacts on their way", ""}, {"", "Finished", v.number(summary.Runs.Completed), "in the last 24 hours", ""},
			{failedState(summary.Runs.Failed), "Failed", v.number(summary.Runs.Failed), "in the last 24 hours", ""}}
	}
	for _, a := range list.Data {
		p.Rows = append(p.Rows, v.automationRow(a))
	}
	p.Pager = beside(v, list)
	return v.show("automations/list", p)
}

// failedState colours a number of failures, if there are any.
func failedState(failures int64) string {
	if failures > 0 {
		return "failed"
	}
	return ""
}

func (v *visit) automationRow(a automationRecord) automationRow {
	row := automationRow{Name: visible(a.Name), State: a.State(), Href: v.link("automations", a.ID), Changed: a.Changed && a.Published != nil,
		Inside: v.number(a.Stats.Running), Finished: v.number(a.Stats.Completed), UpdatedAt: v.moment(a.UpdatedAt)}
	if a.Stats.Failed > 0 {
		row.Failed, row.FailedHref = v.number(a.Stats.Failed), v.link("automations", a.ID, "runs")+"?status=failed"
	}
	var names []string
	for _, t := range a.Triggers {
		names = append(names, eventTitle(t.EventName))
	}
	row.Trigger = visible(strings.Join(names, ", "))
	return row
}

// newAutomationPage begins an automation.
type newAutomationPage struct {
	shell
	Name, Starter string
	Starters      []starter
	Problem       *problem
}

func showNewAutomation(v *visit) error {
	p := newAutomationPage{shell: v.newAutomationShell(), Starters: starters, Starter: v.query("starter")}
	return v.show("automations/new", p)
}

func (v *visit) newAutomationShell() shell {
	return v.shell("New automation", "automations").with("flow.css").under(crumb{"Automations", v.link("automations")})
}

func createAutomation(v *visit) error {
	p := newAutomationPage{shell: v.newAutomationShell(), Starters: starters, Name: v.value("name"), Starter: v.value("starter")}
	chosen := starterOf(p.Starter)
	if p.Name == "" && v.value("quick") != "" {
		p.Name = chosen.Name
	}
	from, err := v.sender()
	if err != nil {
		return err
	}
	made := chosen.definition(from)
	var created struct{ ID string }
	err = v.send(http.MethodPost, "/v1/automations", map[string]any{"name": p.Name, "description": chosen.Text, "steps": made.Steps, "connections": made.Connections}, &created)
	if p.Problem = refusal(err); p.Problem != nil {
		return v.showStatus(p.Problem.Status, "automations/new", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("automations", created.ID), "Created as a draft. Nothing runs before you publish it.")
}

// sender is an address that mail of a new automation can come from.
func (v *visit) sender() (string, error) {
	if !v.can("domain:read") {
		return "hello@example.com", nil
	}
	names, err := v.senders()
	if err != nil || len(names) == 0 {
		return "hello@example.com", err
	}
	return "hello@" + names[0], nil
}

// definitionText writes steps for people who edit them as text: the steps first, each with its name first, as the API has them.
func definitionText(d tree.Definition) string {
	if d.Steps == nil {
		d.Steps = []tree.Step{}
	}
	if d.Connections == nil {
		d.Connections = []tree.Connection{}
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(d) != nil {
		return ""
	}
	return strings.TrimSuffix(text.String(), "\n")
}
