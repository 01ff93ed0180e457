// Command submission measures how many messages a second are taken over SMTP, each on disk before its 250, and beside it, in the
// same run with the same load, how many Postfix takes. Postfix is asked in clear text and without a password; our door wants both
// TLS and a key, and pays for them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"postrider/bench/measure"
)

func main() {
	during := flag.Duration("for", 5*time.Second, "how long each load lasts")
	profile := flag.String("profile", "", "file for a profile of the processor during the first loads")
	measure.Main("submission", func(ctx context.Context) error { return run(ctx, *during, *profile) })
}

// loads are the shapes that are measured.
var loads = []measure.Shape{{Sessions: 1, Kilobytes: 10}, {Sessions: 20, Kilobytes: 1}, {Sessions: 20, Kilobytes: 10}, {Sessions: 20, Kilobytes: 100}, {Sessions: 100, Kilobytes: 10}}

func run(ctx context.Context, during time.Duration, profile string) error {
	dir, err := os.MkdirTemp("", "bench-submission-")
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
	key := seed.Text("api_key")
	if err := seed.Stop(); err != nil {
		return err
	}
	// Only the door: deliveries in the same seconds would be another measurement.
	ours, err := measure.Start(ctx, dir, program, "serve", "--data", data, "--domain", "mail.postrider.test", "--roles", "smtp", "--submission", "127.0.0.1:0",
		"--admin", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer ours.Stop()
	doors := []measure.Door{{Name: "Postrider", SMTP: measure.SMTP{Address: ours.Text("submission"), Key: key, From: "hello@acme.test"}, CPU: ours.CPU}}
	if measure.HasPostfix() {
		postfix, err := measure.StartPostfix(ctx, measure.Hold)
		if err != nil {
			return err
		}
		defer postfix.Stop()
		doors = append(doors, measure.Door{Name: "Postfix", SMTP: measure.SMTP{Address: postfix.Address, From: "hello@acme.test"}, CPU: postfix.CPU})
	} else {
		fmt.Println("Postfix is not installed (or this is not root): measured without it")
	}
	profiled := make(chan error, 1)
	go func() {
		profiled <- ours.SaveProfile(fmt.Sprintf("profile?seconds=%.0f", (5*during).Seconds()), profile)
	}()
	if err := errors.Join(measure.CompareDoors(ctx, "submission", doors, loads, during), <-profiled); err != nil {
		return err
	}
	fmt.Printf("\npeak memory of Postrider: %.0f MB\n", float64(ours.PeakMemory())/1e6)
	return nil
}
