//go:build !amd64 || purego

package rsabatch

// Supported tells whether the processor has what it takes.
const Supported = false

func multiply(_, _, _, _ *number, _ *lanes) { panic("rsabatch: no vectors") }

func square(_, _, _, _ *number, _ *lanes) { panic("rsabatch: no vectors") }

func choose(_ *number, _ *[tableSize]number, _ *lanes) { panic("rsabatch: no vectors") }
