package webhook_test

import (
	"strings"
	"testing"
)

func TestTheAuditLogTellsWhoLedEventsWhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id, _ := h.webhook("https://hooks.example.com/a", []string{"*"})
		h.browse(200, "PATCH", "/webhooks/"+id, fields{"url": "https://hooks.example.com/b"})
		h.must(400, "PATCH", "/webhooks/"+id, fields{"status": "asleep"})
		h.must(200, "DELETE", "/webhooks/"+id, nil)

		log := h.Browse("GET", "/workspaces/"+string(h.Workspace)+"/audit-log", nil)
		var told []string
		for _, row := range log.Body["data"].([]any) {
			entry := row.(map[string]any)
			actor, target := entry["actor"].(map[string]any), entry["target"]
			if action := entry["action"].(string); strings.HasPrefix(action, "webhook.") {
				told = append(told, action+" "+actor["type"].(string)+" "+target.(map[string]any)["name"].(string))
				if target.(map[string]any)["id"] != id || actor["id"] == nil || entry["ip"] == nil {
					t.Errorf("%v", entry)
				}
			}
		}
		want := "webhook.deleted api_key https://hooks.example.com/b, webhook.updated user https://hooks.example.com/b, webhook.created api_key https://hooks.example.com/a"
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("told: %s", got)
		}
	})
}
