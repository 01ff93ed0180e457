package spf_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"postrider/mail/spf"
)

func TestMergeAddsOurIncludeOnceAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]string{
		"v=spf1 -all":                            "v=spf1 include:spf.us.test -all",
		"v=spf1":                                 "v=spf1 include:spf.us.test",
		"v=spf1 include:_spf.google.com ~all":    "v=spf1 include:spf.us.test include:_spf.google.com ~all",
		"v=spf1 redirect=other.test":             "v=spf1 include:spf.us.test redirect=other.test",
		"v=spf1 include:SPF.us.test ~all":        "v=spf1 include:SPF.us.test ~all",
		"v=spf1 ~all include:spf.us.test":        "v=spf1 include:spf.us.test ~all include:spf.us.test",
		"v=spf1 -include:spf.us.test ~all":       "v=spf1 include:spf.us.test -include:spf.us.test ~all",
		"v=spf1 +include:spf.us.test ip4:1.2/16": "v=spf1 +include:spf.us.test ip4:1.2/16",
		"v=spf1 include:spf.us.test. ~all":       "v=spf1 include:spf.us.test. ~all",
	} {
		if got, _ := spf.Merge(record, "spf.us.test"); got != want {
			t.Errorf("%q became %q, want %q", record, got, want)
		}
	}
}

func TestMergeLosesNothingAndIsDoneOnce(t *testing.T) {
	t.Parallel()
	term := rapid.SampledFrom([]string{"a", "mx", "-all", "~all", "ip4:192.0.2.0/24", "include:x.test", "exists:%{i}.x.test", "redirect=y.test", "?a/24"})
	rapid.Check(t, func(t *rapid.T) {
		terms := rapid.SliceOfN(term, 0, 12).Draw(t, "terms")
		record := strings.TrimSpace("v=spf1 " + strings.Join(terms, " "))
		once, _ := spf.Merge(record, "spf.us.test")
		twice, added := spf.Merge(once, "spf.us.test")
		if added || twice != once || !spf.IsRecord(once) {
			t.Fatalf("%q became %q, then %q", record, once, twice)
		}
		if got := strings.Replace(once, " include:spf.us.test", "", 1); got != record {
			t.Fatalf("%q lost something: %q", record, once)
		}
	})
}

func zone(records map[string]string) spf.TXT {
	return func(_ context.Context, name string) ([]string, error) {
		if record, ok := records[name]; ok {
			return []string{"something else", record}, nil
		}
		return nil, errors.New("no answer")
	}
}

func TestWalkFindsWhatIsIncludedThroughOthers(t *testing.T) {
	t.Parallel()
	txt := zone(map[string]string{"a.test": "v=spf1 include:spf.us.test -all", "spf.us.test": "v=spf1 ip4:192.0.2.1 -all"})
	p, err := spf.Walk(context.Background(), "v=spf1 mx include:a.test ~all", txt)
	if err != nil || !p.Includes["spf.us.test"] || p.Lookups != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
}

func TestWalkPassesOverARedirectBesideAll(t *testing.T) {
	t.Parallel()
	txt := zone(map[string]string{"a.test": "v=spf1 include:spf.us.test -all", "spf.us.test": "v=spf1 ip4:192.0.2.1 -all"})
	for record, want := range map[string]bool{"v=spf1 redirect=a.test": true, "v=spf1 redirect=a.test -all": false, "v=spf1 -all redirect=a.test": false} {
		p, err := spf.Walk(context.Background(), record, txt)
		if err != nil || p.Includes["spf.us.test"] != want {
			t.Errorf("%q: %+v, %v", record, p, err)
		}
	}
}

func TestWalkCountsOnlyIncludesThatLetMailIn(t *testing.T) {
	t.Parallel()
	txt := zone(map[string]string{"spf.us.test": "v=spf1 ip4:192.0.2.1 -all"})
	for record, want := range map[string]bool{
		"v=spf1 +include:spf.us.test":     true,
		"v=spf1 -include:spf.us.test":     false,
		"v=spf1 ?include:spf.us.test":     false,
		"v=spf1 include:%{d}.spf.us.test": false,
	} {
		p, err := spf.Walk(context.Background(), record, txt)
		if err != nil || p.Includes["spf.us.test"] != want || p.Lookups != 1 {
			t.Errorf("%q: %+v, %v", record, p, err)
		}
	}
}

func TestWalkGivesUpAtTheLimitEvenInALoop(t *testing.T) {
	t.Parallel()
	txt := zone(map[string]string{"loop.test": "v=spf1 include:loop.test -all"})
	if _, err := spf.Walk(context.Background(), "v=spf1 include:loop.test", txt); !errors.Is(err, spf.ErrTooManyLookups) {
		t.Fatalf("loop: %v", err)
	}
	eleven := "v=spf1" + strings.Repeat(" mx", 11)
	if _, err := spf.Walk(context.Background(), eleven, txt); !errors.Is(err, spf.ErrTooManyLookups) {
		t.Fatalf("eleven: %v", err)
	}
	if p, err := spf.Walk(context.Background(), "v=spf1"+strings.Repeat(" a", 10)+" ip4:192.0.2.1 all", txt); err != nil || p.Lookups != 10 {
		t.Fatalf("ten: %+v, %v", p, err)
	}
}

func TestWalkTellsOfASilentName(t *testing.T) {
	t.Parallel()
	if _, err := spf.Walk(context.Background(), "v=spf1 include:silent.test", zone(nil)); err == nil {
		t.Fatal("a name that did not answer was passed over")
	}
}

func FuzzWalk(f *testing.F) {
	f.Add("v=spf1 include:a.test/24 redirect=b a:c//d %{i} -all")
	f.Fuzz(func(t *testing.T, record string) {
		if !spf.IsRecord(record) {
			return
		}
		p, err := spf.Walk(context.Background(), record, zone(map[string]string{"a.test": record}))
		if err == nil && p.Lookups > spf.MaxLookups {
			t.Fatal(fmt.Sprint("walked too far: ", p))
		}
		if merged, _ := spf.Merge(record, "spf.us.test"); !spf.IsRecord(merged) {
			t.Fatalf("%q became %q", record, merged)
		}
	})
}
