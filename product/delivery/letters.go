package delivery

import (
	"slices"
	"sync"

	"postrider/product/email"
)

const (
	// maxKept bounds the letters that are kept for further recipients, and maxKeptBytes the size of each.
	maxKept      = 32
	maxKeptBytes = 1 << 20
)

// letters lets the recipients of one email share its message, which is composed and signed once: those mailed at the same time,
// and those that follow soon.
type letters struct {
	mu      sync.Mutex
	byEmail map[email.ID]*letter // guarded by mu
	kept    []email.ID           // letters nobody uses at the moment, the longest so first; guarded by mu
}

func newLetters() *letters { return &letters{byEmail: map[email.ID]*letter{}} }

// borrow returns the letter of an email. It must be given back.
func (b *letters) borrow(s *Service, t email.Taken) *letter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.Email.Personal() { // each recipient's is another
		l := s.newLetter(t)
		l.users, l.own = 1, true
		return l
	}
	l := b.byEmail[t.Email.ID]
	if l == nil {
		l = s.newLetter(t)
		b.byEmail[t.Email.ID] = l
	} else if l.users == 0 {
		b.kept = slices.DeleteFunc(b.kept, func(id email.ID) bool { return id == t.Email.ID })
	}
	l.users++
	return l
}

func (b *letters) giveBack(l *letter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.users--; l.users > 0 {
		return
	}
	l.leave()
	if l.own {
		return
	}
	id := l.taken.Email.ID
	if l.err != nil || l.taken.Email.Recipients == 1 || len(l.raw) > maxKeptBytes {
		delete(b.byEmail, id)
		return
	}
	if b.kept = append(b.kept, id); len(b.kept) > maxKept {
		delete(b.byEmail, b.kept[0])
		b.kept = b.kept[1:]
	}
}
