package world_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"postrider/world"
)

func TestPromisedCertificatesAreFoundBehindAnAlias(t *testing.T) {
	t.Parallel()
	s := newNameServer(t,
		"_25._tcp.mx.test. 60 IN CNAME _dane.keys.test.",
		"_dane.keys.test. 60 IN TLSA 3 1 1 "+strings.Repeat("ab", 32),
		"_dane.keys.test. 60 IN TLSA 2 0 9 00ff")
	s.set("_25._tcp.mx.test.", func(_ string, reply *dns.Msg) { reply.AuthenticatedData = true })
	r := world.NewResolver([]string{s.address}).(world.TLSAResolver)

	records, answer, err := r.TLSA(t.Context(), "_25._tcp.mx.test")

	want := []world.TLSA{
		{Usage: 3, Selector: 1, Matching: 1, Data: []byte(strings.Repeat("\xab", 32))},
		{Usage: 2, Selector: 0, Matching: 9, Data: []byte{0, 0xff}},
	}
	if err != nil || !reflect.DeepEqual(records, want) || !answer.Authentic || answer.Canonical != "_dane.keys.test" {
		t.Errorf("%v, %+v, %v", records, answer, err)
	}
	if _, _, err := r.TLSA(t.Context(), "_25._tcp.other.test"); !errors.Is(err, world.ErrNoName) {
		t.Errorf("missing: %v", err)
	}
}

// localhost is a name: where it leads is not known before it is asked, so it is not believed as an address would be.
func TestAServerThatIsNotKnownToBeLocalIsBelievedOnlyIfTrusted(t *testing.T) {
	t.Parallel()
	s := newNameServer(t, "a.test. 60 IN TXT x")
	s.set("a.test.", func(_ string, reply *dns.Msg) { reply.AuthenticatedData = true })
	named := []string{strings.Replace(s.address, "127.0.0.1", "localhost", 1)}
	for name, test := range map[string]struct {
		resolver world.Resolver
		want     bool
	}{
		"by address":   {world.NewResolver([]string{s.address}), true},
		"by name":      {world.NewResolver(named), false},
		"when trusted": {world.NewTrustedResolver(named), true},
	} {
		texts, answer, err := test.resolver.TXT(t.Context(), "a.test")
		if err != nil || len(texts) != 1 || answer.Authentic != test.want {
			t.Errorf("%s: %v, %+v, %v", name, texts, answer, err)
		}
	}
}
