package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// contactFormPage adds a contact, or changes one.
type contactFormPage struct {
	shell
	// ID is that of the contact that is changed; empty for a new one.
	ID                                        string
	Email, FirstName, LastName, ConsentSource string
	Lists                                     []choice
	Values                                    []valueField
	Action, Back                              string
	Problem                                   *problem
}

// valueField is the input for a property.
type valueField struct {
	Key, Label, Kind, Value, Hint, Wrong string
	Choices                              []choice
}

type propertyRecord struct {
	ID       string          `json:"id"`
	Key      string          `json:"key"`
	Type     string          `json:"type"`
	Fallback json.RawMessage `json:"fallback_value"`
	Label    string          `json:"label"`
}

// title is how people call the property.
func (p propertyRecord) title() string {
	if p.Label != "" {
		return visible(p.Label)
	}
	return p.Key
}

// fallback is what stands in for a missing value, as people read it.
func (p propertyRecord) fallback() string {
	var value any
	if json.Unmarshal(p.Fallback, &value) != nil {
		return ""
	}
	return valueText(value)
}

// fallbackText is the fallback as a form has it: text keeps its lines.
func (p propertyRecord) fallbackText() string {
	var text string
	if p.Type == "string" && json.Unmarshal(p.Fallback, &text) == nil {
		return text
	}
	return p.fallback()
}

func (v *visit) properties() ([]propertyRecord, error) {
	var found struct{ Data []propertyRecord }
	err := v.get("/v1/contact-properties", url.Values{"limit": {"200"}}, &found)
	return found.Data, err
}

// valueFields are the inputs for all properties; value tells what is in each.
func (v *visit) valueFields(value func(key string) string, wrong *problem) ([]valueField, error) {
	known, err := v.properties()
	var fields []valueField
	for _, p := range known {
		f := valueField{Key: p.Key, Label: p.title(), Kind: "text", Value: value(p.Key), Wrong: wrong.Field("properties." + p.Key)}
		switch p.Type {
		case "number":
			f.Kind = "number"
		case "date":
			if f.Value == "" || len(f.Value) == len("2006-01-02") {
				f.Kind = "date"
			}
		case "boolean":
			f.Choices = choices(f.Value, "", "Not known", "yes", "Yes", "no", "No")
		}
		if stands := p.fallback(); stands != "" {
			f.Hint = "Without a value, mail says “" + stands + "”."
		}
		fields = append(fields, f)
	}
	return fields, err
}

// formText is a value as the form has it.
func formText(value any) string {
	if known, ok := value.(bool); ok {
		return strings.ToLower(yesNo(known))
	}
	return valueText(value)
}

// typedValue is what a form has of a property, in the type of the property; what it cannot read is left for the API to refuse.
func typedValue(kind, text string) any {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return nil
	case kind == "number" && json.Valid([]byte(text)):
		return json.RawMessage(text)
	case kind == "boolean" && text == "yes":
		return true
	case kind == "boolean" && text == "no":
		return false
	}
	return text
}

func (v *visit) postedValues() (map[string]any, error) {
	known, err := v.properties()
	values := map[string]any{}
	for _, p := range known {
		values[p.Key] = typedValue(p.Type, v.value("p."+p.Key))
	}
	return values, err
}

// contactForm draws the form with what was posted, or for a new contact.
func (v *visit) contactForm(id string, wrong *problem) (p contactFormPage, err error) {
	p = contactFormPage{ID: id, Email: v.value("email"), FirstName: v.value("first_name"), LastName: v.value("last_name"), ConsentSource: v.value("consent"), Problem: wrong,
		Action: v.r.URL.Path, Back: v.link("audience")}
	if p.shell = v.audienceShell("Add contact"); id != "" {
		p.shell, p.Back = v.audienceShell("Edit contact", crumb{"Contact", v.link("audience", "contacts", id)}), v.link("audience", "contacts", id)
	}
	if p.Values, err = v.valueFields(func(key string) string { return v.value("p." + key) }, wrong); err != nil {
		return p, err
	}
	lists, err := v.named("/v1/audience/lists", nil)
	chosen := v.value("list_id")
	if chosen == "" {
		chosen = v.query("list_id")
	}
	p.Lists = namesOf(lists, "No list", chosen)
	return p, err
}

func showNewContact(v *visit) error {
	p, err := v.contactForm("", nil)
	if err != nil {
		return err
	}
	p.Email = v.query("email")
	return v.show("audience/contactform", p)
}

func addContact(v *visit) error {
	values, err := v.postedValues()
	if err != nil {
		return err
	}
	body := map[string]any{"email": strings.TrimSpace(v.value("email")), "properties": values, "on_conflict": "error"}
	for _, name := range []string{"first_name", "last_name", "list_id"} {
		if value := orNull(v.value(name)); value != nil {
			body[name] = value
		}
	}
	if source := orNull(v.value("consent")); source != nil {
		body["consent"] = map[string]any{"source": source}
	}
	var made struct{ ID string }
	if err := v.send(http.MethodPost, "/v1/audience/contacts", body, &made); err != nil {
		return v.contactRefused("", err)
	}
	return v.redirect(v.link("audience", "contacts", made.ID), "Contact added.")
}

func (v *visit) contactRefused(id string, err error) error {
	refused := refusal(err)
	if refused == nil {
		return err
	}
	if refused.Code == "already_exists" {
		refused.Message = "There is already a contact with this address."
	}
	p, err := v.contactForm(id, refused)
	if err != nil {
		return err
	}
	return v.showStatus(refused.Status, "audience/contactform", p)
}

func showEditContact(v *visit) error {
	id := v.path("id")
	var c contactRecord
	if err := v.get(apiPath("audience", "contacts", id), nil, &c); err != nil {
		return err
	}
	p, err := v.contactForm(c.ID, nil)
	if err != nil {
		return err
	}
	p.Email, p.FirstName, p.LastName = c.Email, c.FirstName, c.LastName
	if p.Values, err = v.valueFields(func(key string) string { return formText(c.Properties[key]) }, nil); err != nil {
		return err
	}
	return v.show("audience/contactform", p)
}

func editContact(v *visit) error {
	id := v.path("id")
	values, err := v.postedValues()
	if err != nil {
		return err
	}
	var c contactRecord
	if err := v.get(apiPath("audience", "contacts", id), nil, &c); err != nil {
		return err
	}
	for key := range values {
		if v.value("p."+key) == formText(c.Properties[key]) {
			delete(values, key) // a form shows less than a value can hold, such as lines, so what was not touched stays
		}
	}
	body := map[string]any{"email": strings.TrimSpace(v.value("email")), "first_name": strings.TrimSpace(v.value("first_name")), "last_name": strings.TrimSpace(v.value("last_name")), "properties": values}
	if err := v.send(http.MethodPatch, apiPath("audience", "contacts", id), body, nil); err != nil {
		return v.contactRefused(id, err)
	}
	return v.toContact("Saved.")
}

// forgetPage offers the two ways to part from a contact, and says how they differ.
type forgetPage struct {
	shell
	ID, Email, Wrong string
	Problem          *problem
}

func (v *visit) forget(status int, wrong string) error {
	var c contactRecord
	if err := v.get(apiPath("audience", "contacts", v.path("id")), nil, &c); err != nil {
		return err
	}
	above := crumb{visible(c.Email), v.link("audience", "contacts", c.ID)}
	return v.showStatus(status, "audience/forget", forgetPage{shell: v.audienceShell("Delete or erase", above), ID: c.ID, Email: visible(c.Email), Wrong: wrong})
}

func showForget(v *visit) error { return v.forget(http.StatusOK, "") }

func deleteContact(v *visit) error {
	if err := v.send(http.MethodDelete, apiPath("audience", "contacts", v.path("id")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("audience"), "Contact deleted.")
}

func eraseContact(v *visit) error {
	var c contactRecord
	if err := v.get(apiPath("audience", "contacts", v.path("id")), nil, &c); err != nil {
		return err
	}
	if !strings.EqualFold(strings.TrimSpace(v.value("confirm")), c.Email) {
		return v.forget(http.StatusBadRequest, "That is not the address. Type it exactly as it is written above.")
	}
	if err := v.send(http.MethodPost, apiPath("audience", "contacts", c.ID, "erase"), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("audience"), "The contact is gone. What else is kept about the person is being erased.")
}
