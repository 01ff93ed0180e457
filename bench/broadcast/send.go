package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"postrider/bench/measure"
)

// measureBroadcast sends a broadcast in a fresh process, and mail that somebody waits for meanwhile.
func measureBroadcast(ctx context.Context, home *measure.Home, sink *measure.Sink, o options, list string, single float64) error {
	p, err := home.Serve("api,smtp,worker")
	if err != nil {
		return err
	}
	defer p.Stop()
	c := client{ctx, p.Text("http") + "/v1", home.Key}
	arrivals := &arrivals{sent: map[string]time.Time{}}
	sink.Watch(arrivals.see)
	sink.Reset()
	start, cpu := time.Now(), p.CPU()
	made, err := c.call(http.MethodPost, "/broadcasts", map[string]any{"audience_id": list, "from": "Acme <news@acme.test>", "subject": "Hi {{{FIRST_NAME|there}}}", "html": page, "send": true})
	if err != nil {
		return err
	}
	path := "/broadcasts/" + fmt.Sprint(made["id"])
	waiting, enough := context.WithCancel(ctx)
	defer enough()
	urgent := make(chan error, 1)
	go func() { urgent <- arrivals.ask(waiting, strings.TrimPrefix(p.Text("http"), "http://"), home.Key) }()

	expanded, err := c.expand(path, o.people, start)
	if err != nil {
		return err
	}
	rate := float64(o.people) / expanded.Seconds()
	fmt.Printf("recipients written down after %s %23s %8.0f /s   bound %d, %s; peak memory %.0f MB\n", expanded.Round(time.Millisecond), "", rate, expandBound, verdict(rate >= expandBound), megabytes(p))
	profiled := make(chan error, 1)
	go func() { profiled <- p.SaveProfile(fmt.Sprintf("profile?seconds=%.0f", o.during.Seconds()), o.profile) }()
	sending, err := arrivals.await(ctx, o.deliver)
	if err := errors.Join(err, <-profiled); err != nil {
		return err
	}
	fmt.Printf("broadcast, from the first to the last of %d arrivals %7s %8.0f /s   %.2f CPU s/1,000; %.0f %% of single messages, bound %.0f %%, %s\n", o.deliver, "", sending,
		(p.CPU()-cpu).Seconds()*1000/float64(o.deliver), 100*sending/single, 100*shareBound, verdict(sending >= shareBound*single))
	enough()
	if err := <-urgent; err != nil {
		return err
	}
	count, p50, p99, err := arrivals.waited(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("mail that somebody waits for, %d beside the broadcast: p50 %s, p99 %s   bound %s, %s\n", count, p50.Round(time.Millisecond), p99.Round(time.Millisecond), urgentBound, verdict(p99 < urgentBound))
	if o.deliver < o.people {
		if err := c.cancel(path, arrivals); err != nil {
			return err
		}
	}
	fmt.Printf("peak memory %.0f MB   bound %d, %s\n", megabytes(p), peakBound, verdict(megabytes(p) < peakBound))
	return nil
}

func megabytes(p *measure.Process) float64 { return float64(p.PeakMemory()) / 1e6 }

// expand waits until all recipients are written down, and returns how long that took.
func (c client) expand(path string, people int, start time.Time) (time.Duration, error) {
	for {
		b, err := c.call(http.MethodGet, path, nil)
		if err != nil {
			return 0, err
		}
		stats, _ := b["stats"].(map[string]any)
		if count, _ := stats["recipients"].(float64); int(count) >= people {
			return time.Since(start), nil
		}
		if b["status"] == "failed" {
			return 0, fmt.Errorf("the broadcast failed: %v", b["failure"])
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// cancel stops the broadcast, and tells how much arrived after the answer and how long the rest took to be settled.
func (c client) cancel(path string, a *arrivals) error {
	begun := time.Now()
	if _, err := c.call(http.MethodPost, path+"/cancel", nil); err != nil {
		return err
	}
	answered := time.Now()
	had, _ := a.count()
	for {
		b, err := c.call(http.MethodGet, path, nil)
		if err != nil {
			return err
		}
		stats, _ := b["stats"].(map[string]any)
		if stats["queued"] == 0.0 {
			have, _ := a.count()
			fmt.Printf("cancelled with %d delivered: answered after %s, %d arrived after the answer, all %.0f others settled after %s\n", had, answered.Sub(begun).Round(time.Millisecond), have-had,
				stats["cancelled"], time.Since(answered).Round(time.Millisecond))
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// urgentEvery is how often somebody sends mail that is waited for.
const urgentEvery = 50 * time.Millisecond

// arrivals are what the server has taken.
type arrivals struct {
	mu sync.Mutex
	// All below is guarded by mu.
	bulk        int
	first, last time.Time
	sent        map[string]time.Time // urgent mail that has not arrived
	took        []time.Duration
}

func (a *arrivals) see(recipient string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if strings.HasPrefix(recipient, "urgent-") {
		a.took = append(a.took, at.Sub(a.sent[recipient]))
		delete(a.sent, recipient)
		return
	}
	if a.bulk++; a.bulk == 1 {
		a.first = at
	}
	a.last = at
}

func (a *arrivals) count() (int, time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bulk, a.last.Sub(a.first)
}

// ask sends urgent mail at a steady pace.
func (a *arrivals) ask(ctx context.Context, address, key string) error {
	c := client{context.WithoutCancel(ctx), "http://" + address + "/v1", key}
	for n := 0; ctx.Err() == nil; n++ {
		to := fmt.Sprintf("urgent-%d@example.net", n)
		a.mu.Lock()
		a.sent[to] = time.Now()
		a.mu.Unlock()
		if _, err := c.call(http.MethodPost, "/emails", map[string]any{"from": "hello@acme.test", "to": to, "subject": "Your code", "text": "123456"}); err != nil {
			return err
		}
		time.Sleep(urgentEvery)
	}
	return nil
}

// await waits until so many mails of the broadcast have arrived, and returns how many a second that were.
func (a *arrivals) await(ctx context.Context, count int) (float64, error) {
	for {
		have, took := a.count()
		if have >= count {
			return float64(have-1) / took.Seconds(), nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%d of %d arrived: %w", have, count, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// waited tells how long urgent mail took, once all of it has arrived.
func (a *arrivals) waited(ctx context.Context) (count int, p50, p99 time.Duration, err error) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		a.mu.Lock()
		open, took := len(a.sent), slices.Clone(a.took)
		a.mu.Unlock()
		if open > 0 && ctx.Err() == nil && time.Now().Before(deadline) {
			continue
		}
		if open > 0 || len(took) == 0 {
			return 0, 0, 0, fmt.Errorf("%d of %d urgent mails have not arrived", open, open+len(took))
		}
		slices.Sort(took)
		return len(took), took[len(took)/2], took[len(took)*99/100], nil
	}
}
