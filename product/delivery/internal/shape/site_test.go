package shape_test

import (
	"testing"

	"postrider/product/delivery/internal/shape"
	"postrider/world"
)

func TestASiteIsTheSetOfTheBestServersRolledUpByProvider(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		servers []world.MX
		want    shape.Site
	}{
		{"gmail.com", []world.MX{{Host: "gmail-smtp-in.l.google.com.", Preference: 5}, {Host: "alt1.gmail-smtp-in.l.google.com.", Preference: 10}}, "google"},
		{"a customer of Google", []world.MX{{Host: "ASPMX.L.GOOGLE.COM", Preference: 1}, {Host: "aspmx2.googlemail.com", Preference: 1}}, "google"},
		{"the order does not matter", []world.MX{{Host: "b.example.net", Preference: 10}, {Host: "A.example.net.", Preference: 10}}, "a.example.net,b.example.net"},
		{"a server twice", []world.MX{{Host: "a.example.net", Preference: 10}, {Host: "A.example.net.", Preference: 10}}, "a.example.net"},
		{"spare servers do not matter", []world.MX{{Host: "spare.example.org", Preference: 20}, {Host: "a.example.net", Preference: 10}}, "a.example.net"},
		{"a spare server at Google", []world.MX{{Host: "a.example.net", Preference: 10}, {Host: "aspmx.l.google.com", Preference: 20}}, "a.example.net"},
		{"Google and another", []world.MX{{Host: "a.example.net", Preference: 1}, {Host: "aspmx.l.google.com", Preference: 1}}, "a.example.net,aspmx.l.google.com"},
		{"two providers", []world.MX{{Host: "mta5.am0.yahoodns.net", Preference: 1}, {Host: "aspmx.l.google.com", Preference: 1}}, "aspmx.l.google.com,mta5.am0.yahoodns.net"},
		{"a server of Google that is not for mail", []world.MX{{Host: "www.google.com", Preference: 1}}, "www.google.com"},
		{"a name that only ends alike", []world.MX{{Host: "mx.notgoogle.com", Preference: 1}}, "mx.notgoogle.com"},
		{"each business has servers of its own", []world.MX{{Host: "acme-com.mail.protection.outlook.com", Preference: 0}}, "acme-com.mail.protection.outlook.com"},
		{"the longest ending counts", []world.MX{{Host: "outlook-com.olc.protection.outlook.com", Preference: 0}}, "outlook"},
		{"regions are separate", []world.MX{{Host: "eu-smtp-inbound-1.mimecast.com"}, {Host: "eu-smtp-inbound-2.mimecast.com"}}, "eu-smtp-inbound-1.mimecast.com,eu-smtp-inbound-2.mimecast.com"},
		{"nobody passes for a provider", []world.MX{{Host: "google", Preference: 1}}, "google."},
		{"the sandbox", []world.MX{{Host: "mx.google.test", Preference: 10}}, "google-sandbox"},
		{"no servers", nil, ""},
	} {
		if got := shape.Shipped().Site(test.servers); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestManyServersGiveAShortName(t *testing.T) {
	t.Parallel()
	var servers []world.MX
	for i := range 500 {
		servers = append(servers, world.MX{Host: string(rune('a'+i%26)) + string(rune('a'+i/26)) + ".example.net"})
	}
	if site := shape.Shipped().Site(servers); len(site) > 200 {
		t.Errorf("%d bytes", len(site))
	}
}

func TestProvidersAreKnownBySiteAndByDomain(t *testing.T) {
	t.Parallel()
	providers := shape.Shipped()
	for site, want := range map[shape.Site]string{"google": "google", "acme-com.mail.protection.outlook.com": "microsoft365",
		"eu-smtp-inbound-1.mimecast.com,eu-smtp-inbound-2.mimecast.com": "mimecast", "mx.example.net": "", "a.mimecast.com,b.example.net": "", "": ""} {
		if got := providers.Provider(site).Name; got != want {
			t.Errorf("%s: %q, want %q", site, got, want)
		}
	}
	for domain, want := range map[string]string{"gmail.com": "google", "GMAIL.com.": "google", "hotmail.com": "outlook", "google.test": "google-sandbox", "example.net": ""} {
		if got := providers.ProviderOf(domain); got != want {
			t.Errorf("%s: %q, want %q", domain, got, want)
		}
	}
}
