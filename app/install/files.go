package install

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed postrider.toml.tmpl postrider.service.tmpl
var templates embed.FS

// Files say where an installation is on the machine, for its configuration and its unit.
type Files struct {
	Site Site
	// Program is the path of the binary, Config that of the configuration, Data the directory of everything else.
	Program, Config, Data string
	// User runs it.
	User string
	// ACMEEmail, DatabaseURL and Secret may be empty.
	ACMEEmail, DatabaseURL, Secret string
}

// Configuration returns the configuration file.
func (f Files) Configuration() ([]byte, error) { return f.render("postrider.toml.tmpl") }

// Unit returns the systemd unit.
func (f Files) Unit() ([]byte, error) { return f.render("postrider.service.tmpl") }

func (f Files) render(name string) ([]byte, error) {
	parsed, err := template.New(name).Funcs(template.FuncMap{"state": stateDirectory, "quote": quoteTOML}).ParseFS(templates, name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, f); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// stateDirectory is what systemd makes below /var/lib; empty for a directory elsewhere.
func stateDirectory(dir string) string {
	name, ok := strings.CutPrefix(filepath.Clean(dir), "/var/lib/")
	if !ok {
		return ""
	}
	return name
}

// quoteTOML writes a text as TOML wants it.
func quoteTOML(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `"`
}

// ErrExists means that a file is there and says something else.
var ErrExists = errors.New("there is a file already, with other contents; see what it says, then add --force to replace it")

// Keep tells whether a file can be written without replacing another; ErrExists if it cannot.
func Keep(path string, content []byte) error {
	there, err := os.ReadFile(path)
	switch {
	case err == nil && !bytes.Equal(there, content):
		return fmt.Errorf("%s: %w", path, ErrExists)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// Write writes a file, with the directory it is in. One that is there already is replaced, unless it is the same.
func Write(path string, content []byte, mode fs.FileMode) (written bool, err error) {
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, content) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, content, mode); err != nil {
		return false, err
	}
	return true, os.Rename(temporary, path)
}
