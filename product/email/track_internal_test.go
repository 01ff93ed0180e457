package email

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"postrider/platform/seal"
	"postrider/product/domain"
	"postrider/world"
)

const someRecipient RecipientID = "0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"

func tracker() *Service {
	return &Service{keys: seal.NewKeyring(bytes.Repeat([]byte("test"), 8)), baseURL: "https://mail.example.org", customerHosts: true,
		domains: domain.New(world.New(slog.New(slog.DiscardHandler)), nil, nil, nil, domain.Hosts{Service: "mail.example.org"}, nil, nil)}
}

func trackedMail() Taken {
	t := Taken{Recipient: Recipient{ID: someRecipient}, Email: Email{TrackOpens: true, TrackClicks: true}, Domain: domain.Domain{Name: "acme.test", TrackingLabel: "track"}}
	t.Domain.Checks.Tracking.Status = domain.CheckPass
	return t
}

func TestTokensStandForWhatTheyWereMadeOf(t *testing.T) {
	t.Parallel()
	s := tracker()
	for _, target := range []string{"", "https://acme.test/", "https://acme.test/" + strings.Repeat("x", 1380)} {
		token := s.trackToken(clickPurpose, binaryID(someRecipient), target)
		if token != s.trackToken(clickPurpose, binaryID(someRecipient), target) {
			t.Error("two attempts make two tokens")
		}
		recipient, got, ok := s.readTrackToken(clickPurpose, token)
		if !ok || recipient != someRecipient || got != target || len(token) > 1950 {
			t.Errorf("%q, %q, %v from %d characters", recipient, got, ok, len(token))
		}
		if _, _, ok := s.readTrackToken(openPurpose, token); ok {
			t.Error("a link is taken for a pixel")
		}
	}
	if _, _, ok := s.readTrackToken(clickPurpose, "AAAA"); ok {
		t.Error("anything is a token")
	}
}

func TestMailAboutAccountsAndOfOthersIsNeverTracked(t *testing.T) {
	t.Parallel()
	from, yes := domain.Domain{OpenTracking: true, ClickTracking: true}, true
	draft := Draft{TrackOpens: &yes, TrackClicks: &yes}
	for _, source := range []Source{SourceNotice, SourceForward} {
		if e := newEmail("", Sender{Source: source}, draft, from, time.Time{}); e.TrackOpens || e.TrackClicks || e.Personal() {
			t.Errorf("%s is tracked", source)
		}
	}
	if e := newEmail("", Sender{Source: SourceAPI}, Draft{}, from, time.Time{}); !e.TrackOpens || !e.TrackClicks || !e.Personal() {
		t.Error("other mail is not")
	}
}

func TestVeryLargeMailIsNotChanged(t *testing.T) {
	t.Parallel()
	for _, e := range []Email{{TrackClicks: true, SizeBytes: 25 << 20}, {}} {
		if e.Personal() {
			t.Errorf("%+v is", e)
		}
	}
}

func TestOnlyAnInstallationAtPlainHTTPSHasOtherHosts(t *testing.T) {
	t.Parallel()
	verified, d := trackedMail().Domain, domain.Domain{Name: "acme.test", TrackingLabel: "track"}
	for _, c := range []struct {
		base, want string
		domain     domain.Domain
	}{
		{"https://mail.example.org", "https://track.acme.test", verified},
		{"https://mail.example.org", "https://mail.example.org", d},
		{"http://localhost:8080", "http://localhost:8080", verified},
		{"https://mail.example.org:8443", "https://mail.example.org:8443", verified},
		{"https://example.org/mail", "https://example.org/mail", verified},
	} {
		if got := (&Service{baseURL: c.base, customerHosts: true}).linkBase(c.domain); got != c.want {
			t.Errorf("%s: links begin with %s", c.base, got)
		}
	}
}

func TestCountingEnds(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	full := tally{opens: maxCounted, firstOpened: now, lastOpened: now}
	if n := full.add(false, false, now.Add(time.Hour)); n <= maxCounted || full.opens != maxCounted || full.lastOpened != now {
		t.Errorf("%d: %+v", n, full)
	}
	if n := full.add(true, true, now); n != 1 || full.automatedClicks != 1 || !full.firstClicked.IsZero() {
		t.Errorf("%d: %+v", n, full)
	}
}

// BenchmarkTrackLetter prepares a page of 10 KB with 32 links for one recipient.
func BenchmarkTrackLetter(b *testing.B) {
	s, t := tracker(), trackedMail()
	var page strings.Builder
	for i := range 32 {
		fmt.Fprintf(&page, `<table role="presentation" width="100%%"><tr><td style="padding:12px 0;font-family:sans-serif;color:#333">
			<p>Story %d: what happened since the last letter, in two lines of text or so.</p>
			<a href="https://www.acme.test/stories/%d?utm_source=letter&amp;utm_medium=email" style="color:#06c">Read on</a></td></tr></table>`, i, i)
	}
	l := Letter{Content: Content{HTML: page.String()}}
	b.SetBytes(int64(page.Len()))
	for b.Loop() {
		s.trackLetter(t, l)
	}
}
