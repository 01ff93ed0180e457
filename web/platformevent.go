package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

func platformEventPages() []page {
	return []page{
		{"GET /events", listPlatformEvents},
		{"GET /events/new", needing("automation:manage", showNewPlatformEvent)}, {"POST /events/new", createPlatformEvent},
		{"GET /events/{id}", showPlatformEvent}, {"POST /events/{id}", savePlatformEvent},
		{"POST /events/{id}/send", sendPlatformEvent}, {"POST /events/{id}/delete", deletePlatformEvent},
	}
}

// platformEvent is an event that the customer sends, as the API tells of it.
type platformEvent struct {
	ID            string            `json:"id"`
	Name          string            `json:"name"`
	Description   *string           `json:"description"`
	Schema        map[string]string `json:"schema"`
	Sample        json.RawMessage   `json:"sample_payload"`
	SendCount     int64             `json:"send_count"`
	LastSentAt    *time.Time        `json:"last_sent_at"`
	AutomationIDs []string          `json:"automation_ids"`
}

// platformEventsPage lists the events that start automations.
type platformEventsPage struct {
	shell
	Tabs     []tab
	Rows     []platformEventRow
	Pager    pager
	Query    string
	Snippet  string
	Filtered bool
}

type platformEventRow struct {
	Name, Says, Starts, Sent, Href string
	LastSentAt                     moment
}

func listPlatformEvents(v *visit) error {
	p := platformEventsPage{shell: v.shell("Events", "automations").with("build.css").under(crumb{"Automations", v.link("automations")}), Tabs: v.automationTabs("events"), Query: v.query("q"),
		Snippet: v.eventSnippet("user.signed_up", json.RawMessage(`{"plan":"pro"}`))}
	p.Filtered = p.Query != ""
	var list listOf[platformEvent]
	if err := v.get("/v1/events", add(v.pageQuery(), map[string]string{"search": p.Query}), &list); err != nil {
		return err
	}
	for _, e := range list.Data {
		row := platformEventRow{Name: visible(e.Name), Says: orElse(visible(strings.Join(sortedKeys(e.Schema), ", ")), "Anything"), Starts: v.plural(int64(len(e.AutomationIDs)), "automation", "automations"),
			Sent: v.number(e.SendCount), Href: v.link("events", e.ID)}
		if e.LastSentAt != nil {
			row.LastSentAt = v.ago(*e.LastSentAt)
		}
		p.Rows = append(p.Rows, row)
	}
	p.Pager = beside(v, list)
	return v.show("events/list", p)
}

// eventSnippet is how an event is sent from a program.
func (v *visit) eventSnippet(name string, sample json.RawMessage) string {
	if len(sample) == 0 || string(sample) == "null" {
		sample = json.RawMessage(`{}`)
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return ""
	}
	return "curl " + v.dashboard.config.BaseURL + "/v1/events/send \\\n  -H \"Authorization: Bearer $POSTRIDER_API_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{\"event\": " + string(quoted) +
		", \"email\": \"ann@example.net\", \"payload\": " + strings.ReplaceAll(string(sample), "'", `'\''`) + "}'"
}

// platformEventForm is what can be said about an event: what it says, each with its type.
type platformEventForm struct {
	Name, Description, Sample string
	Fields                    []platformField
	Problem                   *problem
}

type platformField struct {
	Key, Label string
	Types      []choice
}

// schemaFields are the lines of the form about what an event says, with some empty ones to add more.
func schemaFields(schema map[string]string) []platformField {
	var all []platformField
	add := func(key, kind string) {
		all = append(all, platformField{key, fmt.Sprint(len(all) + 1), choices(kind, "string", "Text", "number", "Number", "boolean", "Yes or no", "date", "Date")})
	}
	for _, key := range sortedKeys(schema) {
		add(key, schema[key])
	}
	for range 3 {
		add("", "string")
	}
	return all
}

// readSchema reads those lines; nil means that the event may say anything.
func (v *visit) readSchema() map[string]string {
	keys, kinds := v.form["key"], v.form["kind"]
	var schema map[string]string
	for i, key := range keys {
		if key = strings.TrimSpace(key); key == "" || i >= len(kinds) {
			continue
		}
		if schema == nil {
			schema = map[string]string{}
		}
		schema[key] = kinds[i]
	}
	return schema
}

// eventBody writes the form for the API.
func (v *visit) eventBody() (map[string]any, *problem) {
	sample, wrong := v.payload("sample_payload")
	body := map[string]any{"description": v.value("description"), "schema": v.readSchema()}
	if wrong != nil {
		wrong.Message, wrong.Fields = "The event is not saved yet.", map[string]string{"sample_payload": wrong.Fields["payload"]}
		return body, wrong
	}
	if body["sample_payload"] = nil; strings.TrimSpace(v.value("sample_payload")) != "" {
		body["sample_payload"] = sample
	}
	return body, nil
}

// newPlatformEventPage defines an event.
type newPlatformEventPage struct {
	shell
	platformEventForm
}

func (v *visit) newPlatformEventPage(f platformEventForm) newPlatformEventPage {
	return newPlatformEventPage{v.shell("Define event", "automations").with("flow.css").under(crumb{"Events", v.link("events")}), f}
}

func showNewPlatformEvent(v *visit) error {
	return v.show("events/new", v.newPlatformEventPage(platformEventForm{Fields: schemaFields(nil), Name: v.query("name")}))
}

func createPlatformEvent(v *visit) error {
	f := platformEventForm{Name: v.value("name"), Description: v.value("description"), Sample: v.value("sample_payload"), Fields: schemaFields(v.readSchema())}
	body, wrong := v.eventBody()
	var created struct{ ID string }
	var err error
	if wrong == nil {
		body["name"] = f.Name
		err = v.send(http.MethodPost, "/v1/events", body, &created)
		wrong = refusal(err)
	}
	if f.Problem = wrong; wrong != nil {
		return v.showStatus(wrong.Status, "events/new", v.newPlatformEventPage(f))
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("events", created.ID), "Defined. Send it from your program, or from here.")
}
