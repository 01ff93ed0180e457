package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
	// Dir is its own; all of it goes when it is closed.
	Dir string

	postgres *Postgres
}

// InstallOn builds the program and makes an installation of it on an engine, in a directory of its own.
func InstallOn(ctx context.Context, engine string) (in Installation, err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return in, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, Installation{Dir: dir, postgres: in.postgres}.Close())
		}
	}()
	program, err := Build(ctx, dir)
	if err != nil {
		return in, fmt.Errorf("build: %w", err)
	}
	var server *Postgres
	address := ""
	if engine == "postgres" {
		if server, err = StartPostgres(ctx, dir); err != nil {
			return in, err
		}
		address = server.URL("postgres")
	}
	in, err = Install(ctx, dir, program, address)
	in.postgres = server
	return in, err
}

// Close ends its database and removes everything.
func (in Installation) Close() error {
	var err error
	if in.postgres != nil {
		err = in.postgres.Stop()
	}
	return errors.Join(err, os.RemoveAll(in.Dir))
}

// Install makes an installation in the directory, on PostgreSQL if an address is given. Only dev mode verifies a domain by itself, and it
// has only the embedded database; so it is moved afterwards.
func Install(ctx context.Context, dir, program, postgres string) (Installation, error) {
	data := filepath.Join(dir, "data")
	in := Installation{Program: program, Storage: []string{"--data", data}, Database: filepath.Join(data, "postrider.db"), Dir: dir}
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
	return Start(ctx, in.Dir, in.Program, append(append([]string{"serve", "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--insecure-test-network"}, in.Storage...), flags...)...)
}

// SendBatch posts emails in one request.
func SendBatch(ctx context.Context, url, key string, emails []map[string]any) error {
	body, err := json.Marshal(emails)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/emails/batch", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("a batch was answered with %s", answer.Status)
	}
	return nil
}
