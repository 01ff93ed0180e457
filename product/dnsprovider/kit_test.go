package dnsprovider_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/platform/db/dbtest"
	"postrider/platform/httpout"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/account/accounttest"
	"postrider/product/apikey"
	"postrider/product/dnsprovider"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/world"
)

type fields = map[string]any

const (
	service   = "mail.postrider.test"
	goodToken = "abcdefghijklmnopqrstuvwxyz-0123456789_AZ"
	zoneID    = "023e105f4ecef8ad9ca31a8372d0c353"
	missing   = "0193a1e0-2222-7000-8000-000000000501"
)

// house is an installation with a workspace that has registered acme.test, and Cloudflare, which answers for it.
type house struct {
	*accounttest.House
	cloud     *fakeCloudflare
	keys      *apikey.Service
	domains   *domain.Service
	providers *dnsprovider.Service
	owner     *accounttest.Browser
	path      string // of the workspace's connections
	domain    string // id of acme.test
}

// linkKey signs links; making one takes a while.
var linkKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

const (
	// patient is longer than any answer takes on a busy machine; impatient is how long a test waits for one that never comes.
	patient   = time.Minute
	impatient = 20 * time.Millisecond
)

func each(t *testing.T, test func(t *testing.T, h house)) {
	t.Helper()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) { test(t, newHouse(t, h)) })
}

// oneHouse is a house on the embedded engine, for what the database has no part in.
func oneHouse(t *testing.T, options ...func(*dnsprovider.DomainConnect)) house {
	t.Helper()
	return newHouse(t, accounttest.New(t, dbtest.URL(t, "sqlite"), account.Config{}), options...)
}

func newHouse(t *testing.T, base *accounttest.House, options ...func(*dnsprovider.DomainConnect)) house {
	t.Helper()
	h := house{House: base, cloud: newCloudflare(t)}
	h.cloud.set(func(f *fakeCloudflare) {
		f.tokens[goodToken] = "active"
		f.zones = []fakeZone{{ID: zoneID, Name: "acme.test", Status: "active"}}
	})
	h.domains = domain.New(h.World, h.DB, h.Keyring, h.Plans, domain.Hosts{Service: service}, nil, nil)
	h.keys = apikey.New(h.World, h.DB, h.Accounts, h.domains.Exist)
	h.serve(patient, options...)
	h.owner = h.SignUp("olga@acme.test")
	ws := h.owner.Workspace()
	if err := h.Accounts.SetPlan(context.Background(), space.ID(ws), plan.Unlimited); err != nil {
		t.Fatal(err)
	}
	h.path = "/workspaces/" + ws + "/dns-connections"
	h.domain = h.register("acme.test")
	return h
}

// serve opens the front door of the house, with calls to Cloudflare that may take so long.
func (h *house) serve(timeout time.Duration, options ...func(*dnsprovider.DomainConnect)) {
	client := httpout.New(httpout.Config{Policy: httpout.Policy{AnyLoopbackPort: true}, Dialer: &net.Dialer{}, Clock: world.SystemClock{}, Timeout: timeout})
	h.T.Cleanup(client.Close)
	config := dnsprovider.Config{CloudflareURL: h.cloud.url + "/", HTTP: client, DomainConnect: dnsprovider.DomainConnect{ProviderID: service,
		MailService: "mail", InboundService: "inbound", BothService: "mail-and-inbound", KeyHost: "_dck1", PrivateKey: linkKey()}}
	for _, option := range options {
		option(&config.DomainConnect)
	}
	h.providers = dnsprovider.New(h.World, h.DB, h.Keyring, h.Accounts, h.domains, config)
	h.Serve(h.keys, slices.Concat(h.keys.Routes(), h.domains.Routes(), h.providers.Routes())...)
}

func (h house) register(name string) string {
	h.T.Helper()
	return h.owner.Must(201, "POST", "/v1/domains", fields{"domain": name, "dkim_selector": "s1"}).Text("id")
}

func (h house) connect(name, token string) string {
	h.T.Helper()
	return h.owner.Must(201, "POST", h.path, fields{"provider": "cloudflare", "name": name, "api_token": token}).Text("id")
}

func (h house) apply(body fields) accounttest.Answer {
	h.T.Helper()
	return h.owner.Must(200, "POST", "/v1/domains/"+h.domain+"/cloudflare/apply", body)
}

// program is a caller with a key.
func (h house) program(body fields) *accounttest.Browser {
	h.T.Helper()
	body["name"] = "program"
	b := h.Browser()
	b.Header = map[string]string{"Authorization": "Bearer " + h.owner.Must(201, "POST", "/v1/api-keys", body).Text("token")}
	return b
}

// outcomes returns what became of each record, as "TYPE name action", in order; signing keys have their selector cut off.
func outcomes(a accounttest.Answer) []string {
	var list []string
	for _, row := range a.Value("results").([]any) {
		r := row.(fields)
		name := r["name"].(string)
		if _, rest, signing := strings.Cut(name, "._domainkey"); signing {
			name = "_domainkey" + rest
		}
		list = append(list, r["type"].(string)+" "+name+" "+r["action"].(string))
	}
	return slices.Compact(list) // a domain may have several signing keys
}

// because returns why a record was not written.
func because(a accounttest.Answer, kind, name string) string {
	for _, row := range a.Value("results").([]any) {
		if r := row.(fields); r["type"] == kind && r["name"] == name && r["error"] != nil {
			return r["error"].(string)
		}
	}
	return ""
}

func text(s string) *string { return &s }

func number(n int) *int { return &n }
