package seal_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"postrider/platform/seal"
)

func TestAMasterSecretHasAtLeast32Characters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                                  false,
		strings.Repeat("x", 31):             false,
		strings.Repeat("x", 31) + "     \n": false,
		strings.Repeat("x", 32):             true,
		strings.Repeat("x", 4096):           true,
		strings.Repeat("x", 4097):           false,
	} {
		secret, err := seal.FromString(text)
		if got := err == nil; got != want || !want && !errors.Is(err, seal.ErrSecretLength) {
			t.Errorf("FromString of %d characters: %v", len(text), err)
		}
		if want && string(secret) != strings.TrimSpace(text) {
			t.Errorf("secret %q from %q", secret, text)
		}
	}
}

func TestASecretIsMadeOnceAndOnlyForItsOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")

	made, err := seal.LoadOrCreate(path, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := seal.LoadOrCreate(path, strings.NewReader(""))

	if err != nil || !bytes.Equal(made, loaded) || len(made) != 64 {
		t.Fatalf("made %q, loaded %q, %v", made, loaded, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
		t.Fatalf("left behind: %v", names)
	}
	text, _ := os.ReadFile(path)
	if same, err := seal.FromString(string(text)); err != nil || !bytes.Equal(same, made) {
		t.Fatalf("the text of the file is not the secret: %q, %v", same, err)
	}
}

func TestProcessesThatStartAtOnceShareOneSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	secrets := make([][]byte, 16)
	var all sync.WaitGroup
	for i := range secrets {
		all.Go(func() {
			var err error
			if secrets[i], err = seal.LoadOrCreate(path, rand.Reader); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()

	for _, s := range secrets {
		if !bytes.Equal(s, secrets[0]) {
			t.Fatalf("two secrets: %q and %q", s, secrets[0])
		}
	}
}

func TestADamagedSecretFileIsReportedAndKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	_, err := seal.LoadOrCreate(path, rand.Reader)

	if !errors.Is(err, seal.ErrSecretLength) {
		t.Fatalf("err = %v, want ErrSecretLength", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "short\n" {
		t.Fatalf("file now holds %q", text)
	}
}

func TestAnExhaustedSourceOfChanceMakesNoSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")

	_, err := seal.LoadOrCreate(path, strings.NewReader("too little"))

	if err == nil {
		t.Fatal("a secret without chance was made")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("file left behind: %v", err)
	}
}

func TestAMissingDirectoryIsReported(t *testing.T) {
	t.Parallel()

	_, err := seal.LoadOrCreate(filepath.Join(t.TempDir(), "nowhere", "secret"), rand.Reader)

	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("err = %v, want not exist", err)
	}
}
