package audience

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

// PropertyID names a property.
type PropertyID string

// Property is something that contacts can have a value of.
type Property struct {
	Number    int64
	ID        PropertyID
	Workspace space.ID
	Key       string
	Type      filter.Type
	// Fallback stands in for a missing value, as JSON; nil if there is none.
	Fallback json.RawMessage
	Label    string

	CreatedAt, UpdatedAt time.Time
}

const (
	// maxProperties is how many properties a workspace may have.
	maxProperties = 100
	maxLabel      = 120
	// maxValue is the longest text of a value in characters. An index holds it, and no engine indexes much more.
	maxValue = 500
)

var keyForm = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,49}$`)

// propertyBody is a property as it is asked for, and what is to be different in one.
type propertyBody struct {
	Key           string                        `json:"key" doc:"Lower-case letters, digits and underscores. It never changes." example:"plan"`
	Type          filter.Type                   `json:"type" doc:"string, number, boolean or date. It never changes." example:"string"`
	Fallback      api.Optional[json.RawMessage] `json:"fallback_value" doc:"Stands in for a missing value in mails."`
	FallbackCamel api.Optional[json.RawMessage] `json:"fallbackValue" doc:"The same as fallback_value."`
	Label         api.Optional[string]          `json:"label" doc:"A name for people." example:"Plan"`
}

func (b propertyBody) apply(wrong *api.Fields, p Property) Property {
	if p.ID != "" {
		b.keepTo(wrong, p)
	} else {
		p.Key, p.Type = b.Key, b.Type
		if !keyForm.MatchString(p.Key) {
			wrong.Add("key", "Must have 1 to 50 lower-case letters, digits or underscores and not begin with a digit.")
		}
		switch p.Type {
		case filter.String, filter.Number, filter.Boolean, filter.Date:
		default:
			wrong.Add("type", "Must be string, number, boolean or date.")
		}
	}
	fallback := b.Fallback
	if !fallback.Set {
		fallback = b.FallbackCamel
	}
	if fallback.Set {
		p.Fallback = nil
		if raw := fallback.Value; len(raw) > 0 && string(raw) != "null" {
			if _, problem := readValue(p.Type, raw); problem != "" && p.Type != "" {
				wrong.Add("fallback_value", problem)
			}
			p.Fallback = raw
		}
	}
	p.Label = api.CheckText(wrong, "label", b.Label.Or(p.Label), maxLabel)
	return p
}

// keepTo refuses to make another property of one that is there: values and filters are of its key and its type.
func (b propertyBody) keepTo(wrong *api.Fields, p Property) {
	if b.Key != "" && b.Key != p.Key {
		wrong.Add("key", "Cannot be changed. Make another property.")
	}
	if b.Type != "" && b.Type != p.Type {
		wrong.Add("type", "Cannot be changed. Make another property.")
	}
}

func (s *Service) createProperty(ctx context.Context, ws space.ID, body propertyBody) (made Property, err error) {
	var wrong api.Fields
	wish := body.apply(&wrong, Property{Workspace: ws})
	if err := wrong.Err(); err != nil {
		return made, err
	}
	wish.ID = PropertyID(s.world.NewID())
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		made = wish
		made.CreatedAt, made.UpdatedAt = tx.Now(), tx.Now()
		if err := properties.room(tx, ws, maxProperties, "key", "properties"); err != nil {
			return err
		}
		inserted, err := insertProperty(tx, made)
		if err == nil && !inserted {
			err = properties.taken(tx, ws, made.Key, "contact_property")
		}
		return err
	})
	return made, err
}

func (s *Service) updateProperty(ctx context.Context, ws space.ID, id string, body propertyBody) (changed Property, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		before, err := properties.lock(tx, ws, id)
		if err != nil {
			return err
		}
		var wrong api.Fields
		changed = body.apply(&wrong, before)
		if err := wrong.Err(); err != nil {
			return err
		}
		changed.UpdatedAt = tx.Now()
		return updateProperty(tx, changed)
	})
	return changed, err
}

// deleteProperty removes a property and all its values. Many values go in steps.
func (s *Service) deleteProperty(ctx context.Context, ws space.ID, id string) error {
	return s.discard(ctx, ws, aProperty, func(tx *db.Tx) (int64, error) {
		gone, err := properties.lock(tx, ws, id)
		if err != nil {
			return 0, err
		}
		if err := s.free(tx, ws, gone.Key); err != nil {
			return 0, err
		}
		return gone.Number, deleteNamed(tx, ws, properties.table, id)
	})
}

// readValue reads a value of a type from JSON, and says what is wrong with it, if anything is.
func readValue(of filter.Type, raw json.RawMessage) (v filter.Value, problem string) {
	switch of {
	case filter.Number:
		var amount float64
		if json.Unmarshal(raw, &amount) != nil {
			return v, "Must be a number."
		}
		return filter.Amount(amount), ""
	case filter.Boolean:
		var truth bool
		if json.Unmarshal(raw, &truth) != nil {
			return v, "Must be true or false."
		}
		return filter.Truth(truth), ""
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return v, map[filter.Type]string{filter.String: "Must be a string.", filter.Date: notDate}[of]
	}
	return readText(of, text)
}

const notDate = "Must be a date: 2026-11-15, or an RFC 3339 time."

// readText reads a value of a type from text, as a file has it.
func readText(of filter.Type, text string) (v filter.Value, problem string) {
	switch of {
	case filter.String:
		if utf8.RuneCountInString(text) > maxValue || strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return v, fmt.Sprintf("Must be text of at most %d characters without NUL characters.", maxValue)
		}
		return filter.Text(text), ""
	case filter.Number:
		amount, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsInf(amount, 0) || math.IsNaN(amount) {
			return v, "Must be a number."
		}
		return filter.Amount(amount), ""
	case filter.Boolean:
		truth, ok := readTruth(text)
		if !ok {
			return v, "Must be true or false."
		}
		return filter.Truth(truth), ""
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return filter.Moment(at.UTC().Truncate(time.Millisecond)), ""
		}
	}
	return v, notDate
}

// readTruth understands what spreadsheets make of a check mark.
func readTruth(text string) (truth, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "y", "1", "t":
		return true, true
	case "false", "no", "n", "0", "f", "":
		return false, true
	}
	return false, false
}

// wireValue is a value on the wire, by its type; nil if it is missing.
func wireValue(of filter.Type, v filter.Value) any {
	switch {
	case !v.Present:
		return nil
	case of == filter.Number:
		return v.Amount
	case of == filter.Boolean:
		return v.Amount == 1
	case of == filter.Date:
		return api.Time(v.At)
	}
	return v.Text
}

// propertyRecord is a property on the wire.
type propertyRecord struct {
	Object    string          `json:"object" example:"contact_property"`
	ID        PropertyID      `json:"id" example:"0193a1f5-0000-7000-8000-000000000351"`
	Key       string          `json:"key" example:"plan"`
	Type      filter.Type     `json:"type" example:"string"`
	Fallback  json.RawMessage `json:"fallback_value" example:"\"free\""`
	Label     api.Ref         `json:"label" example:"Plan"`
	CreatedAt api.Time        `json:"created_at"`
	UpdatedAt api.Time        `json:"updated_at"`
}

func (r propertyRecord) place() api.Cursor {
	return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)}
}

func newPropertyRecord(p Property) propertyRecord {
	fallback := p.Fallback
	if fallback == nil {
		fallback = json.RawMessage("null")
	}
	return propertyRecord{Object: "contact_property", ID: p.ID, Key: p.Key, Type: p.Type, Fallback: fallback, Label: api.Ref(p.Label),
		CreatedAt: api.Time(p.CreatedAt), UpdatedAt: api.Time(p.UpdatedAt)}
}

// valueRecord is the value of a property of a contact on the wire.
type valueRecord struct {
	Object     string      `json:"object" example:"contact_property_value"`
	PropertyID PropertyID  `json:"property_id" example:"0193a1f5-0000-7000-8000-000000000351"`
	Key        string      `json:"key" example:"plan"`
	Type       filter.Type `json:"type" example:"string"`
	Value      any         `json:"value" example:"\"pro\""`
	Effective  any         `json:"effective_value" doc:"The value, or what stands in for it." example:"\"pro\""`
	UpdatedAt  api.Time    `json:"updated_at"`
}

func (r valueRecord) place() api.Cursor {
	return api.Cursor{ID: string(r.PropertyID), At: time.Time(r.UpdatedAt)}
}

func newValueRecord(p Property, v filter.Value, at time.Time) valueRecord {
	r := valueRecord{Object: "contact_property_value", PropertyID: p.ID, Key: p.Key, Type: p.Type, Value: wireValue(p.Type, v), UpdatedAt: api.Time(at)}
	if r.Effective = r.Value; r.Effective == nil && p.Fallback != nil {
		r.Effective = p.Fallback
	}
	return r
}
