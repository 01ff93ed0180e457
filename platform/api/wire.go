package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"postrider/platform/space"
)

// Time is a moment on the wire: RFC 3339 in UTC with milliseconds. The zero time is null.
type Time time.Time

const timeLayout = "2006-01-02T15:04:05.000Z"

// String returns the moment as headers have it; the zero time is one too.
func (t Time) String() string { return time.Time(t).UTC().Format(timeLayout) }

// MarshalJSON writes the moment, or null.
func (t Time) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return time.Time(t).UTC().AppendFormat(make([]byte, 0, 26), `"`+timeLayout+`"`), nil
}

// UnmarshalJSON reads RFC 3339 with any offset; null and "" are the zero time.
func (t *Time) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return errors.New("must be an RFC 3339 time")
	}
	if text == "" {
		*t = Time{}
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return errors.New("must be an RFC 3339 time")
	}
	*t = Time(at.UTC())
	return nil
}

// Strings is a list that may be sent as a single string. It is always answered as a list.
type Strings []string

// MarshalJSON writes a list, never null.
func (s Strings) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]string(s))
}

// UnmarshalJSON reads a string or a list of strings; null and "" are the empty list.
func (s *Strings) UnmarshalJSON(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '[' {
		var list []string
		if err := json.Unmarshal(raw, &list); err != nil {
			return errors.New("must be a string or a list of strings")
		}
		*s = list
		return nil
	}
	var one *string
	if err := json.Unmarshal(raw, &one); err != nil {
		return errors.New("must be a string or a list of strings")
	}
	*s = nil
	if one != nil && *one != "" {
		*s = Strings{*one}
	}
	return nil
}

// Optional tells apart a field that was not sent from one that was, for partial updates.
type Optional[T any] struct {
	Value T
	Set   bool
}

// UnmarshalJSON reads the value; null is a value that is set and zero. A switch is on or off: null leaves it as it is.
func (o *Optional[T]) UnmarshalJSON(raw []byte) error {
	if _, isSwitch := any(o.Value).(bool); isSwitch && string(raw) == "null" {
		return nil
	}
	o.Set = true
	return json.Unmarshal(raw, &o.Value)
}

// of is the type of the value.
func (Optional[T]) of() reflect.Type { return reflect.TypeFor[T]() }

// optionalValue returns the type of the value of an Optional; ok is false for every other type.
func optionalValue(t reflect.Type) (value reflect.Type, ok bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	optional, ok := reflect.Zero(t).Interface().(interface{ of() reflect.Type })
	if !ok {
		return nil, false
	}
	return optional.of(), true
}

// Or returns the value, or otherwise if none was sent.
func (o Optional[T]) Or(otherwise T) T {
	if o.Set {
		return o.Value
	}
	return otherwise
}

// Ref is text that is null when empty: an id or another value that may be absent.
type Ref string

// MarshalJSON writes the text, or null if it is empty.
func (r Ref) MarshalJSON() ([]byte, error) {
	if r == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(r))
}

// Deleted is the answer to a successful delete.
type Deleted struct {
	Object  string `json:"object" example:"domain"`
	ID      string `json:"id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	Deleted bool   `json:"deleted" example:"true"`
}

// IsID tells whether text can be the id of a stored thing. What cannot is not found, without asking the database.
func IsID(text string) bool {
	_, err := space.Parse(text)
	return err == nil
}
