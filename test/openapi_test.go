package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// npmTool runs a program from the npm packages without asking anybody about updates, and returns what it wrote to standard output.
func npmTool(t *testing.T, dir, name string, args ...string) ([]byte, error) {
	t.Helper()
	path, err := filepath.Abs("clients/node_modules/.bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed; scripts/setup installs it where it may", name)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "SCARF_ANALYTICS=false", "NO_UPDATE_NOTIFIER=1", "CI=1")
	return cmd.Output()
}

func document(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRedoclyFindsNothingWrongWithTheDocument(t *testing.T) {
	t.Parallel()
	needNode(t)
	out, err := npmTool(t, "clients/openapi", "redocly", "lint", "../../../docs/openapi.json", "--format=json", "--max-problems=20")
	var told struct {
		Totals   struct{ Errors, Warnings int }
		Problems []struct{ RuleID, Message string }
	}
	if parsed := json.Unmarshal(out, &told); err != nil || parsed != nil || told.Totals.Errors+told.Totals.Warnings > 0 {
		t.Errorf("%v %v\n%s", err, parsed, out)
	}
}

func TestSpectralFindsNothingWrongWithTheDocument(t *testing.T) {
	t.Parallel()
	needNode(t)
	out, err := npmTool(t, "clients/openapi", "spectral", "lint", document(t), "--ruleset", "spectral.yaml", "--fail-severity=hint")
	if err != nil || !strings.Contains(string(out), "No results") {
		t.Errorf("%v\n%.3000s", err, out)
	}
}

// The types are made as a customer would make them, and used by a program that need only compile.
func TestTypeScriptTypesOfTheDocumentCompile(t *testing.T) {
	t.Parallel()
	needNode(t)
	dir := t.TempDir()
	if out, err := npmTool(t, dir, "openapi-typescript", document(t), "-o", filepath.Join(dir, "types.ts")); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	use, err := os.ReadFile("clients/openapi/use.ts")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "use.ts"), use, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := npmTool(t, dir, "tsc", "--strict", "--noEmit", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext", "use.ts")
	if err != nil {
		t.Errorf("%v\n%.3000s", err, out)
	}
}
