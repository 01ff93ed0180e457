package test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// tool returns the path of a program that the tests use beside ours, built once for all runs from the versions that a module names.
func tool(module, name string) (string, error) {
	find := exec.Command("go", "tool", "-modfile="+module, "-n", name)
	find.Dir = ".."
	out, err := find.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return "", fmt.Errorf("%w\n%s", err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// bucket is an S3 service with an empty bucket: a server of its own, or one in memory where that cannot be built.
func bucket(t *testing.T) string {
	t.Helper()
	path, err := tool("tools/s3/go.mod", "versitygw") // it checks signatures, and keeps objects in files
	if err != nil {
		t.Logf("a bucket in memory, because the S3 server cannot be built here: %v", err)
		return memoryBucket(t)
	}
	root, address := t.TempDir(), loopback()+":7070"
	if err := os.Mkdir(filepath.Join(root, "mail"), 0o700); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(path, "--port", address, "--access", "key", "--secret", "sec/ret+", "--quiet", "posix", "--sidecar", t.TempDir(), root)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	until(t, 30*time.Second, "the S3 server", func() bool {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return "s3://key:sec%2Fret%2B@" + address + "/mail/blobs?tls=false"
}

func memoryBucket(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("mail"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.StdLog(log.New(io.Discard, "", 0)))).Server())
	t.Cleanup(server.Close)
	return "s3://key:secret@" + strings.TrimPrefix(server.URL, "http://") + "/mail/blobs?tls=false"
}
