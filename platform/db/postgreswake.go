package db

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	wakeChannel = "postrider_wake"
	// wakeEvery is the least time between two notifications to other nodes. NOTIFY inside each transaction would make all
	// commits queue for one lock, so the topics of many commits share one notification after them.
	wakeEvery = 20 * time.Millisecond
	// listenAgainAfter is the pause before a broken LISTEN connection is made anew.
	listenAgainAfter = time.Second
	maxTopics        = 64
)

// listenForWakes carries wake-ups between the nodes of a cluster until the waker is closed.
func listenForWakes(config *pgx.ConnConfig, handle *sql.DB, w *waker, log *slog.Logger) {
	ctx, cancel := context.WithCancel(context.Background())
	topics := make(chan string, maxTopics)
	w.publish = func(topic string) {
		select {
		case topics <- topic:
		default: // other nodes look by themselves soon
		}
	}
	var running sync.WaitGroup
	running.Go(func() { publishWakes(ctx, handle, topics) })
	running.Go(func() {
		for ctx.Err() == nil {
			if err := listen(ctx, config, w); err != nil && ctx.Err() == nil {
				log.Warn("listening for wake-ups broke off", "error", err)
			}
			pause(ctx, listenAgainAfter)
		}
	})
	w.stop = func() { cancel(); running.Wait() }
}

func listen(ctx context.Context, config *pgx.ConnConfig, w *waker) error {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(ctx, "LISTEN "+wakeChannel); err != nil {
		return err
	}
	for {
		notice, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		w.wakeHere(notice.Payload)
	}
}

func publishWakes(ctx context.Context, handle *sql.DB, topics <-chan string) {
	pending := map[string]bool{}
	for {
		select {
		case topic := <-topics:
			pending[topic] = true
		case <-ctx.Done():
			return
		}
		pause(ctx, wakeEvery)
		for len(topics) > 0 {
			pending[<-topics] = true
		}
		for topic := range pending {
			// A lost hint costs a little latency on another node, nothing else.
			_, _ = handle.ExecContext(ctx, "SELECT pg_notify($1, $2)", wakeChannel, topic)
		}
		clear(pending)
	}
}

// pause waits in real time: it paces the network, not the product's clock.
func pause(ctx context.Context, d time.Duration) {
	waited, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-waited.Done()
}
