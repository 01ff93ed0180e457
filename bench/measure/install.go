package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Installation is a workspace with a verified domain (acme.test) and a key, in a storage of either engine.
type Installation struct {
	Program string
	// Storage are the flags that name it.
	Storage []string
	// Database is the address of its database.
	Database       string
	Key, Workspace string

	dir string
}

// Install makes an installation in the directory, on PostgreSQL if an address is given. Only dev mode verifies a domain by itself, and it
// has only the embedded database; so it is moved afterwards.
func Install(ctx context.Context, dir, program, postgres string) (Installation, error) {
	data := filepath.Join(dir, "data")
	in := Installation{Program: program, Storage: []string{"--data", data}, Database: filepath.Join(data, "postrider.db"), dir: dir}
	seed, err := Start(ctx, dir, program, "dev", "--data", data, "--http", "127.0.0.1:0")
	if err != nil {
		return in, err
	}
	in.Key, in.Workspace = seed.Text("api_key"), seed.Text("workspace_id")
	if err := seed.Stop(); err != nil {
		return in, err
	}
	if postgres == "" {
		return in, nil
	}
	if out, err := exec.CommandContext(ctx, program, "migrate", "--from", data, "--to", postgres, "--to", filepath.Join(dir, "moved")).CombinedOutput(); err != nil {
		return in, fmt.Errorf("move to PostgreSQL: %w: %s", err, out)
	}
	secret, err := os.ReadFile(filepath.Join(data, "secret"))
	if err != nil {
		return in, err
	}
	in.Storage, in.Database = []string{"--data", filepath.Join(dir, "moved"), "--database-url", postgres, "--secret", strings.TrimSpace(string(secret))}, postgres
	return in, nil
}

// Serve starts a server on it, with further flags.
func (in Installation) Serve(ctx context.Context, flags ...string) (*Process, error) {
	return Start(ctx, in.dir, in.Program, append(append([]string{"serve", "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--insecure-test-network"}, in.Storage...), flags...)...)
}
