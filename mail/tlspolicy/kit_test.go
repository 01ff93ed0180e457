package tlspolicy_test

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"postrider/mail/dane"
	"postrider/mail/dane/danetest"
	"postrider/mail/mtasts"
	"postrider/mail/tlspolicy"
	"postrider/world"
)

// noon is when the tests are.
var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// facts are those of a server about which nobody has a wish.
func facts() tlspolicy.Facts {
	return tlspolicy.Facts{Domain: "acme.test", Host: "mx.acme.test", DANE: dane.Promise{State: dane.Absent}, STS: mtasts.Policy{Mode: mtasts.None}, Now: noon}
}

func policy(mode mtasts.Mode, hosts ...string) mtasts.Policy {
	return mtasts.Policy{Mode: mode, MX: hosts, MaxAgeSeconds: 604800}
}

func promise(records ...world.TLSA) dane.Promise {
	return dane.Promise{State: dane.Usable, Base: "mx.acme.test", Names: []string{"mx.acme.test"}, Records: records}
}

var unusable = dane.Promise{State: dane.Unusable, Base: "mx.acme.test"}

// connect makes the connection that a decision asks for with a live server that shows the certificate.
func connect(t *testing.T, d tlspolicy.Decision, certificate tls.Certificate) (*tls.ConnectionState, error) {
	t.Helper()
	socket, err := net.Dial("tcp", danetest.Serve(t, certificate))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	client := tls.Client(socket, d.Config())
	if err := client.HandshakeContext(context.Background()); err != nil {
		return nil, err
	}
	state := client.ConnectionState()
	return &state, nil
}
