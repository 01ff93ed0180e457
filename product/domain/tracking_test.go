package domain_test

import (
	"testing"

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
