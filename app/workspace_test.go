package app_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"postrider/app"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/seal"
	"postrider/product/plan"
	"postrider/world"
)

func TestThereIsNoWorkspaceWithoutItsFirstKey(t *testing.T) {
	t.Parallel()
	for failing := range 3 {
		until := -1 // commits before the disk fails; none fails while the schema is made
		w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
		d, err := db.Open(t.Context(), w, db.Config{URL: dbtest.URL(t, "sqlite"), Fault: func() error {
			if until--; until == -1 {
				return errors.New("the disk is gone")
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		blobs, err := blob.NewFiles(t.TempDir(), w.Clock, w.Random)
		if err != nil {
			t.Fatal(err)
		}
		a := app.Assemble(w, d, blobs, seal.NewKeyring(bytes.Repeat([]byte("test"), 8)), app.Settings{ServiceDomain: "mail.postrider.test", BaseURL: "https://postrider.test"})
		until = failing
		made, err := a.CreateWorkspace(context.Background(), app.NewWorkspace{Name: "Acme", Plan: plan.Unlimited, OwnerEmail: "o@acme.test", OwnerPassword: "correct horse battery"})
		until = -1
		var workspaces, keys int
		if read := d.Read(t.Context(), func(tx *db.Tx) error {
			return errors.Join(count(tx, &workspaces, `SELECT COUNT(*) FROM account_workspace`), count(tx, &keys, `SELECT COUNT(*) FROM apikey_key`))
		}); read != nil {
			t.Fatal(read)
		}
		if workspaces != keys || (err == nil) != (keys == 1 && made.APIKey != "") {
			t.Errorf("commit %d fails: %d workspaces, %d keys, %v", failing, workspaces, keys, err)
		}
	}
}

func count(tx *db.Tx, n *int, query string) (err error) {
	*n, err = db.One(tx, db.Value[int], query)
	return err
}
