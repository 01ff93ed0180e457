package sandbox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// hostname is what the mail server calls itself, whichever provider it plays.
	hostname = "mx.sandbox.test"
	// maxConnections lets a load test open as many as one machine can use.
	maxConnections = 2000
	// certificateFor is longer than any clock of a test is moved.
	certificateFor = 50 * 365 * 24 * time.Hour
)

// lineListener accepts connections that can be hung up on.
type lineListener struct{ net.Listener }

func (l lineListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &line{Conn: conn}, nil
}

// line is a connection on which the sandbox can hang up in the middle of a dialogue, which no well-behaved server would.
type line struct {
	net.Conn
	leaving atomic.Bool
}

// Read ends the dialogue once the sandbox is leaving. The server has sent its last reply by then.
func (l *line) Read(p []byte) (int, error) {
	if l.leaving.Load() {
		return 0, io.EOF
	}
	return l.Conn.Read(p)
}

// RemoteAddr carries the line itself, so that the session finds what it may hang up. As it is not the address of a machine,
// the mail server sets no limit on connections from it: in a sandbox all come from one.
func (l *line) RemoteAddr() net.Addr { return lineAddr{l.Conn.RemoteAddr(), l} }

type lineAddr struct {
	net.Addr
	line *line
}

// errSpoiled ends a handshake as a server with a broken set-up would.
var errSpoiled = errors.New("TLS of this host is broken for a while")

// tlsConfig offers the certificate to everyone but clients of hosts whose TLS a recipient has broken.
func (s *Sandbox) tlsConfig(certificate tls.Certificate) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			at, broken := s.brokenTLS.when(strings.ToLower(hello.ServerName))
			if broken && s.world.Clock.Now().Sub(at) < brokenTLSFor {
				return nil, errSpoiled
			}
			return nil, nil
		},
	}
}

// newCertificate makes a self-signed certificate, such as many mail servers have.
func (s *Sandbox) newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := s.world.Clock.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: hostname},
		DNSNames:     []string{hostname},
		NotBefore:    now.Add(-certificateFor),
		NotAfter:     now.Add(certificateFor),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
