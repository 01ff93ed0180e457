package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// tryPage lets somebody try an automation: with sample data, without touching anything, or for one contact in earnest.
type tryPage struct {
	automationHead
	Email, Payload, DeliverTo string
	SkipDelays                bool
	RunEmail, RunPayload      string
	// Runnable tells that runs can begin: it is published and enabled.
	Runnable bool
	RunWrong *problem
}

func (v *visit) newTryPage() (tryPage, error) {
	a, err := v.automation("draft")
	if err != nil {
		return tryPage{}, err
	}
	p := tryPage{automationHead: v.automationHead(a, "try"), Email: "ann@example.net", Payload: "{}", RunPayload: "{}", SkipDelays: true, Runnable: a.Status == "enabled" && a.Published != nil}
	if len(a.Triggers) == 0 || strings.HasPrefix(a.Triggers[0].EventName, "system:") || a.Triggers[0].EventName == "" {
		return p, nil
	}
	var event struct {
		Sample json.RawMessage `json:"sample_payload"`
	}
	err = v.get(apiPath("events", a.Triggers[0].EventName), nil, &event)
	if isRefused(err, "not_found") {
		err = nil
	}
	if text := string(event.Sample); text != "" && text != "null" {
		p.Payload, p.RunPayload = indented(event.Sample), indented(event.Sample)
	}
	return p, err
}

func showTry(v *visit) error {
	p, err := v.newTryPage()
	if err != nil {
		return err
	}
	p.Email = cmp.Or(v.query("email"), p.Email)
	return v.show("automations/try", p)
}

// payload reads what an event says from a form.
func (v *visit) payload(name string) (json.RawMessage, *problem) {
	text := strings.TrimSpace(v.value(name))
	if text == "" {
		return json.RawMessage("{}"), nil
	}
	parsed, err := parseJSON(text)
	if _, isObject := parsed.(map[string]any); err != nil || !isObject {
		return nil, &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "What the event says could not be read.",
			Fields: map[string]string{"payload": "Must be an object in JSON, such as {\"plan\": \"pro\"}."}}
	}
	return json.RawMessage(text), nil
}

func testAutomation(v *visit) error {
	p, err := v.newTryPage()
	if err != nil {
		return err
	}
	p.Email, p.Payload, p.DeliverTo, p.SkipDelays = v.value("email"), v.value("payload"), v.value("deliver_to"), v.checked("skip_delays")
	said, wrong := v.payload("payload")
	var run struct{ ID string }
	if wrong == nil {
		body := map[string]any{"payload": said, "version": "draft", "skip_delays": p.SkipDelays}
		for name, value := range map[string]string{"email": p.Email, "deliver_to": p.DeliverTo} {
			if value != "" {
				body[name] = value
			}
		}
		err = v.send(http.MethodPost, apiPath("automations", p.Automation.ID, "test"), body, &run)
		wrong = refusal(err)
	}
	if wrong != nil && hasStepProblem(wrong) {
		return v.showBuilder(wrong.Status, p.Automation, wrong)
	}
	if p.Problem = wrong; wrong != nil {
		return v.showStatus(wrong.Status, "automations/try", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("automations", p.Automation.ID, "runs", run.ID), "Tested. Nothing was changed; this is what would happen.")
}

// checkAutomation has the draft checked as it is when it is published. A test run begins with that, and touches nothing.
func checkAutomation(v *visit) error {
	a, err := v.automation("draft")
	if err != nil {
		return err
	}
	err = v.send(http.MethodPost, apiPath("automations", a.ID, "test"), map[string]string{"version": "draft"}, nil)
	if wrong := refusal(err); wrong != nil {
		return v.showBuilder(wrong.Status, a, wrong)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("automations", a.ID), "Nothing is wrong with it. A test run went through all steps.")
}

// hasStepProblem tells whether something is wrong with a step, so that the builder shows it best.
func hasStepProblem(wrong *problem) bool {
	for field := range wrong.Fields {
		if strings.HasPrefix(field, "steps") || strings.HasPrefix(field, "connections") {
			return true
		}
	}
	return false
}

func runAutomation(v *visit) error {
	p, err := v.newTryPage()
	if err != nil {
		return err
	}
	p.RunEmail, p.RunPayload = v.value("email"), v.value("payload")
	said, wrong := v.payload("payload")
	var run struct{ ID string }
	if wrong == nil {
		body := map[string]any{"payload": said}
		if p.RunEmail != "" {
			body["email"] = p.RunEmail
		}
		err = v.send(http.MethodPost, apiPath("automations", p.Automation.ID, "run"), body, &run)
		wrong = refusal(err)
	}
	if p.RunWrong = wrong; wrong != nil {
		return v.showStatus(wrong.Status, "automations/try", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("automations", p.Automation.ID, "runs", run.ID), "Begun. What happens appears below.")
}
