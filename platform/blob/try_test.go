package blob_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"postrider/platform/blob"
)

func TestTryingAStoreLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	store := newS3(t, c)
	if err := blob.Try(t.Context(), store, rand.Reader); err != nil {
		t.Fatal(err)
	}
	err := store.List(t.Context(), c.now.Add(time.Hour), func(info blob.Info, _ time.Time) error {
		return errors.New("left: " + string(info.Ref))
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAStoreThatCannotBeUsedIsTold(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	if err := blob.Try(t.Context(), openS3(t, startS3(t, c)+"/elsewhere"), rand.Reader); err == nil || !strings.HasPrefix(err.Error(), "put blob ") {
		t.Errorf("a bucket that is not there: %v", err)
	}
	for does, store := range map[string]blob.Store{"read: ": forgetful{newS3(t, c)}, "delete: ": grudging{newS3(t, c)}} {
		if err := blob.Try(t.Context(), store, rand.Reader); err == nil || !strings.HasPrefix(err.Error(), does) {
			t.Errorf("%s%v", does, err)
		}
	}
}

// forgetful puts what it cannot read any more.
type forgetful struct{ blob.Store }

func (forgetful) Open(context.Context, blob.Ref) (io.ReadCloser, error) {
	return nil, blob.ErrNotFound
}

// grudging gives nothing back.
type grudging struct{ blob.Store }

func (grudging) Delete(context.Context, blob.Ref) error { return errors.New("access denied") }
