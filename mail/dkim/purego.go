//go:build !openssl || !cgo

package dkim

import "crypto"

// accelerate leaves signing to Go. Built with the tag openssl, OpenSSL does it.
func accelerate(key crypto.Signer) crypto.Signer { return key }
