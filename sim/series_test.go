package sim_test

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postrider/sim"
)

// beats is at which commits the process dies: at every seventh in everyday runs, at every one by make sim.
var beats = flag.Int("beats", 7, "the process dies at every so manieth commit of a welcome series")

func TestAWelcomeSeriesHasOneOutcomeWheneverTheProcessDies(t *testing.T) {
	t.Parallel()
	calm, err := sim.RunSeries(sim.SeriesOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	story := strings.Join(calm.Outcome, "\n")
	for part, count := range map[string]int{"completed: start completed, hello completed, wait completed, pro completed, crm completed, thanks completed": 2,
		"completed: start completed, hello completed, wait completed, pro completed, upgrade completed": 1, ": Welcome: Your code is code 1: delivered": 1,
		"mail to ann@d1.test: Thanks: You are lead of ann@d1.test: delivered": 1, "Bearer a secret of the series": 2, "mail to ": 6, "2 keys": 1} {
		if strings.Count(story, part) != count {
			t.Fatalf("%q is not there %d times:\n%s", part, count, story)
		}
	}
	if calm.Requests != 2 || calm.Copies != 0 || calm.Commits < 10 {
		t.Fatalf("without a death: %+v", calm)
	}
	t.Logf("%d commits to die at", calm.Commits)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for at := 1; at <= calm.Commits; at += *beats {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("dead at commit %d, after it %v", at, after), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				report, err := sim.RunSeries(sim.SeriesOptions{Dir: t.TempDir(), DieAt: at, After: after})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(calm.Outcome, report.Outcome); diff != "" {
					t.Errorf("the outcome is another: %s", diff)
				}
			})
		}
	}
}
