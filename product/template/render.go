package template

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"postrider/mail/message"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/template/internal/page"
	"postrider/product/template/internal/render"
)

// Rendered is a mail made from a template and values.
type Rendered struct {
	Template ID
	// Version is 0 for a draft and for a source that was not saved.
	Version int64
	From    string
	ReplyTo []string
	Subject string
	// PreviewText is what mail programs show beside the subject. It is hidden in HTML already.
	PreviewText string
	HTML        string
	// Text is made from the HTML if the template has none.
	Text string
	// Used are the variables that the template mentions, Missing those it wanted to print and nobody has given.
	Used, Missing []string
	// Unused are the variables that were given and are not mentioned. Only a preview tells them, and Warnings.
	Unused   []string
	Warnings []Warning
}

// Warning is something about a mail that its author may want to change.
type Warning = page.Warning

// Render makes a mail from a template by its id or alias. The error is ErrNotFound, ErrVersionNotFound, ErrRender if a value is
// missing, or a validation error for a value of the wrong type and for a template that cannot be sent.
func (s *Service) Render(ctx context.Context, ws space.ID, name string, which Select, values Values) (Rendered, error) {
	var ready *Ready
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		ready, err = s.Load(tx, ws, name, which)
		return err
	})
	if err != nil {
		return Rendered{}, err
	}
	return ready.Render(values)
}

// Render makes a mail. A value that is missing is ErrRender, one of the wrong type a validation error.
func (r *Ready) Render(values Values) (Rendered, error) {
	rendered, told, err := r.render(values)
	if err != nil {
		return Rendered{}, err
	}
	if len(told.missing) > 0 {
		first := told.missing[0]
		return Rendered{}, ErrRender.Saying(fmt.Sprintf("The template needs a value for %s.", first.Name)).
			With("missing", rendered.Missing).With("line", first.Line).With("column", first.Column)
	}
	for _, removed := range told.removed {
		if removed.Why == render.NotText {
			line, column := r.find(removed.Name)
			return Rendered{}, ErrRender.
				Saying(fmt.Sprintf("The template prints %s, which is not text. Name one of its fields, or use each.", removed.Name)).
				With("missing", []string{}).With("line", line).With("column", column)
		}
	}
	return rendered, nil
}

// told is what the parts of a mail have to say.
type told struct {
	missing []render.Missing
	removed []render.Removed
}

func (r *Ready) render(values Values) (rendered Rendered, t told, err error) {
	all, err := r.fill(values)
	if err != nil {
		return rendered, t, err
	}
	results := map[part]string{}
	for _, p := range partOrder {
		program := r.parts[p]
		if p == htmlPart {
			program = r.shown
		}
		if program == nil {
			continue
		}
		result, err := program.Execute(all)
		if err != nil {
			return rendered, t, brokenPart{p, err.(*render.SyntaxError)}.refusal()
		}
		results[p] = result.Text
		t.add(r, result)
	}
	t.addRequired(r.source.Variables, all)
	rendered = Rendered{Template: r.Template, Version: r.Version, From: r.source.From, ReplyTo: slices.Clone(r.source.ReplyTo), Used: r.used,
		Subject: strings.TrimSpace(oneLine(results[subjectPart])), PreviewText: strings.TrimSpace(oneLine(results[previewPart])),
		HTML: results[htmlPart], Text: results[textPart]}
	if utf8.RuneCountInString(rendered.Subject) > maxSubject {
		return rendered, t, ErrRender.Saying(fmt.Sprintf("The subject has more than %d characters with these values.", maxSubject)).
			With("missing", []string{}).With("line", 1).With("column", 1).With("part", subjectPart)
	}
	if rendered.Text == "" && rendered.HTML != "" {
		rendered.Text = message.TextFromHTML(rendered.HTML)
	}
	rendered.HTML = page.WithPreheader(rendered.HTML, rendered.PreviewText)
	for _, missing := range t.missing {
		rendered.Missing = append(rendered.Missing, missing.Name)
	}
	return rendered, t, nil
}

// fill checks the values that were declared and puts fallbacks where there is none.
func (r *Ready) fill(values Values) (render.Values, error) {
	var wrong api.Fields
	for _, v := range r.source.Variables {
		if value := values[v.Key]; value != nil && !v.Type.fits(value) {
			wrong.Add("variables."+v.Key, "Must be "+typeNames[v.Type]+", as the template declares it.")
		}
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	if len(r.fallbacks) == 0 {
		return render.Values(values), nil
	}
	all := make(render.Values, len(values)+len(r.fallbacks))
	maps.Copy(all, r.fallbacks)
	for key, value := range values {
		if value != nil {
			all[key] = value
		}
	}
	return all, nil
}

// add notes what a part has to say, once for each name. Places are those in the source as it was written.
func (t *told) add(r *Ready, result render.Result) {
	for _, missing := range result.Missing {
		if !slices.ContainsFunc(t.missing, func(m render.Missing) bool { return m.Name == missing.Name }) {
			missing.Line, missing.Column = r.find(missing.Name)
			t.missing = append(t.missing, missing)
		}
	}
	for _, removed := range result.Removed {
		if !slices.Contains(t.removed, removed) {
			t.removed = append(t.removed, removed)
		}
	}
}

func (t *told) addRequired(variables []Variable, values render.Values) {
	for _, v := range variables {
		if v.Required && values[v.Key] == nil && !slices.ContainsFunc(t.missing, func(m render.Missing) bool { return m.Name == v.Key }) {
			t.missing = append(t.missing, render.Missing{Name: v.Key, Line: 1, Column: 1})
		}
	}
}

// find returns where a name is printed first, in the order of the parts.
func (r *Ready) find(name string) (line, column int) {
	for _, p := range partOrder {
		if program := r.parts[p]; program != nil {
			if line, column, ok := program.Find(name); ok {
				return line, column
			}
		}
	}
	return 1, 1
}
