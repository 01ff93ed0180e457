package stats

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// packed is what is known of one day: names and the numbers of each. It is a sequence of entries: the length of a name, the name, a
// bit for each number that is not zero, and these numbers.
type packed []byte

var errPacked = errors.New("a packed day of statistics cannot be read")

// each calls a function with every entry. Its numbers end with the last that is not zero; they are only valid until it returns, as is
// its name.
func (p packed) each(do func(name []byte, numbers []int64)) error {
	var numbers Counts
	for rest := []byte(p); len(rest) > 0; {
		length, n := binary.Uvarint(rest)
		if n <= 0 || length > uint64(len(rest)-n) {
			return errPacked
		}
		name := rest[n : n+int(length)]
		rest = rest[n+int(length):]
		mask, n := binary.Uvarint(rest)
		width := bits.Len64(mask)
		if n <= 0 || width > int(counters) {
			return errPacked
		}
		rest = rest[n:]
		clear(numbers[:width])
		for ; mask != 0; mask &= mask - 1 {
			number, n := binary.Varint(rest)
			if n <= 0 {
				return errPacked
			}
			numbers[bits.TrailingZeros64(mask)], rest = number, rest[n:]
		}
		do(name, numbers[:width])
	}
	return nil
}

// pack writes entries, in the order of their names. Those without numbers are left out.
func pack(entries map[string]Counts) packed {
	out := packed{}
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		numbers := entries[name]
		mask := uint64(0)
		for i, number := range numbers {
			if number != 0 {
				mask |= 1 << i
			}
		}
		if mask == 0 {
			continue
		}
		out = binary.AppendUvarint(out, uint64(len(name)))
		out = append(out, name...)
		out = binary.AppendUvarint(out, mask)
		for _, number := range numbers {
			if number != 0 {
				out = binary.AppendVarint(out, number)
			}
		}
	}
	return out
}
