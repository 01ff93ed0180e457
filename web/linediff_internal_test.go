package web

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestDiffShowsChangedLinesWithTheirSurroundings(t *testing.T) {
	t.Parallel()
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10"
	after := "1\n2\n3\n4\n5\nsix\n7\n8\n9\n10"
	var got strings.Builder
	for _, line := range diffLines(before, after) {
		fmt.Fprintf(&got, "%s%s/%d/%d ", line.Sign(), line.Text, line.Old, line.New)
	}
	want := "/0/0 3/3/3 4/4/4 5/5/5 −6/6/0 +six/0/6 7/7/7 8/8/8 9/9/9 /0/0 "
	if got.String() != want {
		t.Errorf("got  %s\nwant %s", got.String(), want)
	}
	if same := diffLines(before, before); same != nil {
		t.Errorf("equal texts differ: %v", same)
	}
}

func TestDiffLeadsFromTheOldTextToTheNew(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 11))
	text := func() []string {
		lines := make([]string, random.IntN(12))
		for i := range lines {
			lines[i] = string(rune('a' + random.IntN(4)))
		}
		return lines
	}
	for range 3000 {
		before, after := text(), text()
		var old, fresh []string
		for _, line := range compared(before, after) {
			if line.Kind != lineAdded {
				old = append(old, line.Text)
				if line.Old != len(old) {
					t.Fatalf("%v to %v: line %q is called %d of the old text", before, after, line.Text, line.Old)
				}
			}
			if line.Kind != lineRemoved {
				fresh = append(fresh, line.Text)
				if line.New != len(fresh) {
					t.Fatalf("%v to %v: line %q is called %d of the new text", before, after, line.Text, line.New)
				}
			}
		}
		if strings.Join(old, "\n") != strings.Join(before, "\n") || strings.Join(fresh, "\n") != strings.Join(after, "\n") {
			t.Fatalf("%v to %v: leads from %v to %v", before, after, old, fresh)
		}
	}
}

func TestDiffOfLargeTextsIsBounded(t *testing.T) {
	t.Parallel()
	large := func(mark string) string { return strings.Repeat(mark+"\n", 5000) }
	lines := diffLines(large("a"), large("b"))
	if len(lines) != 10_000 || lines[0].Kind != lineRemoved || lines[9999].Kind != lineAdded {
		t.Errorf("%d lines, from %s to %s", len(lines), lines[0].Kind, lines[len(lines)-1].Kind)
	}
}
