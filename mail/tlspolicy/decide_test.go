package tlspolicy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/mail/dane"
	"postrider/mail/mtasts"
	"postrider/mail/tlspolicy"
	"postrider/world"
)

func TestTheStrictestWishDecides(t *testing.T) {
	t.Parallel()
	kept := tlspolicy.Memory{EncryptedAt: noon.Add(-time.Hour)}
	for name, test := range map[string]struct {
		change func(*tlspolicy.Facts)
		level  tlspolicy.Level
		plain  bool
		why    string
	}{
		"nobody":             {func(*tlspolicy.Facts) {}, tlspolicy.Opportunistic, true, "Nobody demands"},
		"testing":            {func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Testing, "other.test") }, tlspolicy.Opportunistic, true, "Nobody demands"},
		"sender":             {func(f *tlspolicy.Facts) { f.Demand = tlspolicy.DemandEncryption }, tlspolicy.Required, false, "sender's domain"},
		"strict sender":      {func(f *tlspolicy.Facts) { f.Demand = tlspolicy.DemandCertificate }, tlspolicy.Required, false, "valid certificate"},
		"memory":             {func(f *tlspolicy.Facts) { f.Memory = kept }, tlspolicy.Required, false, "Encryption worked"},
		"unusable records":   {func(f *tlspolicy.Facts) { f.DANE = unusable }, tlspolicy.Required, false, "cannot be checked"},
		"recipient's domain": {func(f *tlspolicy.Facts) { f.STS = policy(mtasts.Enforce, "*.acme.test") }, tlspolicy.MTASTS, false, "MTA-STS"},
		"server's zone":      {func(f *tlspolicy.Facts) { f.DANE = promise(world.TLSA{}) }, tlspolicy.DANE, false, "DANE"},
		"all": {func(f *tlspolicy.Facts) {
			f.Demand, f.Memory, f.STS, f.DANE = tlspolicy.DemandCertificate, kept, policy(mtasts.Enforce, "*.acme.test"), promise(world.TLSA{})
		}, tlspolicy.DANE, false, "DANE"},
		"policy and unusable records": {func(f *tlspolicy.Facts) {
			f.STS, f.DANE = policy(mtasts.Enforce, "*.acme.test"), unusable
		}, tlspolicy.MTASTS, false, "MTA-STS"},
		"a report": {func(f *tlspolicy.Facts) {
			f.Demand, f.Memory, f.STS, f.DANE = tlspolicy.DemandDelivery, kept, policy(mtasts.Enforce, "other.test"), promise(world.TLSA{})
		}, tlspolicy.Opportunistic, true, "must arrive"},
	} {
		f := facts()
		test.change(&f)
		d := tlspolicy.Decide(f)
		if d.Level != test.level || d.PlaintextAllowed != test.plain || !strings.Contains(d.Why, test.why) || d.Refusal != nil {
			t.Errorf("%s: %+v", name, d)
		}
		if clear := d.Accepts(nil); test.plain != (clear == nil) || !test.plain && !errors.Is(clear, tlspolicy.ErrNotEncrypted) {
			t.Errorf("%s: clear text: %v", name, clear)
		}
	}
}

func TestOnlyServersThatAnEnforcedPolicyListsAreUsed(t *testing.T) {
	t.Parallel()
	f := facts()
	f.STS = policy(mtasts.Enforce, "*.acme.test")
	for host, want := range map[string]bool{"mx.acme.test": true, "MX.Acme.test.": true, "mx.evil.test": false} {
		f.Host = host
		d := tlspolicy.Decide(f)
		if (d.Refusal == nil) != want || !want && (!errors.Is(d.Refusal, tlspolicy.ErrHostNotListed) || d.Accepts(nil) == nil) {
			t.Errorf("%s: %v", host, d.Refusal)
		}
	}
}

func TestTheServerIsAskedForTheNameOfItsPromise(t *testing.T) {
	t.Parallel()
	f := facts()
	f.Host = "MX.acme.test."
	if name := tlspolicy.Decide(f).ServerName; name != "mx.acme.test" {
		t.Errorf("without promise: %q", name)
	}
	f.DANE = promise(world.TLSA{})
	f.DANE.Base = "edge.host.test"
	if name := tlspolicy.Decide(f).Config().ServerName; name != "edge.host.test" {
		t.Errorf("with promise: %q", name)
	}
}

func TestEncryptionThatWorkedIsGivenUpOnlyAfterTwoDaysAndWithAWord(t *testing.T) {
	t.Parallel()
	m := tlspolicy.Memory{}.Delivered(tlspolicy.Verified, noon).Delivered(tlspolicy.Encrypted, noon.Add(time.Hour))
	broken := m.Failed(noon.Add(24 * time.Hour)).Failed(noon.Add(48 * time.Hour))
	for name, test := range map[string]struct {
		memory tlspolicy.Memory
		after  time.Duration
		level  tlspolicy.Level
		why    string
	}{
		"never worked":  {tlspolicy.Memory{}.Failed(noon), time.Hour, tlspolicy.Opportunistic, "Nobody demands encryption; it is used if the server offers it."},
		"worked":        {m, 29 * 24 * time.Hour, tlspolicy.Required, "Encryption worked with this domain on 2026-11-15 (with a proven certificate on 2026-11-15), so it is required."},
		"long ago":      {m, 31 * 24 * time.Hour, tlspolicy.Opportunistic, "Nobody demands encryption; it is used if the server offers it."},
		"broken":        {broken, 71 * time.Hour, tlspolicy.Required, "is broken since 2026-11-16; clear text is refused until 2026-11-18 12:00 UTC."},
		"stays broken":  {broken, 72 * time.Hour, tlspolicy.Opportunistic, "is broken since 2026-11-16; it is no longer insisted on."},
		"broken late":   {m.Failed(noon.Add(30 * 24 * time.Hour)), 30*24*time.Hour + 2*time.Hour, tlspolicy.Opportunistic, "no longer insisted on"},
		"repaired":      {broken.Delivered(tlspolicy.Encrypted, noon.Add(60*time.Hour)), 72 * time.Hour, tlspolicy.Required, "on 2026-11-18"},
		"given up":      {broken.Delivered(tlspolicy.Plain, noon.Add(72*time.Hour)), 73 * time.Hour, tlspolicy.Opportunistic, "Nobody demands"},
		"a report left": {broken.Delivered(tlspolicy.Plain, noon.Add(60*time.Hour)), 61 * time.Hour, tlspolicy.Required, "clear text is refused"},
	} {
		f := facts()
		f.Memory, f.Now = test.memory, noon.Add(test.after)
		if d := tlspolicy.Decide(f); d.Level != test.level || !strings.Contains(d.Why, test.why) {
			t.Errorf("%s: %s: %s", name, d.Level, d.Why)
		}
	}
}

// Whatever is known, more wishes never make a connection weaker, and clear text is allowed only if nobody objects.
func TestAWishNeverMakesAConnectionWeaker(t *testing.T) {
	t.Parallel()
	strength := map[tlspolicy.Level]int{tlspolicy.Opportunistic: 0, tlspolicy.Required: 1, tlspolicy.MTASTS: 2, tlspolicy.DANE: 3}
	rapid.Check(t, func(t *rapid.T) {
		f := facts()
		f.Demand = rapid.SampledFrom([]tlspolicy.Demand{tlspolicy.DemandNothing, tlspolicy.DemandEncryption, tlspolicy.DemandCertificate}).Draw(t, "demand")
		f.STS = rapid.SampledFrom([]mtasts.Policy{{}, {Mode: mtasts.None}, policy(mtasts.Testing, "x.test"), policy(mtasts.Enforce, "mx.acme.test")}).Draw(t, "sts")
		f.DANE = rapid.SampledFrom([]dane.Promise{{}, {State: dane.Absent}, unusable, promise(world.TLSA{})}).Draw(t, "dane")
		f.Memory = rapid.SampledFrom([]tlspolicy.Memory{{}, {EncryptedAt: noon}, {EncryptedAt: noon, BrokenSince: noon.Add(-72 * time.Hour)}}).Draw(t, "memory")
		before := tlspolicy.Decide(f)
		more := f
		switch rapid.IntRange(0, 3).Draw(t, "more") {
		case 0:
			more.Demand = max(f.Demand, tlspolicy.DemandEncryption)
		case 1:
			more.STS = policy(mtasts.Enforce, "mx.acme.test")
		case 2:
			more.DANE = promise(world.TLSA{})
		case 3:
			more.Memory = tlspolicy.Memory{EncryptedAt: noon}
		}
		after := tlspolicy.Decide(more)
		if strength[after.Level] < strength[before.Level] || after.Level == tlspolicy.Opportunistic || after.PlaintextAllowed {
			t.Fatalf("%+v became %+v", before, after)
		}
		if before.PlaintextAllowed != (before.Level == tlspolicy.Opportunistic) || before.Why == "" {
			t.Fatalf("%+v", before)
		}
	})
}
