package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
)

// seeded is the database that all rounds begin with: a workspace with a key and a domain that may send.
const seeded = "seeded"

func (h *home) seed(ctx context.Context) (err error) {
	if err := h.postgres.Create(ctx, seeded, ""); err != nil {
		return err
	}
	door, err := h.serve(ctx, seeded, "seed", "api")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.Stop()) }()
	out, err := exec.CommandContext(ctx, h.program, "workspace", "create", "--data", filepath.Join(h.dir, "create"), "--name", "Acme", "--owner-email", "olga@acme.test",
		"--owner-password", "correct horse battery", "--plan", "unlimited", "--database-url", h.postgres.URL(seeded), "--secret", secret, "--json").Output()
	if err != nil {
		return fmt.Errorf("workspace create: %w", err)
	}
	var created struct {
		APIKey string `json:"api_key"`
	}
	if err := json.Unmarshal(out, &created); err != nil {
		return err
	}
	h.key = created.APIKey
	registered, err := call(ctx, h.key, http.MethodPost, door.Text("http")+"/v1/domains", map[string]any{"domain": "acme.test"})
	if err != nil {
		return err
	}
	records, _ := registered["records"].([]any)
	for _, item := range records {
		record, _ := item.(map[string]any)
		if record["type"] == "MX" {
			continue
		}
		if _, err := call(ctx, "", http.MethodPut, h.names.Text("sandbox")+"/dns", map[string]any{"name": record["name"], "type": record["type"], "values": []any{record["value"]}}); err != nil {
			return err
		}
	}
	verified, err := call(ctx, h.key, http.MethodPost, fmt.Sprintf("%s/v1/domains/%s/verify", door.Text("http"), registered["id"]), nil)
	if err == nil && verified["verified"] != true {
		err = fmt.Errorf("acme.test was not verified: %v", verified)
	}
	return err
}

// call makes a request and returns the object that answers it.
func call(ctx context.Context, key, method, url string, body any) (map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s was answered with %s", method, url, answer.Status)
	}
	var object map[string]any
	if answer.ContentLength != 0 {
		err = json.NewDecoder(answer.Body).Decode(&object)
	}
	return object, err
}
