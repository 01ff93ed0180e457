package render

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Values are what a template can name: what JSON can hold, as encoding/json reads it into any, with or without UseNumber.
type Values = map[string]any

// lookup goes from a value down a path. Only objects and lists have something inside; nothing is ever called.
func lookup(value any, segments []string) (any, bool) {
	for _, name := range segments {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[name]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			if name == "length" {
				value = len(v)
				continue
			}
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, value != nil
}

// truthy tells what a condition makes of a value: nothing, false, zero, no text and no elements are false.
func truthy(value any) bool {
	switch v := value.(type) {
	case int:
		return v != 0
	case int64:
		return v != 0
	case float64:
		return v != 0 && !math.IsNaN(v)
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64) // what is beyond every float is not zero
		return f != 0
	}
	return !empty(value)
}

// empty tells whether there is nothing to go into; a zero is something.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	}
	return false
}

// text returns how a value is written; false for values that have no text.
func text(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case json.Number:
		return string(v), true
	case float64:
		return number(v), true
	case []any:
		return joined(v)
	}
	return "", false
}

// number writes digits as long as people would read them.
func number(v float64) string {
	const readable = 1e21
	if math.Abs(v) < readable {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// joined writes a list of words and numbers with commas between them.
func joined(list []any) (string, bool) {
	if len(list) > MaxLoops {
		return "", false
	}
	var b strings.Builder
	for i, item := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		if _, nested := item.([]any); nested {
			return "", false
		}
		written, ok := text(item)
		if !ok && item != nil {
			return "", false
		}
		if b.WriteString(written); b.Len() > MaxOutput {
			return b.String(), true // more than can be written; whoever writes it stops there
		}
	}
	return b.String(), true
}
