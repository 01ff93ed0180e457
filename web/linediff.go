package web

import "strings"

// diffLine is a line of a comparison: in both texts, only in the old one, or only in the new one. A gap stands for lines that are
// the same in both and far from any change.
type diffLine struct {
	Kind     diffKind
	Old, New int
	Text     string
}

type diffKind string

const (
	lineSame    diffKind = "same"
	lineRemoved diffKind = "removed"
	lineAdded   diffKind = "added"
	lineGap     diffKind = "gap"
)

// Sign is the mark that people know from comparisons.
func (l diffLine) Sign() string {
	return map[diffKind]string{lineRemoved: "−", lineAdded: "+"}[l.Kind]
}

const (
	// diffContext is how many lines are shown around a change.
	diffContext = 3
	// maxDiffCells bounds the table of the comparison; two texts that differ in 2,000 lines each are still compared line by line.
	maxDiffCells = 4_000_000
)

// diffLines compares two texts and returns what is worth looking at; nothing if they are equal.
func diffLines(before, after string) []diffLine {
	if before == after {
		return nil
	}
	return folded(compared(splitLines(before), splitLines(after)))
}

// splitLines returns the lines of a text. An empty text has none.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// compared returns every line of both texts in order. What both begin and end with is set aside first: edits are small.
func compared(before, after []string) []diffLine {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	var lines []diffLine
	for i := range head {
		lines = append(lines, diffLine{lineSame, i + 1, i + 1, before[i]})
	}
	lines = append(lines, compareMiddle(before[head:len(before)-tail], after[head:len(after)-tail], head)...)
	for i := tail; i > 0; i-- {
		old, fresh := len(before)-i, len(after)-i
		lines = append(lines, diffLine{lineSame, old + 1, fresh + 1, before[old]})
	}
	return lines
}

// compareMiddle walks the table of longest common parts. Texts too large for it are shown as replaced.
func compareMiddle(before, after []string, offset int) []diffLine {
	width := len(after) + 1
	var common []int32
	if len(before)*len(after) <= maxDiffCells {
		common = make([]int32, (len(before)+1)*width)
		for i := len(before) - 1; i >= 0; i-- {
			for j := len(after) - 1; j >= 0; j-- {
				if before[i] == after[j] {
					common[i*width+j] = common[(i+1)*width+j+1] + 1
				} else {
					common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
				}
			}
		}
	}
	var lines []diffLine
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case common != nil && i < len(before) && j < len(after) && before[i] == after[j]:
			lines = append(lines, diffLine{lineSame, offset + i + 1, offset + j + 1, before[i]})
			i, j = i+1, j+1
		case i < len(before) && (common == nil || j == len(after) || common[(i+1)*width+j] >= common[i*width+j+1]):
			lines = append(lines, diffLine{Kind: lineRemoved, Old: offset + i + 1, Text: before[i]})
			i++
		default:
			lines = append(lines, diffLine{Kind: lineAdded, New: offset + j + 1, Text: after[j]})
			j++
		}
	}
	return lines
}

// folded leaves out lines that are far from every change.
func folded(lines []diffLine) []diffLine {
	near := make([]bool, len(lines))
	for i, line := range lines {
		if line.Kind == lineSame {
			continue
		}
		for k := max(0, i-diffContext); k <= min(len(lines)-1, i+diffContext); k++ {
			near[k] = true
		}
	}
	var shown []diffLine
	for i, line := range lines {
		switch {
		case near[i]:
			shown = append(shown, line)
		case len(shown) == 0 || shown[len(shown)-1].Kind != lineGap:
			shown = append(shown, diffLine{Kind: lineGap})
		}
	}
	return shown
}
