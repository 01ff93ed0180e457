package flow

import (
	"crypto/sha256"
	"encoding/binary"
)

// Choose returns the branch that a run takes. It depends on the run and the step alone, so asked again it answers the same.
func (n *Node) Choose(run string) string {
	total := 0
	for _, b := range n.Config.Branches {
		total += b.Weight
	}
	if total == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(run + "/" + n.Key))
	at := int(binary.BigEndian.Uint64(sum[:8]) % uint64(total))
	for _, b := range n.Config.Branches {
		if at < b.Weight {
			return b.Key
		}
		at -= b.Weight
	}
	return ""
}
