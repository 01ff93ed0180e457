package app_test

import (
	"net/http"
	"testing"

	"postrider/app/apptest"
	"postrider/product/account"
	"postrider/product/plan"
)

// The operator's command line, or another node, changes the plan; the node that is asked next has just seen the old one.
func TestAnUpgradeActsOnTheNextRequest(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		ws, key := in.NewWorkspace(plan.Free)
		register := func(name string) apptest.Answer {
			return in.CallAs(key, http.MethodPost, "/domains", map[string]any{"domain": name}, nil)
		}
		if answer := register("one.test"); answer.Status != http.StatusCreated {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		if answer := register("two.test"); answer.Status != http.StatusPaymentRequired || answer.Text("error", "details", "plan") != "free" {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		elsewhere := account.New(in.App.World, in.App.DB, in.Keys, in.App.Plans, account.Config{})
		if err := elsewhere.SetPlan(t.Context(), ws, plan.Pro); err != nil {
			t.Fatal(err)
		}
		if answer := register("two.test"); answer.Status != http.StatusCreated {
			t.Fatalf("right after the upgrade: %d %s", answer.Status, answer.Raw)
		}
	})
}
