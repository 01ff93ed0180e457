// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// DeliveryRawRecord is the answer to GET /v1/emails/{id}/raw.
type DeliveryRawRecord struct {
	DownloadURL string    `json:"download_url,omitzero"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	Object      string    `json:"object,omitzero"`
}
