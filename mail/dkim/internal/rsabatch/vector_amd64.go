//go:build !purego

package rsabatch

import "golang.org/x/sys/cpu"

// Supported tells whether the processor has what it takes.
var Supported = cpu.X86.HasAVX512F && cpu.X86.HasAVX512IFMA

// multiply computes a*b/2^1040 modulo m in every lane. It is below 2m if a*b is below 2^1040*m.
//
//go:noescape
func multiply(out, a, b, m *number, inverse *lanes)

// square multiplies a with itself in fewer steps; double is memory for it to use.
//
//go:noescape
func square(out, a, double, m *number, inverse *lanes)

// choose copies an entry of the table in every lane. All of them are read.
//
//go:noescape
func choose(out *number, table *[tableSize]number, index *lanes)
