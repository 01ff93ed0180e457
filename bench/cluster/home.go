package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"postrider/bench/measure"
)

// home is a machine with PostgreSQL, a sink for all mail, and somebody who answers for its names.
type home struct {
	dir      string
	program  string
	postgres *measure.Postgres
	sink     *measure.Sink
	names    *measure.Process
	key      string
	rounds   int
}

func newHome(ctx context.Context, dir string) (*home, error) {
	h := &home{dir: dir}
	var err error
	if h.program, err = measure.Build(ctx, dir); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	if h.sink, err = measure.StartSink(); err != nil {
		return nil, err
	}
	if h.postgres, err = measure.StartPostgres(ctx, dir); err != nil {
		return nil, err
	}
	if h.names, err = measure.Start(ctx, dir, h.program, "dev", "--data", filepath.Join(dir, "names"), "--http", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	return h, h.seed(ctx)
}

func (h *home) leave() error { return errors.Join(h.names.Stop(), h.postgres.Stop(), h.sink.Close()) }

// round is a queue that some nodes empty, or, if during is set, that they are watched at for so long.
type round struct {
	messages, domains, nodes int
	// apart gives each node a source of its own; else all have one.
	apart bool
	// settle is how long the nodes run before the mail is due.
	settle, during time.Duration
}

const (
	drainWithin = 10 * time.Minute
	// aLongTime is when nothing is due.
	aLongTime = "4102444800000000" // 2100, in microseconds
)

// drain fills a new database and lets the nodes empty it.
func (h *home) drain(ctx context.Context, r round) (f figures, err error) {
	h.rounds++
	database := fmt.Sprintf("round%d", h.rounds)
	if err := h.fill(ctx, database, r); err != nil {
		return f, fmt.Errorf("fill: %w", err)
	}
	h.sink.Reset()
	var nodes []*measure.Process
	defer func() {
		for _, n := range nodes {
			err = errors.Join(err, n.Stop())
		}
	}()
	for n := range r.nodes {
		name := fmt.Sprintf("node%d", n+1)
		hello := "mx1.mail.postrider.test"
		if r.apart {
			hello = name + ".mail.postrider.test"
		}
		started, err := h.serve(ctx, database, name, "worker", "--hello", hello)
		if err != nil {
			return f, err
		}
		nodes = append(nodes, started)
	}
	select {
	case <-ctx.Done():
		return f, ctx.Err()
	case <-time.After(r.settle):
	}
	if err := h.postgres.Await(ctx, database, followed); err != nil {
		return f, err
	}
	return h.watch(ctx, database, nodes, r)
}

// followed tells whether everything that came in with the mail has been counted, indexed and told, so that delivery alone is measured. Followers of
// a few kinds of events stay behind by some hundred others.
const followed = `
	SELECT NOT EXISTS (
		SELECT 1 FROM event_follower AS f
		WHERE EXISTS (SELECT 1 FROM event AS e WHERE (e.tx_id, e.seq) > (f.tx_id, f.seq) ORDER BY e.tx_id, e.seq OFFSET 600))`

// watch makes the mail due and measures.
func (h *home) watch(ctx context.Context, database string, nodes []*measure.Process, r round) (f figures, err error) {
	cpu := func() (all time.Duration) {
		for _, n := range nodes {
			all += n.CPU()
		}
		return all
	}
	if err := h.postgres.Run(ctx, database, "UPDATE queue_item SET due_at = "+strconv.FormatInt(time.Now().UnixMicro(), 10)+" WHERE lane = 'mail'"); err != nil {
		return f, err
	}
	start, ours, theirs := time.Now(), cpu(), h.postgres.CPU()
	begin := []string{"SELECT pg_notify('postrider_wake', 'queue/mail')"}
	if h.postgres.Statements {
		begin = append(begin, "SELECT pg_stat_statements_reset()")
	}
	if err := h.postgres.Run(ctx, database, begin...); err != nil {
		return f, err
	}
	delivered, last := int64(r.messages), start
	if r.during == 0 {
		within, done := context.WithTimeout(ctx, drainWithin)
		defer done()
		if last, err = h.sink.Await(within, r.messages); err != nil {
			return f, err
		}
	} else if delivered, last, err = h.watchFor(ctx, r); err != nil {
		return f, err
	}
	thousands := float64(delivered) / 1000
	f = figures{rate: float64(delivered) / last.Sub(start).Seconds(), nodes: (cpu() - ours).Seconds() / thousands, database: (h.postgres.CPU() - theirs).Seconds() / thousands}
	if h.postgres.Statements {
		list, all, err := h.postgres.Costliest(ctx, database, 8)
		if err != nil {
			return f, err
		}
		f.statements = describe(list, all, delivered)
	}
	return f, nil
}

// watchFor counts what arrives within a time, or until all has.
func (h *home) watchFor(ctx context.Context, r round) (int64, time.Time, error) {
	over := time.After(r.during)
	for {
		select {
		case <-ctx.Done():
			return 0, time.Time{}, ctx.Err()
		case <-over:
			return h.sink.Taken(), time.Now(), nil
		case <-time.After(20 * time.Millisecond):
			if h.sink.Taken() >= int64(r.messages) {
				return h.sink.Taken(), time.Now(), nil
			}
		}
	}
}

func (h *home) serve(ctx context.Context, database, name, roles string, more ...string) (*measure.Process, error) {
	return measure.Start(ctx, h.dir, h.program, append([]string{"serve", "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--roles", roles, "--node", name,
		"--data", filepath.Join(h.dir, database+"-"+name), "--database-url", h.postgres.URL(database), "--secret", secret,
		"--insecure-test-network", "--resolver", h.names.Text("dns"), "--smtp-port", strconv.Itoa(h.sink.Port)}, more...)...)
}

const secret = "a secret for the time of a benchmark"

// fill makes a database with a workspace and so many messages in the queue, none of them due.
func (h *home) fill(ctx context.Context, database string, r round) error {
	if err := h.postgres.Create(ctx, database, seeded); err != nil {
		return err
	}
	door, err := h.serve(ctx, database, "door", "api")
	if err != nil {
		return err
	}
	err = post(ctx, door.Text("http"), h.key, r)
	return errors.Join(err, door.Stop(), h.postgres.Run(ctx, database, "UPDATE queue_item SET due_at = "+aLongTime+" WHERE lane = 'mail'", "VACUUM ANALYZE", "CHECKPOINT"))
}

// post hands the messages in, a hundred at a time.
func post(ctx context.Context, url, key string, r round) error {
	const batch, clients = 100, 8
	var next atomic.Int64
	var all sync.WaitGroup
	failed := make(chan error, clients)
	for range clients {
		all.Go(func() {
			for {
				from := int(next.Add(batch)) - batch
				if from >= r.messages {
					return
				}
				if err := postBatch(ctx, url, key, from, min(from+batch, r.messages), r.domains); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func postBatch(ctx context.Context, url, key string, from, to, domains int) error {
	var list []map[string]any
	for n := from; n < to; n++ {
		list = append(list, map[string]any{"from": "hello@acme.test", "to": fmt.Sprintf("user%d@d%d.test", n, n%domains), "subject": "Your order", "text": "Thank you."})
	}
	_, err := call(ctx, key, http.MethodPost, url+"/v1/emails/batch", list)
	return err
}
