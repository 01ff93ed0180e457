package automation

import "encoding/json"

// MarshalJSON writes whichever it is.
func (a stopAnswer) MarshalJSON() ([]byte, error) {
	if a.Stopped != nil {
		return json.Marshal(a.Stopped)
	}
	return json.Marshal(a.RunRecord)
}

// Status leaves the choice to the route.
func (stopAnswer) Status() int { return 0 }

// JSONSchema describes both.
func (stopAnswer) JSONSchema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{"type": "object", "description": "The run that was cancelled; without a run_id the automation.",
		"properties": map[string]any{"object": text, "id": text, "status": text, "stopped_runs": map[string]any{"type": "integer"}},
		"examples":   []any{map[string]any{"object": "automation", "id": "0193a1f7-0000-7000-8000-000000000701", "status": "disabled", "stopped_runs": 4}}}
}
