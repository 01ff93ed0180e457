package web

import (
	"fmt"
	"math"
	"strings"
)

// lines is a chart of several lines over the same columns as bars have.
type lines struct {
	bars
	Paths []linePath
}

// linePath is one line. Points are marked where there are so few that they can be told apart.
type linePath struct {
	State, Path string
	Points      []linePoint
}

type linePoint struct{ X, Y float64 }

// fewPoints is up to how many points are marked.
const fewPoints = 40

// newLines lays out a chart. All days have as many values as there are series.
func (v *visit) newLines(label string, all []series, days []barDay) lines {
	l := lines{bars: v.newBars(label, all, nil)}
	if len(days) == 0 {
		return l
	}
	var top int64
	for _, day := range days {
		for _, value := range day.Values {
			top = max(top, value)
		}
	}
	roof := niceRoof(top)
	span, step := l.Bottom-chartTop, (chartWidth-chartLeft)/float64(len(days))
	for _, share := range []float64{0, 0.5, 1} {
		l.Lines = append(l.Lines, gridLine{Y: l.Bottom - span*share + 0.5, Text: v.number(int64(math.Round(float64(roof) * share)))})
	}
	paths := make([]strings.Builder, len(all))
	l.Paths = make([]linePath, len(all))
	for i, day := range days {
		c := column{Label: day.Label, X: chartLeft + float64(i)*step, W: step, Tip: day.Label + ":"}
		for s, value := range day.Values {
			c.Cells = append(c.Cells, v.number(value))
			c.Tip += fmt.Sprintf(" %s %s,", v.number(value), all[s].Label)
			x, y := c.X+step/2, l.Bottom-span*float64(value)/float64(roof)
			mark := "L"
			if i == 0 {
				mark = "M"
			}
			fmt.Fprintf(&paths[s], "%s%.1f %.1f", mark, x, y)
			if len(days) <= fewPoints {
				l.Paths[s].Points = append(l.Paths[s].Points, linePoint{x, y})
			}
		}
		c.Tip = strings.TrimSuffix(c.Tip, ",")
		l.Columns = append(l.Columns, c)
	}
	for s := range all {
		l.Paths[s].State, l.Paths[s].Path = all[s].State, paths[s].String()
	}
	l.First, l.Last = days[0].Label, days[len(days)-1].Label
	return l
}
