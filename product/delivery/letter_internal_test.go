package delivery

import (
	"crypto"
	"crypto/ed25519"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"postrider/mail/dkim"
	"postrider/world"
)

// busyKey notes how many use it at once.
type busyKey struct {
	ed25519.PrivateKey
	now, most *atomic.Int64
}

func (k busyKey) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	k.most.Store(max(k.most.Load(), k.now.Add(1)))
	defer k.now.Add(-1)
	runtime.Gosched() // whoever may sign as well does so here
	return []byte("signed"), nil
}

func TestNoMoreLettersAreSignedAtOnceThanKeepTheProcessorsBusy(t *testing.T) {
	t.Parallel()
	_, secret, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	key := busyKey{secret, new(atomic.Int64), new(atomic.Int64)}
	signer := dkim.NewSigner("shop.test", "one", key)
	s := New(world.World{Clock: world.SystemClock{}}, nil, nil, nil, nil, nil, Config{})
	var conversations sync.WaitGroup
	for range 200 {
		conversations.Go(func() {
			if _, err := s.signatures([]byte("From: olga@shop.test\r\n\r\nThanks\r\n"), []*dkim.Signer{signer}); err != nil {
				t.Error(err)
			}
		})
	}
	conversations.Wait()
	if most := int64(dkim.AtOnce()); key.most.Load() > most {
		t.Errorf("%d letters were signed at once; %d keep the processors busy", key.most.Load(), most)
	}
}
