package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"postrider/web/internal/tree"
)

// runRecord is a run as the API tells of it.
type runRecord struct {
	ID          string     `json:"id"`
	Version     int64      `json:"version"`
	Status      string     `json:"status"`
	Test        bool       `json:"test"`
	ContactID   *string    `json:"contact_id"`
	Email       *string    `json:"email"`
	CurrentStep *string    `json:"current_step"`
	ResumeAt    *time.Time `json:"resume_at"`
	StartedAt   time.Time  `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	Trigger     struct {
		Type      string `json:"type"`
		EventName string `json:"event_name"`
	} `json:"trigger"`
	Payload json.RawMessage `json:"payload"`
	Error   *struct{ Step, Code, Message string }
	Steps   []runStep `json:"steps"`
}

type runStep struct {
	Key         string          `json:"key"`
	Type        string          `json:"type"`
	Status      string          `json:"status"`
	Output      json.RawMessage `json:"output"`
	Error       *string         `json:"error"`
	StartedAt   *time.Time      `json:"started_at"`
	CompletedAt *time.Time      `json:"completed_at"`
}

func who(r runRecord) string {
	if r.Email != nil && *r.Email != "" {
		return visible(*r.Email)
	}
	return "No contact"
}

func versionName(number int64) string {
	if number == 0 {
		return "Draft"
	}
	return fmt.Sprint(number)
}

// runPage is one run, drawn on the tree of its version.
type runPage struct {
	automationHead
	Run   runRecord
	Who   string
	Tree  *tree.Tree
	Taken []takenStep
	Facts []fact
	Event string
	At    moment
}

// takenStep is what became of a step in a run.
type takenStep struct {
	Key, Title, Label, Icon, Status, Note, Took, Output string
	Email                                               string
	At                                                  moment
}

func showRun(v *visit) error {
	var r runRecord
	if err := v.get(apiPath("automations", v.path("id"), "runs", v.path("run")), nil, &r); err != nil {
		return err
	}
	version := "draft"
	if r.Version > 0 {
		version = fmt.Sprint(r.Version)
	}
	a, err := v.automation(version)
	if err != nil {
		return err
	}
	f, err := v.newFlow()
	if err != nil {
		return err
	}
	p := runPage{automationHead: v.automationHead(a, "runs"), Run: r, Who: who(r), Event: eventTitle(r.Trigger.EventName), At: v.moment(r.StartedAt)}
	p.shell = v.shell(p.Who, "automations").with("flow.css", "ask.css", "flow.js").under(crumb{"Automations", v.link("automations")}, crumb{visible(a.Name), v.link("automations", a.ID)}, crumb{"Runs", v.link("automations", a.ID, "runs")})
	f.taken = map[string]takenStep{}
	for _, s := range r.Steps {
		t := v.takenStep(f, a, r, s)
		p.Taken = append(p.Taken, t)
		f.taken[s.Key] = t
	}
	p.Tree = f.grow(a.Definition).Fixed()
	p.Facts = v.runFacts(r)
	return v.show("automations/run", p)
}

func (v *visit) takenStep(f *flow, a automationRecord, r runRecord, s runStep) takenStep {
	t := takenStep{Key: s.Key, Title: s.Key, Label: words(s.Type), Icon: flowLooks[s.Type][0], Status: s.Status}
	for i, step := range a.Steps {
		if step.Key == s.Key {
			face := f.face(step, i)
			t.Title, t.Label = face.Title, face.Label
		}
	}
	if t.Icon == "" {
		t.Icon = "circle-dot"
	}
	if s.StartedAt != nil {
		t.At = v.exact(*s.StartedAt)
		if s.CompletedAt != nil && !r.Test {
			t.Took = duration(s.CompletedAt.Sub(*s.StartedAt))
		}
	}
	if s.Error != nil {
		t.Note = visible(*s.Error)
	} else if s.Status == "waiting" && r.ResumeAt != nil {
		t.Note = "goes on " + v.ago(*r.ResumeAt).Text
	}
	output := configOf(s.Output)
	t.Email = textOf(output["email_id"])
	if t.Note == "" {
		t.Note = outcome(output)
	}
	if delete(output, "dry_run"); len(output) > 0 {
		if raw, err := json.Marshal(output); err == nil {
			t.Output = indented(raw)
		}
	}
	return t
}

// outcome says in a word or two what a step led to.
func outcome(output map[string]any) string {
	switch {
	case output["met"] == true:
		return "Yes"
	case output["met"] == false:
		return "No"
	case output["branch"] != nil:
		return "Branch " + textOf(output["branch"])
	case output["status"] != nil:
		return "HTTP " + textOf(output["status"])
	case output["reason"] != nil:
		return words(textOf(output["reason"]))
	case output["problem"] != nil:
		return textOf(output["problem"])
	}
	return ""
}

func (v *visit) runFacts(r runRecord) []fact {
	facts := []fact{{Name: "Run ID", Value: r.ID, Code: true, Copy: true}, {Name: "Version", Value: versionName(r.Version)}}
	if r.ContactID != nil {
		facts = append(facts, fact{Name: "Contact", Value: who(r), Href: v.link("audience", "contacts", *r.ContactID)})
	}
	if r.CompletedAt != nil && !r.Test {
		facts = append(facts, fact{Name: "Took", Value: duration(r.CompletedAt.Sub(r.StartedAt))})
	}
	if r.ResumeAt != nil && r.Status == "running" {
		facts = append(facts, fact{Name: "Goes on", Value: v.ago(*r.ResumeAt).Text})
	}
	if text := string(r.Payload); text != "" && text != "{}" && text != "null" {
		facts = append(facts, fact{Name: "Event says", Value: text, Code: true})
	}
	return facts
}

func stopRun(v *visit) error {
	id, run := v.path("id"), v.path("run")
	if err := v.send(http.MethodPost, apiPath("automations", id, "stop"), map[string]string{"run_id": run}, nil); err != nil {
		return err
	}
	return v.redirect(v.link("automations", id, "runs", run), "The run is stopped. Nothing more happens in it.")
}
