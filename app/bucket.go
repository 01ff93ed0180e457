package app

import (
	"context"
	"time"

	"postrider/platform/blob"
)

// tryFor is how long a bucket may take to answer at the start.
const tryFor = time.Minute

// tryBucket says at once what would else be found out by the first large message. It is no reason not to start: small ones need no bucket,
// and senders of large ones are told to come again.
func (s *server) tryBucket(ctx context.Context) {
	within, done := context.WithTimeout(ctx, tryFor)
	defer done()
	if err := blob.Try(within, s.app.blobs, s.world.Random); err != nil && ctx.Err() == nil {
		s.world.Log.Error("the bucket cannot be used, and large messages are not taken until it can: postrider doctor tries it again", "error", err)
	}
}
