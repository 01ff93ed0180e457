package world_test

import (
	"bytes"
	"crypto/rand"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/world"
)

var uuid7 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// anyMoment draws a time between 1970 and 2500, to the microsecond.
func anyMoment() *rapid.Generator[time.Time] {
	return rapid.Map(rapid.Int64Range(0, 16_725_225_600_000_000), func(micros int64) time.Time { return time.UnixMicro(micros).UTC() })
}

func TestAnIDIsAUUIDOfVersion7ThatTellsItsMillisecond(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := anyMoment().Draw(t, "at")
		random := rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "random")

		id := world.IDAt(at, bytes.NewReader(random))

		if !uuid7.MatchString(id) {
			t.Fatalf("%s is no UUIDv7", id)
		}
		millis, err := strconv.ParseInt(strings.ReplaceAll(id[:13], "-", ""), 16, 64)
		if err != nil || millis != at.UnixMilli() {
			t.Fatalf("%s tells %d, %v; want %d", id, millis, err, at.UnixMilli())
		}
	})
}

func TestAnIDMadeAMicrosecondLaterSortsLater(t *testing.T) {
	t.Parallel()
	low, high := make([]byte, 8), bytes.Repeat([]byte{0xff}, 8)
	rapid.Check(t, func(t *rapid.T) {
		at := anyMoment().Draw(t, "at")
		later := time.Duration(rapid.Int64Range(1, 1_000_000_000).Draw(t, "later")) * time.Microsecond

		// The worst case of chance: the earlier id has the highest bits.
		first, second := world.IDAt(at, bytes.NewReader(high)), world.IDAt(at.Add(later), bytes.NewReader(low))

		if first >= second {
			t.Fatalf("%s at %s, but %s %s later", first, at, second, later)
		}
	})
}

func TestIDsOfOneMomentDiffer(t *testing.T) {
	t.Parallel()
	w := world.World{Clock: world.SystemClock{}, Random: rand.Reader}
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = w.NewID()
	}

	slices.Sort(ids)
	if distinct := len(slices.Compact(ids)); distinct != 10_000 {
		t.Fatalf("%d of 10000 ids are distinct", distinct)
	}
}

func TestEqualChanceGivesEqualIDs(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 15, 12, 0, 0, 123_456_000, time.UTC)

	id := world.IDAt(at, strings.NewReader("postride"))

	if want := "01a1df14-1e7b-774b-b06f-737472696465"; id != want {
		t.Fatalf("id %s, want %s", id, want)
	}
}

func TestJitterStaysWithinItsFraction(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(240*time.Hour)).Draw(t, "d"))
		w := world.World{Random: bytes.NewReader(rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "random"))}

		got := w.Jitter(d, 0.2)

		if low, high := float64(d)*0.8-1, float64(d)*1.2+1; float64(got) < low || float64(got) > high {
			t.Fatalf("jitter of %s is %s", d, got)
		}
	})
}

func TestJitterReachesBothSides(t *testing.T) {
	t.Parallel()
	early := world.World{Random: bytes.NewReader(make([]byte, 8))}.Jitter(time.Hour, 0.5)
	late := world.World{Random: bytes.NewReader(bytes.Repeat([]byte{0xff}, 8))}.Jitter(time.Hour, 0.5)

	if early != 30*time.Minute || late < 90*time.Minute-time.Microsecond || late > 90*time.Minute {
		t.Fatalf("from %s to %s, want from 30m to 90m", early, late)
	}
}

func TestABrokenSourceOfChanceStopsEverything(t *testing.T) {
	t.Parallel()
	broken := world.World{Clock: world.SystemClock{}, Random: strings.NewReader("short")}
	for name, use := range map[string]func(){
		"bytes":  func() { broken.Bytes(16) },
		"uint64": func() { broken.Uint64() },
		"id":     func() { broken.NewID() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: went on without chance", name)
				}
			}()
			use()
		}()
	}
}
