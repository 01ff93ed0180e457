// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

// FlowConnection is part of AutomationChange.
type FlowConnection struct {
	Branch string `json:"branch,omitzero"`
	From   string `json:"from,omitzero"`
	To     string `json:"to,omitzero"`
	Type   string `json:"type,omitzero"`
}

// FlowDescribed is part of AutomationMetaRecord.
type FlowDescribed struct {
	ConfigSchema map[string]any `json:"config_schema,omitzero"`
	Connections  []string       `json:"connections,omitzero"`
	Label        string         `json:"label,omitzero"`
	Type         string         `json:"type,omitzero"`
}

// FlowStep is part of AutomationChange.
type FlowStep struct {
	Config any    `json:"config,omitempty"`
	Key    string `json:"key,omitzero"`
	Type   string `json:"type,omitzero"`
}
