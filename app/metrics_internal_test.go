package app

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"postrider/product/webhook"
)

func TestPostsAreCountedByWhatFollows(t *testing.T) {
	t.Parallel()
	a := &App{meters: newMeters()}
	next := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	for _, p := range []webhook.Posted{{}, {Attempt: webhook.Attempt{Error: "timeout"}, Next: next}, {Attempt: webhook.Attempt{Error: "timeout"}, Next: next}, {Attempt: webhook.Attempt{Error: "gone"}}} {
		a.meters.post(p)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(a.meters.posts)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	if got[postDelivered] != 1 || got[postRetrying] != 2 || got[postFailed] != 1 {
		t.Errorf("%v", got)
	}
}
