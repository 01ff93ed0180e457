package audience

import (
	"context"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	// idleLook is how often a queue is looked at even if nobody announces work.
	idleLook = 5 * time.Second
	// errorsFor is how long the file of what could not be imported is kept: it holds what people typed.
	errorsFor  = 30 * 24 * time.Hour
	sweepEvery = time.Hour
	sweepBatch = 100
)

// Workers returns what has to be done again and again.
func (s *Service) Workers() []queue.Worker {
	lane := func(name string, lane queue.Lane, step func(context.Context) (bool, error)) queue.Worker {
		return queue.Worker{Name: name, Step: step, Topics: []string{lane.Topic()}, Every: idleLook, Next: s.holder.NextIn(lane)}
	}
	return []queue.Worker{
		lane("contact imports", ImportLane, s.stepImport),
		lane("confirmations", ConfirmationLane, s.stepConfirmations),
		lane("erasures", ErasureLane, s.stepErasure),
		lane("discards", DiscardLane, s.stepDiscards),
		{Name: "import errors", Step: s.sweep, Every: sweepEvery},
	}
}

// sweep forgets the files of errors of imports that ended long ago.
func (s *Service) sweep(ctx context.Context) (bool, error) {
	var swept int64
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		swept, err = forgetOldErrors(tx, tx.Now().Add(-errorsFor), sweepBatch)
		return err
	})
	return swept == sweepBatch, err
}
