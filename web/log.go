package web

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// logPage is one entry with everything that is kept of it.
type logPage struct {
	shell
	Entry             logRecord
	State             badge
	At                moment
	Facts             []fact
	Request, Response string
	Curl              string
	// Mail is the page of the email that the entry is about.
	Mail string
	Tape []happening
	// Code, Said and Wrong are the error that a request was answered with.
	Code, Said string
	Wrong      []string
}

type logDetail struct {
	logRecord
	RequestBody  json.RawMessage `json:"request_body"`
	ResponseBody json.RawMessage `json:"response_body"`
	Events       []struct {
		Type, Recipient, Message string
		OccurredAt               time.Time `json:"occurred_at"`
		Data                     json.RawMessage
	}
}

func showLog(v *visit) error {
	var e logDetail
	if err := v.get(apiPath("logs", v.path("id")), nil, &e); err != nil {
		return err
	}
	title := visible(messageOf(e.logRecord))
	p := logPage{shell: v.shell(title, "logs").under(crumb{"Logs", v.link("logs")}).with("build.css"), Entry: e.logRecord, State: outcomeOf(e.logRecord), At: v.exact(e.CreatedAt),
		Facts: v.logFacts(e.logRecord), Request: bodyText(e.RequestBody), Response: bodyText(e.ResponseBody), Mail: v.mailOf(e.logRecord)}
	p.Entry.Message = visible(e.Message)
	for i, name := range p.Entry.Ignored {
		p.Entry.Ignored[i] = visible(name)
	}
	if e.Kind == "api_request" {
		p.Curl = v.curlOf(e)
	}
	p.Code, p.Said, p.Wrong = errorIn(e.ResponseBody)
	for _, event := range e.Events {
		state := strings.TrimPrefix(event.Type, "email.")
		if _, known := states[state]; !known {
			state = "info"
		}
		p.Tape = append(p.Tape, happening{State: state, Title: words(event.Type), Text: visible(event.Message), Recipient: visible(event.Recipient), At: v.exact(event.OccurredAt)})
	}
	return v.show("logs/detail", p)
}

// bodyText writes a body that was kept; empty if none was.
func bodyText(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	return indented(raw)
}

// errorIn reads the error that a request was answered with.
func errorIn(raw json.RawMessage) (code, message string, fields []string) {
	got := &answer{}
	got.body.Write(raw)
	said := got.problem()
	if said.Code == "internal_error" {
		return "", "", nil
	}
	return said.Code, said.Message, said.Others()
}

// mailOf is the page of the email that an entry is about, which is another for mail that came in; empty if it is about none.
func (v *visit) mailOf(e logRecord) string {
	switch {
	case e.EmailID == "":
		return ""
	case e.Kind == "inbound":
		return v.link("inbox", e.EmailID)
	}
	return v.link("emails", e.EmailID)
}

func (v *visit) logFacts(e logRecord) []fact {
	facts := []fact{{Name: "Kind", Value: kindOfLog(e.Kind)}, {Name: "Level", Value: words(e.Level)}}
	if e.DurationMS > 0 {
		facts = append(facts, fact{Name: "Took", Value: duration(time.Duration(e.DurationMS) * time.Millisecond)})
	}
	key := ""
	if v.shell("", "").Manages() {
		key = v.link("keys", e.KeyID)
	}
	for _, f := range []fact{
		{Name: "Request ID", Value: e.RequestID, Code: true, Copy: true}, {Name: "Email", Value: e.EmailID, Code: true, Href: v.mailOf(e)},
		{Name: "Domain", Value: e.DomainID, Code: true, Href: v.link("domains", e.DomainID)}, {Name: "Customer", Value: e.TenantID, Code: true, Href: v.link("customers", e.TenantID)},
		{Name: "API key", Value: e.KeyID, Code: true, Href: key}, {Name: "From", Value: e.IP, Code: true}, {Name: "Program", Value: visible(e.UserAgent)},
	} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	if e.KeyID == "" && e.UserID != "" {
		facts = append(facts, fact{Name: "By", Value: "Somebody in the dashboard"})
	}
	return facts
}

// curlOf repeats a request on the command line. What was redacted has to be filled in again.
func (v *visit) curlOf(e logDetail) string {
	return curl(e.Method, v.dashboard.config.BaseURL+"/v1"+e.Endpoint, true, bodyText(e.RequestBody)) + "\n"
}

// headerLines writes headers for people, sorted by name.
func headerLines(headers map[string]string) string {
	var lines []string
	for _, name := range sortedNames(headers) {
		lines = append(lines, visible(name)+": "+visible(headers[name]))
	}
	return strings.Join(lines, "\n")
}

func sortedNames(headers map[string]string) []string { return slices.Sorted(maps.Keys(headers)) }

// visibleLines is like visible, but keeps the lines of a text apart.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = visible(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(lines, "\n")
}
