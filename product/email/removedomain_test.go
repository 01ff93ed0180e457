package email_test

import (
	"net/http"
	"testing"
	"time"

	"postrider/app/apptest"
)

func TestDomainIsRemovedInTheDashboardOnly(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		path := "/domains/" + in.DomainID
		if answer := in.Call(http.MethodDelete, path, nil); answer.Status != http.StatusForbidden || answer.Text("error", "code") != "dashboard_session_required" {
			t.Fatalf("with a key: %d %s", answer.Status, answer.Raw)
		}
		if answer := in.Browse(http.MethodDelete, "/v1"+path, nil); answer.Status != http.StatusOK || answer.Body["deleted"] != true {
			t.Fatalf("with a session: %d %s", answer.Status, answer.Raw)
		}
		if answer := in.Call(http.MethodGet, path, nil); answer.Status != http.StatusNotFound {
			t.Fatalf("afterwards: %d", answer.Status)
		}
		answer := in.Call(http.MethodPost, "/emails", map[string]any{"from": "a@acme.test", "to": "b@example.net", "subject": "x", "text": "x"})
		if answer.Text("error", "code") != "invalid_from_address" {
			t.Fatalf("send afterwards: %d %s", answer.Status, answer.Raw)
		}
		log := in.Browse(http.MethodGet, "/workspaces/"+string(in.Workspace)+"/audit-log", nil)
		newest, _ := log.Body["data"].([]any)
		if entry, _ := newest[0].(map[string]any); entry["action"] != "domain.removed" {
			t.Errorf("audit: %v", entry)
		}
	})
}

func TestScheduledEmailsStandInTheWayUnlessForced(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		sent := in.Call(http.MethodPost, "/emails", map[string]any{"from": "a@acme.test", "to": "b@example.net", "subject": "x", "text": "x", "scheduled_at": "in 1 hour"})
		answer := in.Browse(http.MethodDelete, "/v1/domains/"+in.DomainID, nil)
		if answer.Status != http.StatusConflict || answer.Text("error", "code") != "resource_in_use" {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		if answer := in.Browse(http.MethodDelete, "/v1/domains/"+in.DomainID+"?force=true", nil); answer.Status != http.StatusOK {
			t.Fatalf("forced: %d %s", answer.Status, answer.Raw)
		}
		in.Clock.Advance(2 * time.Hour)
		in.Deliver()
		if record := in.Email(sent.Text("id")); record.Text("status") != "failed" || record.Text("failure", "reason") != "domain_auth_broken" {
			t.Fatalf("%s %s", record.Text("status"), record.Text("failure", "reason"))
		}
	})
}
