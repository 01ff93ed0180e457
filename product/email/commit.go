package email

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// pending is an email that waits to be stored.
type pending struct {
	sender  Sender
	rows    acceptance
	request api.Idempotency

	receipt  Receipt
	replayed bool
	err      error
}

// commit stores what was prepared, if the plan allows it and the key is new. Emails that come at the same moment share a transaction.
func (s *Service) commit(ctx context.Context, sender Sender, rows acceptance, request api.Idempotency) (Receipt, bool, error) {
	p := &pending{sender: sender, rows: rows, request: request}
	if err := s.desk.Write(ctx, p); err != nil {
		return Receipt{}, false, err
	}
	return p.receipt, p.replayed, p.err
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
		who := payer{p.sender.Workspace, p.sender.Plan, useOf(&p.rows.email).day}
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

// payer is whose plan emails count for, and on which day: that on which they were made, because what is given back is given back to it.
// Payers are charged in one order everywhere: two nodes that lock the same rows in two orders would wait for each other.
type payer struct {
	workspace space.ID
	plan      plan.Name
	day       time.Time
}

func (p payer) compare(other payer) int {
	return cmp.Or(cmp.Compare(p.workspace, other.workspace), cmp.Compare(p.plan, other.plan), p.day.Compare(other.day))
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
			quota, err := s.plans.UseEmails(tx, who.workspace, who.plan, who.day, count)
			return p.rows.receipt(quota), err
		})
		if isFailure(p.err) {
			return p.err
		}
	}
	if len(unkeyed) == 0 {
		return nil
	}
	quotas, refusals, err := s.plans.UseEmailsOfMany(tx, who.workspace, who.plan, who.day, counts)
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
