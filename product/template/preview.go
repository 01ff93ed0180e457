package template

import (
	"fmt"
	"maps"
	"slices"

	"postrider/product/template/internal/page"
	"postrider/product/template/internal/render"
)

// samples stand for the person that a broadcast or an automation writes to, who has always a value.
var samples = Values{
	"FIRST_NAME": "Ann", "LAST_NAME": "Example", "EMAIL": "ann@example.com",
	"UNSUBSCRIBE_URL": "https://example.com/unsubscribe", "RESEND_UNSUBSCRIBE_URL": "https://example.com/unsubscribe",
	"contact": map[string]any{"first_name": "Ann", "last_name": "Example", "email": "ann@example.com"},
}

// withSamples adds samples of what the template mentions and nobody has given.
func (r *Ready) withSamples(values Values) Values {
	all := maps.Clone(values)
	if all == nil {
		all = Values{}
	}
	for _, name := range r.used {
		if sample, ok := samples[name]; ok && all[name] == nil {
			all[name] = sample
		}
	}
	return all
}

// Preview makes a mail as far as it can, and warns of what would go wrong. Bulk mail goes to a person who stands for all, and
// must offer a way to unsubscribe.
func (r *Ready) Preview(values Values, bulk bool) (Rendered, error) {
	if bulk {
		values = r.withSamples(values)
	}
	rendered, told, err := r.render(values)
	if err != nil {
		return Rendered{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !r.mentions[name] {
			rendered.Unused = append(rendered.Unused, name)
		}
	}
	warn := func(code, message string) {
		rendered.Warnings = append(rendered.Warnings, Warning{Code: code, Message: message})
	}
	for _, m := range told.missing {
		warn("missing_variable", fmt.Sprintf("%s has no value and no fallback (line %d, column %d). A send would be refused.", m.Name, m.Line, m.Column))
	}
	for _, removed := range told.removed {
		warn(string(removed.Why), whyRemoved[removed.Why]+" Left out: "+removed.Name+".")
	}
	if rendered.Subject == "" {
		warn("no_subject", "The mail has no subject. A send must bring one.")
	}
	rendered.Warnings = append(rendered.Warnings, page.Check(page.Mail{HTML: rendered.HTML, Text: rendered.Text, Bulk: bulk})...)
	return rendered, nil
}

var whyRemoved = map[render.Reason]string{
	render.UnsafeURL:   "A link must not run a program.",
	render.UnsafeStyle: "A value in a style can only be a colour, a size, a name or the address of a picture.",
	render.UnsafeName:  "A value cannot be the name of a tag or of such an attribute.",
	render.NotText:     "An object or a list of objects cannot be printed. A send would be refused.",
}
