package dnsprovider_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var mailRecords = []string{"TXT acme.test", "TXT _domainkey.acme.test", "TXT _dmarc.acme.test", "CNAME bounce.acme.test", "CNAME track.acme.test"}

// with returns the records, each with the action.
func with(records []string, action string) []string {
	var list []string
	for _, r := range records {
		list = append(list, r+" "+action)
	}
	return list
}

func TestEverythingIsPublishedInAnEmptyZoneAndOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		h.cloud.put(rr{Type: "A", Name: "acme.test", Content: "192.0.2.1", Proxied: true}, rr{Type: "TXT", Name: "acme.test", Content: "google-site-verification=abc"})

		first := h.apply(nil)
		h.cloud.writes()
		second := h.apply(nil)

		if got := outcomes(first); !slices.Equal(got, with(mailRecords, "created")) {
			t.Errorf("first: %v", got)
		}
		if got := outcomes(second); !slices.Equal(got, with(mailRecords, "unchanged")) || second.Value("applied") != 0.0 || second.Value("failed") != 0.0 {
			t.Errorf("second: %v", second.Body)
		}
		if writes := h.cloud.writes(); len(writes) != 0 {
			t.Errorf("the second time it wrote %v", writes)
		}
		if first.Text("object") != "dns_apply_result" || first.Text("domain_id") != h.domain || first.Text("provider") != "cloudflare" ||
			first.Text("zone_id") != zoneID || first.Text("zone") != "acme.test" || first.Value("records.mail") != true ||
			first.Value("records.inbound") != false || first.Value("applied") != float64(len(first.Value("results").([]any))) ||
			first.Value("failed") != 0.0 || first.Text("applied_at") == "" || first.Value("results.0.error") != nil {
			t.Errorf("first: %s", first.Body)
		}
	})
}

func TestPublishedRecordsAreWhatTheDomainAsksFor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)

		h.apply(fields{"records": fields{"mail": true, "inbound": true}})

		wanted := h.owner.Must(200, "GET", "/v1/domains/"+h.domain, nil).Value("records").([]any)
		published := h.cloud.all()
		if len(published) != len(wanted) {
			t.Fatalf("%d records published, %d wanted", len(published), len(wanted))
		}
		for _, row := range wanted {
			w := row.(fields)
			at := slices.IndexFunc(published, func(r rr) bool {
				return r.Type == w["type"] && r.Name == w["name"] && strings.ReplaceAll(strings.Trim(r.Content, `"`), `" "`, "") == w["value"]
			})
			if at < 0 {
				t.Errorf("%v is not published", w)
				continue
			}
			r := published[at]
			if r.TTL != 1 || r.Proxied || *r.Comment != "postrider" {
				t.Errorf("published as %+v", r)
			}
			if priority, ranked := w["priority"]; ranked && (r.Priority == nil || float64(*r.Priority) != priority) {
				t.Errorf("%s has another rank than %v", r.Content, priority)
			}
		}
	})
}

func TestTheSelectionDecidesWhatIsPublished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		path := "/v1/domains/" + h.domain + "/cloudflare/apply"

		h.owner.Refused(400, "validation_error", "POST", path, fields{"records": fields{}})
		if published := h.cloud.all(); len(published) != 0 {
			t.Fatalf("published %v", published)
		}
		inbound := h.apply(fields{"records": fields{"inbound": true}})
		mail := h.apply(fields{"records": fields{"mail": true, "inbound": false}})

		if got := outcomes(inbound); !slices.Equal(got, []string{"MX acme.test created"}) || inbound.Value("applied") != 2.0 {
			t.Errorf("inbound: %s", inbound.Body)
		}
		if got := outcomes(mail); !slices.Equal(got, with(mailRecords, "created")) {
			t.Errorf("mail: %v", got)
		}
	})
}

func TestAnSPFRecordIsMergedAndNothingBesideItIsTouched(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		others := h.cloud.put(
			rr{Type: "TXT", Name: "acme.test", Content: `"google-site-verification=abc"`},
			rr{Type: "TXT", Name: "acme.test", Content: `MS=ms123`, Comment: text("keep")},
			rr{Type: "TXT", Name: "shop.acme.test", Content: `"v=spf1 -all"`},
			rr{Type: "MX", Name: "acme.test", Content: "aspmx.l.google.com", Priority: number(1)})
		theirs := h.cloud.put(rr{Type: "TXT", Name: "acme.test", Content: `"v=spf1 include:_spf.google.com " "ip4:192.0.2.0/24 -all"`, Comment: text("ours, not yours"), TTL: 600})[0]

		result := h.apply(fields{"overwrite": true})
		again := h.apply(fields{"overwrite": true})

		if got := result.Text("results.0.action"); got != "merged" || again.Text("results.0.action") != "unchanged" {
			t.Errorf("first %s, then %s", got, again.Text("results.0.action"))
		}
		var policies []rr
		for _, r := range h.cloud.at("TXT", "acme.test") {
			if strings.Contains(r.Content, "v=spf1") {
				policies = append(policies, r)
			}
		}
		want := theirs
		want.Content = `"v=spf1 include:spf.` + service + ` include:_spf.google.com ip4:192.0.2.0/24 -all"`
		if len(policies) != 1 || !reflect.DeepEqual(policies[0], want) {
			t.Errorf("policies: %+v\nwant %+v", policies, want)
		}
		untouched(t, h, others)
	})
}

func TestRecordsOfOtherNamesAreLeftAloneWhenTheProviderListsThemToo(t *testing.T) {
	t.Parallel()
	h := oneHouse(t)
	h.connect("Acme", goodToken)
	others := h.cloud.put(rr{Type: "TXT", Name: "shop.acme.test", Content: `"v=spf1 -all"`}, rr{Type: "CNAME", Name: "www.acme.test", Content: "shops.example"})
	h.cloud.intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/dns_records") {
			q := r.URL.Query()
			q.Del("name")
			r.URL.RawQuery = q.Encode()
		}
		return false
	})

	result := h.apply(fields{"overwrite": true})

	if got := outcomes(result); !slices.Equal(got, with(mailRecords, "created")) {
		t.Errorf("%v", got)
	}
	untouched(t, h, others)
}

// untouched fails if one of the records is not as it was.
func untouched(t *testing.T, h house, records []rr) {
	t.Helper()
	now := h.cloud.all()
	for _, was := range records {
		if at := slices.IndexFunc(now, func(r rr) bool { return r.ID == was.ID }); at < 0 || !reflect.DeepEqual(now[at], was) {
			t.Errorf("%s %s of somebody else was touched", was.Type, was.Name)
		}
	}
}

func TestWhatOthersMadeIsInTheWayAndStays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		others := h.cloud.put(
			rr{Type: "A", Name: "bounce.acme.test", Content: "192.0.2.1"},
			rr{Type: "CNAME", Name: "track.acme.test", Content: "shop.example.net"},
			rr{Type: "TXT", Name: "_dmarc.acme.test", Content: `"v=DMARC1; p=reject"`},
			rr{Type: "TXT", Name: "s1._domainkey.acme.test", Content: `"v=DKIM1; p="`},
			rr{Type: "MX", Name: "acme.test", Content: "aspmx.l.google.com", Priority: number(1)})

		result := h.apply(fields{"records": fields{"mail": true, "inbound": true}})

		for _, want := range []struct{ kind, name, why string }{
			{"CNAME", "bounce.acme.test", "An A record exists at this name."},
			{"CNAME", "track.acme.test", "A CNAME record with another target"},
			{"TXT", "_dmarc.acme.test", "Another DMARC record"},
			{"TXT", "s1._domainkey.acme.test", "Another DKIM record"},
			{"MX", "acme.test", "goes to aspmx.l.google.com"},
		} {
			if why := because(result, want.kind, want.name); !strings.Contains(why, want.why) {
				t.Errorf("%s %s: %q", want.kind, want.name, why)
			}
		}
		if result.Text("results.0.action") != "created" || result.Value("failed") != 6.0 {
			t.Errorf("result: %s", result.Body)
		}
		untouched(t, h, others)
	})
}

func TestOverwritingReplacesTheSameTypeAndNothingElse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		others := h.cloud.put(
			rr{Type: "A", Name: "bounce.acme.test", Content: "192.0.2.1"},
			rr{Type: "TXT", Name: "_dmarc.acme.test", Content: `"some note"`},
			rr{Type: "TXT", Name: "acme.test", Content: `"google-site-verification=abc"`})
		replaced := h.cloud.put(
			rr{Type: "CNAME", Name: "track.acme.test", Content: "track." + service, Proxied: true},
			rr{Type: "TXT", Name: "_dmarc.acme.test", Content: `"v=DMARC1; p=reject"`},
			rr{Type: "TXT", Name: "s1._domainkey.acme.test", Content: `"v=DKIM1; p="`},
			rr{Type: "MX", Name: "acme.test", Content: "aspmx.l.google.com", Priority: number(1)},
			rr{Type: "MX", Name: "acme.test", Content: "alt1.aspmx.l.google.com", Priority: number(5)},
			rr{Type: "MX", Name: "acme.test", Content: "alt2.aspmx.l.google.com", Priority: number(5)})

		result := h.apply(fields{"records": fields{"mail": true, "inbound": true}, "overwrite": true})
		again := h.apply(fields{"records": fields{"mail": true, "inbound": true}})

		if because(result, "CNAME", "bounce.acme.test") == "" || result.Value("failed") != 1.0 {
			t.Errorf("result: %s", result.Body)
		}
		for _, was := range replaced[:3] {
			now := h.cloud.at(was.Type, was.Name)
			if at := slices.IndexFunc(now, func(r rr) bool { return r.ID == was.ID }); at < 0 || now[at].Proxied || *now[at].Comment != "postrider" {
				t.Errorf("%s %s is now %+v", was.Type, was.Name, now)
			}
		}
		var receivers []string
		for _, r := range h.cloud.at("MX", "acme.test") {
			receivers = append(receivers, r.Content)
		}
		if !slices.Equal(receivers, []string{"mx1." + service, "mx2." + service}) {
			t.Errorf("receivers: %v", receivers)
		}
		if again.Value("applied") != 0.0 || again.Value("failed") != 1.0 {
			t.Errorf("again: %s", again.Body)
		}
		untouched(t, h, others)
	})
}

func TestWhatWeMadeIsKeptUpToDate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		mine := h.cloud.put(
			rr{Type: "CNAME", Name: "bounce.acme.test", Content: "bounces.before.test", Comment: text("postrider")},
			rr{Type: "TXT", Name: "_dmarc.acme.test", Content: `"v=DMARC1; p=quarantine"`, Tags: []string{"postrider"}},
			rr{Type: "MX", Name: "acme.test", Content: "mx1." + service, Priority: number(50), Comment: text("postrider")})

		result := h.apply(fields{"records": fields{"mail": true, "inbound": true}})

		got := outcomes(result)
		for _, want := range []string{"CNAME bounce.acme.test updated", "TXT _dmarc.acme.test updated", "MX acme.test updated", "MX acme.test created"} {
			if !slices.Contains(got, want) {
				t.Errorf("no %s in %v", want, got)
			}
		}
		for _, was := range mine {
			if now := h.cloud.at(was.Type, was.Name); now[0].ID != was.ID || now[0].Content == was.Content && was.Type != "MX" {
				t.Errorf("%s %s is now %+v", was.Type, was.Name, now)
			}
		}
		if rank := h.cloud.at("MX", "acme.test")[0].Priority; *rank != 10 {
			t.Errorf("rank %d", *rank)
		}
	})
}
