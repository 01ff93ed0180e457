// Package rsabatch signs with RSA keys of 2048 bits, four digests at a time, by the vectors of the processor: with AVX-512 IFMA where
// there is that, else with AVX-512, else with AVX2 and FMA. Other processors do not sign here.
//
// A signature is two exponentiations of 1024 bits, one for each prime. Vectors of eight lanes do eight of them in hardly more time
// than crypto/rsa takes for one, so whoever asks while others sign is signed for together with whoever else waits; nobody waits for
// company. The keys may differ. The signatures are those of crypto/rsa, byte for byte.
//
// What depends on a key takes the same time and touches the same memory whatever the key: the arithmetic is without branches, the
// tables are read whole, and what is not done in vectors is left to bigmod, on which crypto/rsa stands as well. Bigmod also verifies
// every signature before anyone sees it, as crypto/rsa does with its own. One that does not hold is thrown away, and crypto/rsa signs
// instead: a fault of the processor, or of ours, must not give a key away.
package rsabatch

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"io"

	"filippo.io/bigmod"
)

const (
	keyBits   = 2048
	primeBits = keyBits / 2
	keySize   = keyBits / 8
	primeSize = primeBits / 8
)

// Key signs SHA-256 digests (PKCS #1 v1.5). It is safe for use by several goroutines.
type Key struct {
	private *rsa.PrivateKey
	p, q    half
	whole   whole
}

// New returns a key that signs in batches, or false if the processor cannot or the key is not of the usual kind.
func New(private *rsa.PrivateKey) (*Key, bool) {
	if !Supported() || private.N.BitLen() != keyBits || len(private.Primes) != 2 || private.Precomputed.Dp == nil {
		return nil, false
	}
	p, q := private.Primes[0], private.Primes[1]
	if p.BitLen() != primeBits || q.BitLen() != primeBits {
		return nil, false
	}
	whole, err := newWhole(private)
	if err != nil {
		return nil, false
	}
	return &Key{private, newHalf(p, private.Precomputed.Dp), newHalf(q, private.Precomputed.Dq), whole}, true
}

// Public returns the public key.
func (k *Key) Public() crypto.PublicKey { return k.private.Public() }

// Sign returns the signature of a SHA-256 digest. Any other wish is left to crypto/rsa.
func (k *Key) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	_, pss := opts.(*rsa.PSSOptions)
	if pss || opts.HashFunc() != crypto.SHA256 || len(digest) != crypto.SHA256.Size() {
		return k.private.Sign(random, digest, opts)
	}
	r := &request{key: k, padded: pad(digest), done: make(chan struct{})}
	shared.sign(r)
	if !k.whole.holds(r.signature, r.padded) {
		return k.private.Sign(random, digest, opts)
	}
	return r.signature, nil
}

// digestInfo says in ASN.1 that a SHA-256 digest follows (RFC 8017 §9.2).
const digestInfo = "\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"

// pad makes of a digest the number to be signed.
func pad(digest []byte) (padded [keySize]byte) {
	padded[1] = 1
	info := keySize - len(digest) - len(digestInfo)
	for i := 2; i < info-1; i++ {
		padded[i] = 0xff
	}
	copy(padded[info:], digestInfo)
	copy(padded[info+len(digestInfo):], digest)
	return padded
}

// whole puts the halves of a signature together.
type whole struct {
	n, p, q *bigmod.Modulus
	// exponent is the public one.
	exponent uint
	// qInverse is that of q by p; qByN is q as a number below n.
	qInverse, qByN *bigmod.Nat
}

func newWhole(private *rsa.PrivateKey) (w whole, err error) {
	w.exponent = uint(private.E)
	p, q := private.Primes[0].Bytes(), private.Primes[1].Bytes()
	if w.n, err = bigmod.NewModulusProduct(p, q); err != nil {
		return w, err
	}
	if w.p, err = bigmod.NewModulus(p); err != nil {
		return w, err
	}
	if w.q, err = bigmod.NewModulus(q); err != nil {
		return w, err
	}
	if w.qInverse, err = bigmod.NewNat().SetBytes(private.Precomputed.Qinv.Bytes(), w.p); err != nil {
		return w, err
	}
	w.qByN, err = bigmod.NewNat().SetBytes(q, w.n)
	return w, err
}

// join makes a signature of its remainders by the two primes (RFC 8017 §5.1.2), or nothing if they are no remainders.
func (w whole) join(byP, byQ [primeSize]byte) []byte {
	s, err := bigmod.NewNat().SetBytes(byP[:], w.p)
	if err != nil {
		return nil
	}
	t, err := bigmod.NewNat().SetBytes(byQ[:], w.q)
	if err != nil {
		return nil
	}
	s.Sub(bigmod.NewNat().Mod(t, w.p), w.p).Mul(w.qInverse, w.p)
	return s.ExpandFor(w.n).Mul(w.qByN, w.n).Add(t.ExpandFor(w.n), w.n).Bytes(w.n)
}

// holds tells whether a signature is one of the padded digest.
func (w whole) holds(signature []byte, padded [keySize]byte) bool {
	s, err := bigmod.NewNat().SetBytes(signature, w.n)
	if err != nil {
		return false
	}
	return bytes.Equal(bigmod.NewNat().ExpShortVarTime(s, w.exponent, w.n).Bytes(w.n), padded[:])
}
