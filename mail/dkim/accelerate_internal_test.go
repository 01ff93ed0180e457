package dkim

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"sync"
	"testing"
)

// Built with the tag openssl this compares OpenSSL with Go.
func TestAnAcceleratedSignatureIsTheSameSignature(t *testing.T) {
	t.Parallel()
	for _, bits := range []int{1024, 2048, 4096} {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		fast := accelerate(key)
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				digest := sha256.Sum256([]byte{byte(n)})
				want, err := key.Sign(nil, digest[:], crypto.SHA256)
				if err != nil {
					t.Error(err)
				}
				if got, err := fast.Sign(nil, digest[:], crypto.SHA256); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bits: %v", bits, err)
				}
			})
		}
		all.Wait()
	}
}

func BenchmarkSignature(b *testing.B) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	fast, digest := accelerate(key), sha256.Sum256(nil)
	for b.Loop() {
		if _, err := fast.Sign(nil, digest[:], crypto.SHA256); err != nil {
			b.Fatal(err)
		}
	}
}
