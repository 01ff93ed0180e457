package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"postrider/app"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/product/delivery"
	"postrider/world"
)

// nodeCount is how many processes share the database.
const nodeCount = 2

// start opens the database as new processes would.
func (s *simulation) start(ctx context.Context) error {
	w := world.World{Clock: s.clock, Log: silence(), Random: &lockedRandom{source: rand.NewChaCha8([32]byte{byte(s.options.Seed), byte(s.crashCount), 9})}}
	url := s.options.DatabaseURL
	if url == "" {
		url = filepath.Join(s.options.Dir, "postrider.db")
	}
	d, err := db.Open(ctx, w, db.Config{URL: url, Fault: s.commit})
	if err != nil {
		return err
	}
	if err := d.Migrate(ctx); err != nil {
		return err
	}
	blobs, err := blob.NewFiles(filepath.Join(s.options.Dir, "blobs"), s.clock, w.Random)
	if err != nil {
		return err
	}
	s.db, s.blobs, s.nodes = d, blobs, make([]*app.App, nodeCount)
	for n := range s.nodes {
		if err := s.startNode(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// startNode starts one process on the database that all share.
func (s *simulation) startNode(ctx context.Context, n int) error {
	w := world.World{Clock: s.clock, Resolver: s.names, Dialer: s.network, Log: silence(),
		Random: &lockedRandom{source: rand.NewChaCha8([32]byte{byte(s.options.Seed), byte(s.options.Seed >> 8), byte(s.crashCount), byte(s.crashCount >> 8), byte(n), 7})}}
	s.nodes[n] = app.Assemble(w, s.db, s.blobs, seal.NewKeyring(bytes.Repeat([]byte("sim!"), 8)), app.Settings{ServiceDomain: serviceDomain,
		Delivery: delivery.Config{Node: fmt.Sprintf("00000000-0000-7000-8000-00000000000%c", 'a'+n), Hello: s.hello(n), Port: 25, Inline: true,
			AllowPrivate: true, MaxInFlight: 20, MaxHeld: 20 + 20*n}})
	s.app = s.nodes[0]
	return s.nodes[n].Delivery.Start(ctx)
}

// hello is the name of a node. With every other seed both have one, and so one source, whose paths they divide.
func (s *simulation) hello(n int) string {
	if s.options.Seed%2 == 1 {
		n = 0
	}
	return fmt.Sprintf("mx%d.%s", n+1, serviceDomain)
}

// crash drops all processes where they stand and starts others on what they left behind.
func (s *simulation) crash(ctx context.Context) error {
	s.crashCount++
	s.setDiskFull(false)
	s.db.Close()
	s.clock.advance(time.Second)
	if err := s.start(ctx); err != nil {
		return err
	}
	return s.noteLostAnswers(ctx)
}

// crashNode drops one process and starts another in its place.
func (s *simulation) crashNode(ctx context.Context, n int) error {
	s.crashCount++
	s.setDiskFull(false)
	if err := s.noteLostAnswers(ctx); err != nil {
		return err
	}
	return s.startNode(ctx, n)
}

// restart stops one process in good order and starts another in its place. Nothing may be sent twice for that.
func (s *simulation) restart(ctx context.Context, n int) error {
	if s.isDiskFull() {
		return nil // it could not write down what it has done
	}
	if err := s.nodes[n].Delivery.Drain(ctx); err != nil {
		return err
	}
	return s.startNode(ctx, n)
}

// pass lets time pass. The nodes notice when they wake and renew their leases, as their own loops would.
func (s *simulation) pass(ctx context.Context, d time.Duration) error {
	s.clock.advance(d)
	for _, node := range s.nodes {
		if _, err := node.Delivery.RenewLeases(ctx); err != nil && !errors.Is(err, db.ErrUnavailable) {
			return err
		}
	}
	return nil
}
