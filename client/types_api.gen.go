// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

// APIDeleted is the answer to DELETE /v1/api-keys/{id}.
type APIDeleted struct {
	Deleted bool   `json:"deleted,omitzero"`
	ID      string `json:"id,omitzero"`
	Object  string `json:"object,omitzero"`
}
