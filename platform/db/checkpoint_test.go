package db_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postrider/platform/db"
)

// heap is an embedded database that is written to until its files look as one wishes.
type heap struct {
	*db.DB
	t    testing.TB
	path string
	rows int
}

func newHeap(t testing.TB) *heap {
	h := &heap{t: t, path: filepath.Join(t.TempDir(), "heap.db")}
	h.open()
	write(t, h.DB, func(tx *db.Tx) error {
		_, err := tx.Exec(`CREATE TABLE thing (id {id} PRIMARY KEY, body {blob})`)
		return err
	})
	return h
}

func (h *heap) open() {
	h.t.Helper()
	d, err := db.Open(h.t.Context(), testWorld(), db.Config{URL: h.path})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { d.Close() })
	h.DB = d
}

// add writes rows, each of a page of its own, in one transaction.
func (h *heap) add(rows int) {
	h.t.Helper()
	body := bytes.Repeat([]byte("postrider "), 390)
	first := h.rows
	write(h.t, h.DB, func(tx *db.Tx) error {
		for n := first; n < first+rows; n++ {
			if _, err := tx.Exec(`INSERT INTO thing (id, body) VALUES ($1, $2)`, id(n), body); err != nil {
				return err
			}
		}
		return nil
	})
	h.rows += rows
}

func (h *heap) size(suffix string) int64 {
	h.t.Helper()
	info, err := os.Stat(h.path + suffix)
	if err != nil {
		h.t.Fatal(err)
	}
	return info.Size()
}

const page = 4 << 10

func TestTheLogIsFoldedBesideTheWriter(t *testing.T) {
	t.Parallel()
	h := newHeap(t)
	for h.rows < 5_000 {
		h.add(100)
	}
	tick, end := time.Tick(5*time.Millisecond), time.After(time.Minute)
	for h.size("") < 3_000*page {
		select {
		case <-tick:
		case <-end:
			t.Fatalf("after %d pages the file has %d bytes and the log %d", h.rows, h.size(""), h.size("-wal"))
		}
	}
}

func TestTheLogBeginsAnewHoweverMuchIsWritten(t *testing.T) {
	t.Parallel()
	h := newHeap(t)
	for h.rows < 24_000 {
		h.add(100)
	}
	if log := h.size("-wal"); log > 20_000*page {
		t.Errorf("the log of %d pages has %d bytes", h.rows, log)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.open()
	var found int64
	if err := h.Read(t.Context(), func(tx *db.Tx) (err error) {
		found, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM thing`)
		return err
	}); err != nil || int(found) != h.rows {
		t.Errorf("%d of %d rows, %v", found, h.rows, err)
	}
	if err := h.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// BenchmarkCommitsOfMany lets 20 callers write rows of 8 KB over and over, and reports how long the slowest hundredth waited. Run it
// with -benchtime 100000x.
func BenchmarkCommitsOfMany(b *testing.B) {
	h := newHeap(b)
	body := bytes.Repeat([]byte("postrider "), 800)
	var next atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var callers sync.WaitGroup
	b.ResetTimer()
	for range 20 {
		callers.Go(func() {
			var own []time.Duration
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				asked := time.Now()
				if err := h.Write(b.Context(), func(tx *db.Tx) error {
					_, err := tx.Exec(`INSERT INTO thing (id, body) VALUES ($1, $2)`, id(int(n)), body)
					return err
				}); err != nil {
					b.Error(err)
					return
				}
				own = append(own, time.Since(asked))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	callers.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
