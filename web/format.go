package web

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// moment is a time as people read it, with what machines read beside it.
type moment struct{ ISO, Text, Title string }

// Known tells whether there is a time at all.
func (m moment) Known() bool { return m.ISO != "" }

// moment writes a time in the zone of the visitor: the clock today, the day before that.
func (v *visit) moment(at time.Time) moment {
	if at.IsZero() {
		return moment{}
	}
	here, now := at.In(v.zone()), v.now.In(v.zone())
	text := here.Format("2 Jan 2006, 15:04")
	switch {
	case here.Year() == now.Year() && here.YearDay() == now.YearDay():
		text = here.Format("15:04:05")
	case here.Year() == now.Year():
		text = here.Format("2 Jan, 15:04")
	}
	return moment{ISO: at.UTC().Format(time.RFC3339Nano), Text: text, Title: here.Format("Mon 2 Jan 2006, 15:04:05 MST") + ", " + at.UTC().Format("15:04:05 UTC")}
}

// exact writes a time to the millisecond, for timelines.
func (v *visit) exact(at time.Time) moment {
	m := v.moment(at)
	if m.Known() {
		here, now := at.In(v.zone()), v.now.In(v.zone())
		m.Text = here.Format("15:04:05.000")
		if here.YearDay() != now.YearDay() || here.Year() != now.Year() {
			m.Text = here.Format("2 Jan, 15:04:05")
		}
	}
	return m
}

// ago writes how long ago, or in how long, something is.
func (v *visit) ago(at time.Time) moment {
	m := v.moment(at)
	if !m.Known() {
		return m
	}
	distance := v.now.Sub(at)
	switch {
	case distance < 0:
		m.Text = "in " + duration(-distance)
	case distance < 5*time.Second:
		m.Text = "just now"
	default:
		m.Text = duration(distance) + " ago"
	}
	return m
}

// duration writes a time span with its two largest units.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return strings.TrimSuffix(fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60), " 0 min")
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// number writes a count with the separators of the visitor's language.
func (v *visit) number(n int64) string { return v.printer().Sprintf("%d", n) }

// percent writes a share of 1 with as many digits as tell something.
func (v *visit) percent(share float64) string {
	digits := 1
	switch {
	case share == 0 || share == 1:
		digits = 0
	case math.Abs(share) < 0.01:
		digits = 2
	case share > 0.999 && share < 1: // nearly all are not all
		share = 0.999
	}
	return v.printer().Sprintf("%.*f", digits, share*100) + "%"
}

// size writes a number of bytes.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1000*1000:
		return fmt.Sprintf("%.1f KB", float64(bytes)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1000/1000)
}

// plural writes a count with its noun.
func (v *visit) plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return v.number(n) + " " + many
}

// visible shows characters that could hide or turn text round, which strangers put into subjects and names, as what they are.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		if unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// words turns the name of a state or a type into something to read: "soft_bounce" is "Soft bounce".
func words(name string) string {
	text := strings.NewReplacer("api_key", "API key", "_", " ", ".", " ", "-", " ").Replace(name)
	first, width := utf8.DecodeRuneInString(text)
	if width == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[width:]
}
