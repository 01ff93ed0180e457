package stats

import (
	"maps"
	"testing"
)

func whole(numbers []int64) (c Counts) {
	c.add(numbers)
	return c
}

func TestWhatIsPackedComesOutAgain(t *testing.T) {
	t.Parallel()
	entries := map[string]Counts{"": {1}, "a": {0, -5, 1 << 60}, "\x00": {7: 3, 19: 9}, "nothing": {}}
	got := map[string]Counts{}
	if err := pack(entries).each(func(name []byte, numbers []int64) { got[string(name)] = whole(numbers) }); err != nil {
		t.Fatal(err)
	}
	delete(entries, "nothing")
	if !maps.Equal(got, entries) {
		t.Errorf("%v came out of %v", got, entries)
	}
}

func TestTheLastBlockOfTwoRowsIsTheLaterOne(t *testing.T) {
	t.Parallel()
	sums := map[string]Counts{}
	for _, row := range []Counts{{5, lastBlockNumber: 300}, {2, lastBlockNumber: 200}, {1}} {
		ledgerOf(ispKind).add(sums, "google", row[:])
	}
	if want := (Counts{8, lastBlockNumber: 300}); sums["google"] != want {
		t.Errorf("%v, want %v", sums["google"], want)
	}
}

func FuzzPacked(f *testing.F) {
	f.Add([]byte(pack(map[string]Counts{"google": {5, 4, 0, 1}, "other": {-1}})))
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, raw []byte) {
		read := map[string]Counts{}
		if packed(raw).each(func(name []byte, numbers []int64) { read[string(name)] = whole(numbers) }) != nil {
			return
		}
		again := map[string]Counts{}
		if err := pack(read).each(func(name []byte, numbers []int64) { again[string(name)] = whole(numbers) }); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(read, func(_ string, c Counts) bool { return c == Counts{} })
		if !maps.Equal(read, again) {
			t.Errorf("%v became %v", read, again)
		}
	})
}
