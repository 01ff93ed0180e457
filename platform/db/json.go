package db

import (
	"encoding/json"
	"fmt"
)

// JSON returns a value as it is stored in a column of text. What cannot be written as JSON is a programming mistake and panics.
func JSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("db: %T cannot be stored: %v", value, err))
	}
	return string(raw)
}

// FromJSON reads what JSON has stored; empty text leaves the target as it is.
func FromJSON(text string, target any) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), target); err != nil {
		return fmt.Errorf("stored JSON: %w", err)
	}
	return nil
}
