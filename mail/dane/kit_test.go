package dane_test

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"postrider/mail/dane"
	"postrider/mail/dane/danetest"
	"postrider/world"
)

// now is when the tests are.
var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// zone answers questions for TLSA and CNAME records and writes down what it was asked. A name that is in no list does not exist.
type zone struct {
	world.Resolver
	records map[string][]world.TLSA
	aliases map[string]string
	signed  map[string]bool
	silent  map[string]bool
	broken  map[string]error
	asked   *[]string
}

func newZone() zone {
	return zone{records: map[string][]world.TLSA{}, aliases: map[string]string{}, signed: map[string]bool{}, silent: map[string]bool{},
		broken: map[string]error{}, asked: new([]string)}
}

func (z zone) answer(name string, found bool) (world.Answer, error) {
	*z.asked = append(*z.asked, name)
	switch {
	case z.silent[name]:
		return world.Answer{}, world.ErrUnanswered
	case z.broken[name] != nil:
		return world.Answer{}, z.broken[name]
	case !found:
		return world.Answer{Authentic: z.signed[name]}, world.ErrNoName
	}
	return world.Answer{Authentic: z.signed[name], Canonical: name}, nil
}

func (z zone) TLSA(_ context.Context, name string) ([]world.TLSA, world.Answer, error) {
	answer, err := z.answer(name, z.records[name] != nil)
	if err == nil && len(z.records[name]) == 0 {
		err = world.ErrNoData
	}
	return z.records[name], answer, err
}

func (z zone) CNAME(_ context.Context, name string) (string, world.Answer, error) {
	answer, err := z.answer(name, z.aliases[name] != "")
	return z.aliases[name], answer, err
}

// server is a mail server that was found on a signed way.
func server() dane.Server {
	return dane.Server{Domain: "acme.test", MX: world.Answer{Authentic: true, Canonical: "acme.test"},
		Host: "mx.acme.test", Addresses: world.Answer{Authentic: true, Canonical: "mx.acme.test"}, Port: 25}
}

// promise returns what a server with these records promises.
func promise(t *testing.T, records ...world.TLSA) dane.Promise {
	t.Helper()
	z := newZone()
	z.records["_25._tcp.mx.acme.test"], z.signed["_25._tcp.mx.acme.test"] = records, true
	p, err := dane.Lookup(t.Context(), z, server())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// handshake connects to a live server that shows the certificate and returns what is seen of it.
func handshake(t *testing.T, certificate tls.Certificate) tls.ConnectionState {
	t.Helper()
	socket, err := net.Dial("tcp", danetest.Serve(t, certificate))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	client := tls.Client(socket, &tls.Config{ServerName: "mx.acme.test", InsecureSkipVerify: true})
	if err := client.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return client.ConnectionState()
}
