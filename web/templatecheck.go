package web

import (
	"fmt"
	"net/http"
)

// previewReport is what became of a source and its sample values: the mail, or why there is none, and what to mind.
type previewReport struct {
	Subject, PreviewText string
	HTML, Text           string
	Lines                []checkLine
	// Broken tells that there is no mail.
	Broken bool
}

// checkLine is one thing to mind, with its place in a part of the source if it has one.
type checkLine struct {
	State, Message, Part string
	Line, Column         int
}

// templateReport renders a source with the engine of the sender. A source that cannot be rendered is a result, not an error.
func (v *visit) templateReport(source templateSource, samples string, bulk bool) (previewReport, error) {
	values, wrong := readSamples(samples)
	if wrong != nil {
		return previewReport{Lines: []checkLine{*wrong}, Broken: true}, nil
	}
	body := map[string]any{"subject": source.Subject, "preview_text": source.PreviewText, "html": source.HTML, "text": source.Text,
		"inline_css": source.InlineCSS, "variables": values, "bulk": bulk}
	if len(source.Variables) > 0 {
		body["declared_variables"] = source.Variables
	}
	var made renderedMail
	err := v.send(http.MethodPost, "/v1/templates/render", body, &made)
	if isRefused(err, "template_render_failed", "validation_error") {
		return previewReport{Lines: refusedLines(err.(*problem)), Broken: true}, nil
	}
	if err != nil {
		return previewReport{}, err
	}
	return v.reportOf(made, source.Text != ""), nil
}

// renderedMail is what the API makes of a template and values.
type renderedMail struct {
	Subject     string
	HTML        string
	Text        string
	PreviewText string   `json:"preview_text"`
	Unused      []string `json:"unused_variables"`
	SizeBytes   int64    `json:"size_bytes"`
	Warnings    []struct{ Code, Message string }
}

func (v *visit) reportOf(made renderedMail, ownText bool) previewReport {
	r := previewReport{Subject: visible(made.Subject), PreviewText: visible(made.PreviewText), HTML: made.HTML, Text: made.Text}
	for _, warning := range made.Warnings {
		r.Lines = append(r.Lines, checkLine{State: "warning", Message: warning.Message})
	}
	for _, name := range made.Unused {
		r.Lines = append(r.Lines, checkLine{State: "info", Message: "The template does not use " + visible(name) + "."})
	}
	if made.HTML != "" {
		r.Lines = append(r.Lines, checkLine{State: "ok", Message: size(made.SizeBytes) + " of HTML. Gmail shows all of it up to 102 KB."})
	}
	text := "The text part is made from the HTML."
	if ownText {
		text = "The text part is your own."
	}
	r.Lines = append(r.Lines, checkLine{State: "ok", Message: text})
	return r
}

// refusedLines are what the API says about a source that it cannot render, with the place of the mistake.
func refusedLines(refused *problem) []checkLine {
	if len(refused.Fields) > 0 {
		var lines []checkLine
		for _, said := range refused.Others() {
			lines = append(lines, checkLine{State: "error", Message: said})
		}
		return lines
	}
	place := func(name string) int {
		number, _ := refused.Details[name].(float64)
		return int(number)
	}
	part, _ := refused.Details["part"].(string)
	return []checkLine{{State: "error", Message: refused.Message, Part: part, Line: place("line"), Column: place("column")}}
}

func lineAndColumn(line, column int) string { return fmt.Sprintf("Line %d, column %d", line, column) }

// templateCheckPage is the report on its own: the editor takes its parts out of it while somebody types.
type templateCheckPage struct {
	shell
	Template templateRecord
	Report   previewReport
}

// postedReport renders what the form of the editor holds, without saving it.
func (v *visit) postedReport() (templateRecord, previewReport, error) {
	var t templateRecord
	if err := v.get(apiPath("templates", v.path("id")), nil, &t); err != nil {
		return t, previewReport{}, err
	}
	report, err := v.templateReport(v.postedSource(t.latest()), newlines(v.value("samples")), v.checked("bulk"))
	return t, report, err
}

func checkTemplate(v *visit) error {
	t, report, err := v.postedReport()
	if err != nil {
		return err
	}
	s := v.shell("Check "+visible(t.Name), "templates").under(crumb{"Templates", v.link("templates")}).with("templates.css")
	return v.show("templates/check", templateCheckPage{s, t, report})
}

// showRenderedTemplate shows HTML that the editor has just been given, in a frame. It is as hostile as any other: whoever wrote the
// template, or a value in it, gets nothing but pixels.
func showRenderedTemplate(v *visit) error {
	return v.showHostile(v.value("html"), v.value("text"))
}

// previewTemplate renders the form into a frame, for browsers that run no scripts.
func previewTemplate(v *visit) error {
	_, report, err := v.postedReport()
	if err != nil {
		return err
	}
	return v.showReport(report)
}

// showReport shows the mail, or in its place why there is none.
func (v *visit) showReport(report previewReport) error {
	if !report.Broken {
		return v.showHostile(report.HTML, report.Text)
	}
	text := "There is no preview."
	for _, line := range report.Lines {
		text += "\n\n" + line.Message
	}
	return v.showHostile("", text)
}

// showTemplateBody shows a saved version in a frame, or the draft, with invented values.
func showTemplateBody(v *visit) error {
	id, version := v.path("id"), v.query("version")
	source, err := v.savedSource(id, version)
	if err != nil {
		return err
	}
	report, err := v.templateReport(source, sampleJSON(sampleValues(source.Subject, source.PreviewText, source.HTML, source.Text)), false)
	if err != nil {
		return err
	}
	return v.showReport(report)
}

// savedSource returns that of a version, or without one what an author goes on with.
func (v *visit) savedSource(id, version string) (templateSource, error) {
	if version == "" {
		var t templateRecord
		err := v.get(apiPath("templates", id), nil, &t)
		return t.latest(), err
	}
	var one templateVersionRecord
	err := v.get(apiPath("templates", id, "versions", version), nil, &one)
	return one.templateSource, err
}
