//go:build !openssl || !cgo

package dkim

import (
	"crypto"
	"crypto/rsa"
	"runtime"

	"postrider/mail/dkim/internal/rsabatch"
)

// accelerate lets the vectors of the processor sign, if it has them. Built with the tag openssl, OpenSSL does it.
func accelerate(key crypto.Signer) crypto.Signer {
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return key
	}
	if batched, ok := rsabatch.New(private); ok {
		return batched
	}
	return key
}

// AtOnce is how many signatures are best asked for at the same time. More would only keep others from the processors.
func AtOnce() int {
	if rsabatch.Supported() {
		return rsabatch.AtOnce()
	}
	return runtime.GOMAXPROCS(0)
}
