package mtasts_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"postrider/mail/mtasts"
	"postrider/world"
)

// domain is a domain in a small world: what it announces, what its policy host shows, and what time it is.
type domain struct {
	world.Resolver
	texts    []string
	textsErr error
	page     string
	pageErr  error
	now      time.Time
	fetched  []string
}

func (d *domain) TXT(_ context.Context, name string) ([]string, world.Answer, error) {
	if name != "_mta-sts.acme.test" {
		return nil, world.Answer{}, world.ErrNoName
	}
	return d.texts, world.Answer{}, d.textsErr
}

func (d *domain) Now() time.Time { return d.now }

func (d *domain) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

func (d *domain) find(entry mtasts.Entry) mtasts.Finding {
	finder := mtasts.Finder{Names: d, Clock: d, Fetch: func(_ context.Context, host string) ([]byte, error) {
		d.fetched = append(d.fetched, host)
		return []byte(d.page), d.pageErr
	}}
	return finder.Find(context.Background(), "acme.test", entry)
}

const enforced = "version: STSv1\nmode: enforce\nmx: mx.acme.test\nmax_age: 604800\n"

func newDomain() *domain {
	return &domain{texts: []string{"v=STSv1; id=1"}, page: enforced, now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
}

func TestAnAnnouncedPolicyIsFetchedOnceAndThenRemembered(t *testing.T) {
	t.Parallel()
	d := newDomain()
	first := d.find(mtasts.Entry{})
	if first.Problem != nil || !first.Changed || first.Policy.Mode != mtasts.Enforce || first.Entry.ID != "1" {
		t.Fatalf("first: %+v", first)
	}
	d.now = d.now.Add(time.Hour)
	second := d.find(first.Entry)
	if second.Changed || second.Problem != nil || !cmp.Equal(second.Policy, first.Policy) {
		t.Errorf("second: %+v", second)
	}
	if !cmp.Equal(d.fetched, []string{"mta-sts.acme.test"}) || mtasts.PolicyURL(d.fetched[0]) != "https://mta-sts.acme.test/.well-known/mta-sts.txt" {
		t.Errorf("fetched %q", d.fetched)
	}
}

func TestADomainWithoutAnnouncementIsNotFetched(t *testing.T) {
	t.Parallel()
	d := newDomain()
	for name, change := range map[string]func(){
		"other texts": func() { d.texts = []string{"hello"} },
		"no name":     func() { d.texts, d.textsErr = nil, world.ErrNoName },
		"no answer":   func() { d.texts, d.textsErr = nil, world.ErrUnanswered },
	} {
		change()
		if found := d.find(mtasts.Entry{}); found.Changed || found.Policy.Mode != mtasts.None || found.Problem != nil || len(d.fetched) > 0 {
			t.Errorf("%s: %+v, fetched %q", name, found, d.fetched)
		}
	}
}

func TestNothingButItsDomainOrItsAgeEndsAnEnforcedPolicy(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]func(*domain){
		"announcement gone":   func(d *domain) { d.texts, d.textsErr = nil, world.ErrNoName },
		"name server silent":  func(d *domain) { d.texts, d.textsErr = nil, world.ErrUnanswered },
		"announcement broken": func(d *domain) { d.texts = []string{"v=STSv1; id="} },
		"announced twice":     func(d *domain) { d.texts = append(d.texts, "v=STSv1; id=2") },
		"new, unfetchable":    func(d *domain) { d.texts, d.pageErr = []string{"v=STSv1; id=2"}, errors.New("refused") },
		"new, unreadable":     func(d *domain) { d.texts, d.page = []string{"v=STSv1; id=2"}, "<html>" },
		"new, endless": func(d *domain) {
			d.texts, d.page = []string{"v=STSv1; id=2"}, enforced+string(bytes.Repeat([]byte("x"), 65<<10))
		},
		"old, unfetchable": func(d *domain) { d.pageErr = errors.New("refused") },
	} {
		d := newDomain()
		entry := d.find(mtasts.Entry{}).Entry
		attack(d)
		for range 6 {
			d.now = d.now.Add(24*time.Hour + time.Minute)
			found := d.find(entry)
			if found.Policy.Mode != mtasts.Enforce {
				t.Fatalf("%s: %+v on %s", name, found, d.now)
			}
			entry = found.Entry
		}
		d.now = d.now.Add(24 * time.Hour)
		if found := d.find(entry); found.Policy.Mode != mtasts.None {
			t.Errorf("%s: still in force after its age: %+v", name, found)
		}
	}
}

func TestAPolicyOfADayIsFetchedAgainBeforeItRunsOut(t *testing.T) {
	t.Parallel()
	d := newDomain()
	d.page = strings.Replace(enforced, "604800", "86400", 1)
	entry := d.find(mtasts.Entry{}).Entry
	d.now = d.now.Add(13 * time.Hour)
	entry = d.find(entry).Entry
	d.now = d.now.Add(12 * time.Hour)
	d.pageErr = errors.New("refused") // at the moment at which the first one would have run out
	if found := d.find(entry); found.Policy.Mode != mtasts.Enforce {
		t.Fatalf("after a day: %+v", found)
	}
}

func TestAPolicyHostHasAMinute(t *testing.T) {
	t.Parallel()
	d := newDomain()
	var left time.Duration
	fetch := func(ctx context.Context, _ string) ([]byte, error) {
		until, _ := ctx.Deadline()
		left = time.Until(until)
		return []byte(d.page), nil
	}
	found := mtasts.Finder{Names: d, Clock: d, Fetch: fetch}.Find(t.Context(), "acme.test", mtasts.Entry{})
	if found.Problem != nil || left <= 0 || left > time.Minute {
		t.Errorf("%+v, %s", found, left)
	}
}

func TestADomainMayTakeItsPolicyBack(t *testing.T) {
	t.Parallel()
	d := newDomain()
	entry := d.find(mtasts.Entry{}).Entry
	d.texts, d.page = []string{"v=STSv1; id=2"}, "version: STSv1\nmode: none\nmax_age: 86400\n"
	found := d.find(entry)
	if found.Policy.Mode != mtasts.None || !found.Changed || found.Entry.ID != "2" {
		t.Errorf("%+v", found)
	}
}

func TestAProblemIsToldAndNotAskedForAgainForFiveMinutes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*domain)
		want   error
		tries  int
	}{
		"unfetchable":     {func(d *domain) { d.pageErr = errors.New("refused") }, mtasts.ErrFetch, 2},
		"unreadable":      {func(d *domain) { d.page = "<html>" }, mtasts.ErrPolicy, 2},
		"announced twice": {func(d *domain) { d.texts = append(d.texts, "v=STSv1; id=2") }, mtasts.ErrRecord, 0},
	} {
		d := newDomain()
		test.change(d)
		found := d.find(mtasts.Entry{})
		if !errors.Is(found.Problem, test.want) || found.Policy.Mode != mtasts.None {
			t.Errorf("%s: %+v", name, found)
		}
		d.now = d.now.Add(4 * time.Minute)
		found = d.find(found.Entry)
		if found.Changed || len(d.fetched) != test.tries/2 {
			t.Errorf("%s: asked again too soon: %+v, %q", name, found, d.fetched)
		}
		d.now = d.now.Add(2 * time.Minute)
		d.find(found.Entry)
		if len(d.fetched) != test.tries {
			t.Errorf("%s: fetched %q", name, d.fetched)
		}
	}
}

func TestAnUnchangedPolicyIsRefreshedDaily(t *testing.T) {
	t.Parallel()
	d := newDomain()
	entry := d.find(mtasts.Entry{}).Entry
	for range 30 {
		d.now = d.now.Add(24 * time.Hour)
		entry = d.find(entry).Entry
	}
	if len(d.fetched) != 31 || !entry.ValidUntil.Equal(d.now.Add(7*24*time.Hour)) {
		t.Errorf("fetched %d times, valid until %s", len(d.fetched), entry.ValidUntil)
	}
}

func TestWhatToDoWithAnEntryDependsOnItsAgeAndItsID(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	week := mtasts.Policy{Mode: mtasts.Enforce, MX: []string{"a.test"}, MaxAgeSeconds: 7 * 86400}
	kept := mtasts.Entry{}.Fetched(noon, "1", week)
	for name, test := range map[string]struct {
		entry mtasts.Entry
		after time.Duration
		id    string
		want  mtasts.Step
	}{
		"never heard of":              {mtasts.Entry{}, 0, "", mtasts.Expire},
		"announced":                   {mtasts.Entry{}, 0, "1", mtasts.Refetch},
		"unchanged":                   {kept, time.Hour, "1", mtasts.Keep},
		"changed":                     {kept, time.Second, "2", mtasts.Refetch},
		"gone":                        {kept, time.Hour, "", mtasts.Keep},
		"gone and at its end":         {kept, 7*24*time.Hour - 1, "", mtasts.Keep},
		"gone and past its end":       {kept, 7 * 24 * time.Hour, "", mtasts.Expire},
		"a day old":                   {kept, 24 * time.Hour, "1", mtasts.Refetch},
		"past its end":                {kept, 8 * 24 * time.Hour, "1", mtasts.Refetch},
		"missed just now":             {kept.Missed(noon.Add(time.Hour), "2"), time.Hour + time.Minute, "2", mtasts.Keep},
		"missed, then another":        {kept.Missed(noon.Add(time.Hour), "2"), time.Hour + time.Minute, "3", mtasts.Refetch},
		"missed a while ago":          {kept.Missed(noon.Add(time.Hour), "2"), time.Hour + 5*time.Minute, "2", mtasts.Refetch},
		"missed without anything":     {mtasts.Entry{}.Missed(noon, "1"), time.Minute, "1", mtasts.Expire},
		"the clock has been put back": {kept.Missed(noon.Add(time.Hour), "2"), 0, "2", mtasts.Refetch},
	} {
		if got := test.entry.Next(noon.Add(test.after), test.id); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestNoHistoryWeakensAPolicyBeforeItsEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := newDomain()
		entry := d.find(mtasts.Entry{}).Entry
		for range rapid.IntRange(1, 30).Draw(t, "deliveries") {
			d.now = d.now.Add(time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "pause")))
			d.texts = rapid.SampledFrom([][]string{nil, {"x"}, {"v=STSv1; id=1"}, {"v=STSv1; id=2"}, {"v=STSv1; id="}}).Draw(t, "texts")
			d.textsErr = rapid.SampledFrom([]error{nil, world.ErrNoName, world.ErrUnanswered}).Draw(t, "answer")
			d.page = rapid.SampledFrom([]string{enforced, "", "version: STSv1\nmode: none\n"}).Draw(t, "page")
			d.pageErr = rapid.SampledFrom([]error{nil, context.DeadlineExceeded}).Draw(t, "fetch")
			until := entry.ValidUntil
			found := d.find(entry)
			if d.now.Before(until) && found.Policy.Mode != mtasts.Enforce {
				t.Fatalf("%+v became %+v at %s", entry, found, d.now)
			}
			if found.Entry.ValidUntil.Before(until) {
				t.Fatalf("%+v ends earlier than %+v", found.Entry, entry)
			}
			entry = found.Entry
		}
	})
}
