package measure

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Door is a server that takes mail, and what it costs.
type Door struct {
	Name string
	SMTP SMTP
	CPU  func() time.Duration
}

// Shape is a load: so many sessions that hand in messages of about so many kilobytes.
type Shape struct{ Sessions, Kilobytes int }

// CompareDoors hands the same loads to each of the doors by turns, because a machine may be faster at one minute than at the next, and
// prints how they do; the ratios are those of the first to each of the others.
func CompareDoors(ctx context.Context, what string, doors []Door, shapes []Shape, turns int, during time.Duration) error {
	fmt.Printf("%s: %d turns of %s each, %d cores shared with the load generator\n\n", what, turns, during, runtime.NumCPU())
	fmt.Printf("%-24s %-15s %11s %9s %9s %14s   %s\n", "", "", "messages/s", "p50", "p99", "CPU s/1,000", "ratio, of the turns")
	for _, shape := range shapes {
		all := make([]taken, len(doors))
		for range turns {
			for i, d := range doors {
				if err := all[i].turn(ctx, d, shape, during); err != nil {
					return fmt.Errorf("%s: %w", d.Name, err)
				}
			}
		}
		for i, t := range all {
			fmt.Printf("%-24s %-15s %s", fmt.Sprintf("%d KB, %d sessions", shape.Kilobytes, shape.Sessions), doors[i].Name, t)
			if i > 0 {
				fmt.Printf("   %s", Ratio(all[0].rate()/t.rate(), all[0].rates(), t.rates()))
			}
			fmt.Println()
		}
	}
	return nil
}

// taken is what the turns of a door came to.
type taken struct {
	results []Result
	cpu     time.Duration
}

func (t *taken) turn(ctx context.Context, d Door, shape Shape, during time.Duration) error {
	body := Message(shape.Kilobytes<<10, d.SMTP.From, d.SMTP.domain())
	if _, err := LoadSMTP(ctx, d.SMTP, shape.Sessions, during/5, body); err != nil { // warm up
		return err
	}
	before := d.CPU()
	result, err := LoadSMTP(ctx, d.SMTP, shape.Sessions, during, body)
	t.results = append(t.results, result)
	t.cpu += d.CPU() - before
	return err
}

// rate is that of all turns together, which take the same time.
func (t taken) rate() (mean float64) {
	for _, rate := range t.rates() {
		mean += rate / float64(len(t.results))
	}
	return mean
}

func (t taken) String() string {
	var p50, p99 []time.Duration
	count := 0
	for _, r := range t.results {
		p50, p99, count = append(p50, r.P50), append(p99, r.P99), count+r.Count
	}
	slices.Sort(p50)
	slices.Sort(p99)
	middle := len(t.results) / 2
	return fmt.Sprintf("%11.0f %9s %9s %14.2f", t.rate(), p50[middle].Round(10*time.Microsecond), p99[middle].Round(10*time.Microsecond),
		t.cpu.Seconds()*1000/float64(max(count, 1)))
}

func (t taken) rates() (list []float64) {
	for _, r := range t.results {
		list = append(list, r.Rate())
	}
	return list
}

// Ratio tells how many times as fast as the other one was: on the whole, and at the least and the most of the turns.
func Ratio(whole float64, rates, others []float64) string {
	turns := make([]float64, len(rates))
	for i := range rates {
		turns[i] = rates[i] / others[i]
	}
	return fmt.Sprintf("%.2fx, %.2f to %.2f", whole, slices.Min(turns), slices.Max(turns))
}

// Message returns messages of about so many bytes from an address to users of a domain, each with its final dot.
func Message(size int, from, domain string) func(worker, n int) []byte {
	line := strings.Repeat("x", 70) + "\r\n"
	text := []byte(strings.Repeat(line, size/len(line)+1) + ".\r\n")
	return func(worker, n int) []byte {
		var b bytes.Buffer
		fmt.Fprintf(&b, "From: Acme <%s>\r\nTo: user-%d-%d@%s\r\nSubject: Your order %d\r\nMessage-ID: <%d.%d.%d@bench.test>\r\n\r\n",
			from, worker, n, domain, n, time.Now().UnixNano(), worker, n)
		b.Write(text)
		return b.Bytes()
	}
}
