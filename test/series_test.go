package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAWelcomeSeriesKilledAtEveryBoundaryHasTheSameOutcome(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, storage []string) {
		s := openSeries(t, storage)
		s.define()
		runs := map[string]string{}
		for n, boundary := range append([]string{""}, boundaries...) {
			address := fmt.Sprintf("reader-%d@d%d.test", n, n)
			runs[address] = s.signUp(address, boundary)
			if boundary == atEvent {
				s.die()
			}
			s.waits(address, runs[address])
			if boundary == whileWaits {
				s.die()
			}
		}
		s.setClock("+73h")
		after(150 * time.Millisecond) // it looks at its clock ten times a second
		s.die()                       // when the wait is over
		for address, run := range runs {
			s.ends(address, run)
		}
		for address, run := range runs {
			if got := path(s.run(run)); got != "completed on version 1: start:completed hello:completed wait:completed pro:completed crm:completed last:completed" {
				t.Errorf("%s: %s", address, got)
			}
			s.judgeReader(address, run)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for address, boundary := range s.fatal {
			if boundary != "" && boundary != atEvent && boundary != whileWaits && boundary != whenOver {
				t.Errorf("the run of %s never came to where %s", address, boundary)
			}
		}
		requests := 0
		for _, told := range s.asked {
			requests += len(told)
		}
		t.Logf("%d runs, %d deaths, %d requests under %d keys", len(runs), s.deaths, requests, len(s.asked))
		if len(s.asked) != len(runs) {
			t.Errorf("%d keys in requests of %d runs", len(s.asked), len(runs))
		}
	})
}

// judgeReader checks what somebody has got: two messages, copies of them only where the program died with the server's yes, and one lead,
// under one key and with the same words however often it was told of.
func (s *series) judgeReader(address, run string) {
	s.t.Helper()
	s.mu.Lock()
	told := s.asked[run+".crm.1"]
	s.mu.Unlock()
	if same := slices.Compact(slices.Clone(told)); len(same) != 1 || !strings.Contains(same[0], "Bearer a secret of the series") || !strings.Contains(same[0], address) {
		s.t.Errorf("%s was told of as %q", address, told)
	}
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	ids := map[string]int{}
	for _, a := range s.from[address] {
		ids[a.id]++
	}
	for _, arrived := range ids {
		if len(ids) != 2 || arrived > 1+s.deaths { // a message may be under way whenever the program dies
			s.t.Errorf("%s has these messages: %v", address, ids)
		}
	}
}

func TestARollbackLeavesRunningRunsOnTheirVersion(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, storage []string) {
		s := openSeries(t, storage)
		credential, template := s.define()
		first := s.signUp("first@d1.test", "")
		s.waits("first@d1.test", first)
		changed := s.definition(credential, template, "Changed")
		changed["steps"] = append(changed["steps"].([]object), object{"key": "end", "type": "exit", "config": object{}})
		changed["connections"] = append(changed["connections"].([]object), object{"from": "last", "to": "end", "type": "default"})
		s.ask(http.MethodPatch, "/automations/"+s.automation, changed)
		s.ask(http.MethodPost, "/automations/"+s.automation+"/publish", nil)
		second := s.signUp("second@d2.test", "")
		s.waits("second@d2.test", second)
		s.ask(http.MethodPost, "/automations/"+s.automation+"/versions/1/rollback", nil)
		third := s.signUp("third@d3.test", "")
		s.waits("third@d3.test", third)
		s.setClock("+73h")
		const whole = ": start:completed hello:completed wait:completed pro:completed crm:completed last:completed"
		for run, want := range map[string]string{first: "completed on version 1" + whole, second: "completed on version 2" + whole + " end:completed", third: "completed on version 3" + whole} {
			s.until("the end of "+run, func() bool { return s.run(run)["status"] == "completed" })
			if got := path(s.run(run)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		subjects := map[string]string{}
		list, _ := s.ask(http.MethodGet, "/emails?limit=100", nil)["data"].([]any)
		for _, one := range list {
			mail, _ := one.(object)
			if mail["subject"] != "Welcome" {
				subjects[fmt.Sprint(mail["to"])] = fmt.Sprint(mail["subject"])
			}
		}
		if got := fmt.Sprint(subjects); got != "map[[first@d1.test]:Thanks [second@d2.test]:Changed [third@d3.test]:Thanks]" {
			t.Error(got)
		}
	})
}
