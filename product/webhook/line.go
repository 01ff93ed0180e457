package webhook

import (
	"time"

	"postrider/platform/queue"
)

// Every endpoint that this process has claimed has a line: deliveries that wait, and requests under way. Nobody else posts to it
// meanwhile, and no line can block another.
//
// A line is given back only in a transaction that has locked the endpoint and found nothing due. Whoever adds a delivery locks
// the endpoint too, and then makes its queue item due or finds it claimed. So a new delivery is seen either by the process that
// is about to give the line back, or by the one that claims it next.

const (
	// maxWindow is how many requests one endpoint is sent at once.
	maxWindow = 10
	// lookahead is how many deliveries of a healthy endpoint are loaded for each request at once: what it takes while a
	// transaction commits.
	lookahead = 20
	// maxAhead is how many bytes of bodies wait in one line: received mail with its text is a hundred times as large as other events.
	maxAhead = 4 << 20
	// fairShare is how many endpoints could still have as many free places as any one gets: the fuller the house, the fewer
	// places for each, so that many slow endpoints leave room for one more.
	fairShare = 192
	// lookEvery is how soon a delivery that another process has added to a line of ours is noticed, and refreshEvery how soon
	// a change of the endpoint is that was made there.
	lookEvery    = 250 * time.Millisecond
	refreshEvery = time.Second
	// firstPause and longestPause are between requests to an endpoint that does not answer at all. It is asked again and
	// again, but not by everything that waits for it.
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
)

// job is a delivery that is ready to be posted.
type job struct {
	delivery Delivery
	body     string
	endpoint *Endpoint // as it was when the job began
}

// line is what is loaded for one endpoint.
type line struct {
	item     queue.Item
	endpoint *Endpoint // nil until it was looked at
	waiting  []job
	taken    map[DeliveryID]bool // loaded and not settled yet
	inFlight int
	// largest is the size of the largest body that was loaded last.
	largest int
	// window is how many requests may be under way. It starts at one and grows with each success.
	window int
	// silent counts requests without an answer in a row; until rests, the line pauses for them.
	silent int
	rests  time.Time
	// lookAt is when the database is asked again.
	lookAt time.Time
	// doubts counts the changes that the endpoint may have seen, and settled those of them that had come when it was last read.
	doubts, settled int
}

// doubtful tells that the endpoint has to be read again before anything is posted to it.
func (l *line) doubtful() bool { return l.doubts != l.settled }

func (l *line) ahead() int {
	if l.window < maxWindow {
		return 1 + l.window
	}
	return max(l.window, min(lookahead*l.window, maxAhead/max(l.largest, 1)))
}

// wants is how many deliveries to load.
func (l *line) wants() int { return max(0, l.ahead()-len(l.waiting)) }

func (l *line) update(s seen, now time.Time) {
	l.endpoint, l.settled = s.endpoint, s.doubts
	if s.endpoint == nil {
		for _, j := range l.waiting {
			delete(l.taken, j.delivery.ID)
		}
		l.waiting = nil
	}
	l.load(s.jobs)
	switch {
	case l.doubtful(): // it has changed since
		l.lookAt = time.Time{}
	case l.wants() == 0:
		l.lookAt = now.Add(refreshEvery)
	default:
		l.lookAt = now.Add(lookEvery)
	}
}

// load takes jobs in, as many as their bodies leave room for. The others are found again, and then fewer at a time.
func (l *line) load(jobs []job) {
	size := 0
	for i, j := range jobs {
		if i == 0 || len(j.body) > l.largest {
			l.largest = len(j.body)
		}
		if size += len(j.body); i > 0 && size > maxAhead {
			return
		}
		l.taken[j.delivery.ID] = true
		l.waiting = append(l.waiting, j)
	}
}
