package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"

	"postrider/app"
)

type backupCommand struct {
	storageFlags
	Out  string `help:"Directory to make, for database, blobs and secret; or a file ending in .db for the embedded database alone." required:"" type:"path"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// backupResult is what --json prints of a backup.
type backupResult struct {
	Out string `json:"out"`
	app.Manifest
	// SecretKept tells that the secret is in the backup; if not, whoever made it must keep it.
	SecretKept bool `json:"secret_kept"`
}

// Run copies what must not be lost, as it is at one moment, beside a running server.
func (c backupCommand) Run(ctx context.Context) error {
	if strings.HasSuffix(c.Out, ".db") {
		return c.databaseOnly(ctx)
	}
	shown := newProgressLine()
	m, err := app.Backup(ctx, quietWorld(), c.storage(), c.Out, func(file string) error { return dump(ctx, c.DatabaseURL, file) }, shown.tell)
	shown.end()
	if err != nil {
		return err
	}
	kept := m.Secret && c.Secret == ""
	if c.JSON {
		return printJSON(backupResult{Out: c.Out, Manifest: m, SecretKept: kept})
	}
	fmt.Printf("Copied to %s: the database, %d blobs (%d bytes).\n", c.Out, m.Blobs, m.Bytes)
	if m.Bucket {
		fmt.Println("Blobs are in a bucket and are not part of it: keep versions or a replica of the bucket.")
	}
	if !kept {
		fmt.Println("The secret was given by POSTRIDER_SECRET or --secret and is not part of it: keep it too, without it keys cannot be opened.")
	}
	line := "Put it back with: postrider restore --from " + c.Out + " --data NEW-DIRECTORY"
	if c.DatabaseURL != "" {
		line += " --database-url postgres://… (of an empty database)"
	}
	fmt.Println(line)
	return nil
}

func (c backupCommand) databaseOnly(ctx context.Context) error {
	if err := c.storage().CheckPresent(); err != nil {
		return err
	}
	if err := app.BackupDatabase(ctx, quietWorld(), c.storage(), c.Out); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(map[string]any{"out": c.Out, "database_only": true})
	}
	fmt.Printf("Copied to %s. Keep the file \"secret\" and the folder \"blobs\" of the data directory with it: without the secret keys cannot be opened.\n", c.Out)
	return nil
}

// dump runs PostgreSQL's own tool: it is the one that knows its format.
func dump(ctx context.Context, address, file string) error {
	target, err := toolAddress(address)
	if err != nil {
		return err
	}
	return runTool(ctx, address, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--file="+file, "--dbname="+target)
}

// load reads a dump into an empty database, all of it or nothing.
func load(ctx context.Context, address, file string) error {
	target, err := toolAddress(address)
	if err != nil {
		return err
	}
	err = runTool(ctx, address, "pg_restore", "--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges", "--dbname="+target, file)
	if err != nil {
		return fmt.Errorf("%w\nThe database is as it was. It must be empty, and belong to the user of --database-url", err)
	}
	return nil
}

// toolAddress is the address as PostgreSQL's tools understand it, without the password, which others could read in the list of processes.
func toolAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the address of the database cannot be read; write special characters of its password as %XX")
	}
	if _, secret := u.User.Password(); secret {
		u.User = url.User(u.User.Username())
	}
	words := u.Query()
	for word := range words {
		if !slices.Contains(toolWords, word) {
			words.Del(word)
		}
	}
	u.RawQuery = words.Encode()
	return u.String(), nil
}

// toolWords are what PostgreSQL's tools understand in an address. Others, such as the limits of our sessions, they refuse.
var toolWords = []string{
	"host", "hostaddr", "port", "user", "dbname", "connect_timeout", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslpassword", "sslsni",
	"channel_binding", "target_session_attrs", "options", "passfile", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count",
	"tcp_user_timeout",
}

// runTool runs a tool of PostgreSQL, and hands the password of the address over in its environment.
func runTool(ctx context.Context, address, name string, args ...string) error {
	line := name + " " + strings.Join(args, " ")
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%s is not installed here; it comes with PostgreSQL (Debian: postgresql-client). "+
			"Then run this command again, or run yourself: %s", name, line)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = os.Environ()
	if u, err := url.Parse(address); err == nil {
		if password, ok := u.User.Password(); ok {
			cmd.Env = append(cmd.Env, "PGPASSWORD="+password)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, strings.TrimSpace(string(out)))
	}
	return nil
}
