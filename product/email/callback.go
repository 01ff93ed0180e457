package email

import (
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
)

const (
	// calledBackFor is how long it is remembered that mail was called back: longer than any mail is tried.
	calledBackFor = 30 * 24 * time.Hour
	// conversationFor is how long a process remembers it for conversations that had begun: longer than one may last.
	conversationFor = time.Hour
)

// CallBack lets no conversation begin any more about mail of a broadcast. Whoever calls it calls CalledBack after the commit, and Recall
// for what waits.
func (s *Service) CallBack(tx *db.Tx, ws space.ID, broadcast string) error {
	if err := deleteCalledBack(tx, tx.Now().Add(-calledBackFor)); err != nil {
		return err
	}
	return insertCalledBack(tx, ws, broadcast)
}

// calls are the broadcasts that were called back through this process.
type calls struct {
	mu sync.Mutex
	at map[string]time.Time // guarded by mu
}

// CalledBack tells the conversations of this process that mail of a broadcast is called back: those that have not come to the end of
// the message break off. Conversations of other nodes that have begun go on.
func (s *Service) CalledBack(broadcast string) {
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	now := s.world.Clock.Now()
	if s.calls.at == nil {
		s.calls.at = map[string]time.Time{}
	}
	for id, at := range s.calls.at {
		if now.Sub(at) > conversationFor {
			delete(s.calls.at, id)
		}
	}
	s.calls.at[broadcast] = now
}

// IsCalledBack tells whether a conversation about the email is to break off.
func (s *Service) IsCalledBack(e Email) bool {
	if e.Broadcast == "" {
		return false
	}
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	_, called := s.calls.at[e.Broadcast]
	return called
}

// Recall cancels those of the emails that no server is being asked to take, and returns them. What was counted for them is given back.
// Each must have one recipient.
func (s *Service) Recall(tx *db.Tx, ids []ID) (recalled []ID, err error) {
	waiting, err := selectWaiting(tx, ids)
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	items := make([]queue.Item, len(waiting))
	for i, recipient := range waiting {
		items[i] = queue.Item{ID: recipient}
	}
	b, err := s.loadBatch(tx, items)
	if err != nil {
		return nil, err
	}
	var done []string
	for _, item := range items {
		r := b.recipients[RecipientID(item.ID)]
		if r == nil || r.State != Queued && (r.State != Sending || r.underWay()) {
			continue // picked up since
		}
		b.recall(r)
		recalled, done = append(recalled, r.Email), append(done, item.ID)
	}
	if err := queue.Finish(tx, done...); err != nil {
		return nil, err
	}
	return recalled, b.save(tx)
}

// findCalledBack looks which of the mails are called back.
func (b *batch) findCalledBack() error {
	asked := map[string]bool{}
	var broadcasts []string
	for _, e := range b.emails {
		if e.Broadcast != "" && !asked[e.Broadcast] {
			asked[e.Broadcast] = true
			broadcasts = append(broadcasts, e.Broadcast)
		}
	}
	if len(broadcasts) == 0 {
		return nil
	}
	found, err := selectCalledBack(b.tx, broadcasts)
	b.calledBack = make(map[string]bool, len(found))
	for _, id := range found {
		b.calledBack[id] = true
	}
	return err
}

// isCalledBack tells whether a recipient who still waits is not to be mailed any more because the sender wants it so.
func (b *batch) isCalledBack(r *Recipient) bool {
	return !r.State.Terminal() && b.calledBack[b.emails[r.Email].Broadcast]
}

// recall ends a recipient whose mail the sender called back.
func (b *batch) recall(r *Recipient) {
	e := b.emails[r.Email]
	b.recordLost(r)
	was := b.change(r)
	b.setState(r, Cancelled)
	r.NextAttemptAt = time.Time{}
	b.tell(e, "email.cancelled", "", b.tx.Now(), extras{change: was})
	b.unsent[useOf(e)]++
}
