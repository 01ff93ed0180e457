package blob

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// Try puts something that nobody else has, reads it and removes it: whether a store can be used is known by using it.
func Try(ctx context.Context, store Store, random io.Reader) error {
	content := make([]byte, 32)
	if _, err := io.ReadFull(random, content); err != nil {
		return err
	}
	put, err := store.Put(ctx, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err // says itself what it was
	}
	if err := readBack(ctx, store, put.Ref); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if err := store.Delete(ctx, put.Ref); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

func readBack(ctx context.Context, store Store, ref Ref) error {
	stored, err := store.Open(ctx, ref)
	if err != nil {
		return err
	}
	defer stored.Close()
	_, err = io.Copy(io.Discard, stored) // tells by itself if it is not what was put
	return err
}
