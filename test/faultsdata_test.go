package test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postrider/mail/smtp"
)

// dataFaults are about what is kept: damaged, older, newer, or very much of it.
func dataFaults() []fault {
	return []fault{
		{"pages of the database are overwritten with noise", "", -1, damaged},
		{upgradeRow, "", maxInFlightAtKill, upgraded},
		{fmt.Sprintf("%d messages queued, killed three times on the way", *queued), "", 3 * maxInFlightOfQueue, deepQueue},
		{"the database goes back in time", "PostgreSQL", -1, backInTime},
	}
}

// hold lets the recipients' server refuse everything for now, so that what is accepted stays queued.
func (s *shop) hold() {
	notNow := func(stage, _ string) *smtp.Reply {
		if stage == "mail" {
			return smtp.NewReply(451, "4.3.0", "Not now")
		}
		return nil
	}
	s.manners.Store(&notNow)
}

// sellFor lets customers send for a while, and waits for their answers.
func (s *shop) sellFor(length time.Duration) {
	enough := s.sell(faultCustomers)
	after(length)
	enough()
}

// settled waits until everything promised so far has arrived and was told of.
func (s *shop) settled() {
	s.t.Helper()
	until(s.t, settleFor, "every arrival and every webhook", func() bool { missing, untold := s.open(); return missing+untold == 0 })
}

// damaged writes noise over pages once the database is at rest. Whatever can still be read must be right, the rest must be
// refused; then the backup is put back, and everything that was accepted before it was made goes on.
func damaged(s *shop, engine string) {
	s.sellFor(time.Second)
	s.settled()
	s.hold()
	s.sellFor(time.Second)
	backup := filepath.Join(s.t.TempDir(), "backup")
	if _, stderr, err := run(s.t, append([]string{"backup", "--out", backup}, s.storage...)...); err != nil {
		s.t.Fatalf("backup: %v %s", err, stderr)
	}
	if err := s.p.stop(); err != nil {
		s.t.Fatal(err)
	}
	if engine == "PostgreSQL" {
		s.database().scribble("email")
	} else {
		scribble(s.t, filepath.Join(s.data(), "postrider.db"), 4096)
	}
	s.probeDamage()
	s.move(engine)
	if _, stderr, err := run(s.t, append([]string{"restore", "--from", backup}, s.storage...)...); err != nil {
		s.t.Fatalf("restore: %v %s", err, stderr)
	}
	if _, stderr, err := run(s.t, append([]string{"adopt"}, s.storage...)...); err != nil {
		s.t.Fatalf("adopt: %v %s", err, stderr)
	}
	s.manners.Store(nil)
	s.withClock()
	s.later()
}

// probeDamage asks for every email. An answer is right, or says that there is none.
func (s *shop) probeDamage() {
	s.t.Helper()
	if !s.tryServe() {
		if said := s.p.stderr.String(); !strings.Contains(said, "damaged") {
			s.t.Errorf("it did not start, and said: %s", said)
		}
		s.t.Log("a damaged database: it did not start")
		return
	}
	s.mu.Lock()
	promised := map[string]string{}
	for id, to := range s.promised {
		promised[id] = to
	}
	s.mu.Unlock()
	right, refused := 0, 0
	for id, to := range promised {
		status, answer, err := call(s.key, http.MethodGet, "http://"+s.address+"/v1/emails/"+id, nil)
		if status == http.StatusOK && err == nil {
			if recipients := fmt.Sprint(answer["to"]); answer["id"] != id || !strings.Contains(recipients, to) || answer["subject"] != "Order" {
				s.t.Errorf("wrong data: %s to %s was shown as %v", id, to, answer)
			}
			right++
			continue
		}
		if status/100 != 5 {
			s.t.Errorf("%s was answered with %d %v %v", id, status, answer, err)
		}
		refused++
	}
	if refused == 0 {
		s.t.Errorf("noise in the database was not noticed by any of %d questions", right)
	}
	s.p.kill()
	if said := s.p.stderr.String(); !strings.Contains(said, "damaged") {
		s.t.Errorf("%d questions were refused, and nobody was told why: %.2000s", refused, said)
	}
	s.t.Logf("a damaged database: %d questions answered rightly, %d refused", right, refused)
}

// move gives the shop an empty storage.
func (s *shop) move(engine string) {
	s.t.Helper()
	for i, word := range s.storage {
		switch {
		case i > 0 && s.storage[i-1] == "--data":
			s.storage[i] = filepath.Join(s.t.TempDir(), "restored")
		case engine == "PostgreSQL" && strings.HasPrefix(word, "postgres://"):
			server := startPostgres(s.t, "127.0.0.1")
			servers.Store(s.t.Name(), server)
			s.storage[i] = server.url()
		}
	}
}

// scribble writes noise over every eighth page of the younger half of a file. The oldest pages are what every question needs: without
// them nothing would be answered, and nothing could be answered wrongly.
func scribble(t *testing.T, path string, page int64) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, page)
	for at := info.Size() / page / 2 * page; at+page <= info.Size(); at += page * 8 {
		if _, err := rand.Read(noise); err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(noise, at); err != nil {
			t.Fatal(err)
		}
	}
}

// deepQueue accepts many messages while their recipients' server refuses, and kills the process three times while they are delivered.
func deepQueue(s *shop, _ string) {
	s.p.kill()
	s.settings = append(s.settings, "--roles", "api")
	s.serve()
	start := time.Now()
	s.promiseMany(*queued)
	s.t.Logf("accepted in %.0f s", time.Since(start).Seconds())
	s.p.kill()
	s.settings = nil
	s.serve()
	quarter := *queued / 4
	start = time.Now()
	for left := 3; left > 0; left-- {
		until(s.t, queueWithin(*queued), "a quarter of the queue", func() bool { missing, _ := s.open(); return missing <= left*quarter })
		s.t.Logf("killed after %.0f s of delivering, with at most %d to go", time.Since(start).Seconds(), left*quarter)
		s.p.kill()
		s.serve()
	}
	until(s.t, queueWithin(*queued), "the rest of the queue", func() bool { missing, untold := s.open(); return missing+untold == 0 })
	s.t.Logf("all delivered and told of after %.0f s", time.Since(start).Seconds())
}

// maxInFlightOfQueue is what a full house has in its hands when it is killed: as many conversations as there may be at once, and what has
// ended and waits for the transaction that records it.
const maxInFlightOfQueue = 1_000

// queueWithin is generous: a hundred messages a second on whatever machine this is.
func queueWithin(messages int) time.Duration {
	return time.Minute + time.Duration(messages)*10*time.Millisecond
}
