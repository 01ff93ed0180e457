package tenant_test

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/account/accounttest"
	"postrider/product/apikey"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/product/tenant"
	"postrider/world"
)

// fields are parts of a request or an answer, by their name on the wire.
type fields = map[string]any

const (
	nobody = "00000000-0000-7000-8000-000000000000"
	// ownNode is a sending node of every workspace.
	ownNode = "0193a1f0-0000-7000-8000-0000000000e1"
)

// house is an installation with managed customers.
type house struct {
	*accounttest.House
	keys    *apikey.Service
	domains *domain.Service
	tenants *tenant.Service
	chance  *chance
}

// each runs test in an installation on every engine at hand.
func each(t *testing.T, test func(t *testing.T, h house)) {
	t.Helper()
	accounttest.Each(t, account.Config{SignUpPlan: plan.Pro}, func(t *testing.T, h *accounttest.House) { test(t, newHouse(h)) })
}

func newHouse(h *accounttest.House) house {
	w := h.World
	in := house{House: h, chance: &chance{Reader: w.Random}}
	w.Resolver, w.Random = emptyDNS{}, in.chance
	in.domains = domain.New(w, h.DB, h.Keyring, h.Plans, domain.Hosts{Service: "mail.postrider.test"}, nil, nil)
	in.keys = apikey.New(w, h.DB, h.Accounts, in.domains.Exist)
	in.tenants = tenant.New(w, h.DB, h.Plans, in.domains, func(_ *db.Tx, _ space.ID, id string) (bool, error) { return id == ownNode, nil })
	routes := append(in.keys.Routes(), in.tenants.Routes()...)
	h.Serve(in.keys, append(routes, in.domains.Routes()...)...)
	return in
}

// chance lets something happen before it is next asked, which for a new domain is when its keys are made.
type chance struct {
	io.Reader
	first func()
}

// Read lets it happen, once.
func (c *chance) Read(p []byte) (int, error) {
	if happen := c.first; happen != nil {
		c.first = nil
		happen()
	}
	return c.Reader.Read(p)
}

// emptyDNS knows no names.
type emptyDNS struct{}

func (emptyDNS) MX(context.Context, string) ([]world.MX, world.Answer, error) {
	return nil, world.Answer{}, world.ErrNoName
}

func (emptyDNS) TXT(context.Context, string) ([]string, world.Answer, error) {
	return nil, world.Answer{}, world.ErrNoName
}

func (emptyDNS) IP(context.Context, string) ([]netip.Addr, world.Answer, error) {
	return nil, world.Answer{}, world.ErrNoName
}

func (emptyDNS) CNAME(context.Context, string) (string, world.Answer, error) {
	return "", world.Answer{}, world.ErrNoName
}

func (emptyDNS) PTR(context.Context, netip.Addr) ([]string, world.Answer, error) {
	return nil, world.Answer{}, world.ErrNoName
}

// platform is a workspace on the plan Pro: a program with a key for customers, and its owner at the dashboard.
type platform struct {
	*accounttest.Browser
	owner     *accounttest.Browser
	workspace space.ID
	house     house
}

func (h house) platform(name string) platform {
	h.T.Helper()
	owner := h.SignUp(name + "@owner.test")
	p := platform{owner: owner, workspace: space.ID(owner.Workspace()), house: h}
	p.Browser = p.program(apikey.NewKey{Preset: apikey.CustomerPlatform})
	return p
}

// program returns a caller with a new key of the platform.
func (p platform) program(key apikey.NewKey) *accounttest.Browser {
	p.house.T.Helper()
	key.Workspace, key.Name = p.workspace, "Program"
	_, token, err := p.house.keys.Create(context.Background(), key)
	if err != nil {
		p.house.T.Fatal(err)
	}
	b := p.house.Browser()
	b.Header = map[string]string{"Authorization": "Bearer " + token}
	return b
}

// customer makes a customer and returns its id.
func (p platform) customer(external string) string {
	p.house.T.Helper()
	return p.Must(201, "POST", "/v1/managed-tenants", fields{"external_id": external, "name": "Shop " + external}).Text("id")
}

// domain adds a domain to a customer and returns its id.
func (p platform) domain(id, name string) string {
	p.house.T.Helper()
	return p.Must(201, "POST", at(id)+"/domains", fields{"domain": name}).Text("id")
}

func at(id string) string { return "/v1/managed-tenants/" + id }

// setPlan moves the platform to another plan.
func (p platform) setPlan(name plan.Name) {
	p.house.T.Helper()
	if err := p.house.Accounts.SetPlan(context.Background(), p.workspace, name); err != nil {
		p.house.T.Fatal(err)
	}
}

// news returns the types of the events about a customer, in order, without their common beginning.
func (p platform) news(id string) string {
	p.house.T.Helper()
	var types []string
	for _, e := range p.events(id) {
		types = append(types, strings.TrimPrefix(e.Type, "managed_tenant."))
	}
	return strings.Join(types, " ")
}

func (p platform) events(id string) (events []event.Event) {
	p.house.T.Helper()
	p.house.read(func(tx *db.Tx) (err error) {
		events, err = event.OfSubject(tx, p.workspace, id, "", 100, 0)
		return err
	})
	return events
}

func (h house) read(fn func(*db.Tx) error) {
	h.T.Helper()
	if err := h.DB.Read(context.Background(), fn); err != nil {
		h.T.Fatal(err)
	}
}

func (h house) write(fn func(*db.Tx) error) {
	h.T.Helper()
	if err := h.DB.Write(context.Background(), fn); err != nil {
		h.T.Fatal(err)
	}
}

// atOnce makes n requests in parallel and returns the answers.
func atOnce(n int, request func(i int) accounttest.Answer) []accounttest.Answer {
	answers := make([]accounttest.Answer, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i] = request(i) })
	}
	all.Wait()
	return answers
}

// problem returns what a validation error says of a field.
func problem(answer accounttest.Answer, field string) string {
	named, _ := answer.Value("error.details.fieldErrors").(fields)
	list, _ := named[field].([]any)
	texts := make([]string, len(list))
	for i, text := range list {
		texts[i] = fmt.Sprint(text)
	}
	return strings.Join(texts, " ")
}
