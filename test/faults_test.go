package test

import (
	"flag"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// faults lets the whole table of faults run, which takes minutes: make faults.
var faults = flag.Bool("faults", false, "run the table of faults")

const (
	faultCustomers = 8
	// settleFor is how long everything may take to arrive once a fault is over.
	settleFor = 2 * time.Minute
	never     = "what was answered arrives, one key is one email, each event is told under one id"
)

// fault is a row: what is done to an installation while customers send.
type fault struct {
	name string
	// engines it is for; both if empty.
	engine string
	// twice is how many copies it may cause at most; -1 if each of many conversations may be cut after its dot.
	twice int
	do    func(s *shop, engine string)
}

// What goes wrong on one machine, one row each. After every fault the installation is started anew if it died, and the ledger of
// answers is compared with the ledger of arrivals.
func TestFaults(t *testing.T) {
	if !*faults {
		t.Skip("takes minutes: make faults")
	}
	var results table
	defer func() { results.print("make faults") }()
	for _, f := range allFaults() {
		for _, engine := range []string{"SQLite", "PostgreSQL"} {
			if f.engine != "" && f.engine != engine {
				continue
			}
			t.Run(f.name+" on "+engine, func(t *testing.T) {
				var storage []string
				if engine == "PostgreSQL" {
					server := startPostgres(t, "127.0.0.1")
					storage = []string{"--database-url", server.url()}
					t.Cleanup(func() { servers.Delete(t.Name()) })
					servers.Store(t.Name(), server)
				}
				var build []string
				if f.name == upgradeRow {
					build = before(t)
				}
				s := openShop(t, build, storage...)
				f.do(s, engine)
				c := s.tally(settleFor)
				if c.lost > 0 {
					s.explain()
				}
				results.add(t, f.name, engine, never, c)
				if f.twice >= 0 && c.doubled > f.twice {
					t.Errorf("%d copies, at most %d are explained", c.doubled, f.twice)
				}
			})
		}
	}
}

func allFaults() []fault {
	var all []fault
	all = append(all, processFaults()...)
	all = append(all, diskFaults()...)
	all = append(all, databaseFaults()...)
	all = append(all, networkFaults()...)
	all = append(all, dataFaults()...)
	return all
}

func processFaults() []fault {
	return []fault{
		{"kill -9, eight times", "", 8 * maxInFlightAtKill, func(s *shop, _ string) {
			enough := s.sell(faultCustomers)
			for n := range 8 {
				after(time.Duration(100+70*n) * time.Millisecond)
				s.p.kill()
				s.serve()
			}
			enough()
		}},
		{"SIGTERM, four times", "", 0, func(s *shop, _ string) {
			enough := s.sell(faultCustomers)
			for range 4 {
				after(500 * time.Millisecond)
				if err := s.p.stop(); err != nil {
					s.t.Errorf("it did not stop in order: %v: %s", err, s.p.stderr.String())
				}
				s.serve()
			}
			enough()
		}},
		{"no file descriptors left", "", maxInFlightAtKill, func(s *shop, _ string) {
			s.p.kill()
			s.serve("sh", "-c", `ulimit -n 40; exec "$0" "$@"`)
			enough := s.sell(4 * faultCustomers)
			after(5 * time.Second)
			s.withClock() // what it could not do it shall do with room
			enough()
			s.later()
		}},
		{"the clock jumps a day ahead and back", "", 0, func(s *shop, _ string) {
			s.p.kill()
			s.settings = []string{"--insecure-test-clock"}
			s.serve("env", "POSTRIDER_CLOCK_FILE="+s.clockFile())
			enough := s.sell(faultCustomers)
			for _, offset := range []string{"+26h", "+0s", "+26h", "+27h"} {
				after(time.Second)
				s.setClock(offset)
			}
			after(time.Second)
			enough()
		}},
	}
}

// strace returns a wrapper under which system calls fail as told.
func strace(t *testing.T, calls, injected string) []string {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	// Detached, so that the process we started is the program and not strace.
	wrapper := []string{"strace", "-D", "-f", "-qq"}
	if !strings.HasPrefix(injected, "signal") { // signals are not injected with it
		wrapper = append(wrapper, "--seccomp-bpf")
	}
	return append(wrapper, "-o", "/dev/null", "-e", "trace="+calls, "-e", fmt.Sprintf("inject=%s:%s", calls, injected))
}

func diskFaults() []fault {
	const syncs, writes = "fsync,fdatasync", "pwrite64,write"
	disturbed := func(name, calls, injected string) fault {
		return fault{name, "SQLite", -1, func(s *shop, _ string) {
			s.p.kill()
			s.tryServe(strace(s.t, calls, injected)...)
			enough := s.sell(faultCustomers)
			after(4 * time.Second)
			s.p.kill()
			s.serve()
			enough()
		}}
	}
	all := []fault{{"killed at the Nth fsync of a thread, N = 1, 2, 3, 5, 9, 17, 33, 65", "SQLite", 8 * maxInFlightAtKill, func(s *shop, _ string) {
		enough := s.sell(faultCustomers)
		for _, n := range []int{1, 2, 3, 5, 9, 17, 33, 65} {
			s.p.kill()
			if s.tryServe(strace(s.t, syncs, fmt.Sprintf("signal=KILL:when=%d", n))...) {
				select {
				case err := <-s.p.exited:
					s.p.exited <- err
				case <-time.After(20 * time.Second):
					s.t.Errorf("it never came to its fsync number %d", n)
				}
			}
		}
		s.p.kill()
		s.serve()
		enough()
	}}}
	return append(all,
		disturbed("every 7th fsync of a thread answers EIO", syncs, "error=EIO:when=7+7"),
		disturbed("every 50th write of a thread answers ENOSPC", "pwrite64", "error=ENOSPC:when=50+50"),
		disturbed("every fsync takes 50 ms", syncs, "delay_enter=50000"),
	)
}
