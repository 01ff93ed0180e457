package audience

import (
	"context"
	"errors"
	"io"
	"testing"

	"postrider/platform/blob"
)

var errFull = errors.New("the store is full")

// fullStore gives up before it has read anything.
type fullStore struct{ blob.Store }

func (fullStore) Put(context.Context, io.Reader, int64) (blob.Info, error) {
	return blob.Info{}, errFull
}

func TestAFileThatTheStoreRefusesIsNotWrittenOn(t *testing.T) {
	t.Parallel()
	s, ended := &Service{parts: Parts{Blobs: fullStore{}}}, false
	_, err := s.putFile(context.Background(), func(out io.Writer) error {
		_, err := io.WriteString(out, "row,email,message\n")
		ended = true
		return err
	})
	if !errors.Is(err, errFull) || !ended {
		t.Errorf("the writer has ended: %t, error: %v", ended, err)
	}
}
