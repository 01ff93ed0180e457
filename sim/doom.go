package sim

import (
	"errors"
	"sync"
)

// doom is the moment at which a process dies, counted in commits. From then on it can write nothing and reach nobody, whatever it believes
// to be doing, until the simulator has put another in its place.
type doom struct {
	mu sync.Mutex
	// All below is guarded by mu.
	armed   bool
	commits int
	at      int
	after   bool
	dead    bool
}

var errDead = errors.New("the simulated process is dead")

// arm begins to count. The process dies at a commit, before it or after it; 0 lets it live.
func (d *doom) arm(at int, after bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed, d.at, d.after = true, at, after
}

// commit is asked before every commit.
func (d *doom) commit() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return errDead
	}
	if !d.armed {
		return nil
	}
	if d.commits++; d.commits != d.at {
		return nil
	}
	d.dead = true
	if d.after {
		return nil
	}
	return errDead
}

func (d *doom) isDead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// over lets the next process live.
func (d *doom) over() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead, d.at = false, 0
}

func (d *doom) counted() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.commits
}
