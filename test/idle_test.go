package test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

var mailItems = regexp.MustCompile(`^postrider_queue_items\{lane="mail[^"]*",state="(ready|leased)"\} (\d+)`)

// idle tells that no mail is due and none is being worked on. A process that does not answer is not idle.
func (p *process) idle() bool {
	answer, err := http.Get("http://" + p.Admin + "/metrics")
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return false
	}
	for line := range strings.Lines(string(raw)) {
		if found := mailItems.FindStringSubmatch(line); found != nil && found[2] != "0" {
			return false
		}
	}
	return true
}

// explain says of a few emails that were not delivered how they stand.
func (s *shop) explain() {
	s.t.Helper()
	const most = 3
	s.mu.Lock()
	var missing []string
	for id, to := range s.promised {
		if s.arrived[to] == 0 && len(missing) < most {
			missing = append(missing, id)
		}
	}
	s.mu.Unlock()
	for _, id := range missing {
		for _, path := range []string{id, id + "/attempts"} {
			status, answer, err := call(s.key, http.MethodGet, "http://"+s.address+"/v1/emails/"+path, nil)
			s.t.Logf("lost: %s: %d %v %.3000s", path, status, err, fmt.Sprint(answer))
		}
	}
}
