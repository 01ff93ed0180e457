package measure

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
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

// CompareDoors hands the same loads to each of the doors and prints how they do; the ratio is that of the first to the second.
func CompareDoors(ctx context.Context, what string, doors []Door, shapes []Shape, during time.Duration) error {
	fmt.Printf("%s: %s each, %d cores shared with the load generator\n\n", what, during, runtime.NumCPU())
	fmt.Printf("%-24s %-10s %11s %9s %9s %14s %9s\n", "", "", "messages/s", "p50", "p99", "CPU s/1,000", "ratio")
	for _, shape := range shapes {
		var rates []float64
		for _, d := range doors {
			body := Message(shape.Kilobytes<<10, d.SMTP.From, d.SMTP.domain())
			if _, err := LoadSMTP(ctx, d.SMTP, shape.Sessions, during/5, body); err != nil { // warm up
				return fmt.Errorf("%s: %w", d.Name, err)
			}
			before := d.CPU()
			result, err := LoadSMTP(ctx, d.SMTP, shape.Sessions, during, body)
			if err != nil {
				return fmt.Errorf("%s: %w", d.Name, err)
			}
			rates = append(rates, result.Rate())
			fmt.Printf("%-24s %-10s %11.0f %9s %9s %14.2f", fmt.Sprintf("%d KB, %d sessions", shape.Kilobytes, shape.Sessions), d.Name, result.Rate(),
				result.P50.Round(10*time.Microsecond), result.P99.Round(10*time.Microsecond), (d.CPU()-before).Seconds()*1000/float64(max(result.Count, 1)))
			if len(rates) == 2 {
				fmt.Printf(" %8.1fx", rates[0]/rates[1])
			}
			fmt.Println()
		}
	}
	return nil
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
