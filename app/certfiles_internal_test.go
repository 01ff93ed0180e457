package app

import (
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"postrider/world"
)

// stoppedClock stands still unless it is moved.
type stoppedClock struct {
	world.Clock
	now time.Time
}

func (c *stoppedClock) Now() time.Time { return c.now }

func TestADoorShowsItsCertificateUntilAnotherOneIsWhole(t *testing.T) {
	t.Parallel()
	clock := &stoppedClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w := world.New(slog.New(slog.DiscardHandler))
	w.Clock = clock
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	write := func(path, kind string, der []byte) {
		t.Helper()
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := func() (certificate, private []byte) {
		t.Helper()
		own, err := SelfSigned(w, "mx1.mail.postrider.test")
		if err != nil {
			t.Fatal(err)
		}
		if private, err = x509.MarshalPKCS8PrivateKey(own.PrivateKey); err != nil {
			t.Fatal(err)
		}
		return own.Certificate[0], private
	}
	first, firstKey := made()
	write(cert, "CERTIFICATE", first)
	write(key, "PRIVATE KEY", firstKey)
	files, err := openCertificateFiles(w, cert, key)
	if err != nil {
		t.Fatal(err)
	}
	shows := func(when string, want []byte) {
		t.Helper()
		clock.now = clock.now.Add(lookAtFilesEvery)
		if got, err := files.forMail(nil); err != nil || string(got.Certificate[0]) != string(want) {
			t.Errorf("%s: another certificate, or %v", when, err)
		}
	}
	second, secondKey := made()
	write(cert, "CERTIFICATE", append(second, 0)) // another size, whatever the time of the file says
	shows("half of the files changed", first)
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	shows("a file is away", first)
	write(cert, "CERTIFICATE", second)
	write(key, "PRIVATE KEY", secondKey)
	shows("both are there", second)
}
