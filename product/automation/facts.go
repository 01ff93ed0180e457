package automation

import (
	"bytes"
	"encoding/json"
)

// facts are what an event says. Numbers keep their digits: an order number of twenty digits must arrive as it was sent.
type facts map[string]any

// UnmarshalJSON reads an object; null is none.
func (f *facts) UnmarshalJSON(raw []byte) error {
	var object map[string]any
	if err := decodeExactly(raw, &object); err != nil {
		return err
	}
	*f = object
	return nil
}

// decodeExactly reads JSON and keeps the digits of numbers.
func decodeExactly(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// comparable returns facts with numbers that rules can compare.
func (f facts) comparable() map[string]any {
	out := make(map[string]any, len(f))
	for key, value := range f {
		if number, ok := value.(json.Number); ok {
			if float, err := number.Float64(); err == nil {
				value = float
			}
		}
		out[key] = value
	}
	return out
}
