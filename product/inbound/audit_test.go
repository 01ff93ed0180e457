package inbound_test

import (
	"net/http"
	"strings"
	"testing"

	"postrider/app/apptest"
)

func TestTheAuditLogTellsWhoLedMailOut(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Receiving()
		path := "/emails/receiving/forwarding/" + rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org"})
		in.Must(http.StatusOK, http.MethodPatch, path, fields{"forward_to": "eve@example.com"})
		in.Must(http.StatusOK, http.MethodDelete, path, nil)

		log := in.Browse(http.MethodGet, "/workspaces/"+string(in.Workspace)+"/audit-log", nil)
		var told []string
		for _, row := range log.Body["data"].([]any) {
			entry := row.(map[string]any)
			if action := entry["action"].(string); strings.HasPrefix(action, "forwarding_rule.") {
				told = append(told, action+" "+entry["actor"].(map[string]any)["type"].(string)+" "+entry["target"].(map[string]any)["name"].(string))
			}
		}
		want := "forwarding_rule.deleted api_key support@acme.test, forwarding_rule.updated api_key support@acme.test, forwarding_rule.created api_key support@acme.test"
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("told: %s", got)
		}
	})
}
