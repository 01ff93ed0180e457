// Package danetest makes certificates, records about them, and servers that show them, for tests of encryption.
package danetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	"postrider/world"
)

// Dates that no test lives to see, on either side.
var (
	LongAgo  = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	Expired  = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	FarAhead = time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Authority signs certificates.
type Authority struct {
	Certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority returns an authority that nobody knows yet.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "An authority"}, NotBefore: LongAgo, NotAfter: FarAhead,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	key := newKey(t)
	return &Authority{Certificate: sign(t, template, template, key, key), key: key}
}

// Under returns another authority that this one vouches for.
func (a *Authority) Under(t testing.TB) *Authority {
	t.Helper()
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "An authority below"}, NotBefore: LongAgo, NotAfter: FarAhead,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	key := newKey(t)
	return &Authority{Certificate: sign(t, template, a.Certificate, key, a.key), key: key}
}

// Pool returns the authority as the only one that is trusted.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.Certificate)
	return pool
}

// Issue returns a certificate for a name, valid until a date, with the authority's own behind it.
func (a *Authority) Issue(t testing.TB, name string, until time.Time) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: LongAgo, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	leaf := sign(t, template, a.Certificate, key, a.key)
	return tls.Certificate{Certificate: [][]byte{leaf.Raw, a.Certificate.Raw}, PrivateKey: key, Leaf: leaf}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	var err error
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<60)); err != nil {
		t.Fatal(err)
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// Record returns the record that speaks of a certificate in the given way.
func Record(usage, selector, matching uint8, of *x509.Certificate) world.TLSA {
	data := of.Raw
	if selector == 1 {
		data = of.RawSubjectPublicKeyInfo
	}
	switch matching {
	case 1:
		sum := sha256.Sum256(data)
		data = sum[:]
	case 2:
		sum := sha512.Sum512(data)
		data = sum[:]
	}
	return world.TLSA{Usage: usage, Selector: selector, Matching: matching, Data: data}
}

// Serve shows a certificate to all who connect, and returns where. It ends with the test.
func Serve(t testing.TB, certificate tls.Certificate) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				tls.Server(conn, config).HandshakeContext(t.Context())
			}()
		}
	}()
	return listener.Addr().String()
}
