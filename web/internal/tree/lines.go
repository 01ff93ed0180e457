package tree

import "fmt"

// Lines are drawn between a step and the ways beside each other below it, or above it.
type Lines struct {
	Width, Height int
	Paths         []string
}

const (
	// Unit is how wide the place of one step is, with the space around it, in pixels. The style sheet says the same.
	Unit   = 272
	height = 28
	bend   = 10
)

// split draws lines from the middle above to the centres of ways that are as many units wide each.
func split(units []int) Lines {
	lines := Lines{Width: Unit * sum(units), Height: height}
	for _, x := range centres(units) {
		lines.Paths = append(lines.Paths, line(lines.Width/2, x))
	}
	return lines
}

// merge draws lines from the centres of those ways that go on to the middle below.
func merge(units []int, open []bool) Lines {
	lines := Lines{Width: Unit * sum(units), Height: height}
	for i, x := range centres(units) {
		if open[i] {
			lines.Paths = append(lines.Paths, line(x, lines.Width/2))
		}
	}
	return lines
}

// line leads from one point above to another below, with round corners.
func line(from, to int) string {
	if from == to {
		return fmt.Sprintf("M%d 0V%d", from, height)
	}
	turn := bend
	if to < from {
		turn = -bend
	}
	const half = height / 2
	return fmt.Sprintf("M%d 0V%dQ%d %d %d %dH%dQ%d %d %d %dV%d", from, half-bend, from, half, from+turn, half, to-turn, to, half, to, half+bend, height)
}

func centres(units []int) []int {
	all := make([]int, len(units))
	left := 0
	for i, n := range units {
		all[i] = left + n*Unit/2
		left += n * Unit
	}
	return all
}

func sum(units []int) int {
	total := 0
	for _, n := range units {
		total += n
	}
	return total
}
