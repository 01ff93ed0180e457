package web

import "strings"

// runsPage is the list of the runs of an automation.
type runsPage struct {
	automationHead
	Rows    []runRow
	Pager   pager
	States  []choice
	Times   []choice
	Contact string
	Missing bool
}

// Filtered tells whether the list shows a choice of all runs.
func (p runsPage) Filtered() bool {
	return p.Contact != "" || !p.States[0].Chosen || !p.Times[0].Chosen
}

type runRow struct {
	ID, Who, Status, Where, Version, Took, Href string
	Test                                        bool
	At                                          moment
}

func listRuns(v *visit) error {
	a, err := v.automation("draft")
	if err != nil {
		return err
	}
	f, err := v.newFlow()
	if err != nil {
		return err
	}
	p := runsPage{automationHead: v.automationHead(a, "runs"), Contact: strings.TrimSpace(v.query("contact")), Times: spans(v.query("since"))}
	p.States = choices(v.query("status"), "", "Every status", "running", "Running", "completed", "Completed", "failed", "Failed", "cancelled", "Cancelled")
	contact, err := v.contactID(p.Contact)
	if err != nil {
		return err
	}
	p.Missing = p.Contact != "" && contact == ""
	if !p.Missing {
		var list listOf[runRecord]
		query := add(v.pageQuery(), map[string]string{"status": v.query("status"), "contact_id": contact, "since": v.sinceOf(v.query("since"))})
		if err := v.get(apiPath("automations", a.ID, "runs"), query, &list); err != nil {
			return err
		}
		for _, r := range list.Data {
			p.Rows = append(p.Rows, v.runRow(f, a, r))
		}
		p.Pager = beside(v, list)
	}
	return v.show("automations/runs", p)
}

// contactID finds a contact by its id or address; empty if there is none.
func (v *visit) contactID(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	var found struct{ ID string }
	err := v.get(apiPath("contacts", text), nil, &found)
	if isRefused(err, "not_found", "contact_not_found", "validation_error") {
		return "", nil
	}
	return found.ID, err
}

func (v *visit) runRow(f *flow, a automationRecord, r runRecord) runRow {
	row := runRow{ID: r.ID, Who: who(r), Status: r.Status, Version: versionName(r.Version), Test: r.Test, Href: v.link("automations", a.ID, "runs", r.ID), At: v.moment(r.StartedAt)}
	if r.CompletedAt != nil {
		row.Took = duration(r.CompletedAt.Sub(r.StartedAt))
	}
	if r.CurrentStep != nil && r.Status == "running" {
		row.Where = *r.CurrentStep
		for i, s := range a.Steps {
			if s.Key == *r.CurrentStep {
				row.Where = f.face(s, i).Title
			}
		}
	}
	if r.Error != nil {
		row.Where = visible(r.Error.Message)
	}
	return row
}
