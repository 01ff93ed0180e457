package account

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/platform/api"
	realworld "postrider/world"
)

// The vectors of RFC 6238 appendix B, shortened to six digits.
func TestTOTPAgreesWithTheStandard(t *testing.T) {
	t.Parallel()
	secret := []byte("12345678901234567890")
	for seconds, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		if got := totpCode(secret, totpStep(time.Unix(seconds, 0))); got != want {
			t.Errorf("at %d: %s, want %s", seconds, got, want)
		}
	}
}

func TestAPasswordMatchesOnlyItself(t *testing.T) {
	t.Parallel()
	p := newPasswords(realworld.World{Random: rand.Reader})
	ctx := context.Background()
	hash, err := p.hash(ctx, "correct horse")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("%s, %v", hash, err)
	}
	again, err := p.hash(ctx, "correct horse")
	if err != nil || again == hash {
		t.Fatalf("the same password has the same hash: %v", err)
	}
	for password, want := range map[string]bool{"correct horse": true, "Correct horse": false, "": false, strings.Repeat("x", 2000): false} {
		if got, err := p.matches(ctx, hash, password); err != nil || got != want {
			t.Errorf("%.20q: %v, %v", password, got, err)
		}
	}
	for _, damaged := range []string{"$2a$10$abc", "$argon2id$v=18$m=19456,t=2,p=1$AAAA$AAAA", "$argon2id$v=19$m=19456,t=2,p=1$AAAA$!", "x"} {
		if got, err := p.matches(ctx, damaged, "correct horse"); err == nil || got || strings.Contains(err.Error(), "nil") {
			t.Errorf("%s matched: %v, %v", damaged, got, err)
		}
	}
}

// Somebody without an account must wait for a hash like everybody else, or the time would tell.
func TestAnUnknownAccountCostsAHashToo(t *testing.T) {
	t.Parallel()
	p := newPasswords(realworld.World{Random: rand.Reader})
	if err := p.slots.Acquire(context.Background(), parallelHashes); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()

	if _, err := p.matches(gone, "", "any password"); err != context.Canceled {
		t.Fatalf("no hash was made: %v", err)
	}
	p.slots.Release(parallelHashes)
	if got, err := p.matches(context.Background(), "", "any password"); err != nil || got {
		t.Fatalf("%v, %v", got, err)
	}
}

func TestRolesCarryTheirScopes(t *testing.T) {
	t.Parallel()
	for role, want := range map[api.Role]int{api.Owner: 19, api.Admin: 19, api.Developer: 19, api.Marketer: 7, api.Viewer: 10, "guest": 0} {
		if got := ScopesOf(role); len(got) != want {
			t.Errorf("%s has %v", role, got)
		}
	}
	for _, scope := range ScopesOf(api.Viewer) {
		if !strings.HasSuffix(string(scope), ":read") {
			t.Errorf("a viewer has %s", scope)
		}
	}
	if slices.Contains(ScopesOf(api.Marketer), "domain:read") {
		t.Error("a marketer sees domains")
	}
}

func TestPasskeysBelongToTheNameOfTheHost(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"https://mail.acme.test": "mail.acme.test https://mail.acme.test", "http://127.0.0.1:8080": "localhost http://localhost:8080",
		"http://127.0.0.1": "localhost http://localhost", "http://[::1]:8080": "localhost http://localhost:8080", "https://192.0.2.1": ""} {
		party, err := (&Service{config: Config{BaseURL: address}}).relyingParty()
		got := ""
		if err == nil {
			got = party.Config.RPID + " " + strings.Join(party.Config.RPOrigins, " ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q: %v", address, got, want, err)
		}
	}
}

func TestSlugsAreMadeOfNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Acme": "acme", " Acme & Söhne GmbH ": "acme-s-hne-gmbh", "日本": "workspace", "--": "workspace",
		strings.Repeat("ab ", 40): "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-a"} {
		if got := slugOf(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
