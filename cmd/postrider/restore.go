package main

import (
	"context"
	"fmt"

	"postrider/app"
)

type restoreCommand struct {
	storageFlags
	From string `help:"Directory of the backup." required:"" type:"path"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// restoreResult is what --json prints of a restore.
type restoreResult struct {
	From string `json:"from"`
	app.Manifest
}

// Run puts a backup into a storage that has no database yet.
func (c restoreCommand) Run(ctx context.Context) error {
	shown := newProgressLine()
	m, err := app.Restore(ctx, quietWorld(), c.From, c.storage(), func(file string) error { return load(ctx, c.DatabaseURL, file) }, shown.tell)
	shown.end()
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(restoreResult{From: c.From, Manifest: m})
	}
	fmt.Printf("Restored the backup of %s: the database and %d blobs.\n", m.MadeAt.Format("2006-01-02 15:04:05 MST"), m.Blobs)
	if m.Bucket {
		fmt.Println("Blobs are in a bucket and were not part of it: start the server with the same --blob-url.")
	}
	if !m.Secret {
		fmt.Println("The secret was not part of it: start the server with the same POSTRIDER_SECRET, without it keys cannot be opened.")
	}
	fmt.Println("It is a copy until the original is gone: to look around, start it with --roles api. To let it do the work, run postrider adopt first;\n" +
		"what was accepted before the backup and sent after it will then be sent again: receivers know it by its Message-ID.")
	return nil
}
