//go:build openssl && cgo

package dkim

/*
#cgo LDFLAGS: -lcrypto
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

static EVP_PKEY *postrider_read_key(const unsigned char *der, long size) {
	return d2i_AutoPrivateKey(NULL, &der, size);
}

static int postrider_sign(EVP_PKEY *key, const unsigned char *digest, size_t digest_size, unsigned char *out, size_t *out_size) {
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
	int ok = ctx != NULL && EVP_PKEY_sign_init(ctx) > 0 && EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) > 0 &&
		EVP_PKEY_CTX_set_signature_md(ctx, EVP_sha256()) > 0 && EVP_PKEY_sign(ctx, out, out_size, digest, digest_size) > 0;
	EVP_PKEY_CTX_free(ctx);
	return ok;
}
*/
import "C"

import (
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"io"
	"runtime"
	"unsafe"
)

var errOpenSSL = errors.New("OpenSSL could not sign")

// opensslKey is an RSA key whose signatures OpenSSL makes, in a third of the time that Go takes. They are the same bytes.
type opensslKey struct {
	public crypto.PublicKey
	size   int
	key    *C.EVP_PKEY
}

// accelerate lets OpenSSL sign, if it can use the key.
func accelerate(key crypto.Signer) crypto.Signer {
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return key
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return key
	}
	read := C.postrider_read_key((*C.uchar)(unsafe.Pointer(&der[0])), C.long(len(der)))
	if read == nil {
		return key
	}
	k := &opensslKey{public: key.Public(), size: private.Size(), key: read}
	runtime.AddCleanup(k, func(read *C.EVP_PKEY) { C.EVP_PKEY_free(read) }, read)
	return k
}

// Public returns the public key.
func (k *opensslKey) Public() crypto.PublicKey { return k.public }

// Sign signs a SHA-256 digest (PKCS #1 v1.5).
func (k *opensslKey) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	signature := make([]byte, k.size)
	size := C.size_t(len(signature))
	if C.postrider_sign(k.key, (*C.uchar)(unsafe.Pointer(&digest[0])), C.size_t(len(digest)), (*C.uchar)(unsafe.Pointer(&signature[0])), &size) == 0 {
		return nil, errOpenSSL
	}
	runtime.KeepAlive(k)
	return signature[:size], nil
}

// AtOnce is how many signatures are best asked for at the same time. More would only keep others from the processors.
func AtOnce() int { return runtime.GOMAXPROCS(0) }
