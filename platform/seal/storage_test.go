package seal_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"postrider/platform/seal"
)

var (
	secretA = bytes.Repeat([]byte("a"), 32)
	secretB = bytes.Repeat([]byte("b"), 40)
)

func TestSealedDataOpensInItsContext(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.SliceOf(rapid.Byte()).Draw(t, "plain")
		context := rapid.String().Draw(t, "context")

		sealed := k.Seal(plain, context)
		opened, err := k.Open(sealed, context)

		if err != nil || !bytes.Equal(opened, plain) {
			t.Fatalf("opened %x, %v; want %x", opened, err, plain)
		}
		if len(sealed) != len(plain)+seal.Overhead {
			t.Fatalf("%d bytes sealed to %d", len(plain), len(sealed))
		}
	})
}

func TestSealedDataDoesNotShowThePlaintext(t *testing.T) {
	t.Parallel()
	plain := []byte("-----BEGIN PRIVATE KEY-----")

	sealed := seal.NewKeyring(secretA).Seal(plain, "row-1")

	if bytes.Contains(sealed, plain[:8]) {
		t.Fatalf("plaintext in %q", sealed)
	}
}

func TestSealingTwiceGivesDifferentBytes(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)

	if bytes.Equal(k.Seal([]byte("same"), "row-1"), k.Seal([]byte("same"), "row-1")) {
		t.Fatal("two seals of one text are equal, so a nonce was used twice")
	}
}

func TestSealedDataMovedToAnotherRowDoesNotOpen(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)

	_, err := k.Open(k.Seal([]byte("secret"), "row-1"), "row-2")

	if !errors.Is(err, seal.ErrInvalid) {
		t.Fatalf("err = %v, want ErrInvalid", err)
	}
}

func TestEveryChangedBitOfSealedDataIsNoticed(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA, secretB)
	sealed := k.Seal([]byte("secret"), "row-1")
	for i := range len(sealed) * 8 {
		changed := bytes.Clone(sealed)
		changed[i/8] ^= 1 << (i % 8)
		if _, err := k.Open(changed, "row-1"); !errors.Is(err, seal.ErrInvalid) {
			t.Errorf("bit %d flipped: err = %v, want ErrInvalid", i, err)
		}
	}
}

func TestCutOrExtendedSealedDataIsNoticed(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	sealed := k.Seal([]byte("secret"), "row-1")
	for n := range len(sealed) {
		if _, err := k.Open(sealed[:n], "row-1"); !errors.Is(err, seal.ErrInvalid) {
			t.Errorf("cut to %d bytes: err = %v, want ErrInvalid", n, err)
		}
	}
	if _, err := k.Open(append(sealed, 0), "row-1"); !errors.Is(err, seal.ErrInvalid) {
		t.Errorf("one byte more: err = %v, want ErrInvalid", err)
	}
}

func TestAPreviousSecretStillOpensAndIsStale(t *testing.T) {
	t.Parallel()
	old := seal.NewKeyring(secretA).Seal([]byte("secret"), "row-1")
	rotated := seal.NewKeyring(secretB, secretA)

	opened, err := rotated.Open(old, "row-1")

	if err != nil || string(opened) != "secret" {
		t.Fatalf("opened %q, %v", opened, err)
	}
	if !rotated.Stale(old) || rotated.Stale(rotated.Seal(opened, "row-1")) {
		t.Fatal("what the previous secret sealed should be stale, what the current one sealed should not")
	}
}

func TestWhatIsTooShortToBeSealedIsStale(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\x01", "short"} {
		if !seal.NewKeyring(secretA).Stale([]byte(text)) {
			t.Errorf("%q counts as sealed with the current secret", text)
		}
	}
}

func TestADroppedSecretOpensNothing(t *testing.T) {
	t.Parallel()
	old := seal.NewKeyring(secretA).Seal([]byte("secret"), "row-1")

	_, err := seal.NewKeyring(secretB).Open(old, "row-1")

	if !errors.Is(err, seal.ErrInvalid) {
		t.Fatalf("err = %v, want ErrInvalid", err)
	}
}

func TestAShortMasterSecretPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Fatal("a keyring on a 31 byte secret was made")
		}
	}()
	seal.NewKeyring(secretA[:31])
}

func BenchmarkSeal(b *testing.B) {
	k, plain := seal.NewKeyring(secretA), make([]byte, 64)
	for b.Loop() {
		k.Seal(plain, "019a8473-2f5e-7c31-9d4b-0a1b2c3d4e5f")
	}
}
