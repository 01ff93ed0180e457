package suppression

import (
	"bytes"
	"strings"
	"testing"

	"postrider/platform/seal"
	"postrider/world"
)

func reader(secret string) *Service {
	return New(world.World{Clock: world.SystemClock{}}, nil, Parts{Keys: seal.NewKeyring(bytes.Repeat([]byte(secret), 8)), BaseURL: "https://postrider.test/"})
}

var claims = Claims{Workspace: "0193a000-0000-7000-8000-000000000001", Address: "Ann@example.net", Contact: "c", Topic: "t", List: "l", Broadcast: "b", Email: "m"}

func tokenOf(s *Service) string {
	return strings.TrimPrefix(s.Link("", claims), "https://postrider.test"+UnsubscribePath)
}

func TestALinkStandsForItsClaims(t *testing.T) {
	t.Parallel()
	s := reader("test")
	link := s.Link("https://track.acme.test", claims)
	token, ok := strings.CutPrefix(link, "https://track.acme.test/v1/unsubscribe/v1.")
	if !ok || strings.Contains(link, "ann") || strings.ContainsAny(token, "/+=&?%") {
		t.Errorf("link: %s", link)
	}
	want := claims
	want.Address = "ann@example.net"
	if got, err := s.read("v1." + token); err != nil || got != want {
		t.Errorf("claims %+v, %v", got, err)
	}
}

func TestAChangedTokenIsNoToken(t *testing.T) {
	t.Parallel()
	s, stranger := reader("test"), reader("evil")
	token := tokenOf(s)
	for i := range len(token) {
		for _, with := range []byte{token[i] ^ 1, '.', 'A'} {
			if changed := token[:i] + string(rune(with)) + token[i+1:]; changed != token {
				if _, err := s.read(changed); err == nil {
					t.Fatalf("byte %d can be %q", i, with)
				}
			}
		}
	}
	for _, other := range []string{"", "v1.", token[:len(token)-1], token + "A", token + "\n", " " + token, strings.ToUpper(token), tokenOf(stranger),
		"v1." + s.parts.Keys.Sign("email/file", []byte(`{"w":"x","e":"y"}`), never), "v1." + s.parts.Keys.Sign(tokenPurpose, []byte(`[]`), never),
		strings.Repeat("A", 1<<20)} {
		if c, err := s.read(other); err == nil {
			t.Errorf("%.40q is taken for %+v", other, c)
		}
	}
}

// oldToken is a token of claims that was made once. Links in old mail must be good for ever.
const oldToken = "v1.AQjJClVLDKC90B2-P3L2N0n_LlO_Y8C4e859nRKC0mauZLqM15xHzZMFQ9XN0olJKMrQwebW-S-eBCbvv5jmAAnPNz_V5AUiP7oYQxR-nX7UBB2YEmPXl1IOAgulW31uaELXZKU_WyBm2aZ_l0hOt4bLRgXRLmf1SD7DfvM5G55trazvpY9L9STiib4txUTe2jga-ruw4UUx0qSdk799"

func FuzzNoTokenIsForged(f *testing.F) {
	s := reader("test")
	f.Add(oldToken)
	f.Add("v1.")
	f.Add("v1.AAAA" + oldToken[7:])
	f.Fuzz(func(t *testing.T, token string) {
		c, err := s.read(token)
		if (err == nil) != (token == oldToken) {
			t.Errorf("%q is taken for %+v, %v", token, c, err)
		}
	})
}
