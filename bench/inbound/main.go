// Command inbound measures how many messages a second are taken from other servers, each on disk before its 250, and beside it, in
// the same run with the same load, how many Postfix takes. Then it hands in messages of 30 MB and looks at the memory, and lets a
// thousand connections send a byte every ten seconds while an honest one goes on.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"postrider/bench/measure"
)

func main() {
	during := flag.Duration("for", 2*time.Second, "how long each turn of a load lasts")
	slow := flag.Int("slow", 1000, "how many connections send a byte every ten seconds")
	measure.Main("inbound", func(ctx context.Context) error { return run(ctx, *during, *slow) })
}

// turns are how many each door has, one after the other.
const turns = 3

// loads are the shapes that are measured.
var loads = []measure.Shape{{Sessions: 1, Kilobytes: 4}, {Sessions: 20, Kilobytes: 4}, {Sessions: 100, Kilobytes: 4}, {Sessions: 20, Kilobytes: 100}}

func run(ctx context.Context, during time.Duration, slow int) error {
	dir, err := os.MkdirTemp("", "bench-inbound-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := measure.Build(ctx, dir)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	data := filepath.Join(dir, "data")
	seed, err := measure.Start(ctx, dir, program, "dev", "--data", data, "--http", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := seed.Stop(); err != nil {
		return err
	}
	// Only the door: checks of what came before, in the same seconds, would be another measurement.
	ours, err := measure.Start(ctx, dir, program, "serve", "--data", data, "--domain", "mail.postrider.test", "--roles", "mx", "--mx", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer ours.Stop()
	door := measure.SMTP{Address: ours.Text("mx"), From: "ann@example.net", Domain: "acme.test"}
	doors := []measure.Door{{Name: "Postrider", SMTP: door, CPU: ours.CPU}}
	if measure.HasPostfix() {
		postfix, err := measure.StartPostfix(ctx, measure.Hold)
		if err != nil {
			return err
		}
		defer postfix.Stop()
		doors = append(doors, measure.Door{Name: "Postfix", SMTP: measure.SMTP{Address: postfix.Address, From: "ann@example.net", Domain: "acme.test"}, CPU: postfix.CPU})
	} else {
		fmt.Println("Postfix is not installed (or this is not root): measured without it")
	}
	if err := measure.CompareDoors(ctx, "inbound", doors, loads, turns, during); err != nil {
		return err
	}
	fmt.Printf("\npeak memory of Postrider: %.0f MB", float64(ours.PeakMemory())/1e6)
	if _, err := measure.LoadSMTP(ctx, door, 4, during, measure.Message(30<<20, door.From, door.Domain)); err != nil {
		return err
	}
	fmt.Printf(", and after messages of 30 MB, four at a time: %.0f MB\n", float64(ours.PeakMemory())/1e6)
	return beside(ctx, door, during, slow)
}

// beside measures one honest connection, alone and beside many that only hold their places.
func beside(ctx context.Context, door measure.SMTP, during time.Duration, slow int) error {
	alone, err := measure.LoadSMTP(ctx, door, 1, during, measure.Message(4<<10, door.From, door.Domain))
	if err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	for range slow {
		conn, err := net.Dial("tcp", door.Address)
		if err != nil {
			return fmt.Errorf("slow connection: %w", err)
		}
		defer conn.Close()
		go trickle(ctx, conn)
	}
	crowded, err := measure.LoadSMTP(ctx, door, 1, during, measure.Message(4<<10, door.From, door.Domain))
	if err != nil {
		return fmt.Errorf("beside slow connections: %w", err)
	}
	fmt.Printf("one honest connection: p50 %s, p99 %s; beside %d that send a byte every ten seconds: p50 %s, p99 %s\n", alone.P50.Round(10*time.Microsecond),
		alone.P99.Round(10*time.Microsecond), slow, crowded.P50.Round(10*time.Microsecond), crowded.P99.Round(10*time.Microsecond))
	return nil
}

// trickle sends a command that never ends.
func trickle(ctx context.Context, conn net.Conn) {
	ticker := time.NewTicker(10 * time.Second)
	defer ticker.Stop()
	for {
		if _, err := conn.Write([]byte("E")); err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
