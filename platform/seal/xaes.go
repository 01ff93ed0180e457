package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"fmt"
)

// The cipher is XAES-256-GCM (c2sp.org/XAES-256-GCM): AES-256-GCM under a key derived anew from the first half of a 24 byte
// nonce. Plain GCM with random nonces must not encrypt more than 2^32 things under one key, and an installation that puts a
// token into every link of every mail gets there within weeks; this one is good for 2^80.
const (
	nonceLength = 24
	tagLength   = 16
)

// newAEAD returns AES-256-GCM under the key that belongs to this nonce, and the nonce to use with it.
func newAEAD(key, nonce []byte) (cipher.AEAD, []byte) {
	block := newAES(key)

	// K1 of CMAC (NIST SP 800-38B §6.1): the encrypted zero block, doubled in GF(2^128).
	var k1 [aes.BlockSize]byte
	block.Encrypt(k1[:], k1[:])
	var carry byte
	for i := len(k1) - 1; i >= 0; i-- {
		k1[i], carry = k1[i]<<1|carry, k1[i]>>7
	}
	k1[len(k1)-1] ^= carry * 0x87

	// Two blocks of the counter-mode key derivation of NIST SP 800-108r1, label "X", context the first half of the nonce.
	var derived [keyLength]byte
	for i := range 2 {
		half := derived[i*aes.BlockSize : (i+1)*aes.BlockSize]
		copy(half, []byte{0, byte(i + 1), 'X', 0})
		copy(half[4:], nonce[:12])
		subtle.XORBytes(half, half, k1[:])
		block.Encrypt(half, half)
	}
	gcm, err := cipher.NewGCM(newAES(derived[:]))
	if err != nil {
		panic(fmt.Sprintf("seal: make cipher: %v", err)) // only other block sizes fail
	}
	return gcm, nonce[12:nonceLength]
}

func newAES(key []byte) cipher.Block {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(fmt.Sprintf("seal: make cipher: %v", err)) // only other key lengths fail
	}
	return block
}
