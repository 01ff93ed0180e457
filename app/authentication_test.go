package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

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

func TestASubdomainIsToldThePolicyThatItsOrganisationHasForIt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Must(http.StatusCreated, http.MethodPost, "/domains", map[string]any{"domain": "news.shop.test"}).Text("id")
		for _, c := range []struct{ name, record, want string }{
			{"_dmarc.shop.test", "v=DMARC1; p=none; sp=reject", "reject"},
			{"_dmarc.shop.test", "v=DMARC1; p=quarantine", "quarantine"},
			{"_dmarc.news.shop.test", "v=DMARC1; p=none; sp=reject", "none"},
		} {
			in.Publish(c.name, "TXT", c.record)
			in.Clock.Advance(time.Minute)
			in.Must(http.StatusOK, http.MethodPost, "/domains/"+id+"/verify", nil)
			told := in.Must(http.StatusOK, http.MethodGet, "/stats/deliverability?domain_id="+id, nil)
			if want := fmt.Sprintf(`"dmarc_policy":%q`, c.want); !strings.Contains(string(told.Raw), want) {
				t.Errorf("%s of %s: no %s in %s", c.record, c.name, want, told.Raw)
			}
		}
	})
}
