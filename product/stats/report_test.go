package stats_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
)

// reported writes what another provider has seen of a domain.
func reported(t *testing.T, in *apptest.Installation, domain, number string, proven bool, messages, passed, sessions, failed int64) {
	t.Helper()
	err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		if _, err := tx.Exec(`
			INSERT INTO inbound_dmarc_report (id, domain, organization, report_id, policy, proven, messages, passed, records, created_at)
			VALUES ($1, $2, 'example.net', $3, 'none', $4, $5, $6, '[]', $7)`, in.App.World.NewID(), domain, number, proven, messages, passed, tx.Now()); err != nil {
			return err
		}
		_, err := tx.Exec(`
			INSERT INTO inbound_tls_report (id, domain, organization, report_id, proven, successful, failed, policies, created_at)
			VALUES ($1, $2, 'example.net', $3, $4, $5, $6, '[]', $7)`, in.App.World.NewID(), domain, number, proven, sessions-failed, failed, tx.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheScorecardTellsWhatOthersReport(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		before := rows(get(t, in, "/stats/deliverability"), "domains")[0]
		if before["dmarc_reports"] != nil || before["tls_reports"] != nil {
			t.Errorf("nobody has reported: %v", before)
		}
		reported(t, in, apptest.Domain, "1", true, 100, 90, 200, 0)
		reported(t, in, apptest.Domain, "2", true, 100, 80, 200, 8)
		reported(t, in, apptest.Domain, "3", false, 5_000, 0, 5_000, 5_000) // anybody could have sent this
		reported(t, in, "other.test", "4", true, 5_000, 0, 5_000, 5_000)
		answer := get(t, in, "/stats/deliverability")
		domain := rows(answer, "domains")[0]
		if got := fmt.Sprint(domain["dmarc_reports"], domain["tls_reports"]); got != "map[messages:200 pass_rate:0.85 passed:170 reports:2] map[failed:8 failure_rate:0.02 reports:2 sessions:400]" {
			t.Errorf("reports: %s", got)
		}
		if got := codes(answer); got != "unproven_mail unsafe_connections" {
			t.Errorf("actions: %s", got)
		}
		in.Clock.Advance(60 * 24 * time.Hour)
		if later := rows(get(t, in, "/stats/deliverability"), "domains")[0]; later["dmarc_reports"] != nil {
			t.Errorf("two months later: %v", later)
		}
	})
}

func TestTheScorecardTellsHowTheServersStand(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		if got := rows(get(t, in, "/stats/deliverability"), "installation"); len(got) != 0 {
			t.Errorf("nobody has looked: %v", got)
		}
		for _, w := range in.App.Nodes.Workers() {
			if _, err := w.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		found := map[any]any{}
		for _, c := range rows(get(t, in, "/stats/deliverability"), "installation") {
			found[c["check"]] = c["status"]
			if c["message"] == "" || c["mend"] != nil {
				t.Errorf("a check says %v", c)
			}
		}
		if got := fmt.Sprint(found); got != "map[certificate:warning name:ok reverse name:ok spf:ok]" {
			t.Errorf("checks: %s", got)
		}
	})
}
