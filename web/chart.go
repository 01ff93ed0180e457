package web

import (
	"fmt"
	"math"
)

// bars is a chart of stacked columns, drawn as a picture of lines that the style sheet colours. The same numbers stand in a table
// for those who cannot see it.
type bars struct {
	Label string
	// Head is what a column stands for; a day, if it does not say.
	Head            string
	Series          []series
	Columns         []column
	Lines           []gridLine
	First, Last     string
	Width, Height   int
	PlotTop, Bottom float64
}

// series is one kind of thing that is counted; its state gives the colour.
type series struct{ State, Label, Total string }

type column struct {
	Label string
	Tip   string
	X, W  float64
	Parts []barPart
	Cells []string
}

type barPart struct {
	State   string
	Y, H    float64
	X, W    float64
	Rounded float64
}

type gridLine struct {
	Y    float64
	Text string
}

// barDay is what is drawn in one column, in the order of the series.
type barDay struct {
	Label  string
	Values []int64
}

const (
	chartWidth, chartHeight     = 1080, 200
	chartLeft, chartTop, footer = 46.0, 10.0, 30.0
)

// newBars lays out a chart. All days have as many values as there are series.
func (v *visit) newBars(label string, all []series, days []barDay) bars {
	b := bars{Label: label, Series: all, Width: chartWidth, Height: chartHeight, PlotTop: chartTop, Bottom: chartHeight - footer}
	if len(days) == 0 {
		return b
	}
	var top int64
	for _, day := range days {
		top = max(top, sum(day.Values))
	}
	roof := niceRoof(top)
	span, step := b.Bottom-chartTop, (chartWidth-chartLeft)/float64(len(days))
	for _, share := range []float64{0, 0.5, 1} {
		b.Lines = append(b.Lines, gridLine{Y: b.Bottom - span*share + 0.5, Text: v.number(int64(math.Round(float64(roof) * share)))})
	}
	for i, day := range days {
		c := column{Label: day.Label, X: chartLeft + float64(i)*step, W: step, Tip: day.Label + ":"}
		y := b.Bottom
		for s, value := range day.Values {
			c.Cells = append(c.Cells, v.number(value))
			c.Tip += fmt.Sprintf(" %s %s,", v.number(value), all[s].Label)
			if value > 0 {
				height := math.Max(span*float64(value)/float64(roof), 1)
				y -= height
				c.Parts = append(c.Parts, barPart{State: all[s].State, X: c.X + step*0.12, W: step * 0.76, Y: y, H: height, Rounded: math.Min(2.5, height/2)})
			}
		}
		c.Tip = c.Tip[:len(c.Tip)-1]
		b.Columns = append(b.Columns, c)
	}
	b.First, b.Last = days[0].Label, days[len(days)-1].Label
	return b
}

// niceRoof is the smallest of 1, 2, 5, 10, 20, 50 … that holds the number, and is even enough to be halved.
func niceRoof(top int64) int64 {
	for unit := int64(2); ; unit *= 10 {
		for _, factor := range []int64{1, 2, 5} {
			if unit*factor >= top {
				return unit * factor
			}
		}
	}
}

func sum(values []int64) (total int64) {
	for _, value := range values {
		total += value
	}
	return total
}
