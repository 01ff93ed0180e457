package dnsprovider_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/product/dnsprovider"
)

// follow takes a link apart as the provider does, and fails if its signature is not good.
func follow(t *testing.T, link string) (*url.URL, url.Values) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	signed, rest, found := strings.Cut(u.RawQuery, "&sig=")
	sig, key, keyed := strings.Cut(rest, "&key=")
	if !found || !keyed || key != "_dck1" {
		t.Fatalf("query ends in %q", rest)
	}
	text, err := url.QueryUnescape(sig)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(signed))
	if err := rsa.VerifyPKCS1v15(&linkKey().PublicKey, crypto.SHA256, digest[:], signature); err != nil {
		t.Fatalf("signature: %v", err)
	}
	values, err := url.ParseQuery(signed)
	if err != nil {
		t.Fatal(err)
	}
	// A provider that sorts and encodes anew before it verifies must get the same bytes.
	if again := strings.ReplaceAll(values.Encode(), "+", "%20"); again != signed {
		t.Fatalf("signed %q, which encodes anew as %q", signed, again)
	}
	return u, values
}

func TestALinkIsSignedAndCarriesWhatTheTemplateNeeds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		answer := h.owner.Must(200, "POST", "/v1/domains/"+h.domain+"/domain-connect/cloudflare-url", nil)

		u, values := follow(t, answer.Text("url"))
		if u.Scheme != "https" || u.Host != "dash.cloudflare.com" ||
			u.Path != "/domainconnect/v2/domainTemplates/providers/"+service+"/services/mail/apply" {
			t.Errorf("leads to %s", u)
		}
		if got := slices.Sorted(maps.Keys(values)); !slices.Equal(got, []string{"dmarcpolicy", "domain", "publickey", "returnpath", "selector", "state", "tracking"}) {
			t.Errorf("values: %v", got)
		}
		if values.Get("domain") != "acme.test" || values.Get("selector") != "s1" || values.Get("dmarcpolicy") != "none" ||
			values.Get("returnpath") != "bounce" || values.Get("tracking") != "track" || values.Get("state") != answer.Text("state") {
			t.Errorf("values: %v", values)
		}
		published := h.owner.Must(200, "GET", "/v1/domains/"+h.domain, nil).Body
		if key := values.Get("publickey"); len(key) < 300 || !strings.Contains(published, "p="+key+`"`) {
			t.Errorf("public key %q", key)
		}
		if answer.Text("object") != "domain_connect_url" || answer.Text("provider") != "cloudflare" || answer.Text("service_id") != "mail" ||
			answer.Value("records.mail") != true || answer.Value("records.inbound") != false {
			t.Errorf("answer: %s", answer.Body)
		}
		expires, err := time.Parse(time.RFC3339, answer.Text("expires_at"))
		if err != nil || expires.Sub(h.Clock.Now()).Round(time.Second) != time.Hour {
			t.Errorf("expires at %s", answer.Text("expires_at"))
		}
	})
}

func TestTheSelectionDecidesTheTemplate(t *testing.T) {
	t.Parallel()
	h := oneHouse(t)
	path := "/v1/domains/" + h.register("news.eu.acme.test") + "/domain-connect/cloudflare-url"
	for template, records := range map[string]fields{"mail": {"mail": true}, "inbound": {"inbound": true}, "mail-and-inbound": {"mail": true, "inbound": true}} {
		answer := h.owner.Must(200, "POST", path, fields{"records": records})

		u, values := follow(t, answer.Text("url"))
		if answer.Text("service_id") != template || !strings.HasSuffix(u.Path, "/services/"+template+"/apply") {
			t.Errorf("%v leads to %s", records, u)
		}
		if values.Get("domain") != "acme.test" || values.Get("host") != "news.eu" || values.Has("selector") != (template != "inbound") {
			t.Errorf("%s: %v", template, values)
		}
	}
	h.owner.Refused(400, "validation_error", "POST", path, fields{"records": fields{}})
}

func TestPeopleCanBeSentBack(t *testing.T) {
	t.Parallel()
	const back = "https://mail.acme.test/domains?from=cloudflare&a b+c=ü"
	h := oneHouse(t, func(c *dnsprovider.DomainConnect) { c.RedirectURI = back })

	_, values := follow(t, h.owner.Must(200, "POST", "/v1/domains/"+h.domain+"/domain-connect/cloudflare-url", nil).Text("url"))

	if values.Get("redirect_uri") != back {
		t.Fatalf("back to %q", values.Get("redirect_uri"))
	}
}

func TestAStateTellsForAnHourWhatItsLinkWasFor(t *testing.T) {
	t.Parallel()
	h := oneHouse(t)
	link := h.owner.Must(200, "POST", "/v1/domains/"+h.domain+"/domain-connect/cloudflare-url", nil).Text("state")
	foreign := h.Keyring.Sign("reset", []byte(`{}`), h.Clock.Now().Add(time.Hour))

	h.Clock.Move(time.Hour - time.Second)
	ws, id, err := h.providers.ReadState(link)
	if err != nil || string(id) != h.domain || ws == "" || !strings.Contains(h.path, string(ws)) {
		t.Errorf("read %s, %s, %v", ws, id, err)
	}
	h.Clock.Move(time.Second)

	for _, text := range []string{link, foreign, ""} {
		if _, _, err := h.providers.ReadState(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestWithoutATemplateThereIsNoLink(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(*dnsprovider.DomainConnect){
		"nothing":  func(c *dnsprovider.DomainConnect) { *c = dnsprovider.DomainConnect{} },
		"provider": func(c *dnsprovider.DomainConnect) { c.ProviderID = "" },
		"service":  func(c *dnsprovider.DomainConnect) { c.MailService = "" },
		"key":      func(c *dnsprovider.DomainConnect) { c.PrivateKey = nil },
		"key host": func(c *dnsprovider.DomainConnect) { c.KeyHost = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := oneHouse(t, forget)

			h.owner.Refused(409, "dns_provider_not_connected", "POST", "/v1/domains/"+h.domain+"/domain-connect/cloudflare-url", nil)
		})
	}
}
