package audience

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"postrider/platform/api"
)

// importFields are what a request says beside the contacts.
type importFields struct {
	ListID        string      `json:"list_id" doc:"A list that all join." example:"0193a1f5-0000-7000-8000-000000000311"`
	OnConflict    conflict    `json:"on_conflict" doc:"upsert (the default) or skip." example:"upsert"`
	Columns       columnMap   `json:"column_map" doc:"Which column of a file holds what, by the names in its header. Without it, names are recognised."`
	Segments      []named     `json:"segments" doc:"Segments that all are put into."`
	Topics        []topicWish `json:"topics" doc:"What all say about topics."`
	Confirmations bool        `json:"send_confirmations" doc:"Ask people who join a list with double opt-in by it to confirm." example:"false"`
}

// importBody is a request with contacts as JSON, or a form with a file.
type importBody struct {
	importFields
	Contacts []json.RawMessage `json:"contacts" doc:"At most 10000 contacts, as they are added one by one." example:"[{\"email\":\"ann@example.net\",\"first_name\":\"Ann\"}]"`
	File     string            `json:"file" doc:"In a form: the file, at most 50 MB of comma-separated values." example:"users.csv"`

	form *form
}

// ReadBody reads either.
func (b *importBody) ReadBody(raw []byte) error {
	if !bytes.HasPrefix(raw, []byte("--")) {
		type plain importBody
		return json.Unmarshal(raw, (*plain)(b))
	}
	f, fields, err := readForm(raw)
	if errors.Is(err, errNoFile) {
		return api.Invalid("file", "The form needs a field file with the comma-separated values.")
	}
	if err != nil {
		return api.Invalid("_body", "The form cannot be read.")
	}
	b.form = f
	for _, field := range []struct {
		name string
		into any
	}{{"column_map", &b.Columns}, {"segments", &b.Segments}, {"topics", &b.Topics}, {"send_confirmations", &b.Confirmations}} {
		if text := strings.TrimSpace(fields[field.name]); text != "" && json.Unmarshal([]byte(text), field.into) != nil {
			return api.Invalid(field.name, "Must be JSON.")
		}
	}
	b.OnConflict = conflict(fields["on_conflict"])
	if b.ListID = fields["list_id"]; b.ListID == "" {
		b.ListID = fields["audience_id"]
	}
	return nil
}

// check names what is wrong with the request, and returns how the import is to be done.
func (b importBody) check(wrong *api.Fields, caller api.Caller, known schema) importOptions {
	o := importOptions{Columns: b.Columns, OnConflict: update, Topics: map[string]Subscription{}, Confirmations: b.Confirmations, Plan: caller.Plan, KeyID: caller.KeyID,
		Domains: caller.DomainIDs, Test: caller.Test}
	switch b.OnConflict {
	case "", "upsert", update:
	case skip:
		o.OnConflict = skip
	default:
		wrong.Add("on_conflict", "Must be upsert or skip.")
	}
	if _, err := known.listByID(b.ListID); b.ListID != "" && err != nil {
		wrong.Add("list_id", "There is no such list.")
	}
	for i, id := range b.Segments {
		if known.Segments[string(id)] == nil {
			wrong.Add(fmt.Sprintf("segments[%d]", i), "There is no such segment.")
		}
		o.Segments = append(o.Segments, string(id))
	}
	for i, t := range b.Topics {
		if _, err := known.topicByID(t.ID); err != nil {
			wrong.Add(fmt.Sprintf("topics[%d].id", i), "There is no such topic.")
		}
		if !t.Subscription.known() {
			wrong.Add(fmt.Sprintf("topics[%d].subscription", i), "Must be opt_in or opt_out.")
		}
		o.Topics[t.ID] = t.Subscription
	}
	for key := range b.Columns.Properties {
		if _, ok := known.Properties[key]; !ok {
			wrong.Add("column_map.properties."+key, "There is no such property. Define it first.")
		}
	}
	if b.form == nil && (len(b.Contacts) == 0 || len(b.Contacts) > maxJSONRows) {
		wrong.Add("contacts", fmt.Sprintf("Must have between 1 and %d contacts.", maxJSONRows))
	}
	if b.form != nil && b.form.size > maxImport {
		wrong.Add("file", "Must have at most 50 MB.")
	}
	return o
}
