package delivery

import (
	"context"
	"fmt"
)

const (
	// largeLetter is from which size on a letter has to wait for room. Smaller ones are bounded by the number of conversations.
	largeLetter = 256 << 10
	// roomForLarge bounds what all large letters in memory weigh together.
	roomForLarge = 256 << 20
	// letterCost is how often a letter is in memory at most: as it was stored, as it was put together, and signed.
	letterCost = 3
)

// enter waits until there is room for the letter. Conversations whose letters are large wait for each other; the others do not.
func (l *letter) enter(ctx context.Context) error {
	size := l.taken.Email.SizeBytes
	if size < largeLetter {
		return nil
	}
	weight := min(size*letterCost, roomForLarge)
	if err := l.service.room.Acquire(ctx, weight); err != nil {
		return fmt.Errorf("wait for room: %w", err)
	}
	l.weight = weight
	return nil
}

// leave gives the room back. Nobody uses the letter any more; if it is kept it is small.
func (l *letter) leave() {
	if l.weight > 0 {
		l.service.room.Release(l.weight)
		l.weight = 0
	}
}
