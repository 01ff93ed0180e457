package rsabatch

import (
	"math"
	"math/big"
	"unsafe"
)

const (
	laneCount = 8
	limbBits  = 52
	limbCount = 20
	limbMask  = 1<<limbBits - 1
	// radixBits is how large the numbers of Montgomery's method are. The primes are sixteen bits smaller, so that sums and products
	// of a few of them need not be reduced in between.
	radixBits  = limbBits * limbCount
	windowBits = 4
	tableSize  = 1 << windowBits
)

// way is how a processor multiplies limbs.
type way uint8

const (
	// integers, in eight lanes: AVX-512 IFMA.
	integers way = iota
	// wideFloats are floating-point numbers in eight lanes: AVX-512.
	wideFloats
	// floats, in four lanes: AVX2 and FMA.
	floats

	floatLanes = 4
)

// constant returns a limb as the modulus and its inverse want it.
func (w way) constant(limb uint64) uint64 {
	if w == integers {
		return limb
	}
	return math.Float64bits(float64(limb))
}

// lanes are a limb each of eight numbers.
type lanes [laneCount]uint64

// number is eight numbers side by side, the lowest limbs first.
type number [limbCount]lanes

// half is the exponentiation by one of the primes of a key.
type half struct {
	modulus [limbCount]uint64
	// inverse times the modulus is -1 in the lowest limb; square is the square of the radix.
	inverse  uint64
	square   [limbCount]uint64
	exponent [primeSize]byte
}

func newHalf(prime, exponent *big.Int) half {
	var h half
	square := new(big.Int).Lsh(big.NewInt(1), 2*radixBits)
	split(h.modulus[:], prime.FillBytes(make([]byte, primeSize)))
	split(h.square[:], square.Mod(square, prime).FillBytes(make([]byte, primeSize)))
	exponent.FillBytes(h.exponent[:])
	h.inverse = -inverse(h.modulus[0]) & limbMask
	return h
}

// inverse returns the number whose product with an odd one is 1 in 64 bits, by Newton's method: each round doubles the right bits.
func inverse(odd uint64) uint64 {
	x := odd // right in three bits
	for range 5 {
		x *= 2 - odd*x
	}
	return x
}

// workspace is where a batch is signed. It holds no pointers, so that it may lie anywhere in the memory made for it.
type workspace struct {
	modulus, squared, cubed number
	low, high               number
	one, power, factor      number
	scratch, sums           number
	table                   [tableSize]number
	inverse, window         lanes
	exponents               [laneCount][primeSize]byte
	way                     way
	// busy is how many lanes there is work for.
	busy int
}

// newWorkspace begins at a line of the cache: no vector lies across two.
func newWorkspace(way way) *workspace {
	const line = 64
	memory := make([]byte, unsafe.Sizeof(workspace{})+line)
	begin := unsafe.Pointer(unsafe.SliceData(memory))
	w := (*workspace)(unsafe.Add(begin, -uintptr(begin)%line))
	w.way = way
	return w
}

// sign signs up to four requests. Lanes that are left over do the work of the others once more, or none.
func (w *workspace) sign(batch []*request) {
	if len(batch) == 0 {
		return
	}
	w.busy = laneCount
	if w.way == floats && 2*len(batch) <= floatLanes {
		w.busy = floatLanes
	}
	for i := range w.busy / 2 {
		r := batch[i%len(batch)]
		w.load(2*i, &r.key.p, r)
		w.load(2*i+1, &r.key.q, r)
	}
	w.raise()
	for i, r := range batch {
		r.signature = r.key.whole.join(w.remainder(2*i), w.remainder(2*i+1))
	}
}

func (w *workspace) load(lane int, h *half, r *request) {
	var limbs [2 * limbCount]uint64
	split(limbs[:], r.padded[:])
	w.low.set(lane, limbs[:limbCount])
	w.high.set(lane, limbs[limbCount:])
	w.squared.set(lane, h.square[:])
	w.setModulus(lane, h)
	w.exponents[lane] = h.exponent
}

func (w *workspace) setModulus(lane int, h *half) {
	for j, limb := range h.modulus {
		w.modulus[j][lane] = w.way.constant(limb)
	}
	w.inverse[lane] = w.way.constant(h.inverse)
}

// raise computes the power in every lane.
func (w *workspace) raise() {
	w.one = number{}
	for lane := range laneCount {
		w.one[0][lane] = 1
	}
	w.reduce()
	w.multiply(&w.table[0], &w.one, &w.squared)
	for i := 2; i < tableSize; i++ {
		w.multiply(&w.table[i], &w.table[i-1], &w.table[1])
	}
	w.power = w.table[0]
	for i := range primeBits / windowBits {
		for range windowBits {
			w.square(&w.power, &w.power)
		}
		w.look(i)
		w.choose(&w.factor)
		w.multiply(&w.power, &w.power, &w.factor)
	}
	w.multiply(&w.power, &w.power, &w.one)
}

// reduce brings the number to be raised, which is as long as the key, below the primes and into Montgomery's form: the first entry
// of the table after one.
func (w *workspace) reduce() {
	w.multiply(&w.cubed, &w.squared, &w.squared)
	w.multiply(&w.high, &w.high, &w.cubed)
	w.multiply(&w.low, &w.low, &w.squared)
	base := &w.table[1]
	for lane := range laneCount {
		var carry uint64
		for j := range limbCount {
			sum := w.low[j][lane] + w.high[j][lane] + carry
			base[j][lane], carry = sum&limbMask, sum>>limbBits
		}
	}
}

// look reads the next bits of every exponent, the highest first.
func (w *workspace) look(window int) {
	shift := windowBits * (1 - window%2)
	for lane := range laneCount {
		w.window[lane] = uint64(w.exponents[lane][window/2]>>shift) & (tableSize - 1)
	}
}

// remainder is the result of a lane.
func (w *workspace) remainder(lane int) (bytes [primeSize]byte) {
	var acc uint64
	var bits, j int
	for i := range bytes {
		if bits < 8 {
			acc |= w.power[j][lane] << bits
			bits += limbBits
			j++
		}
		bytes[primeSize-1-i] = byte(acc)
		acc >>= 8
		bits -= 8
	}
	return bytes
}

func (n *number) set(lane int, limbs []uint64) {
	for j, limb := range limbs {
		n[j][lane] = limb
	}
}

// split makes limbs of the bytes of a number, the highest first.
func split(limbs []uint64, bytes []byte) {
	var acc uint64
	var bits, j int
	for i := len(bytes) - 1; i >= 0; i-- {
		acc |= uint64(bytes[i]) << bits
		if bits += 8; bits >= limbBits {
			limbs[j], acc = acc&limbMask, acc>>limbBits
			bits -= limbBits
			j++
		}
	}
	limbs[j] = acc
}
