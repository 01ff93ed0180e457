// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

// BatchOfSuppressionAddedRecord is the answer to POST /v1/suppressions/batch/add.
type BatchOfSuppressionAddedRecord struct {
	Data   []SuppressionAddedRecord `json:"data,omitzero"`
	Object string                   `json:"object,omitzero"`
}

// BatchOfSuppressionRemovedRecord is the answer to POST /v1/suppressions/batch/remove.
type BatchOfSuppressionRemovedRecord struct {
	Data   []SuppressionRemovedRecord `json:"data,omitzero"`
	Object string                     `json:"object,omitzero"`
}
