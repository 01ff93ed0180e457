package test

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"
)

// In every run a small broadcast is killed a few times, by make broadcast-kill a large one twenty times.
var (
	broadcastKills  = flag.Int("broadcast-kills", 3, "how often to kill the process during a broadcast")
	broadcastPeople = flag.Int("broadcast-people", 3_000, "how many recipients such a broadcast has")
)

// broadcastWithin is how long such a broadcast may take.
const broadcastWithin = 20 * time.Minute

func TestKilledAgainAndAgainABroadcastReachesEverybodyOnce(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, storage []string) {
		m := openMailing(t, *broadcastPeople, storage)
		begun := time.Now()
		m.launch()
		chance := rand.New(rand.NewPCG(2, uint64(*broadcastKills)))
		for n := range *broadcastKills { // the first while recipients are written down, the others spread over the sending
			m.patiently(broadcastWithin, "progress", func() bool { return m.arrivedSoFar() >= n*m.people / *broadcastKills })
			after(time.Duration(chance.IntN(300)) * time.Millisecond)
			m.die()
		}
		m.patiently(broadcastWithin, "the end of the broadcast", func() bool { return m.look()["status"] == "sent" })
		t.Logf("%d recipients in %s with %d kills", m.people, time.Since(begun).Round(time.Second), *broadcastKills)

		totals := m.totals()
		willing := m.people - len(m.unwilling)
		if totals["delivered"] != willing || totals["sent"] != willing || totals["queued"] != 0 || m.arrivedSoFar() != willing {
			t.Errorf("%d arrived of %d who want it: %v", m.arrivedSoFar(), willing, totals)
		}
		m.addUp(totals)
		m.judgeCopies()
	})
}

// addUp checks that every recipient is counted once, whatever became of him.
func (m *mailing) addUp(totals map[string]int) {
	m.t.Helper()
	ended := totals["sent"] + totals["suppressed"] + totals["skipped"] + totals["failed"] + totals["cancelled"] + totals["queued"]
	if totals["recipients"] != ended || totals["recipients"] > m.people {
		m.t.Errorf("%d recipients, %d ended: %v", totals["recipients"], ended, totals)
	}
	for _, part := range []string{"timeseries", "by_isp"} {
		if totals["delivered in "+part] != totals["delivered"] {
			m.t.Errorf("%s has %d deliveries of %d", part, totals["delivered in "+part], totals["delivered"])
		}
	}
}

// judgeCopies checks that nobody was mailed who must not be, and that whoever has two copies has them because the program was killed
// between the server's yes and writing it down: they are one message, a kill lies between them, and no more conversations were held.
func (m *mailing) judgeCopies() {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	known := map[string]bool{}
	for n := range m.people {
		known[person(n)] = true
	}
	copies := 0
	for to, all := range m.from {
		if !known[to] || m.unwilling[to] {
			m.t.Errorf("%s has mail", to)
		}
		copies += len(all) - 1
		for i := range all[1:] {
			if all[i].id != all[i+1].id || all[i].id == "" {
				m.t.Errorf("%s has two different messages: %s and %s", to, all[i].id, all[i+1].id)
			}
			if !m.killedBetween(all[i].at, all[i+1].at) {
				m.t.Errorf("%s has two copies, and nothing happened between them", to)
			}
		}
	}
	held := int(m.mostTalking.Load())
	if copies > len(m.kills)*held {
		m.t.Errorf("%d copies after %d kills with at most %d conversations", copies, len(m.kills), held)
	}
	m.t.Logf("%d arrived, %d copies after %d kills with at most %d conversations", len(m.arrived), copies, len(m.kills), held)
}

// killedBetween tells whether the first copy was on its way when the program was killed: what was in the sockets still arrives a moment
// later.
func (m *mailing) killedBetween(first, second time.Time) bool {
	for _, at := range m.kills {
		if first.Before(at.Add(time.Second)) && at.Before(second) {
			return true
		}
	}
	return false
}

func TestABroadcastThatIsCancelledSendsNothingMore(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, storage []string) {
		m := openMailing(t, *broadcastPeople, storage)
		m.launch()
		m.patiently(broadcastWithin, "the first part", func() bool { return m.arrivedSoFar() >= m.people/5 })
		m.must(http.MethodPost, "/broadcasts/"+m.id+"/cancel", nil)
		answered := time.Now()
		m.patiently(broadcastWithin, "the end of the cancelled broadcast", func() bool { return m.totals()["queued"] == 0 })

		late, held := m.arrivedAfter(answered), int(m.mostTalking.Load())
		t.Logf("%d had the mail, %d more after the answer, with at most %d conversations", m.arrivedSoFar()-late, late, held)
		if late > held {
			t.Errorf("%d mails arrived after the answer, with at most %d conversations", late, held)
		}
		totals := m.totals()
		if totals["delivered"] != m.arrivedSoFar() || totals["sent"] != m.arrivedSoFar() || totals["cancelled"] == 0 || m.look()["status"] != "cancelled" {
			t.Errorf("%d arrived: %v", m.arrivedSoFar(), totals)
		}
		m.addUp(totals)
		m.judgeCopies()
		m.judgeRest(totals, 0)
	})
}

// A cancel that was answered holds, though the process dies the moment after with a queue full of mail.
func TestACancelThatWasAnsweredOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, storage []string) {
		m := openMailing(t, *broadcastPeople, storage)
		m.launch()
		m.patiently(broadcastWithin, "the first part", func() bool { return m.arrivedSoFar() >= m.people/5 })
		m.must(http.MethodPost, "/broadcasts/"+m.id+"/cancel", nil)
		answered := time.Now()
		m.die()
		m.patiently(broadcastWithin, "the end of the cancelled broadcast", func() bool { return m.totals()["queued"] == 0 })
		held := int(m.mostTalking.Load())
		if late := m.arrivedAfter(answered); late > held {
			t.Errorf("%d mails arrived after the answer, with at most %d conversations", late, held)
		}
		totals := m.totals()
		m.addUp(totals)
		m.judgeCopies()
		m.judgeRest(totals, held)
	})
}

func (m *mailing) arrivedAfter(moment time.Time) (late int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, all := range m.from {
		for _, a := range all {
			if a.at.After(moment) {
				late++
			}
		}
	}
	return late
}

// judgeRest checks that everybody who is said to be cancelled is told why and has no mail, but for so many whose answer died with the
// process.
func (m *mailing) judgeRest(totals map[string]int, unsure int) {
	m.t.Helper()
	seen, mailed, after := 0, 0, ""
	for {
		page := m.must(http.MethodGet, "/broadcasts/"+m.id+"/recipients?status=cancelled&limit=500"+after, nil)
		rows, _ := page["data"].([]any)
		for _, row := range rows {
			r, _ := row.(map[string]any)
			why, _ := r["error"].(map[string]any)
			if seen++; why["reason"] != "broadcast_cancelled" {
				m.t.Errorf("%v is cancelled because of %v", r["email"], why)
			}
			m.mu.Lock()
			mailed += min(m.arrived[r["email"].(string)], 1)
			m.mu.Unlock()
			after = "&after=" + r["id"].(string)
		}
		if len(rows) < 500 {
			break
		}
	}
	if seen != totals["cancelled"] || mailed > unsure {
		m.t.Errorf("%d rows are cancelled, %d counted, %d of them have the mail", seen, totals["cancelled"], mailed)
	}
}
