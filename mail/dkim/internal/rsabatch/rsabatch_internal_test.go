package rsabatch

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"fmt"
	"math/big"
	"runtime"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// needVectors skips a test on a processor where crypto/rsa signs.
func needVectors(t testing.TB) {
	t.Helper()
	if !Supported() {
		t.Skip("this processor has neither AVX-512 IFMA nor AVX2 with FMA")
	}
}

// everyWay runs a test with each way of this processor to multiply.
func everyWay(t *testing.T, test func(*testing.T, way)) {
	t.Parallel()
	needVectors(t)
	for _, way := range available {
		t.Run(way.String(), func(t *testing.T) { test(t, way) })
	}
}

func (w way) String() string { return [...]string{"integers", "wide floats", "floats"}[w] }

func newPrivate(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return private
}

func newKey(t testing.TB) *Key {
	t.Helper()
	key, ok := New(newPrivate(t, keyBits))
	if !ok {
		t.Fatal("a usual key is not taken")
	}
	return key
}

func newRequest(key *Key, digest [sha256.Size]byte) *request {
	return &request{key: key, padded: pad(digest[:]), done: make(chan struct{})}
}

// goSigns is what crypto/rsa says.
func goSigns(t testing.TB, private *rsa.PrivateKey, digest [sha256.Size]byte) []byte {
	t.Helper()
	signature, err := private.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

// The workspace is asked itself: Sign would hide a wrong signature behind a right one of crypto/rsa.
func TestEverySignatureOfABatchIsTheOneThatGoMakes(t *testing.T) {
	everyWay(t, func(t *testing.T, way way) {
		keys := []*Key{newKey(t), newKey(t), newKey(t)}
		w := newWorkspace(way)
		for n := range 60 {
			var batch []*request
			for i := range n%batchSize + 1 {
				batch = append(batch, newRequest(keys[(n+i)%len(keys)], sha256.Sum256([]byte{byte(n), byte(i)})))
			}
			w.sign(batch)
			for i, r := range batch {
				if want := goSigns(t, r.key.private, sha256.Sum256([]byte{byte(n), byte(i)})); !bytes.Equal(r.signature, want) {
					t.Fatalf("batch %d of %d, request %d: %x, want %x", n, len(batch), i, r.signature, want)
				}
			}
		}
	})
}

func TestTheOrderOfThePrimesDoesNotMatter(t *testing.T) {
	t.Parallel()
	needVectors(t)
	private := newPrivate(t, keyBits)
	for range 2 {
		private.Primes[0], private.Primes[1] = private.Primes[1], private.Primes[0]
		private.Precomputed = rsa.PrecomputedValues{}
		private.Precompute()
		key, ok := New(private)
		if !ok {
			t.Fatal("a usual key is not taken")
		}
		r := newRequest(key, sha256.Sum256(nil))
		newWorkspace(available[0]).sign([]*request{r})
		if !bytes.Equal(r.signature, goSigns(t, private, sha256.Sum256(nil))) {
			t.Error("the signature differs from Go's")
		}
	}
}

func TestManyWhoSignAtOnceGetEachTheirOwnSignature(t *testing.T) {
	t.Parallel()
	needVectors(t)
	keys := []*Key{newKey(t), newKey(t)}
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			key, digest := keys[n%len(keys)], sha256.Sum256([]byte{byte(n)})
			r := newRequest(key, digest)
			shared.sign(r)
			if rsa.VerifyPKCS1v15(&key.private.PublicKey, crypto.SHA256, digest[:], r.signature) != nil {
				t.Errorf("request %d has a wrong signature", n)
			}
		})
	}
	all.Wait()
}

func TestAWrongSignatureIsNotHandedOut(t *testing.T) {
	t.Parallel()
	needVectors(t)
	for name, damage := range map[string]func(*Key){
		"another remainder":   func(k *Key) { k.p.exponent[primeSize-1] ^= 2 },
		"no remainder at all": func(k *Key) { k.q.modulus[limbCount-1] = limbMask },
		"joined with another": func(k *Key) { k.whole = newKey(t).whole },
	} {
		t.Run(name, func(t *testing.T) {
			key, digest := newKey(t), sha256.Sum256(nil)
			damage(key)
			signature, err := key.Sign(nil, digest[:], crypto.SHA256)
			if err != nil || !bytes.Equal(signature, goSigns(t, key.private, digest)) {
				t.Errorf("signature %x, error %v; want that of crypto/rsa", signature, err)
			}
		})
	}
}

func TestAPanicLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	needVectors(t)
	d, broken, sound := newDesk(1), newKey(t), newKey(t)
	broken.whole.p = nil
	neighbour := newRequest(sound, sha256.Sum256(nil))
	d.waiting = []*request{neighbour}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		d.sign(newRequest(broken, sha256.Sum256(nil)))
	}()
	<-neighbour.done
	after := newRequest(sound, sha256.Sum256(nil))
	if d.sign(after); !bytes.Equal(after.signature, goSigns(t, sound.private, sha256.Sum256(nil))) {
		t.Error("the next one is not signed")
	}
}

func TestOtherWishesAreLeftToGo(t *testing.T) {
	t.Parallel()
	needVectors(t)
	key, digest := newKey(t), sha256.Sum256(nil)
	public := &key.private.PublicKey
	pss, err := key.Sign(rand.Reader, digest[:], &rsa.PSSOptions{Hash: crypto.SHA256})
	if err != nil || rsa.VerifyPSS(public, crypto.SHA256, digest[:], pss, nil) != nil {
		t.Errorf("no PSS signature: %v", err)
	}
	long := bytes.Repeat(digest[:], 2)
	if other, err := key.Sign(nil, long, crypto.SHA512); err != nil || rsa.VerifyPKCS1v15(public, crypto.SHA512, long, other) != nil {
		t.Errorf("no signature of a SHA-512 digest: %v", err)
	}
	if _, err := key.Sign(nil, digest[1:], crypto.SHA256); err == nil {
		t.Error("a digest that is too short was signed")
	}
}

func TestKeysOfAnotherKindAreNotTaken(t *testing.T) {
	t.Parallel()
	for _, bits := range []int{1024, 3072} {
		if _, ok := New(newPrivate(t, bits)); ok {
			t.Errorf("a key of %d bits was taken", bits)
		}
	}
	three := newPrivate(t, keyBits)
	three.Primes = append(three.Primes, big.NewInt(3))
	if _, ok := New(three); ok {
		t.Error("a key of three primes was taken")
	}
}

// anyNumber draws one below a bound, the ends more often than chance would.
func anyNumber(t *rapid.T, name string, bound *big.Int) *big.Int {
	last := new(big.Int).Sub(bound, big.NewInt(1))
	ends := []*big.Int{new(big.Int), big.NewInt(1), last, new(big.Int).Sub(bound, big.NewInt(2)), new(big.Int).Rsh(last, 1)}
	if rapid.Bool().Draw(t, name+" is an end") {
		return rapid.SampledFrom(ends).Draw(t, name)
	}
	drawn := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), radixBits/8, radixBits/8).Draw(t, name))
	return drawn.Mod(drawn, bound)
}

func (n *number) setInt(lane int, value *big.Int) {
	limbs := make([]uint64, limbCount+1)
	split(limbs, value.FillBytes(make([]byte, radixBits/8)))
	n.set(lane, limbs[:limbCount])
}

// newBusy returns a workspace with all lanes in use.
func newBusy(way way) *workspace {
	w := newWorkspace(way)
	w.busy = laneCount
	return w
}

func (n *number) int(lane int) *big.Int {
	value := new(big.Int)
	for j := limbCount - 1; j >= 0; j-- {
		value.Lsh(value, limbBits).Add(value, new(big.Int).SetUint64(n[j][lane]))
	}
	return value
}

func TestProductsAreThoseOfMathBig(t *testing.T) {
	everyWay(t, func(t *testing.T, way way) {
		radix := new(big.Int).Lsh(big.NewInt(1), radixBits)
		half := new(big.Int).Lsh(big.NewInt(1), primeBits-1)
		rapid.Check(t, func(t *rapid.T) {
			w := newBusy(way)
			var moduli, wants [laneCount]*big.Int
			for lane := range laneCount {
				m := anyNumber(t, "modulus", half)
				m.Add(m, half).SetBit(m, 0, 1)
				a, b := anyNumber(t, "a", radix), anyNumber(t, "b", m)
				moduli[lane] = m
				wants[lane] = new(big.Int).Mul(a, b)
				wants[lane].Mul(wants[lane], new(big.Int).ModInverse(radix, m)).Mod(wants[lane], m)
				h := newHalf(m, big.NewInt(1))
				w.setModulus(lane, &h)
				w.low.setInt(lane, a)
				w.high.setInt(lane, b)
			}
			w.multiply(&w.power, &w.low, &w.high)
			for lane, m := range moduli {
				got := w.power.int(lane)
				if got.Cmp(new(big.Int).Lsh(m, 1)) >= 0 {
					t.Errorf("lane %d: the product is not below twice the modulus", lane)
				}
				if got.Mod(got, m).Cmp(wants[lane]) != 0 {
					t.Errorf("lane %d: product %x, want %x", lane, got, wants[lane])
				}
			}
		})
	})
}

func TestASquareIsTheProductOfANumberWithItself(t *testing.T) {
	everyWay(t, func(t *testing.T, way way) {
		half := new(big.Int).Lsh(big.NewInt(1), primeBits-1)
		rapid.Check(t, func(t *rapid.T) {
			w := newBusy(way)
			for lane := range laneCount {
				m := anyNumber(t, "modulus", half)
				m.Add(m, half).SetBit(m, 0, 1)
				h := newHalf(m, big.NewInt(1))
				w.setModulus(lane, &h)
				w.low.setInt(lane, anyNumber(t, "a", new(big.Int).Lsh(m, 1)))
			}
			w.multiply(&w.power, &w.low, &w.low)
			w.square(&w.factor, &w.low)
			if w.power != w.factor {
				t.Errorf("squares %x, products %x", w.factor, w.power)
			}
		})
	})
}

func TestEveryLaneChoosesForItself(t *testing.T) {
	everyWay(t, func(t *testing.T, way way) {
		w := newBusy(way)
		for i := range w.table {
			for j := range limbCount {
				for lane := range laneCount {
					w.table[i][j][lane] = uint64(i*10_000 + j*100 + lane)
				}
			}
		}
		for turn := range tableSize {
			for lane := range laneCount {
				w.window[lane] = uint64((turn + 3*lane) % tableSize)
			}
			w.choose(&w.factor)
			for j := range limbCount {
				for lane := range laneCount {
					if want := w.table[w.window[lane]][j][lane]; w.factor[j][lane] != want {
						t.Fatalf("lane %d, limb %d: %d, want %d", lane, j, w.factor[j][lane], want)
					}
				}
			}
		}
	})
}

func TestNumbersAreRoundedAsBefore(t *testing.T) {
	everyWay(t, func(t *testing.T, way way) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		w := newBusy(way)
		w.multiply(&w.power, &w.low, &w.high)
		w.square(&w.power, &w.power)
		if got, want := divide(1, 10), 0.1; got != want {
			t.Errorf("a tenth is %b, want %b", got, want)
		}
	})
}

// divide is called so that the compiler cannot divide before its time.
//
//go:noinline
func divide(a, b float64) float64 { return a / b }

func BenchmarkBatch(b *testing.B) {
	for _, way := range available {
		for _, size := range []int{1, 2, batchSize} {
			b.Run(fmt.Sprintf("%v/%d", way, size), func(b *testing.B) {
				w := newWorkspace(way)
				var batch []*request
				for range size {
					batch = append(batch, newRequest(newKey(b), sha256.Sum256(nil)))
				}
				for b.Loop() {
					w.sign(batch)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*size), "µs/signature")
			})
		}
	}
}

// BenchmarkGo is what there is to beat.
func BenchmarkGo(b *testing.B) {
	private, digest := newPrivate(b, keyBits), sha256.Sum256(nil)
	for b.Loop() {
		goSigns(b, private, digest)
	}
}

func BenchmarkCheck(b *testing.B) {
	needVectors(b)
	key, digest := newKey(b), sha256.Sum256(nil)
	signature, padded := goSigns(b, key.private, digest), pad(digest[:])
	for b.Loop() {
		if !key.whole.holds(signature, padded) {
			b.Fatal("it does not hold")
		}
	}
}
