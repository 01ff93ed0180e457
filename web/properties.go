package web

import (
	"net/http"
	"strings"
)

func propertyPages() []page {
	return []page{
		{"GET /audience/properties", listProperties},
		{"GET /audience/properties/new", needing("audience:manage", showProperty)}, {"POST /audience/properties/new", saveProperty},
		{"GET /audience/properties/{id}", showProperty}, {"POST /audience/properties/{id}", saveProperty},
		{"GET /audience/properties/{id}/delete", needing("audience:manage", removeProperty)}, {"POST /audience/properties/{id}/delete", removeProperty},
	}
}

// propertiesPage shows all properties.
type propertiesPage struct {
	shell
	Tabs []tab
	Rows []propertyRow
}

type propertyRow struct{ Key, Label, Type, Fallback, Href string }

// propertyTypes are what a property can hold.
func propertyTypes(current string) []choice {
	return choices(current, "string", "Text", "number", "Number", "boolean", "Yes or no", "date", "Date")
}

func listProperties(v *visit) error {
	p := propertiesPage{shell: v.audienceShell("Properties"), Tabs: v.audienceTabs("properties")}
	known, err := v.properties()
	for _, one := range known {
		row := propertyRow{Key: one.Key, Label: visible(one.Label), Type: one.Type, Fallback: one.fallback(), Href: v.link("audience", "properties", one.ID)}
		for _, t := range propertyTypes(one.Type) {
			if t.Chosen {
				row.Type = t.Label
			}
		}
		p.Rows = append(p.Rows, row)
	}
	if err != nil {
		return err
	}
	return v.show("audience/properties", p)
}

// propertyPage defines a property, or changes one.
type propertyPage struct {
	shell
	ID, Heading, Key, Label, Fallback string
	// Lines tells that the fallback may have several, as that of a text.
	Lines   bool
	Types   []choice
	Action  string
	Problem *problem
}

func (v *visit) propertyForm(one propertyRecord, fallback string, wrong *problem) propertyPage {
	p := propertyPage{shell: v.audienceShell("New property", crumb{"Properties", v.link("audience", "properties")}), ID: one.ID, Heading: "New property", Key: one.Key, Label: one.Label,
		Fallback: fallback, Lines: one.ID == "" || one.Type == "string", Types: propertyTypes(one.Type), Action: v.r.URL.Path, Problem: wrong}
	if one.ID != "" {
		p.Heading = one.title()
		p.shell = v.audienceShell(p.Heading, crumb{"Properties", v.link("audience", "properties")})
	}
	return p
}

func (v *visit) readProperty(id string) (one propertyRecord, err error) {
	err = v.get(apiPath("contact-properties", id), nil, &one)
	return one, err
}

func showProperty(v *visit) error {
	one := propertyRecord{Type: "string"}
	if id := v.path("id"); id != "" {
		var err error
		if one, err = v.readProperty(id); err != nil {
			return err
		}
	}
	return v.show("audience/property", v.propertyForm(one, one.fallbackText(), nil))
}

func saveProperty(v *visit) error {
	one := propertyRecord{Key: strings.TrimSpace(v.value("key")), Type: v.value("type")}
	method, path, done := http.MethodPost, "/v1/contact-properties", "Property defined."
	if id := v.path("id"); id != "" {
		var err error
		if one, err = v.readProperty(id); err != nil {
			return err
		}
		method, path, done = http.MethodPatch, apiPath("contact-properties", id), "Saved."
	}
	one.Label = strings.TrimSpace(v.value("label"))
	fallback := strings.TrimSpace(newlines(v.value("fallback_value")))
	if one.Type == "boolean" {
		fallback = strings.ToLower(fallback)
	}
	body := map[string]any{"label": one.Label, "fallback_value": typedValue(one.Type, fallback)}
	if one.ID == "" {
		body["key"], body["type"] = one.Key, one.Type
	}
	err := v.send(method, path, body, nil)
	if refused := refusal(err); refused != nil {
		if refused.Code == "already_exists" {
			refused.Message, refused.Fields = "The key is taken.", map[string]string{"key": "There is already a property with this key."}
		}
		return v.showStatus(refused.Status, "audience/property", v.propertyForm(one, fallback, refused))
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("audience", "properties"), done)
}

func removeProperty(v *visit) error {
	one, err := v.readProperty(v.path("id"))
	if err != nil {
		return err
	}
	here := v.link("audience", "properties", one.ID)
	return v.removing(removePage{shell: v.audienceShell("Delete property", crumb{"Properties", v.link("audience", "properties")}, crumb{one.title(), here}), Heading: "Delete the property " + one.title(),
		Button: "Delete property", Says: []string{"The values that contacts have of it are deleted, too. They cannot be brought back.", "Mail that uses it and names no fallback can no longer be made."}, Name: one.Key, Back: here},
		apiPath("contact-properties", one.ID), v.link("audience", "properties"), "Property deleted.")
}
