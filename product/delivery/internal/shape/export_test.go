package shape

import (
	"fmt"
	"time"
)

// PathCount returns how many paths are known.
func (s *Shaper) PathCount() int { return len(s.paths) }

// Sizes returns how much is kept in each table, for tests of what is bounded.
func (s *Shaper) Sizes() map[string]int {
	return map[string]int{"paths": len(s.paths), "flows": len(s.flows), "accounts": len(s.accounts), "groups": len(s.groups), "shared": len(s.shared),
		"circuits": len(s.circuits), "holds": len(s.holds), "connections": len(s.connections), "timers": len(s.timers.heap), "slots": len(s.slab.slots)}
}

// RateOpens lets tests drive a rate by itself.
func RateOpens(count float64, window time.Duration) (opens func(time.Time) time.Time, pass func(time.Time)) {
	r, past := newRate(count, window), instant(0)
	return func(t time.Time) time.Time { return r.opens(&past, instantOf(t)).time() },
		func(t time.Time) { r.pass(&past, instantOf(t)) }
}

// Wanted is the curve by which connections are opened.
func Wanted(allowed, backlog int) int { return wanted(allowed, backlog) }

// Audit compares everything that is counted with what it counts.
func (s *Shaper) Audit() error {
	waiting, connections := 0, 0
	gates := map[*shared][3]int{}
	for _, p := range s.paths {
		inPath := 0
		for _, f := range p.allFlows() {
			inFlow := 0
			for at := f.head; at != none; at = s.slab.slots[at].then {
				inFlow += int(s.slab.slots[at].size)
			}
			if inFlow != f.waiting || inFlow == 0 {
				return fmt.Errorf("flow %v counts %d items and has %d", f.flowKey, f.waiting, inFlow)
			}
			inPath += inFlow
		}
		if inPath != p.waiting {
			return fmt.Errorf("path %v counts %d items and has %d", p.key, p.waiting, inPath)
		}
		waiting += inPath
		connections += p.connections
		for _, g := range p.gates {
			sum := gates[g]
			gates[g] = [3]int{sum[0] + p.connections, sum[1] + len(p.unused), sum[2]}
		}
		if p.ticket != nil {
			sum := gates[p.ticket]
			gates[p.ticket] = [3]int{sum[0], sum[1], sum[2] + 1}
		}
		if p.list != nil && p.timer.place != 0 {
			return fmt.Errorf("path %v is in two places", p.key)
		}
		if p.waiting > 0 && p.list == nil && p.timer.place == 0 && p.connections == len(p.unused) {
			return fmt.Errorf("path %v has mail and waits for nothing", p.key)
		}
	}
	if waiting != s.waiting || connections != len(s.connections) {
		return fmt.Errorf("counts %d items and %d connections, has %d and %d", s.waiting, len(s.connections), waiting, connections)
	}
	for g, sum := range gates {
		if g.connections != sum[0] || g.unused != sum[1] || g.reserved != sum[2] {
			return fmt.Errorf("limit %v counts %d connections, %d unused, %d reserved, and has %v", g.name, g.connections, g.unused, g.reserved, sum)
		}
	}
	for _, c := range s.circuits {
		if c.waiters.size > 0 && c.probe == 0 && c.timer.place == 0 {
			return fmt.Errorf("paths wait at circuit %s for nobody", c.key)
		}
	}
	return nil
}
