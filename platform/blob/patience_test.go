package blob_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"postrider/platform/blob"
)

// service answers every connection in a way of its own.
type service func(conn net.Conn)

func (s service) DialContext(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() {
		defer theirs.Close()
		s(theirs)
	}()
	return ours, nil
}

// store returns one at the service.
func (s service) store(t *testing.T) *blob.S3 {
	t.Helper()
	store, err := blob.NewS3(blob.S3Config{Endpoint: "s3.example.com", AccessKey: "K", SecretKey: "S", Bucket: "mail", Region: "us-east-1"}, s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// silence lasts until the other side has had enough.
func silence(conn net.Conn) { io.Copy(io.Discard, conn) }

func TestADownloadThatStandsStillIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := service(func(conn net.Conn) {
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
				t.Error(err)
			}
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nLast-Modified: Sun, 15 Nov 2026 12:00:00 GMT\r\nETag: \"a\"\r\n\r\nhalf")
			silence(conn)
		}).store(t)
		content, err := store.Open(t.Context(), blob.Ref(strings.Repeat("a", 64)))
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		begun := time.Now()
		if half, err := io.ReadAll(content); err == nil || string(half) != "half" || time.Since(begun) > time.Minute {
			t.Errorf("%q, %v after %s", half, err, time.Since(begun))
		}
	})
}

func TestAnUploadThatStandsStillIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := service(func(conn net.Conn) {
			conn.Read(make([]byte, 100))
			<-t.Context().Done() // takes no more
		}).store(t)
		begun := time.Now()
		if _, err := store.Put(t.Context(), strings.NewReader("content"), 10); err == nil || time.Since(begun) > 10*time.Minute {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}

// What is removed a minute after it was found old may have been put again.
func TestARemovalThatIsLateIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var removals atomic.Int64
		store := service(func(conn net.Conn) {
			request, err := http.ReadRequest(bufio.NewReader(conn))
			if err != nil {
				t.Error(err)
				return
			}
			if request.Method == http.MethodHead {
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\nLast-Modified: Sun, 15 Nov 2026 12:00:00 GMT\r\nETag: \"a\"\r\n\r\n")
				return
			}
			removals.Add(1)
			silence(conn)
		}).store(t)
		begun := time.Now()
		gone, err := store.DeleteUntouched(t.Context(), blob.Ref(strings.Repeat("a", 64)), time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC))
		if gone || err == nil || removals.Load() == 0 || time.Since(begun) > 5*time.Second {
			t.Errorf("%v %v after %d tries in %s", gone, err, removals.Load(), time.Since(begun))
		}
	})
}
