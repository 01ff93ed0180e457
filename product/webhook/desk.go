package webhook

import (
	"sync"
	"time"

	"postrider/platform/queue"
)

// desk holds the lines of this process.
type desk struct {
	most int // requests at once

	mu       sync.Mutex
	lines    map[ID]*line // guarded by mu
	finished []outcome    // guarded by mu
	inFlight int          // guarded by mu
	closed   bool         // guarded by mu; nothing new begins
}

func newDesk(most int) *desk { return &desk{most: most, lines: map[ID]*line{}} }

// begin takes every job that may begin now. Those that take them tell finish what became of them.
func (d *desk) begin(now time.Time) []job {
	d.mu.Lock()
	defer d.mu.Unlock()
	var jobs []job
	for _, l := range d.lines {
		for {
			j, ok := d.next(l, now)
			if !ok {
				break
			}
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// next takes the next job of a line, if one may begin.
func (d *desk) next(l *line, now time.Time) (job, bool) {
	room := min(l.window, max(1, (d.most-d.inFlight)/fairShare))
	if d.closed || d.inFlight >= d.most || l.inFlight >= room || len(l.waiting) == 0 || l.doubtful() || now.Before(l.rests) {
		return job{}, false
	}
	j := l.waiting[0]
	l.waiting = l.waiting[1:]
	j.endpoint = l.endpoint
	l.inFlight++
	d.inFlight++
	return j, true
}

// nextOf takes the next job of an endpoint, if one may begin.
func (d *desk) nextOf(id ID, now time.Time) (job, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.lines[id]; l != nil {
		return d.next(l, now)
	}
	return job{}, false
}

// finish notes what became of a job.
func (d *desk) finish(o outcome, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.finished = append(d.finished, o)
	d.inFlight--
	l := d.lines[o.delivery.Webhook]
	if l == nil {
		return
	}
	l.inFlight--
	switch {
	case o.attempt.Status == 0:
		l.silent++
		l.window, l.rests = 1, now.Add(min(longestPause, firstPause<<min(l.silent-1, 16)))
	case o.attempt.Error == "":
		l.silent, l.window = 0, min(maxWindow, l.window+1)
	default:
		l.silent = 0
	}
}

// doubt makes sure that an endpoint is read again before anything else is posted to it.
func (d *desk) doubt(id ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.lines[id]; l != nil {
		l.doubts++
		l.lookAt = time.Time{}
	}
}

// look is a line that the next transaction asks the database about.
type look struct {
	id   ID
	item queue.Item
	// taken are the deliveries that the line will still have when the transaction has settled what is finished; resting
	// tells that none of them is under way.
	taken   map[DeliveryID]bool
	resting bool
	wants   int
	doubts  int
}

// collect returns what is finished, and the lines to look at: those that have something finished or nothing at all, and those
// whose time has come.
func (d *desk) collect(now time.Time) ([]outcome, []look) {
	d.mu.Lock()
	defer d.mu.Unlock()
	outcomes := d.finished
	d.finished = nil
	settled, touched := map[DeliveryID]bool{}, map[ID]bool{}
	for _, o := range outcomes {
		settled[o.delivery.ID], touched[o.delivery.Webhook] = true, true
	}
	var looks []look
	for id, l := range d.lines {
		if !touched[id] && len(l.taken) > 0 && now.Before(l.lookAt) {
			continue
		}
		taken := make(map[DeliveryID]bool, len(l.taken))
		for delivery := range l.taken {
			if !settled[delivery] {
				taken[delivery] = true
			}
		}
		looks = append(looks, look{id: id, item: l.item, taken: taken, resting: l.inFlight == 0, wants: l.wants(), doubts: l.doubts})
	}
	return outcomes, looks
}

// putBack keeps outcomes that could not be written: the posts have been made and must not be forgotten.
func (d *desk) putBack(outcomes []outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.finished = append(outcomes, d.finished...)
}

// seen is what a transaction has found out about a line.
type seen struct {
	id ID
	// endpoint is nil if nothing may be posted to it any more.
	endpoint *Endpoint
	jobs     []job
	doubts   int
	// left tells that the line was given back.
	left bool
}

// apply makes the lines what a transaction has decided.
func (d *desk) apply(outcomes []outcome, lines []seen, claimed []queue.Item, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range outcomes {
		if l := d.lines[o.delivery.Webhook]; l != nil {
			delete(l.taken, o.delivery.ID)
		}
	}
	for _, s := range lines {
		if s.left {
			delete(d.lines, s.id)
			continue
		}
		d.lines[s.id].update(s, now)
	}
	for _, item := range claimed {
		if l := d.lines[ID(item.ID)]; l != nil { // the lease had run out, and is ours again
			l.item = item
			continue
		}
		d.lines[ID(item.ID)] = &line{item: item, taken: map[DeliveryID]bool{}, window: 1, doubts: 1}
	}
}

// nextLook returns when the first line wants attention; ok is false if there are no lines.
func (d *desk) nextLook(now time.Time) (at time.Time, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.lines {
		wanted := l.lookAt
		if l.rests.After(now) && l.rests.Before(wanted) {
			wanted = l.rests
		}
		if !ok || wanted.Before(at) {
			at, ok = wanted, true
		}
	}
	return at, ok
}

// room is how many more endpoints may be claimed.
func (d *desk) room() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return min(claimBatch, d.most-len(d.lines))
}

// close lets nothing new begin.
func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}
