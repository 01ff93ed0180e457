// Command cluster measures how delivery grows with the nodes that share one PostgreSQL: the same queue, filled before, is emptied by
// one, two and three workers on this machine, each with a source of its own and then all with one source, whose paths they divide. It
// says what a message costs the nodes and PostgreSQL, on which statements PostgreSQL spends it, and whether a message costs more when
// more of them wait.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"postrider/bench/measure"
)

// options say what is measured.
type options struct {
	messages, domains, nodes int
	during                   time.Duration
	million, shared          bool
	settle                   time.Duration
}

func main() {
	var o options
	flag.IntVar(&o.messages, "messages", 20_000, "messages that one, two and three nodes deliver")
	flag.IntVar(&o.domains, "domains", 400, "domains they go to")
	flag.IntVar(&o.nodes, "nodes", 3, "most nodes")
	flag.DurationVar(&o.during, "for", 15*time.Second, "how long delivery from each backlog is watched")
	flag.BoolVar(&o.million, "million", false, "measure a backlog of 1,000,000 too; filling it takes many minutes")
	flag.BoolVar(&o.shared, "shared", true, "measure nodes that have one source too")
	flag.DurationVar(&o.settle, "settle", 45*time.Second, "how long nodes with one source are given to divide its paths")
	measure.Main("cluster", func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "bench-cluster-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	h, err := newHome(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.leave()) }()
	fmt.Printf("cluster: %d messages to %d domains, one PostgreSQL, all on %d cores with the sink\n\n", o.messages, o.domains, runtime.NumCPU())
	if err := againstNodes(ctx, h, o); err != nil {
		return err
	}
	return againstBacklog(ctx, h, o)
}

// againstNodes measures more and more nodes.
func againstNodes(ctx context.Context, h *home, o options) error {
	fmt.Printf("%-26s %12s %8s %16s %16s %16s\n", "", "delivered/s", "ratio", "nodes s/1,000", "database s/1,000", "together")
	var one figures
	var names []string
	var costs [][]string
	for _, apart := range []bool{true, false} {
		for count := 1; count <= o.nodes && (apart || o.shared); count++ {
			if !apart && count == 1 {
				continue // it is the same
			}
			name := fmt.Sprintf("%d nodes, own sources", count)
			settle := 3 * time.Second
			if !apart {
				name, settle = fmt.Sprintf("%d nodes, one source", count), o.settle
			}
			got, err := h.drain(ctx, round{messages: o.messages, domains: o.domains, nodes: count, apart: apart, settle: settle})
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if one.rate == 0 {
				one = got
			}
			fmt.Printf("%-26s %12.0f %7.2fx %16.2f %16.2f %16.2f\n", name, got.rate, got.rate/one.rate, got.nodes, got.database, got.nodes+got.database)
			names, costs = append(names, name), append(costs, got.statements)
		}
	}
	showCosts(names[0], costs[0])
	showCosts(names[len(names)-1], costs[len(costs)-1])
	return nil
}

// againstBacklog measures one node with more and more mail in the queue.
func againstBacklog(ctx context.Context, h *home, o options) error {
	sizes := []int{10_000, 100_000}
	if o.million {
		sizes = append(sizes, 1_000_000)
	}
	fmt.Printf("\none node, %s from each backlog\n%-26s %12s %16s %16s %16s %8s\n", o.during, "", "delivered/s", "nodes s/1,000", "database s/1,000", "together", "ratio")
	var small figures
	var costs []string
	for _, size := range sizes {
		got, err := h.drain(ctx, round{messages: size, domains: o.domains, nodes: 1, apart: true, settle: 3 * time.Second, during: o.during})
		if err != nil {
			return fmt.Errorf("backlog of %d: %w", size, err)
		}
		if small.rate == 0 {
			small = got
		}
		fmt.Printf("%-26d %12.0f %16.2f %16.2f %16.2f %7.2fx\n", size, got.rate, got.nodes, got.database, got.nodes+got.database, (got.nodes+got.database)/(small.nodes+small.database))
		costs = got.statements
	}
	showCosts(fmt.Sprintf("a backlog of %d", sizes[len(sizes)-1]), costs)
	return nil
}

func showCosts(name string, lines []string) {
	fmt.Printf("\nwhere the time of PostgreSQL goes, %s\n", name)
	for _, line := range lines {
		fmt.Println(line)
	}
}

// figures are what one round has shown: messages a second, and seconds of processor time for a thousand of them.
type figures struct {
	rate, nodes, database float64
	statements            []string
}

// describe writes what statements cost, for people.
func describe(list []measure.Statement, all time.Duration, delivered int64) []string {
	var lines []string
	for _, s := range list {
		lines = append(lines, fmt.Sprintf("%5.1f%% %8.1f ms/1,000 %10.1f calls/1,000  %.110s", 100*s.Took.Seconds()/all.Seconds(),
			s.Took.Seconds()*1e6/float64(delivered), float64(s.Calls)*1000/float64(delivered), s.Text))
	}
	return lines
}
