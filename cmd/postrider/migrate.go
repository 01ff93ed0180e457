package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"postrider/app"
	"postrider/platform/move"
)

type migrateCommand struct {
	storageFlags
	From []string `help:"Storage to move from: a data directory, postgres://… or s3://…; give it twice for a database and a bucket." sep:"none" placeholder:"STORAGE"`
	To   []string `help:"Storage to move to, in the same words. What is not named stays where it is." sep:"none" placeholder:"STORAGE"`
	JSON bool     `name:"json" help:"Print JSON."`
}

// moveResult is what --json prints of a move.
type moveResult struct {
	Tables int   `json:"tables"`
	Rows   int64 `json:"rows"`
	Blobs  int64 `json:"blobs"`
	Bytes  int64 `json:"bytes"`
}

// Run brings the schema up to date, or moves the data. A move needs every server stopped.
func (c migrateCommand) Run(ctx context.Context) error {
	if len(c.From) > 0 || len(c.To) > 0 {
		return c.move(ctx)
	}
	stores, err := c.storage().Open(ctx, quietWorld())
	if err != nil {
		return err
	}
	if err := stores.DB.Close(); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(map[string]bool{"up_to_date": true})
	}
	fmt.Println("The schema is up to date.")
	return nil
}

var (
	errFromAndTo = usage{errors.New("a move needs --from and --to")}
	errNoBlobs   = usage{errors.New("blobs have no place in the target: name a directory or s3://… with --to, or --from a storage whose blobs can stay where they are")}
)

// places reads what --from or --to say.
func places(flag string, named []string) (app.Storage, error) {
	var s app.Storage
	for _, place := range named {
		into := &s.Dir
		switch {
		case strings.HasPrefix(place, "postgres://"), strings.HasPrefix(place, "postgresql://"):
			into = &s.DatabaseURL
		case strings.HasPrefix(place, "s3://"):
			into = &s.BlobURL
		case strings.Contains(place, "://"):
			return s, usage{fmt.Errorf("%s: only a directory, postgres://… or s3://… can be a storage", flag)}
		default:
			absolute, err := filepath.Abs(place)
			if err != nil {
				return s, err
			}
			place = absolute
		}
		if *into != "" {
			return s, usage{fmt.Errorf("%s names two places of the same kind", flag)}
		}
		*into = place
	}
	return s, nil
}

// storages says what is moved where. A part that --to does not name stays; a directory in --to takes whatever is moved to no URL.
func (c migrateCommand) storages() (from, to app.Storage, err error) {
	if len(c.From) == 0 || len(c.To) == 0 {
		return from, to, errFromAndTo
	}
	if from, err = places("--from", c.From); err != nil {
		return from, to, err
	}
	if to, err = places("--to", c.To); err != nil {
		return from, to, err
	}
	if to.Dir == "" {
		to.Dir = from.Dir
		if to.DatabaseURL == "" {
			to.DatabaseURL = from.DatabaseURL
		}
		if to.BlobURL == "" {
			to.BlobURL = from.BlobURL
		}
	}
	if to.BlobURL == "" && to.Dir == "" {
		return from, to, errNoBlobs
	}
	return from, to, nil
}

func (c migrateCommand) move(ctx context.Context) error {
	from, to, err := c.storages()
	if err != nil {
		return err
	}
	shown := newProgressLine()
	sum, err := app.Move(ctx, quietWorld(), from, to, shown.tell)
	shown.end()
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; the same command goes on where it stopped")
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(moveResult(sum))
	}
	fmt.Printf("Moved and compared: %s.\n", moved(sum))
	fmt.Print(afterwards(from, to))
	return nil
}

func moved(sum move.Summary) string {
	return fmt.Sprintf("%d rows of %d tables, %d blobs (%d bytes)", sum.Rows, sum.Tables, sum.Blobs, sum.Bytes)
}

// afterwards says how the server is started now.
func afterwards(from, to app.Storage) string {
	dir := to.Dir
	if dir == "" {
		dir = "DIRECTORY"
	}
	line := "Start the server with: postrider serve --data " + dir
	if to.DatabaseURL != "" {
		line += " --database-url postgres://…"
	}
	if to.BlobURL != "" {
		line += " --blob-url s3://…"
	}
	line += "\n"
	switch {
	case to.DatabaseURL != "" && from.DatabaseURL == "":
		line += fmt.Sprintf("Set POSTRIDER_SECRET on every node to the text of the file %s, or to what it was set to before: keys are sealed with it.\n", filepath.Join(from.Dir, "secret"))
	case to.DatabaseURL == "" && from.DatabaseURL != "":
		line += fmt.Sprintf("Write the value of POSTRIDER_SECRET into the file %s, or keep it set: keys are sealed with it.\n", filepath.Join(to.Dir, "secret"))
	}
	return line + "The old data stays, and nothing works on it any more: it would send what has been sent since.\n"
}
