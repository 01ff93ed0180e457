package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"time"

	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/product/domain"
	"postrider/world"
)

// certificates are what the doors show. Mail doors must always have something to show, be it self-signed, because other servers would
// go on without encryption; the door of browsers shows only what is meant for the asked name.
type certificates interface {
	// forMail returns the certificate of the mail doors for an asked name; it never fails.
	forMail(hello *tls.ClientHelloInfo) (*tls.Certificate, error)
	// forWeb returns the certificate of the web door, or an error for a name that is not ours.
	forWeb(hello *tls.ClientHelloInfo) (*tls.Certificate, error)
	// close ends what renews them.
	close()
}

// openCertificates finds out where certificates come from: from files, from an authority, or from ourselves.
func (s *server) openCertificates(ctx context.Context, d *db.DB, keys *seal.Keyring) (certificates, error) {
	host := domain.Hosts{Service: s.config.ServiceDomain}.MX()[0]
	switch {
	case s.config.TLSCert != "" || s.config.TLSKey != "":
		return openCertificateFiles(s.world, s.config.TLSCert, s.config.TLSKey)
	case s.config.ACME != nil:
		return s.openACME(ctx, d, keys, host)
	}
	level := slog.LevelWarn
	if s.config.Dev != nil {
		level = slog.LevelInfo
	}
	s.world.Log.Log(ctx, level, "no TLS certificate given (--tls-cert, --tls-key) nor to be got (--https): a self-signed one is used", "host", host)
	own, err := SelfSigned(s.world, host, "localhost", "127.0.0.1", "::1")
	return fixedCertificate{own}, err
}

// checkCertificates finds files that cannot be used, before anything is made.
func (s *server) checkCertificates() (err error) {
	switch {
	case s.config.TLSCert != "" || s.config.TLSKey != "":
		_, err = openCertificateFiles(s.world, s.config.TLSCert, s.config.TLSKey)
	case s.config.ACME != nil:
		_, err = s.config.ACME.roots()
	}
	return err
}

// fixedCertificate is one for everything.
type fixedCertificate struct{ tls.Certificate }

func (f fixedCertificate) forMail(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return &f.Certificate, nil
}
func (f fixedCertificate) forWeb(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return &f.Certificate, nil
}
func (fixedCertificate) close() {}

// shown returns the leaf that the mail doors show for a host, nil if there is none.
func shown(c certificates, host string) *x509.Certificate {
	if c == nil {
		return nil
	}
	found, err := c.forMail(&tls.ClientHelloInfo{ServerName: host})
	if err != nil || len(found.Certificate) == 0 {
		return nil
	}
	leaf, err := x509.ParseCertificate(found.Certificate[0])
	if err != nil {
		return nil
	}
	return leaf
}

func mailTLS(c certificates) *tls.Config {
	return &tls.Config{GetCertificate: c.forMail, MinVersion: tls.VersionTLS12}
}

// SelfSigned makes a certificate that encrypts but proves nothing, for installations that have not been given a real one. The first
// host is its name; the others, which may be addresses, are accepted too.
func SelfSigned(w world.World, host string, others ...string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := w.Clock.Now()
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(w.Bytes(16)),
		Subject:      pkix.Name{CommonName: host},
		DNSNames:     []string{host},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, other := range others {
		if ip := net.ParseIP(other); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, other)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a self-signed certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
