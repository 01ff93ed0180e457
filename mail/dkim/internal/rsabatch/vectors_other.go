//go:build !amd64 || purego

package rsabatch

// available are the ways of this processor to multiply: none.
var available []way

func (w *workspace) multiply(_, _, _ *number) { panic("rsabatch: no vectors") }

func (w *workspace) square(_, _ *number) { panic("rsabatch: no vectors") }

func (w *workspace) choose(_ *number) { panic("rsabatch: no vectors") }
