package app_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/product/plan"
)

func TestReportsAreToldOnlyToThoseWhoHaveProvenTheDomain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, stranger := in.NewWorkspace(plan.Unlimited)
		if claimed := in.CallAs(stranger, http.MethodPost, "/domains", map[string]any{"domain": "claimed.test"}, nil); claimed.Status != http.StatusCreated {
			t.Fatalf("%d %s", claimed.Status, claimed.Raw)
		}
		err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Exec(`
				INSERT INTO inbound_dmarc_report (id, domain, organization, report_id, policy, proven, messages, passed, records, created_at)
				VALUES ($1, 'claimed.test', 'example.net', '1', 'none', $2, 100, 90, '[]', $3)`, in.App.World.NewID(), true, tx.Now())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		told := in.CallAs(stranger, http.MethodGet, "/stats/deliverability", nil, nil)
		if !strings.Contains(string(told.Raw), "claimed.test") || strings.Contains(string(told.Raw), `"messages":100`) {
			t.Errorf("before the proof: %s", told.Raw)
		}
	})
}
