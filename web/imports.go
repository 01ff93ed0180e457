package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

type importRecord struct {
	ID        string `json:"id"`
	Status    string `json:"status"`
	ListID    string `json:"list_id"`
	Filename  string `json:"filename"`
	Failure   string `json:"failure"`
	ErrorsURL string `json:"errors_url"`
	Counts    struct{ Total, Created, Updated, Skipped, Failed int64 }
	Errors    []struct {
		Row            int64
		Email, Message string
	}
	CreatedAt   time.Time  `json:"created_at"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
}

// running tells whether there is more to come.
func (r importRecord) running() bool { return r.Status == "queued" || r.Status == "in_progress" }

func (r importRecord) title() string {
	if r.Filename == "" {
		return "Import"
	}
	return visible(r.Filename)
}

// importsPage lists imports, newest first.
type importsPage struct {
	shell
	Tabs  []tab
	Rows  []importRow
	Pager pager
}

type importRow struct {
	Name, Status, Href      string
	Created, Updated, Wrong string
	At                      moment
}

func listImports(v *visit) error {
	p := importsPage{shell: v.audienceShell("Imports"), Tabs: v.audienceTabs("imports")}
	var found listOf[importRecord]
	if err := v.get("/v1/audience/contacts/imports", url.Values{"limit": {"50"}, "offset": {strconv.Itoa(v.offset())}}, &found); err != nil {
		return err
	}
	for _, r := range found.Data {
		p.Rows = append(p.Rows, importRow{Name: r.title(), Status: r.Status, Href: v.link("audience", "imports", r.ID), Created: v.number(r.Counts.Created),
			Updated: v.number(r.Counts.Updated), Wrong: v.number(r.Counts.Failed), At: v.moment(r.CreatedAt)})
	}
	p.Pager = beside(v, found)
	return v.show("audience/imports", p)
}

// importJobPage is one import, while it runs and after.
type importJobPage struct {
	shell
	ID, Status, Failure, ErrorsURL string
	Running                        bool
	At                             moment
	Sentence                       string
	Tiles                          []tile
	// Share is how much is done, in percent; 0 if that is not known.
	Share  float64
	Errors []importError
	More   string
	List   fact
}

type importError struct{ Row, Email, Message string }

func showImportJob(v *visit) error {
	var r importRecord
	if err := v.get(apiPath("audience", "contacts", "imports", v.path("id")), nil, &r); err != nil {
		return err
	}
	p := importJobPage{shell: v.audienceShell(r.title(), crumb{"Imports", v.link("audience", "imports")}).with("again.js"), ID: r.ID, Status: r.Status, Failure: visible(r.Failure),
		ErrorsURL: r.ErrorsURL, Running: r.running(), At: v.moment(r.CreatedAt), Sentence: v.importSentence(r)}
	contacts := v.link("audience")
	if r.ListID != "" {
		contacts += "?list_id=" + url.QueryEscape(r.ListID)
		var list namedRecord
		if err := v.get(apiPath("audience", "lists", r.ListID), nil, &list); err == nil {
			p.List = fact{Name: "List", Value: visible(list.Name), Href: v.link("audience", "lists", list.ID)}
		}
	}
	c := r.Counts
	p.Tiles = []tile{{"delivered", "New", v.number(c.Created), "Contacts that were not there before", contacts}, {"opened", "Updated", v.number(c.Updated), "Contacts that were there already", contacts},
		{"", "Skipped", v.number(c.Skipped), "Left as they were", contacts}, {"failed", "Failed", v.number(c.Failed), "Rows that could not be read", "#h-errors"}}
	if rows, err := strconv.ParseInt(v.query("rows"), 10, 64); err == nil && rows > 0 && p.Running {
		p.Share = min(100*float64(c.Created+c.Updated+c.Skipped+c.Failed)/float64(rows), 100)
	}
	for _, e := range r.Errors {
		p.Errors = append(p.Errors, importError{v.number(e.Row), visible(e.Email), e.Message})
	}
	if more := c.Failed - int64(len(r.Errors)); more > 0 {
		p.More = v.plural(more, "more row", "more rows") + " in the file."
	}
	return v.show("audience/importjob", p)
}

func (v *visit) importSentence(r importRecord) string {
	done := r.Counts.Created + r.Counts.Updated + r.Counts.Skipped + r.Counts.Failed
	switch {
	case r.Status == "queued":
		return "Waits for its turn. You can leave this page; the import goes on."
	case r.Status == "in_progress":
		return v.plural(done, "row", "rows") + " so far. You can leave this page; the import goes on."
	case r.Status == "failed":
		return "Stopped after " + v.plural(done, "row", "rows") + ". What was imported before stays."
	case r.StartedAt != nil && r.CompletedAt != nil:
		return v.plural(done, "row", "rows") + " in " + duration(r.CompletedAt.Sub(*r.StartedAt)) + "."
	}
	return v.plural(done, "row", "rows") + "."
}

// into reads the answer of the API, or says why it refused.
func (a *answer) into(out any) error {
	if a.status >= 400 {
		return a.problem()
	}
	if err := json.Unmarshal(a.body.Bytes(), out); err != nil {
		return fmt.Errorf("read an answer: %w", err)
	}
	return nil
}
