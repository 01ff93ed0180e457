package suppression

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/mail/address"
)

var epoch = time.Date(2026, 11, 15, 2, 0, 0, 0, time.UTC)

// entries are what anybody may add for one address.
func entries() *rapid.Generator[Suppression] {
	return rapid.Custom(func(t *rapid.T) Suppression {
		s := Suppression{Reason: rapid.SampledFrom(weakestFirst).Draw(t, "reason"), EmailID: rapid.StringN(0, 3, 3).Draw(t, "email"),
			Note: rapid.SampledFrom([]string{"", "first", "second"}).Draw(t, "note")}
		if days := rapid.IntRange(0, 3).Draw(t, "days"); days > 0 {
			s.ExpiresAt = epoch.AddDate(0, 0, days)
		}
		return s
	})
}

// blocksAt is what an entry does to a mail at a time.
func blocksAt(s Suppression, bulk bool, at time.Time) bool { return !s.expired(at) && s.Blocks(bulk) }

func TestWhatIsAddedNeverMakesAnEntryWeaker(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, other := entries().Draw(t, "before"), entries().Draw(t, "other")
		after := before
		change := after.absorb(other)
		for _, bulk := range []bool{true, false} {
			for day := range 5 {
				at := epoch.AddDate(0, 0, day)
				if (blocksAt(before, bulk, at) || blocksAt(other, bulk, at)) && !blocksAt(after, bulk, at) {
					t.Fatalf("on day %d, bulk %v: %+v and %+v became %+v", day, bulk, before, other, after)
				}
			}
		}
		if before.Reason.strongerThan(after.Reason) || other.Reason.strongerThan(after.Reason) {
			t.Fatalf("%s and %s became %s", before.Reason, other.Reason, after.Reason)
		}
		if (change == strengthened) != (after.Reason != before.Reason) || change == nothing && (after.Note != before.Note || !after.ExpiresAt.Equal(before.ExpiresAt)) {
			t.Fatalf("%+v became %+v, which is told as %d", before, after, change)
		}
		if story := after.EmailID; after.Reason == before.Reason && story != before.EmailID || after.Reason != before.Reason && story != other.EmailID {
			t.Fatalf("the story of %s is that of another reason", after.Reason)
		}
	})
}

func TestTheOrderOfAdditionsDoesNotMatterToWhoIsMailed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(entries(), 1, 5).Draw(t, "entries")
		shuffled := rapid.Permutation(all).Draw(t, "shuffled")
		one, two := all[0], shuffled[0]
		for i := range all[1:] {
			one.absorb(all[i+1])
			two.absorb(shuffled[i+1])
		}
		if one.Reason != two.Reason || !one.ExpiresAt.Equal(two.ExpiresAt) {
			t.Fatalf("%+v, or %+v", one, two)
		}
		if again := one; again.absorb(one) != nothing {
			t.Fatal("an entry changes itself")
		}
	})
}

func TestComplaintsOutweighBouncesAndSoOn(t *testing.T) {
	t.Parallel()
	for i, strong := range []Reason{Complaint, Bounce, Invalid, Manual, Unsubscribe} {
		for _, weak := range []Reason{Complaint, Bounce, Invalid, Manual, Unsubscribe}[i+1:] {
			if !strong.strongerThan(weak) || weak.strongerThan(strong) {
				t.Errorf("%s and %s", strong, weak)
			}
		}
	}
}

func TestTheKeyOfAnAddressIsItsOwnKey(t *testing.T) {
	t.Parallel()
	local, host := rapid.StringMatching(`[A-Za-zÄÖÜäöüßÉé0-9+_-]{1,12}(\.[A-Za-zıéÅ]{1,5})?`), rapid.StringMatching(`[A-Za-zäöüÄÖÜ]{1,10}\.(TEST|example)`)
	rapid.Check(t, func(t *rapid.T) {
		text := local.Draw(t, "local") + "@" + host.Draw(t, "host")
		a, err := address.Parse(text)
		if err != nil {
			t.Skip(err)
		}
		key := Key(text)
		for _, spelling := range []string{key, a.Addr(), a.Unicode(), " " + text + " ", "Ann <" + text + ">", `"` + a.Local + `"@` + a.Domain} {
			if Key(spelling) != key {
				t.Fatalf("%q is %q, %q is %q", text, key, spelling, Key(spelling))
			}
		}
		if hostOf(key) != a.Domain {
			t.Fatalf("host of %q is %q", key, hostOf(key))
		}
	})
}

func TestAddressesAreMasked(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"ann@example.net": "a…n@example.net", "jo@example.net": "…@example.net", "j@example.net": "…@example.net",
		"äöü@example.net": "ä…ü@example.net", "nonsense": "…"} {
		if got := mask(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}
