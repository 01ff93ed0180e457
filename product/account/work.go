package account

import (
	"context"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	// sweepEvery is how long what has run out may lie around; nobody can use it meanwhile.
	sweepEvery = 10 * time.Minute
	// sweepBatch bounds the rows of each kind that one transaction removes.
	sweepBatch = 500
	// mailEvery is how soon a mail is noticed whose wake-up was lost.
	mailEvery = 10 * time.Second
)

// Workers returns what has to be done again and again: posting mails, and removing what has run out.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{
		{Name: "account mail", Step: s.postMails, Topics: []string{Lane.Topic()}, Every: mailEvery, Next: s.holder.NextIn(Lane)},
		{Name: "account sweep", Step: s.sweep, Every: sweepEvery},
	}
}

func (s *Service) sweep(ctx context.Context) (bool, error) {
	var removed int64
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		removed, err = deleteExpired(tx, sweepBatch)
		return err
	})
	return removed >= sweepBatch, err
}
