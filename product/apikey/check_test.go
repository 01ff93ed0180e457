package apikey

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/platform/api"
	"postrider/platform/db/dbtest"
	"postrider/product/account"
	"postrider/product/account/accounttest"
	"postrider/product/plan"
	"postrider/world"
)

func TestAKeyIsReadBackAndNothingElseIs(t *testing.T) {
	t.Parallel()
	w := world.World{Random: rand.Reader}
	rapid.Check(t, func(t *rapid.T) {
		public := rapid.StringMatching(`[0-9A-Za-z]{10}`).Draw(t, "public")
		mode := rapid.SampledFrom([]Mode{Live, Test}).Draw(t, "mode")

		token := newToken(w, mode, public)

		if got, _, ok := readToken(token); !ok || got != public {
			t.Fatalf("%s: %q, %v", token, got, ok)
		}
		if _, _, ok := readToken(rapid.String().Draw(t, "noise")); ok {
			t.Fatal("noise was taken for a key")
		}
	})
}

// The checksum is documented for secret scanners, so it must not change.
func TestTheChecksumIsTheDocumentedOne(t *testing.T) {
	t.Parallel()
	if got := checksum("pr_live_7Q2Z9K4M8T_4vYpQn0b2RkT6sXw9zAe1uGh3mJc5LdF"); got != "2OWJ0h" {
		t.Fatalf("checksum %s", got)
	}
	for _, bad := range []string{"", "pr_live_", " pr_live_7Q2Z9K4M8T_4vYpQn0b2RkT6sXw9zAe1uGh3mJc5LdF2OWJ0h", "pr_dead_7Q2Z9K4M8T_4vYpQn0b2RkT6sXw9zAe1uGh3mJc5LdF2OWJ0h",
		`"pr_live_7Q2Z9K4M8T_4vYpQn0b2RkT6sXw9zAe1uGh3mJc5LdF2OWJ0h"`} {
		if _, _, ok := readToken(bad); ok {
			t.Errorf("%q was taken for a key", bad)
		}
	}
}

func TestAKeyThatWasForgottenWhileBeingReadIsNotRemembered(t *testing.T) {
	t.Parallel()
	c, now := newCache(), time.Unix(1000, 0)
	slow := c.begin()
	c.forget("one")
	c.keep("one", &known{readAt: now}, slow)
	if c.find("one", now) != nil {
		t.Fatal("a reading from before the change was kept")
	}

	c.keep("one", &known{readAt: now}, c.begin())
	if c.find("one", now.Add(cacheFor-1)) == nil || c.find("one", now.Add(cacheFor)) != nil || c.find("one", now.Add(-1)) != nil {
		t.Fatal("a reading is good for one second from its moment")
	}
}

func TestGuessesAreBoundedAndDoNotPushKeysOut(t *testing.T) {
	t.Parallel()
	c, now := newCache(), time.Unix(1000, 0)
	c.keep("real", &known{readAt: now}, c.begin())
	for i := range 3 * maxMissing {
		c.keep(fmt.Sprint(i), &known{missing: true, readAt: now}, c.begin())
	}
	if len(c.missing) > maxMissing || c.find("real", now) == nil {
		t.Fatalf("%d guesses are remembered; the key is there: %v", len(c.missing), c.find("real", now) != nil)
	}
}

// keyOnSQLite returns a service with one key in an installation of its own.
func keyOnSQLite(t testing.TB) (*Service, string) {
	t.Helper()
	h := accounttest.New(t, dbtest.URL(t, "sqlite"), account.Config{})
	w, owner, err := h.Accounts.CreateWorkspace(context.Background(), account.CreateWorkspace{Name: "Acme", Plan: plan.Pro, OwnerEmail: "o@acme.test",
		OwnerPassword: accounttest.Password})
	if err != nil {
		t.Fatal(err)
	}
	s := New(h.World, h.DB, h.Accounts, nil)
	_, token, err := s.Create(context.Background(), NewKey{Workspace: w.ID, Name: "Production", Preset: FullAccess, CreatedBy: string(owner)})
	if err != nil {
		t.Fatal(err)
	}
	return s, token
}

func TestAWrongSecretForAKnownKeyIsRefusedFromMemory(t *testing.T) {
	t.Parallel()
	s, token := keyOnSQLite(t)
	publicID, _, _ := readToken(token)
	from := netip.MustParseAddr("203.0.113.9")
	if p, err := s.CheckKey(context.Background(), token, from); err != nil || len(p.Scopes) != len(api.Scopes) || p.KeyID == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}

	if _, err := s.CheckKey(context.Background(), newToken(s.world, Live, publicID), from); !errors.Is(err, api.ErrInvalidKey) {
		t.Fatal(err)
	}
	if _, err := s.CheckKey(context.Background(), token, from); err != nil {
		t.Fatalf("the right secret was not remembered: %v", err)
	}
}

func TestWithoutDomainsNoKeyIsRestrictedToOne(t *testing.T) {
	t.Parallel()
	s, _ := keyOnSQLite(t)
	_, _, err := s.Create(context.Background(), NewKey{Workspace: "0193a1e0-2222-7000-8000-000000000501", Name: "n", Preset: ReadOnly,
		DomainIDs: []string{"0193a1e0-2222-7000-8000-0000000000d1"}})
	if !errors.Is(err, api.ErrValidation) {
		t.Fatal(err)
	}
}

func BenchmarkCheckKeyRemembered(b *testing.B) {
	s, token := keyOnSQLite(b)
	s.world.Clock = world.SystemClock{}
	from := netip.MustParseAddr("203.0.113.9")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.CheckKey(context.Background(), token, from); err != nil {
				b.Error(err)
			}
		}
	})
}
