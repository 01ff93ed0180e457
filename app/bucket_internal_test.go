package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"postrider/platform/blob"
	"postrider/world"
)

func TestABucketThatCannotBeUsedIsToldAtTheStart(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := world.New(slog.New(slog.NewTextHandler(&log, nil)))
	files, err := blob.NewFiles(t.TempDir(), w.Clock, w.Random)
	if err != nil {
		t.Fatal(err)
	}
	(&server{world: w, app: &App{blobs: files}}).tryBucket(t.Context())
	if log.Len() != 0 {
		t.Errorf("said of a good one: %s", log.String())
	}
	s := &server{world: w, app: &App{blobs: denied{files}}}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	s.tryBucket(stopped)
	if log.Len() != 0 {
		t.Errorf("said while stopping: %s", log.String())
	}
	s.tryBucket(t.Context())
	if said := log.String(); !strings.Contains(said, "level=ERROR") || !strings.Contains(said, "access denied") {
		t.Errorf("said %q", said)
	}
}

// denied is a store that somebody else's key opens.
type denied struct{ blob.Store }

func (denied) Put(context.Context, io.Reader, int64) (blob.Info, error) {
	return blob.Info{}, errors.New("access denied")
}
