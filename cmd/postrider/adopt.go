package main

import (
	"context"
	"fmt"

	"postrider/app"
)

type adoptCommand struct {
	storageFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Run works while servers run on the same data. They must not run on the copy that it was, or on the original.
func (c adoptCommand) Run(ctx context.Context) error {
	if err := app.Adopt(ctx, quietWorld(), c.storage()); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(map[string]bool{"adopted": true})
	}
	fmt.Println("This database now does the work and cleans up its blobs. Never start a server again on the one that did so before.")
	return nil
}
