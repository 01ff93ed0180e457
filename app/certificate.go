package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"log/slog"
	"math/big"
	"time"

	"postrider/world"
)

func (s *server) certificate(host string) (tls.Certificate, error) {
	if s.config.TLSCert != "" || s.config.TLSKey != "" {
		return tls.LoadX509KeyPair(s.config.TLSCert, s.config.TLSKey)
	}
	level := slog.LevelWarn
	if s.config.Dev != nil {
		level = slog.LevelInfo
	}
	s.world.Log.Log(context.Background(), level, "no TLS certificate given (--tls-cert, --tls-key): the mail ports use a self-signed one", "host", host)
	return SelfSigned(s.world, host)
}

// SelfSigned makes a certificate that encrypts but proves nothing, for installations that have not been given a real one.
func SelfSigned(w world.World, host string) (tls.Certificate, error) {
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
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
