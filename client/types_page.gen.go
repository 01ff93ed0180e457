// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

// PageWarning is part of TemplateRenderRecord.
type PageWarning struct {
	Code    string `json:"code,omitzero"`
	Message string `json:"message,omitzero"`
}
