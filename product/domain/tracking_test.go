package domain_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"postrider/app/apptest"
)

func TestOnlyTheTrackingHostOfAVerifiedDomainIsOurs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		pending := "pending.test"
		registered(t, in, pending)
		for host, want := range map[string]bool{"track." + apptest.Domain: true, "TRACK." + apptest.Domain: true, apptest.Domain: false, "www." + apptest.Domain: false,
			"x.track." + apptest.Domain: false, "track." + pending: false, "track.nobody.test": false, "localhost": false, "": false} {
			got, err := in.App.Domains.TracksAt(t.Context(), host)
			if err != nil || got != want {
				t.Errorf("%q: %v %v", host, got, err)
			}
		}
	})
}

func TestATrackingHostThatLeadsElsewhereIsNotOurs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Publish("track."+apptest.Domain, "CNAME", "elsewhere.test")
		verify(t, in, in.DomainID)
		if got, err := in.App.Domains.TracksAt(t.Context(), "track."+apptest.Domain); err != nil || got {
			t.Errorf("%v %v", got, err)
		}
	})
}

func TestATrackingHostIsOursWhileItsNameServersAreSilent(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		const name = "shop.servfail.test"
		id := registered(t, in, name)
		publishAll(t, in, name)
		if answer := verify(t, in, id); answer.Text("checks", "tracking", "status") != "pass" {
			t.Fatalf("%s", answer.Raw)
		}
		in.Withdraw("track." + name)
		if answer := verify(t, in, id); answer.Text("checks", "tracking", "status") != "dns_error" {
			t.Fatalf("%s", answer.Raw)
		}
		if got, err := in.App.Domains.TracksAt(t.Context(), "track."+name); err != nil || !got {
			t.Errorf("%v %v", got, err)
		}
		in.Publish("track."+name, "CNAME", "elsewhere.test")
		verify(t, in, id)
		if got, err := in.App.Domains.TracksAt(t.Context(), "track."+name); err != nil || got {
			t.Errorf("led elsewhere: %v %v", got, err)
		}
	})
}

// Links stand in mail for years, and a certificate is renewed every few weeks.
func TestAFormerTrackingHostIsOursAsLongAsItLeadsHere(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		under := func(label string) {
			t.Helper()
			in.Must(http.StatusOK, http.MethodPatch, "/domains/"+in.DomainID, map[string]any{"tracking_subdomain": label})
		}
		ours := func(when string, want map[string]bool) {
			t.Helper()
			for label, want := range want {
				if got, err := in.App.Domains.TracksAt(t.Context(), label+"."+apptest.Domain); err != nil || got != want {
					t.Errorf("%s, %s: %v %v", when, label, got, err)
				}
			}
		}
		under("nobody-saw")
		under("click")
		ours("changed", map[string]bool{"track": true, "nobody-saw": false, "click": false})
		in.Publish("click."+apptest.Domain, "CNAME", in.App.Domains.Hosts().Tracking())
		in.Publish("nobody-saw."+apptest.Domain, "CNAME", in.App.Domains.Hosts().Tracking())
		verify(t, in, in.DomainID)
		ours("verified", map[string]bool{"track": true, "nobody-saw": false, "click": true})
		in.Publish("track."+apptest.Domain, "CNAME", "elsewhere.test")
		verify(t, in, in.DomainID)
		ours("the former leads elsewhere", map[string]bool{"track": false, "click": true})
		in.Publish("track."+apptest.Domain, "CNAME", in.App.Domains.Hosts().Tracking())
		verify(t, in, in.DomainID)
		ours("the former leads here again", map[string]bool{"track": true, "click": true})
		under("track")
		ours("changed back", map[string]bool{"track": true, "click": true})
	})
}

// A customer who sends from elsewhere now has taken our SPF and keys away, and left the alias for what was mailed before.
func TestTheTrackingHostOfADomainThatWasVerifiedOnceIsOurs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Withdraw(apptest.Domain)
		for range 4 {
			in.Clock.Advance(13 * time.Hour)
			verify(t, in, in.DomainID)
		}
		if answer := get(t, in, in.DomainID); answer.Text("verified") != "false" {
			t.Fatalf("%s", answer.Raw)
		}
		for _, want := range []bool{true, false} {
			if got, err := in.App.Domains.TracksAt(t.Context(), "track."+apptest.Domain); err != nil || got != want {
				t.Errorf("%v %v, want %v", got, err, want)
			}
			in.Publish("track."+apptest.Domain, "CNAME", "elsewhere.test")
			verify(t, in, in.DomainID)
		}
	})
}

func TestADomainHasOnlySoManyFormerTrackingHosts(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for n := range 12 {
		label := fmt.Sprintf("l%d", n)
		in.Must(http.StatusOK, http.MethodPatch, "/domains/"+in.DomainID, map[string]any{"tracking_subdomain": label})
		if n != 3 { // which leads nowhere, and goes first
			in.Publish(label+"."+apptest.Domain, "CNAME", in.App.Domains.Hosts().Tracking())
		}
		in.Clock.Advance(time.Minute)
		verify(t, in, in.DomainID)
	}
	for label, want := range map[string]bool{"track": false, "l0": true, "l3": false, "l10": true, "l11": true} {
		if got, err := in.App.Domains.TracksAt(t.Context(), label+"."+apptest.Domain); err != nil || got != want {
			t.Errorf("%s: %v %v", label, got, err)
		}
	}
}
