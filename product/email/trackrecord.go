package email

import (
	"context"
	"fmt"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email/internal/track"
)

const (
	// maxTold is how many opens of a recipient are told as events, and as many clicks, and as many of each by programs: a mail
	// program that loads its pictures again and again must not flood the customer. Beyond, they are only counted.
	maxTold = 100
	// maxCounted is where counting ends, too: a loop must not keep the database busy.
	maxCounted = 10_000
	// maxVisitsWaiting bounds the memory of a time in which the database does not answer.
	maxVisitsWaiting = 10_000
	// visitPatience is how long a reader waits for an open or a click to be written down.
	visitPatience = 2 * time.Second
	// maxUserAgent is how much of a User-Agent header is told, in characters.
	maxUserAgent = 512
)

// visit is one open or click on its way into the store.
type visit struct {
	recipient RecipientID
	link      string // of a click
	facts     track.Visit
	at        time.Time
	played    bool // by a simulated reader, who has no time to lose
}

// visitFacts is what customers are told of an open or a click. The spelling is that of other services.
type visitFacts struct {
	Link      string   `json:"link,omitempty"`
	IP        string   `json:"ipAddress"`
	UserAgent string   `json:"userAgent"`
	At        api.Time `json:"timestamp"`
	Automated bool     `json:"automated"`
	Reason    api.Ref  `json:"automated_reason"`
	// Count is the how manieth it is of the recipient; those of programs are counted apart.
	Count int `json:"count"`
}

// describe tells an open or a click in a line of the timeline.
func (f *visitFacts) describe(what string) string {
	if f.Link != "" {
		what += " to " + f.Link
	}
	if f.Automated {
		return fmt.Sprintf("%s, but not by a person (%s).", what, f.Reason)
	}
	return what + "."
}

// noteVisit writes an open or a click down, together with those that come at the same moment, and waits for it. If that fails or
// takes too long, the log tells: whoever reads mail must not suffer from it.
func (s *Service) noteVisit(ctx context.Context, v *visit) {
	v.at = s.world.Clock.Now().Truncate(time.Microsecond)
	if !s.visitors.TryAcquire(1) {
		s.world.Log.Error("an open or click is lost: too many wait to be recorded", "waiting", maxVisitsWaiting)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer s.visitors.Release(1)
		s.recordVisit(ctx, v)
	}()
	late, stop := s.world.Clock.After(visitPatience)
	defer stop()
	select {
	case <-done:
	case <-late:
	}
}

func (s *Service) recordVisit(ctx context.Context, v *visit) {
	defer func() {
		if panicked := recover(); panicked != nil {
			s.world.Log.Error("an open or click is lost", "recipient", v.recipient, "panic", panicked)
		}
	}()
	if err := s.visits.Write(ctx, v); err != nil {
		s.world.Log.Error("an open or click is lost", "recipient", v.recipient, "error", err)
	}
}

// recordVisits counts opens and clicks, moves the recipients of those that are by people, and tells of all.
func (s *Service) recordVisits(tx *db.Tx, visits []*visit) error {
	items := make([]queue.Item, len(visits))
	ids := make([]RecipientID, len(visits))
	for i, v := range visits {
		items[i], ids[i] = queue.Item{ID: string(v.recipient)}, v.recipient
	}
	b, err := s.loadBatch(tx, items)
	if err != nil {
		return err
	}
	tallies, err := selectTallies(tx, ids)
	if err != nil {
		return err
	}
	changed := map[RecipientID]bool{}
	for _, v := range visits {
		r, ok := b.recipients[v.recipient]
		if !ok || !r.State.hasMail() {
			continue // gone, or settled for good: what follows is no news
		}
		t := tallies[r.ID]
		if b.visited(r, &t, v) {
			tallies[r.ID], changed[r.ID] = t, true
		}
	}
	for id := range changed {
		if err := upsertTally(tx, *b.recipients[id], tallies[id]); err != nil {
			return err
		}
	}
	if err := updateCounts(tx, b.emails); err != nil {
		return err
	}
	return b.save(tx)
}

// hasMail tells whether the recipient may have the message, so that opens and clicks mean something.
func (s State) hasMail() bool {
	switch s {
	case Scheduled, Cancelled, Failed, Suppressed, Complained:
		return false
	}
	return true
}

// visited counts one open or click and tells whether that is news.
func (b *batch) visited(r *Recipient, t *tally, v *visit) bool {
	e, kind, next := b.emails[r.Email], "email.opened", Opened
	if v.facts.Click {
		kind, next = "email.clicked", Clicked
	}
	v.facts.Since = r.sinceDelivery(v.at)
	reason := v.facts.Automated()
	if v.played {
		reason = ""
	}
	count := t.add(v.facts.Click, reason != "", v.at)
	if count > maxCounted {
		return false
	}
	was := change{ISP: r.ISP}
	if reason == "" {
		e.count(v.facts.Click)
		if r.State.CanBecome(next) {
			was = b.change(r)
			b.setState(r, next)
		}
	}
	if count > maxTold {
		return true
	}
	facts := &visitFacts{Link: v.link, UserAgent: cut(strings.ToValidUTF8(v.facts.UserAgent, "\uFFFD"), maxUserAgent), At: api.Time(v.at),
		Automated: reason != "", Reason: api.Ref(reason), Count: count}
	if v.facts.IP.IsValid() {
		facts.IP = v.facts.IP.String()
	}
	more := extras{change: was, Open: facts}
	if v.facts.Click {
		more = extras{change: was, Click: facts}
	}
	// In the state the recipient is in: programs change none, and whoever has clicked may open the mail again.
	b.told = append(b.told, telling{e, r.State, kind, r.Address, v.at, more})
	return true
}

func (e *Email) count(click bool) {
	if click {
		e.Clicks++
	} else {
		e.Opens++
	}
}

// sinceDelivery is how long the recipient has had the message; it is negative while we are still handing it over.
func (r *Recipient) sinceDelivery(at time.Time) time.Duration {
	switch {
	case !r.DeliveredAt.IsZero():
		return at.Sub(r.DeliveredAt)
	case !r.State.Terminal():
		return -1
	}
	return at.Sub(r.TakenAt) // a relay has taken it
}
