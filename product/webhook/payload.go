package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"postrider/platform/api"
	"postrider/platform/event"
	"postrider/platform/space"
)

// envelope is what is posted: who and what at the top, the facts of the type in data.
type envelope struct {
	ID               string          `json:"id" example:"0193a1ef-15ea-7000-8000-000000000001"`
	Type             string          `json:"type" example:"email.delivered"`
	CreatedAt        api.Time        `json:"created_at"`
	Timestamp        api.Time        `json:"timestamp"`
	Workspace        space.ID        `json:"workspace_id" example:"0193a000-0000-7000-8000-000000000001"`
	Domain           api.Ref         `json:"domain_id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	Tenant           api.Ref         `json:"managed_tenant_id"`
	TenantExternalID api.Ref         `json:"managed_tenant_external_id"`
	Test             bool            `json:"test" example:"false"`
	Data             json.RawMessage `json:"data"`
}

// maxPayload is the size that receivers can be expected to take (Standard Webhooks).
const maxPayload = 20_000

// expendable are the parts of data that can grow without end and that a receiver can ask for again, in the order in which they
// are left out of a payload that is too large.
var expendable = []string{"headers", "metadata", "records"}

func newEnvelope(e event.Event, externalID string) envelope {
	data := e.Data
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	return envelope{ID: e.ID, Type: e.Type, CreatedAt: api.Time(e.OccurredAt), Timestamp: api.Time(e.OccurredAt), Workspace: e.Workspace,
		Domain: api.Ref(e.Domain), Tenant: api.Ref(e.Tenant), TenantExternalID: api.Ref(externalID), Data: data}
}

// write returns the body to post.
func (e envelope) write() []byte {
	body := mustMarshal(e)
	if len(body) <= maxPayload {
		return body
	}
	var data map[string]json.RawMessage
	if json.Unmarshal(e.Data, &data) != nil {
		return body
	}
	texts := map[string]json.RawMessage{}
	if e.Type == receivedType {
		texts = takeTexts(data) // they have a limit of their own
		e.Data = mustMarshal(data)
		body = mustMarshal(e)
	}
	var left []string
	for _, name := range expendable {
		value, ok := data[name]
		if !ok || len(body) <= maxPayload {
			continue
		}
		empty := "{}"
		if value[0] == '[' {
			empty = "[]"
		}
		data[name], left = json.RawMessage(empty), append(left, name)
		data["truncated"] = mustMarshal(left)
		e.Data = mustMarshal(data)
		body = mustMarshal(e)
	}
	if len(texts) == 0 {
		return body
	}
	maps.Copy(data, texts)
	e.Data = mustMarshal(data)
	return mustMarshal(e)
}

// Ids of the sample payloads.
const (
	sampleID         = "0193a1e0-3333-7000-8000-000000000001"
	sampleWorkspace  = "0193a000-0000-7000-8000-000000000001"
	sampleDomain     = "0193a1e0-2222-7000-8000-0000000000d1"
	sampleTenant     = "0193a1f3-0000-7000-8000-000000000201"
	sampleExternalID = "shop_4711"
)

var sampleTime = time.Date(2026, 11, 15, 2, 13, 2, 410_000_000, time.UTC)

// sample is a payload of the type with made-up facts.
func (k kind) sample() envelope {
	e := envelope{ID: sampleID, Type: k.Type, CreatedAt: api.Time(sampleTime), Timestamp: api.Time(sampleTime), Workspace: sampleWorkspace,
		Test: true, Data: k.Data}
	switch k.category() {
	case "email", "domain":
		e.Domain = sampleDomain
	case "managed_tenant":
		e.Tenant, e.TenantExternalID = sampleTenant, sampleExternalID
	}
	return e
}

func mustMarshal(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("webhook: cannot be written as JSON: %v", err))
	}
	return raw
}
