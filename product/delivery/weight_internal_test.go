package delivery

import (
	"context"
	"testing"

	"golang.org/x/sync/semaphore"

	"postrider/product/email"
)

func TestLargeLettersWaitForEachOtherAndSmallOnesForNobody(t *testing.T) {
	t.Parallel()
	s := &Service{room: semaphore.NewWeighted(roomForLarge), letters: newLetters()}
	borrow := func(id email.ID, size int64) *letter {
		return s.letters.borrow(s, email.Taken{Email: email.Email{ID: id, SizeBytes: size, Recipients: 1}})
	}
	live := context.Background()
	over, end := context.WithCancel(live)
	end() // whoever has to wait gives up
	first, second, third := borrow("first", 30<<20), borrow("second", 30<<20), borrow("third", 30<<20)
	if first.enter(live) != nil || second.enter(live) != nil || third.enter(over) == nil {
		t.Fatal("there must be room for two of 30 MB")
	}
	if small := borrow("small", largeLetter-1); small.enter(over) != nil {
		t.Error("a small letter has to wait")
	}
	s.letters.giveBack(first)
	if err := third.enter(live); err != nil {
		t.Errorf("after one has left: %v", err)
	}
	s.letters.giveBack(second)
	s.letters.giveBack(third)
	if huge := borrow("huge", 10<<30); huge.enter(live) != nil {
		t.Error("one that is larger than all the room never gets in")
	}
}
