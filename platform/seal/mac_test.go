package seal_test

import (
	"bytes"
	"testing"

	"postrider/platform/seal"
)

func TestAMACIsCheckedWholeAndShortened(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	mac := k.MAC("cursor", []byte("data"))
	if len(mac) != 32 {
		t.Fatalf("MAC of %d bytes, want 32", len(mac))
	}
	for n := range 40 {
		given := append(bytes.Clone(mac), make([]byte, 8)...)[:n]
		if got, want := k.CheckMAC("cursor", []byte("data"), given), n >= 8 && n <= 32; got != want {
			t.Errorf("%d bytes: checked = %v, want %v", n, got, want)
		}
	}
}

func TestEveryChangedBitOfAMACIsNoticed(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	mac := k.MAC("cursor", []byte("data"))[:10]
	for i := range len(mac) * 8 {
		changed := bytes.Clone(mac)
		changed[i/8] ^= 1 << (i % 8)
		if k.CheckMAC("cursor", []byte("data"), changed) {
			t.Errorf("bit %d flipped and still accepted", i)
		}
	}
}

func TestAMACBelongsToItsDataAndPurpose(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	mac := k.MAC("cursor", []byte("data"))

	if k.CheckMAC("verp", []byte("data"), mac) {
		t.Error("accepted for another purpose")
	}
	if k.CheckMAC("cursor", []byte("Data"), mac) {
		t.Error("accepted for other data")
	}
	if k.CheckMAC("cursord", []byte("ata"), mac) {
		t.Error("accepted with the border between purpose and data moved")
	}
}

func TestAMACOfAPreviousSecretIsAccepted(t *testing.T) {
	t.Parallel()
	mac := seal.NewKeyring(secretA).MAC("verp", []byte("data"))

	if !seal.NewKeyring(secretB, secretA).CheckMAC("verp", []byte("data"), mac) {
		t.Error("previous secret refused")
	}
	if seal.NewKeyring(secretB).CheckMAC("verp", []byte("data"), mac) {
		t.Error("unknown secret accepted")
	}
}
