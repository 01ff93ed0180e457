package app

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Ready tells programs that started us where everything is.
type Ready struct {
	HTTP        string `json:"http"`
	HTTPS       string `json:"https,omitempty"`
	Submission  string `json:"submission"`
	Submissions string `json:"submissions"`
	MX          string `json:"mx"`
	Admin       string `json:"admin"`

	// The rest is there in dev mode only.
	APIKey      string      `json:"api_key,omitempty"`
	WorkspaceID string      `json:"workspace_id,omitempty"`
	Owner       *ReadyOwner `json:"owner,omitempty"`
	Domain      string      `json:"domain,omitempty"`
	// Start is a link that signs the owner in to the dashboard, once.
	Start       string `json:"start,omitempty"`
	Sandbox     string `json:"sandbox,omitempty"`
	DNS         string `json:"dns,omitempty"`
	SandboxSMTP string `json:"sandbox_smtp,omitempty"`
}

// ReadyOwner is the person who owns the workspace of dev mode.
type ReadyOwner struct {
	Email    string `json:"email"`
	Password string `json:"password"`
}

// writeAtomically makes the file appear whole or not at all. It may hold a key, so only its owner can read it.
func writeAtomically(path string, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	if _, err := temporary.Write(append(raw, '\n')); err != nil {
		temporary.Close()
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
