package email

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/domain"
)

// Due is a recipient whose time has come: as much of it as one must know to find its way. Many of them wait in memory.
type Due struct {
	Item      queue.Item
	Workspace space.ID
	Email     ID
	Address   string
	// Flow is whose turn it uses: the managed customer's, or the workspace's.
	Flow string
	// Provider is the way the mail goes out, as in Email.
	Provider string
	Test     bool
	// TLS is what the sender's domain demands of connections.
	TLS       string
	ExpiresAt time.Time
}

// flow is whose mail it is when turns are taken.
func (e Email) flow() string {
	if e.Tenant != "" {
		return e.Tenant
	}
	return string(e.Workspace)
}

// Look tells which recipients of claimed items are to be mailed, and by which way. It is no attempt, and most recipients stay as
// they are; but what was scheduled is queued now, and what may no longer be sent is settled.
func (s *Service) Look(tx *db.Tx, items []queue.Item) ([]Due, error) {
	if len(items) == 0 {
		return nil, nil
	}
	rows, err := selectDue(tx, items)
	if err != nil {
		return nil, err
	}
	var late []queue.Item
	for _, item := range items {
		r, ok := rows[item.ID]
		if !ok || r.state.Terminal() || r.state == Scheduled || !tx.Now().Before(r.ExpiresAt) {
			late = append(late, item)
		}
	}
	over, err := s.arrive(tx, late)
	if err != nil {
		return nil, err
	}
	domainIDs := []domain.ID{}
	for _, r := range rows {
		domainIDs = append(domainIDs, r.domain)
	}
	domains, err := s.domains.Load(tx, domainIDs)
	due := make([]Due, 0, len(items))
	for _, item := range items {
		r, ok := rows[item.ID]
		if !ok || over[item.ID] {
			continue
		}
		r.Due.Item, r.Due.TLS = item, domains[r.domain].TLS
		due = append(due, r.Due)
	}
	return due, err
}

// arrive settles items that cannot simply be mailed, and returns the ids of those that are not to be mailed at all.
func (s *Service) arrive(tx *db.Tx, items []queue.Item) (over map[string]bool, err error) {
	if len(items) == 0 {
		return nil, nil
	}
	b, err := s.loadBatch(tx, items)
	if err != nil {
		return nil, err
	}
	over = map[string]bool{}
	var done []string
	for _, item := range items {
		r, ok := b.recipients[RecipientID(item.ID)]
		if !ok || b.settledAlready(r) {
			done = append(done, item.ID)
			over[item.ID] = true
			continue
		}
		b.queue(r)
	}
	if err := queue.Finish(tx, done...); err != nil {
		return nil, err
	}
	return over, b.save(tx)
}

// settledAlready tells whether nothing is left to do for a recipient; it fails those that may no longer be sent.
func (b *batch) settledAlready(r *Recipient) bool {
	if r.State.Terminal() {
		return true
	}
	if reason := b.refusal(b.emails[r.Email], r); reason != nil {
		b.recordLost(r)
		b.fail(r, reason)
		return true
	}
	return false
}

// queue moves a scheduled recipient, whose time has come, to the queued ones.
func (b *batch) queue(r *Recipient) {
	if r.State != Scheduled {
		return
	}
	e, now := b.emails[r.Email], b.tx.Now()
	b.setState(r, Queued)
	if e.QueuedAt.IsZero() {
		e.QueuedAt = now
		b.tell(e, "email.queued", "", now, extras{change: change{Previous: Scheduled}})
	}
}
