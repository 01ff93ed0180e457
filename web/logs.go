package web

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

func logPages() []page {
	return []page{{"GET /logs", listLogs}, {"GET /logs/{id}", showLog}}
}

// logRecord is an entry of the log as the API tells it.
type logRecord struct {
	ID, Kind, Level, Method, Endpoint, Message, Status, IP string
	CreatedAt                                              time.Time `json:"created_at"`
	ResponseStatus                                         int       `json:"response_status"`
	DurationMS                                             int64     `json:"duration_ms"`
	UserAgent                                              string    `json:"user_agent"`
	RequestID                                              string    `json:"request_id"`
	KeyID                                                  string    `json:"api_key_id"`
	UserID                                                 string    `json:"user_id"`
	EmailID                                                string    `json:"email_id"`
	DomainID                                               string    `json:"domain_id"`
	TenantID                                               string    `json:"managed_tenant_id"`
	Ignored                                                []string  `json:"ignored_fields"`
}

// logsPage is the log of the workspace, newest first.
type logsPage struct {
	shell
	Rows                                          []logRow
	Query, Kind, Level, Status, Since, Key, Group string
	Kinds, Levels, Answers, Spans, Groups         []choice
	Counts                                        []logCount
	Total                                         string
	Pager                                         pager
}

// Filtered tells whether the list shows a choice of all entries.
func (p logsPage) Filtered() bool {
	return p.Query != "" || p.Kind != "" || p.Level != "" || p.Status != "" || p.Since != "" || p.Key != ""
}

type logRow struct {
	Href, Message, Kind, Took string
	State                     badge
	At                        moment
}

// logCount is how often something happened, and where the list of it is.
type logCount struct {
	Label, Count, Href string
	Current            bool
}

// logKinds are what entries are about, as pairs of value and label.
var logKinds = []string{"api_request", "API request", "smtp_submission", "SMTP submission", "email", "Email", "inbound", "Received mail", "webhook", "Webhook",
	"domain", "Domain", "auth", "Sign-in", "automation", "Automation", "system", "System"}

func listLogs(v *visit) error {
	p := logsPage{shell: v.shell("Logs", "logs").with("build.css"), Query: v.query("q"), Kind: v.query("kind"), Level: v.query("level"), Status: v.query("status"),
		Since: v.query("since"), Key: v.query("key"), Group: v.query("group")}
	p.Kinds = choices(p.Kind, append([]string{"", "Everything"}, logKinds...)...)
	p.Levels = choices(p.Level, "", "Every level", "info", "Info", "warning", "Warnings", "error", "Errors")
	p.Answers = choices(p.Status, "", "Every outcome", "2xx", "2xx: done", "4xx", "4xx: refused", "5xx", "5xx: our fault", "delivered", "Delivered", "bounced", "Bounced", "failed", "Failed")
	if p.Status != "" && !anyChosen(p.Answers) {
		p.Answers = append(p.Answers, choice{Value: p.Status, Label: p.Status, Chosen: true})
	}
	p.Spans = spans(p.Since)
	filter := add(url.Values{}, map[string]string{"search": p.Query, "kind": p.Kind, "level": p.Level, "status": p.Status, "api_key_id": p.Key, "since": v.sinceOf(p.Since)})
	if err := v.countLogs(&p, filter); err != nil {
		return err
	}
	for name, values := range v.pageQuery() {
		filter[name] = values
	}
	list, err := v.logRows(filter)
	if err != nil {
		return err
	}
	p.Rows, p.Pager = list.Data, beside(v, list)
	return v.show("logs/list", p)
}

func anyChosen(all []choice) bool {
	for _, c := range all {
		if c.Chosen {
			return true
		}
	}
	return false
}

// logRows reads entries for a table.
func (v *visit) logRows(query url.Values) (listOf[logRow], error) {
	var list listOf[logRecord]
	rows := listOf[logRow]{}
	if err := v.get("/v1/logs", query, &list); err != nil {
		return rows, err
	}
	rows.HasMore, rows.Total = list.HasMore, list.Total
	for _, e := range list.Data {
		row := logRow{Href: v.link("logs", e.ID), Message: visible(messageOf(e)), Kind: kindOfLog(e.Kind), State: outcomeOf(e), At: v.moment(e.CreatedAt)}
		if e.DurationMS > 0 {
			row.Took = duration(time.Duration(e.DurationMS) * time.Millisecond)
		}
		rows.Data = append(rows.Data, row)
	}
	return rows, nil
}

// messageOf is what an entry says without the answer, which stands beside it.
func messageOf(e logRecord) string {
	if e.Method == "" {
		return e.Message
	}
	return e.Method + " " + e.Endpoint
}

func kindOfLog(kind string) string {
	for i := 0; i < len(logKinds); i += 2 {
		if logKinds[i] == kind {
			return logKinds[i+1]
		}
	}
	return words(kind)
}

// outcomeOf is what became of what an entry is about: the answer to a request, else the state of something, else how bad it is.
func outcomeOf(e logRecord) badge {
	switch {
	case e.ResponseStatus >= 500:
		return badge{"bounced", "circle-x", fmt.Sprint(e.ResponseStatus)}
	case e.ResponseStatus >= 400:
		return badge{"suppressed", "triangle-alert", fmt.Sprint(e.ResponseStatus)}
	case e.ResponseStatus > 0:
		return badge{"delivered", "check", fmt.Sprint(e.ResponseStatus)}
	case e.Status != "":
		return newBadge(e.Status)
	}
	return newBadge(e.Level)
}

// groupings are what entries can be counted by, as pairs of value and label.
var groupings = []string{"status", "By outcome", "kind", "By kind", "endpoint", "By endpoint", "hour", "By hour"}

// countLogs counts what the filter leaves, in groups that lead to their entries.
func (v *visit) countLogs(p *logsPage, filter url.Values) error {
	group := p.Group
	if group == "" {
		group = "status"
	}
	for _, c := range choices(group, groupings...) {
		query := v.r.URL.Query()
		query.Set("group", c.Value)
		query.Del("offset")
		p.Groups = append(p.Groups, choice{Value: "?" + query.Encode(), Label: c.Label, Chosen: c.Chosen})
	}
	var counted struct {
		Total  int64
		Groups []struct {
			Key   string
			Count int64
		}
	}
	query := url.Values{"group_by": {group}}
	for name, values := range filter {
		query[name] = values
	}
	if err := v.get("/v1/logs/_counts", query, &counted); err != nil {
		return err
	}
	p.Total = v.plural(counted.Total, "entry", "entries")
	for i, g := range counted.Groups {
		if group == "hour" && i < len(counted.Groups)-maxCounts || group != "hour" && i >= maxCounts {
			continue
		}
		p.Counts = append(p.Counts, v.logCount(group, g.Key, g.Count))
	}
	return nil
}

// maxCounts is how many groups are shown.
const maxCounts = 24

func (v *visit) logCount(group, key string, count int64) logCount {
	c := logCount{Label: key, Count: v.number(count)}
	query := v.r.URL.Query()
	query.Del("offset")
	switch group {
	case "status":
		c.Label, c.Current = newBadge(key).Label, query.Get("status") == key
		if strings.HasSuffix(key, "xx") {
			c.Label = key
		}
		query.Set("status", key)
	case "kind":
		c.Label, c.Current = kindOfLog(key), query.Get("kind") == key
		query.Set("kind", key)
	case "endpoint":
		query.Set("q", key)
	case "hour":
		if at, err := time.Parse(time.RFC3339, key); err == nil {
			c.Label = v.moment(at).Text
		}
		return c
	}
	if key == "" {
		c.Label = "Other"
		return c
	}
	c.Href = v.r.URL.Path + "?" + query.Encode()
	return c
}
