package automation

import (
	"context"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/automation/internal/flow"
)

// metaRecord is what builders and forms want to know.
type metaRecord struct {
	Object   string           `json:"object" example:"automation_meta"`
	Steps    []flow.Described `json:"step_types"`
	Triggers []flow.Described `json:"trigger_types"`
	// Operators are all that rules know; which of them a field takes depends on its type.
	Operators []string       `json:"operators" example:"[\"eq\",\"neq\"]"`
	Fields    []metaField    `json:"fields"`
	Limits    map[string]int `json:"limits" example:"{\"max_steps\":150}"`
}

type metaField struct {
	Name string `json:"name" example:"properties.plan"`
	Type string `json:"type" example:"string"`
}

var operators = []string{"eq", "neq", "contains", "not_contains", "starts_with", "ends_with", "in", "not_in", "gt", "gte", "lt", "lte", "within_last", "not_within_last",
	"exists", "is_empty", "member_of", "not_member_of"}

// ownFields are what rules can ask of every contact.
var ownFields = []metaField{{"email", "string"}, {"email_domain", "string"}, {"first_name", "string"}, {"last_name", "string"}, {"status", "string"}, {"unsubscribed", "boolean"},
	{"suppressed", "boolean"}, {"created_at", "date"}, {"updated_at", "date"}, {"engagement.open_count", "number"}, {"engagement.click_count", "number"},
	{"engagement.sent_count", "number"}, {"engagement.last_sent_at", "date"}, {"engagement.last_opened_at", "date"}, {"engagement.last_clicked_at", "date"},
	{"lists", "list"}, {"segments", "segment"}}

func (s *Service) handleMeta(ctx context.Context, caller api.Caller, _ api.None) (metaRecord, error) {
	record := metaRecord{Object: "automation_meta", Steps: flow.DescribeSteps(), Triggers: flow.DescribeTriggers(), Operators: operators,
		Fields: append([]metaField(nil), ownFields...), Limits: map[string]int{"max_steps": flow.MaxSteps, "max_connections": flow.MaxConnections, "max_passes": flow.MaxPasses,
			"max_depth": maxDepth, "max_starts_per_contact_per_hour": maxStarts, "max_payload_bytes": maxPayload}}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		names, err := s.parts.Audience.Names(tx, caller.Workspace)
		keys, types := names.Properties()
		for _, key := range keys {
			record.Fields = append(record.Fields, metaField{"properties." + key, types[key]})
		}
		return err
	})
	return record, err
}

// summaryRecord counts automations and runs.
type summaryRecord struct {
	Object   string     `json:"object" example:"automation_summary"`
	Total    int64      `json:"total" example:"5"`
	Enabled  int64      `json:"enabled" example:"3"`
	Disabled int64      `json:"disabled" example:"1"`
	Archived int64      `json:"archived" example:"1"`
	Runs     runSummary `json:"runs"`
}

type runSummary struct {
	Running   int64 `json:"running" example:"4"`
	Completed int64 `json:"completed_24h" example:"30"`
	Failed    int64 `json:"failed_24h" example:"1"`
}

func (s *Service) handleSummary(ctx context.Context, caller api.Caller, _ api.None) (record summaryRecord, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		counts, err := countByStatus(tx, caller.Workspace)
		if err != nil {
			return err
		}
		record = summaryRecord{Object: "automation_summary", Enabled: counts[Enabled], Disabled: counts[Disabled], Archived: counts[Archived]}
		record.Total = record.Enabled + record.Disabled + record.Archived
		if record.Runs.Running, err = countRunning(tx, caller.Workspace); err != nil {
			return err
		}
		if record.Runs.Completed, err = countEnded(tx, caller.Workspace, Completed, dayAgo(tx.Now())); err != nil {
			return err
		}
		record.Runs.Failed, err = countEnded(tx, caller.Workspace, Failed, dayAgo(tx.Now()))
		return err
	})
	return record, err
}
