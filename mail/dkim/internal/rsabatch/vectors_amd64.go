//go:build !purego

package rsabatch

import "golang.org/x/sys/cpu"

// available are the ways of this processor to multiply, the fastest first.
var available = ways()

func ways() (ways []way) {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512IFMA {
		ways = append(ways, integers)
	}
	if cpu.X86.HasAVX512F {
		ways = append(ways, wideFloats)
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		ways = append(ways, floats)
	}
	return ways
}

// multiply computes a*b/2^1040 modulo the modulus in every busy lane. It is below twice the modulus if a*b is below 2^1040 times it.
func (w *workspace) multiply(out, a, b *number) {
	switch w.way {
	case integers:
		multiplyIntegers(out, a, b, &w.modulus, &w.inverse)
	case wideFloats:
		multiplyWideFloats(out, a, b, &w.modulus, &w.inverse, &w.scratch, &productSums)
	case floats:
		for lane := 0; lane < w.busy; lane += floatLanes {
			multiplyFloats(out, a, b, &w.modulus, &w.inverse, &w.scratch, &w.sums, &productSums, lane)
		}
	}
}

// square multiplies a with itself in fewer steps.
func (w *workspace) square(out, a *number) {
	switch w.way {
	case integers:
		squareIntegers(out, a, &w.scratch, &w.modulus, &w.inverse)
	case wideFloats:
		squareWideFloats(out, a, &w.modulus, &w.inverse, &w.scratch, &squareSums)
	case floats:
		for lane := 0; lane < w.busy; lane += floatLanes {
			squareFloats(out, a, &w.modulus, &w.inverse, &w.scratch, &w.sums, &squareSums, lane)
		}
	}
}

// choose copies the entry of the table that the window shows in every busy lane. All of them are read.
func (w *workspace) choose(out *number) {
	switch w.way {
	case integers, wideFloats:
		chooseWide(out, &w.table, &w.window)
	case floats:
		for lane := 0; lane < w.busy; lane += floatLanes {
			choose(out, &w.table, &w.window, lane)
		}
	}
}

//go:noescape
func multiplyIntegers(out, a, b, m *number, inverse *lanes)

//go:noescape
func squareIntegers(out, a, scratch, m *number, inverse *lanes)

//go:noescape
func multiplyWideFloats(out, a, b, m *number, inverse *lanes, scratch *number, first *firstSums)

//go:noescape
func squareWideFloats(out, a, m *number, inverse *lanes, scratch *number, first *firstSums)

//go:noescape
func chooseWide(out *number, table *[tableSize]number, index *lanes)

// Where a lane is given, it is the first of four.
//
//go:noescape
func multiplyFloats(out, a, b, m *number, inverse *lanes, scratch, sums *number, first *firstSums, lane int)

//go:noescape
func squareFloats(out, a, m *number, inverse *lanes, scratch, sums *number, first *firstSums, lane int)

//go:noescape
func choose(out *number, table *[tableSize]number, index *lanes, lane int)

// firstSums are what the sums of floats begin with. Sum i+j takes the low halves of the products of limbs i and j, and the next one the
// high halves. Each brings the exponent of its constant along.
type firstSums [2 * limbCount]uint64

var (
	productSums = sumsLess(func(int, int) bool { return true })
	squareSums  = sumsLess(func(i, j int) bool { return i <= j })
)

// sumsLess is told which products of a with b there are. Those of the quotients with the modulus are always all there.
func sumsLess(multiplied func(i, j int) bool) (sums firstSums) {
	const low, high = (1023 + 52) << 52, (1023 + 104) << 52
	for i := range limbCount {
		for j := range limbCount {
			products := uint64(1)
			if multiplied(i, j) {
				products = 2
			}
			sums[i+j] -= products * low
			sums[i+j+1] -= products * high
		}
	}
	return sums
}
