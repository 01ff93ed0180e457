package world

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

type systemRandom struct{}

func (systemRandom) Read(p []byte) (int, error) { return rand.Read(p) }

// Bytes returns n random bytes. A world without chance is broken beyond repair, so a failing source panics.
func (w World) Bytes(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(w.Random, b); err != nil {
		panic(fmt.Sprintf("world: source of randomness failed: %v", err))
	}
	return b
}

// Uint64 returns a random number of the full range.
func (w World) Uint64() uint64 {
	var b [8]byte
	if _, err := io.ReadFull(w.Random, b[:]); err != nil {
		panic(fmt.Sprintf("world: source of randomness failed: %v", err))
	}
	return binary.BigEndian.Uint64(b[:])
}

// Jitter returns d changed by up to fraction in either direction, so that retries of many do not march in step.
func (w World) Jitter(d time.Duration, fraction float64) time.Duration {
	unit := float64(w.Uint64()>>11) / (1 << 53) // [0,1)
	return time.Duration(float64(d) * (1 + fraction*(2*unit-1)))
}

// NewID returns a new UUIDv7 in its lower-case text form: the id of every stored thing. Ids made later sort later, to the
// microsecond (RFC 9562 §5.7, §6.2 method 3); nobody outside may rely on it.
func (w World) NewID() string {
	return IDAt(w.Clock.Now(), w.Random)
}

// IDAt returns a UUIDv7 for the given moment.
func IDAt(at time.Time, random io.Reader) string {
	var u [16]byte
	if _, err := io.ReadFull(random, u[8:]); err != nil {
		panic(fmt.Sprintf("world: source of randomness failed: %v", err))
	}
	micros := at.UnixMicro()
	millis, fraction := micros/1000, micros%1000
	binary.BigEndian.PutUint64(u[:8], uint64(millis)<<16)
	sub := uint16(fraction * 4096 / 1000) // the 12 bits after the version carry the fraction of the millisecond
	u[6] = 0x70 | byte(sub>>8)
	u[7] = byte(sub)
	u[8] = 0x80 | u[8]&0x3f

	var out [36]byte
	hex.Encode(out[0:8], u[0:4])
	hex.Encode(out[9:13], u[4:6])
	hex.Encode(out[14:18], u[6:8])
	hex.Encode(out[19:23], u[8:10])
	hex.Encode(out[24:36], u[10:16])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return string(out[:])
}
