package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// templateEditorPage is where a template is written: its source on one side, what becomes of it on the other.
type templateEditorPage struct {
	shell
	Template templateRecord
	Source   templateSource
	// Samples are the values of the preview, as JSON.
	Samples string
	Bulk    bool
	// To and TestFrom are who gets a test, and who it comes from where the template names nobody.
	To, TestFrom string
	// Next is the number that the draft gets when it is published.
	Next   int64
	Saved  moment
	Report previewReport
	// Tested is the page of a test that was sent.
	Tested  string
	Problem *problem
}

// templateEditor begins the page with what is saved.
func (v *visit) templateEditor() (templateEditorPage, error) {
	var p templateEditorPage
	if err := v.get(apiPath("templates", v.path("id")), nil, &p.Template); err != nil {
		return p, err
	}
	t := p.Template
	if t.Archived() {
		return p, &problem{Status: http.StatusConflict, Code: "invalid_state", Message: "The template is archived. Duplicate it to go on with its source."}
	}
	p.shell = v.shell(visible(t.Name), "templates").under(crumb{"Templates", v.link("templates")}, crumb{visible(t.Name), v.link("templates", t.ID)}).with("templates.css", "ask.css", "editor.js", "unsaved.js")
	p.shell.Title, p.shell.Crumbs[2].Label = "Edit "+visible(t.Name), "Edit"
	p.Template.Name, p.Next, p.To = visible(t.Name), t.LatestVersion+1, v.session.User.Email
	if t.Draft != nil {
		p.Saved = v.lately(t.Draft.UpdatedAt)
	}
	senders, err := v.senders()
	if err == nil && len(senders) > 0 {
		p.TestFrom = "hello@" + senders[0]
	}
	return p, nil
}

func editTemplate(v *visit) error {
	p, err := v.templateEditor()
	if err != nil {
		return err
	}
	p.Source = p.Template.latest()
	p.Samples = sampleJSON(sampleValues(p.Source.Subject, p.Source.PreviewText, p.Source.HTML, p.Source.Text))
	if tested := v.query("tested"); tested != "" {
		p.Tested = v.link("emails", tested)
	}
	if p.Report, err = v.templateReport(p.Source, p.Samples, p.Bulk); err != nil {
		return err
	}
	return v.show("templates/edit", p)
}

// postedSource is the source in the form of the editor. What the form does not show stays as it is in the template.
func (v *visit) postedSource(before templateSource) templateSource {
	source := before
	source.Subject, source.PreviewText, source.From = v.value("subject"), v.value("preview_text"), strings.TrimSpace(v.value("from"))
	source.HTML, source.Text = newlines(v.value("html")), newlines(v.value("text"))
	source.InlineCSS = v.checked("inline_css")
	return source
}

// newlines undoes what forms do to the ends of lines.
func newlines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// saveTemplate keeps the source as a draft, and then does what the button says: nothing more, send a test, or look at the changes
// before publishing them.
func saveTemplate(v *visit) error {
	p, err := v.templateEditor()
	if err != nil {
		return err
	}
	p.Source = v.postedSource(p.Template.latest())
	p.Samples, p.Bulk, p.To, p.TestFrom = newlines(v.value("samples")), v.checked("bulk"), v.value("to"), v.value("test_from")
	id := p.Template.ID
	var saved templateRecord
	if err := v.send(http.MethodPut, apiPath("templates", id, "draft"), p.Source.draft(), &saved); err != nil {
		return v.refuseEdit(p, err)
	}
	p.Saved = v.lately(saved.UpdatedAt)
	switch v.value("then") {
	case "publish":
		return v.redirect(v.link("templates", id, "publish"), "")
	case "check":
		return v.redirect(v.link("emails", "check")+"?"+url.Values{"template": {id}}.Encode(), "Draft saved.")
	case "test":
		sent, err := v.sendTest(p)
		if err != nil {
			return v.refuseEdit(p, err)
		}
		return v.redirect(v.link("templates", id, "edit")+"?"+url.Values{"tested": {sent}}.Encode(), "Test sent to "+visible(p.To)+".")
	}
	return v.redirect(v.link("templates", id, "edit"), "Draft saved.")
}

// draft is the source as the API takes it. What is left out would come from the live version, so nothing is.
func (s templateSource) draft() map[string]any {
	if s.ReplyTo == nil {
		s.ReplyTo = []string{}
	}
	if s.Variables == nil {
		s.Variables = []templateVariable{}
	}
	return map[string]any{"from": s.From, "subject": s.Subject, "reply_to": s.ReplyTo, "preview_text": s.PreviewText, "html": s.HTML, "text": s.Text,
		"variables": s.Variables, "inline_css": s.InlineCSS}
}

// refuseEdit draws the editor again with everything that was typed, and says what is wrong.
func (v *visit) refuseEdit(p templateEditorPage, err error) error {
	refused, ok := err.(*problem)
	if !ok || refused.Status == http.StatusNotFound {
		return err
	}
	p.Problem = refused
	if p.Report, err = v.templateReport(p.Source, p.Samples, p.Bulk); err != nil {
		return err
	}
	return v.showStatus(refused.Status, "templates/edit", p)
}

// sendTest sends the draft with the sample values and returns the id of the first email.
func (v *visit) sendTest(p templateEditorPage) (string, error) {
	values, wrong := readSamples(p.Samples)
	if wrong != nil {
		return "", &problem{Status: http.StatusUnprocessableEntity, Code: "validation_error", Message: wrong.Message}
	}
	body := map[string]any{"to": addresses(p.To), "variables": values, "version": "draft"}
	if p.Source.From == "" {
		body["from"] = p.TestFrom
	}
	var sent struct{ ID string }
	err := v.send(http.MethodPost, apiPath("templates", p.Template.ID, "test-send"), body, &sent)
	return sent.ID, err
}

// readSamples reads the values of the preview, or says where they cannot be read.
func readSamples(text string) (map[string]any, *checkLine) {
	values := map[string]any{}
	if strings.TrimSpace(text) == "" {
		return values, nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&values)
	if err == nil {
		return values, nil
	}
	wrong := &checkLine{State: "error", Part: "samples", Line: 1, Column: 1, Message: "The sample variables must be a JSON object, such as {\"FIRST_NAME\": \"Ada\"}."}
	if syntax, ok := err.(*json.SyntaxError); ok {
		wrong.Line, wrong.Column = placeIn(text, int(syntax.Offset))
		wrong.Message = "The sample variables are not JSON. " + lineAndColumn(wrong.Line, wrong.Column) + ": " + syntax.Error() + "."
	}
	return nil, wrong
}

// placeIn turns the number of bytes that were read into a line and a column, which count from 1.
func placeIn(text string, offset int) (line, column int) {
	before := text[:min(max(offset-1, 0), len(text))]
	return strings.Count(before, "\n") + 1, len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
}
