// Command submission measures how many messages a second are taken over SMTP, each on disk before its 250, and beside it, in the
// same run with the same load, how many Postfix takes, over encrypted sessions and in clear text. Our door wants encryption and a key
// besides, and pays for both.
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
	var o options
	flag.DurationVar(&o.during, "for", 2*time.Second, "how long each turn lasts")
	flag.IntVar(&o.turns, "turns", 3, "how many turns each door has, one after the other")
	flag.Var(&o.sessions, "sessions", "numbers of sessions, instead of the usual loads")
	o.kilobytes = measure.Numbers{10}
	flag.Var(&o.kilobytes, "kb", "with -sessions: sizes of the messages in kilobytes")
	flag.StringVar(&o.beside, "beside", "", "another build of the program, to be measured by turns with this one")
	flag.BoolVar(&o.alone, "alone", false, "leave Postfix out")
	flag.StringVar(&o.profile, "profile", "", "file for a profile of the processor during the first loads")
	measure.Main("submission", func(ctx context.Context) error { return run(ctx, o) })
}

// options say what is measured.
type options struct {
	during              time.Duration
	turns               int
	sessions, kilobytes measure.Numbers
	alone               bool
	beside, profile     string
}

// usual are the loads that are measured if none are asked for.
var usual = []measure.Shape{{Sessions: 1, Kilobytes: 10}, {Sessions: 20, Kilobytes: 1}, {Sessions: 20, Kilobytes: 10}, {Sessions: 20, Kilobytes: 100}, {Sessions: 100, Kilobytes: 10}}

func (o options) loads() (shapes []measure.Shape) {
	if len(o.sessions) == 0 {
		return usual
	}
	for _, sessions := range o.sessions {
		for _, kilobytes := range o.kilobytes {
			shapes = append(shapes, measure.Shape{Sessions: sessions, Kilobytes: kilobytes})
		}
	}
	return shapes
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "bench-submission-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := measure.Build(ctx, dir)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	ours, door, err := open(ctx, filepath.Join(dir, "ours"), program, "Postrider")
	if err != nil {
		return err
	}
	defer ours.Stop()
	doors := []measure.Door{door}
	if o.beside != "" {
		other, door, err := open(ctx, filepath.Join(dir, "beside"), o.beside, "the other build")
		if err != nil {
			return fmt.Errorf("%s: %w", o.beside, err)
		}
		defer other.Stop()
		doors = append(doors, door)
	}
	switch {
	case o.alone:
	case measure.HasPostfix():
		postfix, err := measure.StartPostfix(ctx, measure.Hold+measure.OfferTLS)
		if err != nil {
			return err
		}
		defer postfix.Stop()
		doors = append(doors,
			measure.Door{Name: "Postfix", SMTP: measure.SMTP{Address: postfix.Address, Encrypted: true, From: "hello@acme.test"}, CPU: postfix.CPU},
			measure.Door{Name: "Postfix, clear", SMTP: measure.SMTP{Address: postfix.Address, From: "hello@acme.test"}, CPU: postfix.CPU})
	default:
		fmt.Println("Postfix is not installed (or this is not root): measured without it")
	}
	profiled := make(chan error, 1)
	go func() {
		profiled <- ours.SaveProfile(fmt.Sprintf("profile?seconds=%.0f", (time.Duration(len(o.loads()))*o.during).Seconds()), o.profile)
	}()
	if err := errors.Join(measure.CompareDoors(ctx, "submission", doors, o.loads(), o.turns, o.during), <-profiled); err != nil {
		return err
	}
	fmt.Printf("\npeak memory of Postrider: %.0f MB\n", float64(ours.PeakMemory())/1e6)
	return nil
}

// open starts a build of the program on data of its own, in dir: only the door, because deliveries in the same seconds would be another
// measurement.
func open(ctx context.Context, dir, program, name string) (*measure.Process, measure.Door, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, measure.Door{}, err
	}
	data := filepath.Join(dir, "data")
	seed, err := measure.Start(ctx, dir, program, "dev", "--data", data, "--http", "127.0.0.1:0")
	if err != nil {
		return nil, measure.Door{}, err
	}
	key := seed.Text("api_key")
	if err := seed.Stop(); err != nil {
		return nil, measure.Door{}, err
	}
	process, err := measure.Start(ctx, dir, program, "serve", "--data", data, "--domain", "mail.postrider.test", "--roles", "smtp",
		"--submission", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if err != nil {
		return nil, measure.Door{}, err
	}
	smtp := measure.SMTP{Address: process.Text("submission"), Encrypted: true, Key: key, From: "hello@acme.test"}
	return process, measure.Door{Name: name, SMTP: smtp, CPU: process.CPU}, nil
}
