package rsabatch

import (
	"runtime"
	"slices"
	"sync"
)

// batchSize is how many digests are signed together: each takes two of the eight lanes.
const batchSize = laneCount / 2

// request is a digest to be signed. When done is closed there is a signature, or none if something went wrong.
type request struct {
	key       *Key
	padded    [keySize]byte
	signature []byte
	done      chan struct{}
}

// desk is where requests wait for each other. Half of the processors sign at most: a few full batches cost less than many thin ones.
type desk struct {
	turns chan *workspace

	mu      sync.Mutex
	waiting []*request
}

var shared = newDesk(max(1, runtime.GOMAXPROCS(0)/2))

// Supported tells whether the processor has what it takes.
func Supported() bool { return len(available) > 0 }

func newDesk(turns int) *desk {
	d := &desk{turns: make(chan *workspace, turns)}
	if Supported() {
		for range turns {
			d.turns <- newWorkspace(available[0])
		}
	}
	return d
}

// AtOnce is how many requests keep the desk busy: while as many as it takes are signed, the next ones come together.
func AtOnce() int { return 2 * batchSize * cap(shared.turns) }

// sign returns when the request is done, by this goroutine or another.
func (d *desk) sign(r *request) {
	d.mu.Lock()
	d.waiting = append(d.waiting, r)
	d.mu.Unlock()
	for {
		select {
		case <-r.done:
			return
		case w := <-d.turns:
			runtime.Gosched() // whoever is about to ask comes along
			d.turn(w)
		}
	}
}

// turn does a batch. Should it panic, nobody waits for ever.
func (d *desk) turn(w *workspace) {
	batch := d.take()
	defer func() {
		for _, r := range batch {
			close(r.done)
		}
		d.turns <- w
	}()
	w.sign(batch)
}

// take returns those that have waited longest, if any still do.
func (d *desk) take() []*request {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(d.waiting), batchSize)
	batch := slices.Clone(d.waiting[:n])
	d.waiting = slices.Delete(d.waiting, 0, n)
	return batch
}
