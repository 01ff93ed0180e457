package email

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// A transaction costs much the same for one email as for fifty, so emails that come at the same moment share one.

const (
	// maxJoined bounds what goes into one transaction.
	maxJoined = 64
	// maxClerks is how many transactions are under way at once. While one is being made durable, the next fills up; with two,
	// each would be half as full, and the disk is waited for twice.
	maxClerks = 1
)

// pending is an email that waits to be stored.
type pending struct {
	sender  Sender
	rows    acceptance
	request api.Idempotency

	receipt  Receipt
	replayed bool
	err      error
	done     chan struct{}
}

// desk is where what is to be written waits. The first that comes to a free clerk serves itself and whoever waits with it.
type desk[T any] struct {
	mu      sync.Mutex
	waiting []T // guarded by mu
	clerks  int // guarded by mu
}

// enter adds one that waits and tells whether its caller has to serve.
func (d *desk[T]) enter(one T) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, one)
	if d.clerks == maxClerks {
		return false
	}
	d.clerks++
	return true
}

// waits returns how many wait.
func (d *desk[T]) waits() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.waiting)
}

// next returns who is served together. Nobody means that the clerk may go.
func (d *desk[T]) next() []T {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(d.waiting), maxJoined)
	joined := d.waiting[:n:n]
	if d.waiting = d.waiting[n:]; n == 0 {
		d.waiting = nil
		d.clerks--
	}
	return joined
}

// commit stores what was prepared, if the plan allows it and the key is new.
func (s *Service) commit(ctx context.Context, sender Sender, rows acceptance, request api.Idempotency) (Receipt, bool, error) {
	p := &pending{sender: sender, rows: rows, request: request, done: make(chan struct{})}
	if s.desk.enter(p) {
		ctx := context.WithoutCancel(ctx) // that one caller has gone must not fail the others
		s.storeJoined(ctx, s.desk.next())
		go s.serveOthers(ctx)
	}
	<-p.done
	return p.receipt, p.replayed, p.err
}

// serveOthers goes on for those who came meanwhile, so that the first caller gets its answer.
func (s *Service) serveOthers(ctx context.Context) {
	for joined := s.desk.next(); len(joined) > 0; joined = s.desk.next() {
		s.storeJoined(ctx, joined)
	}
}

func (s *Service) storeJoined(ctx context.Context, joined []*pending) {
	err := s.db.Write(ctx, func(tx *db.Tx) error { return s.storePending(tx, joined) })
	if err != nil && len(joined) > 1 && !errors.Is(err, db.ErrUnavailable) {
		for _, p := range joined { // one of them cannot be stored; the others can
			s.storeJoined(ctx, []*pending{p})
		}
		return
	}
	for _, p := range joined {
		if err != nil {
			p.receipt, p.replayed, p.err = Receipt{}, false, err
		}
		close(p.done)
	}
}

// storePending stores the emails that their plans and keys allow, and notes for each what became of it. Its error means that
// nothing was stored.
func (s *Service) storePending(tx *db.Tx, joined []*pending) error {
	fresh, err := s.chargePending(tx, joined)
	if err != nil {
		return err
	}
	return s.store(tx, fresh...)
}

// chargePending counts the emails against plans and keys, and returns those that are to be stored. What became of each is noted
// on it; the error means that the transaction cannot go on.
func (s *Service) chargePending(tx *db.Tx, joined []*pending) ([]acceptance, error) {
	owed := map[payer][]*pending{}
	for _, p := range joined {
		who := payer{p.sender.Workspace, p.sender.Plan}
		owed[who] = append(owed[who], p)
	}
	for _, who := range slices.SortedFunc(maps.Keys(owed), payer.compare) {
		if err := s.charge(tx, who, owed[who]); err != nil {
			return nil, err
		}
	}
	var fresh []acceptance
	for _, p := range joined {
		if p.err == nil && !p.replayed {
			fresh = append(fresh, p.rows)
		}
	}
	return fresh, nil
}

// payer is whose plan emails count for. Payers are charged in one order everywhere: two nodes that lock the same rows in two orders would
// wait for each other.
type payer struct {
	workspace space.ID
	plan      plan.Name
}

func (p payer) compare(other payer) int {
	return cmp.Or(cmp.Compare(p.workspace, other.workspace), cmp.Compare(p.plan, other.plan))
}

func (s *Service) charge(tx *db.Tx, who payer, joined []*pending) error {
	var unkeyed []*pending
	var counts []int64
	for _, p := range joined {
		p.receipt, p.replayed, p.err = Receipt{}, false, nil
		count := int64(len(p.rows.recipients))
		if p.request.Key == "" {
			unkeyed, counts = append(unkeyed, p), append(counts, count)
			continue
		}
		p.receipt, p.replayed, p.err = api.Once(tx, p.request, func() (Receipt, error) {
			quota, err := s.plans.UseEmails(tx, who.workspace, who.plan, count)
			return p.rows.receipt(quota), err
		})
		if isFailure(p.err) {
			return p.err
		}
	}
	if len(unkeyed) == 0 {
		return nil
	}
	quotas, refusals, err := s.plans.UseEmailsOfMany(tx, who.workspace, who.plan, counts)
	if err != nil {
		return err
	}
	for i, p := range unkeyed {
		p.receipt, p.err = p.rows.receipt(quotas[i]), refusals[i]
	}
	return nil
}

// isFailure tells trouble of ours from an answer to the caller.
func isFailure(err error) bool {
	var public *api.Error
	return err != nil && (!errors.As(err, &public) || public.Status >= 500)
}
