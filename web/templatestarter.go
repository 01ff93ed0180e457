package web

import "embed"

//go:embed starters
var starterFiles embed.FS

// templateStarter is a template to begin with. Its HTML and its text are files of its name.
type templateStarter struct {
	Name, Label, Icon, Hint string
	Subject, PreviewText    string
}

var templateStarters = []templateStarter{
	{"welcome", "Welcome", "mail-open", "The first mail after somebody signs up.", "Welcome to {{COMPANY|Acme}}, {{FIRST_NAME|there}}", "Your account is ready. Three small steps, and you are set up."},
	{"reset", "Password reset", "key-round", "A link that lets somebody set a new password.", "Set a new password", "The link works once, for {{MINUTES|60}} minutes."},
	{"receipt", "Receipt", "credit-card", "What was bought, line by line, and the total.", "Your receipt {{ORDER_NUMBER}}", "{{TOTAL}} on {{ORDER_DATE}}. Thank you."},
	{"blank", "Blank", "square", "An empty page with good defaults.", "Hello {{FIRST_NAME|there}}", ""},
}

// templateStarterOf returns the starter of a name, or the blank one.
func templateStarterOf(name string) templateStarter {
	for _, known := range templateStarters {
		if known.Name == name {
			return known
		}
	}
	return templateStarters[len(templateStarters)-1]
}

// source returns the template that a starter makes.
func (s templateStarter) source() (templateSource, error) {
	page, err := starterFiles.ReadFile("starters/" + s.Name + ".html")
	if err != nil {
		return templateSource{}, err
	}
	text, err := starterFiles.ReadFile("starters/" + s.Name + ".txt")
	return templateSource{Subject: s.Subject, PreviewText: s.PreviewText, HTML: string(page), Text: string(text)}, err
}
