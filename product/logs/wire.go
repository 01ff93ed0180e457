package logs

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"postrider/platform/api"
)

// Row is an entry in a list.
type Row struct {
	Object         string   `json:"object" example:"log"`
	ID             ID       `json:"id" example:"0193a1fa-0000-7000-8000-000000000a01"`
	Kind           Kind     `json:"kind" example:"api_request"`
	Level          Level    `json:"level" example:"info"`
	CreatedAt      api.Time `json:"created_at"`
	Method         string   `json:"method" example:"POST"`
	Endpoint       string   `json:"endpoint" example:"/emails"`
	ResponseStatus int      `json:"response_status" example:"202"`
	DurationMs     int64    `json:"duration_ms" example:"14"`
	UserAgent      string   `json:"user_agent" example:"resend-go/3.12.0"`
	IP             api.Ref  `json:"ip" example:"198.51.100.7"`
	RequestID      api.Ref  `json:"request_id" example:"req_0193a1f06c1e7b7a9a0e3f1f6d2b9c11"`
	KeyID          api.Ref  `json:"api_key_id" example:"0193a1e0-2222-7000-8000-0000000000a1"`
	UserID         api.Ref  `json:"user_id"`
	EmailID        api.Ref  `json:"email_id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	DomainID       api.Ref  `json:"domain_id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	TenantID       api.Ref  `json:"managed_tenant_id"`
	Message        string   `json:"message" example:"POST /emails 202"`
	// Status is how the mail stands that the entry is about, or what became of something else.
	Status  api.Ref     `json:"status" example:"delivered"`
	Ignored api.Strings `json:"ignored_fields"`
}

func newRow(e Entry) Row {
	return Row{Object: "log", ID: e.ID, Kind: e.Kind, Level: e.Level, CreatedAt: api.Time(e.CreatedAt), Method: e.Method, Endpoint: e.Endpoint,
		ResponseStatus: e.ResponseStatus, DurationMs: e.Took.Milliseconds(), UserAgent: e.Details.UserAgent, IP: api.Ref(e.Details.IP),
		RequestID: api.Ref(e.Details.RequestID), KeyID: api.Ref(e.KeyID), UserID: api.Ref(e.UserID), EmailID: api.Ref(e.Email), DomainID: api.Ref(e.Domain),
		TenantID: api.Ref(e.Tenant), Message: e.Message, Status: api.Ref(e.Status), Ignored: e.Details.Ignored}
}

// place is where a page after the entry begins.
func (r Row) place() api.Cursor { return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)} }

// Record is an entry with everything that is kept of it.
type Record struct {
	Row
	// RequestBody and ResponseBody are without secrets and without what mail says. What was only read is not kept.
	RequestBody  json.RawMessage `json:"request_body" example:"{\"to\":[\"ann@example.net\"],\"html\":\"[redacted 11 bytes]\"}"`
	ResponseBody json.RawMessage `json:"response_body" example:"{\"id\":\"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00\"}"`
	Events       []tapeEvent     `json:"events"`
}

// tapeEvent is one thing that happened to what the entry is about.
type tapeEvent struct {
	Type       string         `json:"type" example:"email.queued"`
	OccurredAt api.Time       `json:"occurred_at"`
	Recipient  api.Ref        `json:"recipient"`
	Message    string         `json:"message" example:"Accepted and queued."`
	Data       map[string]any `json:"data" example:"{}"`
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// counts is how many entries there are, in groups.
type counts struct {
	Object  string        `json:"object" example:"log_counts"`
	GroupBy string        `json:"group_by" example:"status"`
	Total   int64         `json:"total" example:"120"`
	Groups  []groupRecord `json:"groups"`
	Since   api.Time      `json:"since"`
	Until   api.Time      `json:"until"`
}

type groupRecord struct {
	Key   string `json:"key" example:"2xx"`
	Count int64  `json:"count" example:"110"`
}

// newCounts puts the largest groups first, and hours in their order.
func newCounts(q countQuery, found map[string]int64) counts {
	c := counts{Object: "log_counts", GroupBy: q.GroupBy, Groups: []groupRecord{}, Since: api.Time(q.Since), Until: api.Time(q.Until)}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		c.Total += found[key]
		c.Groups = append(c.Groups, groupRecord{key, found[key]})
	}
	if q.GroupBy != "hour" {
		slices.SortStableFunc(c.Groups, func(a, b groupRecord) int { return cmp.Compare(b.Count, a.Count) })
	}
	return c
}
