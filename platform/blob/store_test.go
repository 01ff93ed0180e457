package blob_test

import (
	"crypto/rand"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"postrider/platform/blob"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// clock stands still until it is moved. The file store and the fake S3 date by it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Since(t time.Time) time.Duration                { return c.Now().Sub(t) }
func (c *clock) After(time.Duration) (<-chan time.Time, func()) { panic("a store never waits") }

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// onEveryStore runs a promise of Store against each implementation.
func onEveryStore(t *testing.T, promise func(t *testing.T, store blob.Store, c *clock)) {
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		c := &clock{now: noon}
		promise(t, newFiles(t, t.TempDir(), c), c)
	})
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		c := &clock{now: noon}
		promise(t, newS3(t, c), c)
	})
}

func newFiles(t *testing.T, dir string, c *clock) *blob.Files {
	t.Helper()
	store, err := blob.NewFiles(dir, c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func newS3(t *testing.T, c *clock) *blob.S3 {
	t.Helper()
	return openS3(t, startS3(t, c)+"/mail/blobs")
}

// startS3 returns the address of a service with the bucket mail.
func startS3(t *testing.T, c *clock) string {
	t.Helper()
	backend := s3mem.New(s3mem.WithTimeSource(c))
	if err := backend.CreateBucket("mail"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(backend,
		gofakes3.WithTimeSource(c),
		gofakes3.WithTimeSkewLimit(0),
		gofakes3.WithLogger(gofakes3.StdLog(log.New(io.Discard, "", 0))))
	server := httptest.NewServer(fake.Server())
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func openS3(t *testing.T, place string) *blob.S3 {
	t.Helper()
	config, err := blob.ParseS3URL("s3://key:secret@" + place + "?tls=false")
	if err != nil {
		t.Fatal(err)
	}
	store, err := blob.NewS3(config, &net.Dialer{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func put(t *testing.T, store blob.Store, content string) blob.Ref {
	t.Helper()
	info, err := store.Put(t.Context(), strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size != int64(len(content)) {
		t.Fatalf("size %d, want %d", info.Size, len(content))
	}
	return info.Ref
}

func read(t *testing.T, store blob.Store, ref blob.Ref) (string, error) {
	t.Helper()
	r, err := store.Open(t.Context(), ref)
	if err != nil {
		return "", err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	return string(content), err
}

func list(t *testing.T, store blob.Store, before time.Time) map[blob.Info]time.Time {
	t.Helper()
	found := map[blob.Info]time.Time{}
	err := store.List(t.Context(), before, func(info blob.Info, modified time.Time) error {
		found[info] = modified
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
