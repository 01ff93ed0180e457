package domain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/plan"
)

// Registration is a domain as a customer asks for it. Name is a second spelling of domain that SDKs use.
type Registration struct {
	Domain           string `json:"domain" example:"acme.test"`
	Name             string `json:"name"`
	CustomReturnPath string `json:"custom_return_path" doc:"Label of the return path." example:"bounce"`
	TrackingLabel    string `json:"tracking_subdomain" doc:"Label of tracking links." example:"track"`
	Selector         string `json:"dkim_selector" doc:"Selector of the signing key; random if absent."`
	OpenTracking     bool   `json:"open_tracking"`
	ClickTracking    bool   `json:"click_tracking"`
	TLS              string `json:"tls" doc:"opportunistic or enforced." example:"opportunistic"`
	Region           string `json:"region" doc:"A region of sending nodes." example:"default"`
	NodeID           string `json:"sending_node_id" doc:"The node that alone delivers for the domain."`
	DMARCPolicy      string `json:"dmarc_policy" doc:"none, quarantine or reject." example:"none"`
	Provider         string `json:"provider" doc:"inherit, direct, relay or node:<id of a sending node>." example:"inherit"`
	Capabilities     struct {
		Sending   toggle `json:"sending"`
		Receiving toggle `json:"receiving"`
	} `json:"capabilities"`
}

// label is one part of a name, as subdomains and selectors are here.
var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Check names everything that is wrong, and returns the name as it is stored.
func (r Registration) Check() (name string, err error) {
	r, err = r.complete()
	return r.Domain, err
}

// complete fills in defaults and names everything that is wrong.
func (r Registration) complete() (Registration, error) {
	var wrong api.Fields
	name, problem := checkName(cmp.Or(r.Domain, r.Name))
	if problem != "" {
		wrong.Add("domain", problem)
	}
	r.Domain = name
	r.CustomReturnPath = cmp.Or(r.CustomReturnPath, "bounce")
	r.TrackingLabel = cmp.Or(r.TrackingLabel, "track")
	r.TLS = cmp.Or(r.TLS, "opportunistic")
	r.DMARCPolicy = cmp.Or(r.DMARCPolicy, "none")
	r.Region = r.region()
	for field, value := range map[string]string{"custom_return_path": r.CustomReturnPath, "tracking_subdomain": r.TrackingLabel} {
		if !label.MatchString(value) {
			wrong.Add(field, "Must be one label of lower-case letters, digits and hyphens.")
		}
	}
	if r.CustomReturnPath == r.TrackingLabel {
		wrong.Add("tracking_subdomain", "Must differ from custom_return_path.")
	}
	if r.Selector != "" && !label.MatchString(r.Selector) {
		wrong.Add("dkim_selector", "Must be 1 to 63 lower-case letters, digits and hyphens.")
	}
	r.Provider = cmp.Or(r.Provider, "inherit")
	checkOneOf(&wrong, "tls", r.TLS, tlsModes)
	checkOneOf(&wrong, "dmarc_policy", r.DMARCPolicy, dmarcPolicies)
	checkProvider(&wrong, r.Provider)
	if node, named := nodeOf(r.Provider); named && r.NodeID != "" && r.NodeID != node {
		wrong.Add("sending_node_id", contradiction)
	}
	if r.NodeID != "" {
		r.Provider = nodePrefix + r.NodeID
	}
	return r, wrong.Err()
}

// defaultRegion is where nodes are whose operator names no region, be there none yet.
const defaultRegion = "default"

// resendRegions are what programs written for Resend may name; here, that is the installation.
var resendRegions = []string{"us-east-1", "eu-west-1", "sa-east-1", "ap-northeast-1"}

func (r Registration) region() string {
	if r.Region == "" || slices.Contains(resendRegions, r.Region) {
		return defaultRegion
	}
	return r.Region
}

// CheckWay refuses a registration for a node or a region that does not exist.
func (s *Service) CheckWay(tx *db.Tx, ws space.ID, r Registration) error {
	if err := s.checkNode(tx, ws, r.Provider, r.NodeID); err != nil || r.region() == defaultRegion {
		return err
	}
	regions := []string{defaultRegion}
	if s.nodes != nil {
		more, err := s.nodes.Regions(tx)
		if err != nil {
			return err
		}
		regions = append(regions, more...)
	}
	slices.Sort(regions)
	var wrong api.Fields
	checkOneOf(&wrong, "region", r.Region, slices.Compact(regions))
	return wrong.Err()
}

// What some fields may say.
var (
	tlsModes      = []string{"opportunistic", "enforced"}
	dmarcPolicies = []string{"none", "quarantine", "reject"}
	providers     = []string{"inherit", "direct", "relay"}
)

// checkProvider looks at the form only; whether a node exists is asked in the transaction.
func checkProvider(wrong *api.Fields, provider string) {
	if node, named := nodeOf(provider); !slices.Contains(providers, provider) && !(named && api.IsID(node)) {
		wrong.Add("provider", "Must be inherit, direct, relay or node:<id of a sending node>.")
	}
}

// contradiction is said of two fields that name different ways.
const contradiction = "Contradicts provider."

func checkOneOf(wrong *api.Fields, field, value string, allowed []string) {
	if !slices.Contains(allowed, value) {
		wrong.Add(field, "Must be one of "+strings.Join(allowed, ", ")+".")
	}
}

// checkName returns the domain in the form it is stored in, or says what is wrong with it.
func checkName(name string) (ascii, problem string) {
	if strings.TrimSpace(name) == "" {
		return "", "A domain is required."
	}
	ascii, err := address.ParseDomain(name)
	if err != nil {
		return "", fmt.Sprintf("Not a domain name: %s.", strings.TrimSuffix(err.Error(), "."))
	}
	if isSuffix(ascii) {
		return "", "This is a public suffix; register a name below it."
	}
	return ascii, ""
}

// isSuffix tells whether a name is a registry's own, such as co.uk: it belongs to nobody who could publish records for it. Some registries
// have only the names below listed, as in *.sch.uk; a company that gives names away below its own, as in *.example.com, may send mail.
func isSuffix(name string) bool {
	suffix, _ := publicsuffix.PublicSuffix(name)
	below, registry := publicsuffix.PublicSuffix("x." + name)
	return suffix == name || registry && below == "x."+name
}

// Register adds a domain of the workspace's own, if its plan has a slot for it.
func (s *Service) Register(ctx context.Context, ws space.ID, name plan.Name, r Registration) (Domain, error) {
	complete, err := r.complete()
	if err != nil {
		return Domain{}, err
	}
	// A look before the work: making keys for a domain that will be refused would be a cheap way to keep us busy.
	early := Domain{Workspace: ws, Name: complete.Domain}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return errors.Join(s.CheckWay(tx, ws, r), s.checkSlot(tx, name, early), s.checkFree(tx, early))
	})
	if err != nil {
		return Domain{}, err
	}
	d, err := s.Prepare(ws, r)
	if err != nil {
		return Domain{}, err
	}
	// Serializable, because the count of domains is a rule over rows that do not exist yet.
	return d, s.db.WriteSerializable(ctx, func(tx *db.Tx) error {
		if err := s.checkSlot(tx, name, d); err != nil {
			return err
		}
		return s.Add(tx, d)
	})
}

// Prepare checks a registration and makes the signing keys, outside any transaction: that takes a good part of a second.
func (s *Service) Prepare(ws space.ID, r Registration) (Domain, error) {
	r, err := r.complete()
	if err != nil {
		return Domain{}, err
	}
	now := s.world.Clock.Now().Truncate(time.Microsecond)
	d := Domain{
		ID: ID(s.world.NewID()), Workspace: ws, Name: r.Domain, Region: r.Region, Provider: r.Provider, Status: NotStarted,
		SendingEnabled: r.Capabilities.Sending.or(true), ReceivingRequested: r.Capabilities.Receiving.or(false), OpenTracking: r.OpenTracking, ClickTracking: r.ClickTracking,
		TrackingLabel: r.TrackingLabel, ReturnLabel: r.CustomReturnPath, TLS: r.TLS, DMARCPolicy: r.DMARCPolicy, CreatedAt: now, UpdatedAt: now,
		NextCheckAt: now.Add(s.world.Jitter(firstCheck, checkJitter)), Checks: uncheckedAll(),
	}
	if r.Selector == "" {
		r.Selector = s.newSelector("s")
	}
	for _, wanted := range []struct {
		algorithm Algorithm
		selector  string
	}{{RSA, r.Selector}, {Ed25519, s.newSelector("e")}} {
		key, err := s.newKey(d.ID, wanted.algorithm, wanted.selector, Current, now)
		if err != nil {
			return Domain{}, err
		}
		d.Keys = append(d.Keys, key)
	}
	d.Signing = []string{r.Selector}
	return d, nil
}

// checkSlot counts every domain of the workspace's own, verified or not. Domains of managed customers have a quota of their own.
func (s *Service) checkSlot(tx *db.Tx, name plan.Name, d Domain) error {
	p, err := s.plans.Get(name)
	if err != nil {
		return err
	}
	used, err := s.Count(tx, d.Workspace)
	if err != nil {
		return err
	}
	if limit := p.Limits.VerifiedDomains; limit != nil && used >= *limit {
		if _, err := selectByName(tx, d.Workspace, d.Name); err == nil {
			return nil // Add has the better answer: it is here already
		}
		return ErrQuota.With("plan", name).With("limit", *limit).With("used", used)
	}
	return nil
}

// Add stores a prepared domain, unless it is here already or another workspace holds it. Quotas are for the caller to check.
func (s *Service) Add(tx *db.Tx, d Domain) error {
	if err := s.checkFree(tx, d); err != nil {
		return err
	}
	if err := insertDomain(tx, d); err != nil {
		if errors.Is(err, db.ErrUnique) {
			return db.ErrConflict // a twin was faster; the next run finds it
		}
		return err
	}
	if err := insertKeys(tx, d, d.Keys...); err != nil {
		return err
	}
	if err := addTotal(tx, d, 1); err != nil {
		return err
	}
	if err := queue.Add(tx, checkItem(d)); err != nil {
		return err
	}
	return event.Append(tx, s.newEvent(d, "domain.created"))
}

func (s *Service) checkFree(tx *db.Tx, d Domain) error {
	existing, err := selectByName(tx, d.Workspace, d.Name)
	if err == nil {
		return api.ErrAlreadyExists.With("resource", "domain").With("id", existing.ID)
	}
	if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	held, err := heldElsewhere(tx, d.Workspace, d.Name)
	if err == nil && held {
		return ErrTaken
	}
	return err
}

// Remove deletes a domain. Mail from it that waits will fail; who asks for it is for the caller to check.
func (s *Service) Remove(tx *db.Tx, ws space.ID, id ID) error {
	d, err := lockDomain(tx, ws, id)
	if errors.Is(err, db.ErrNotFound) {
		return api.NotFound("domain")
	}
	if err != nil {
		return err
	}
	if err := loadKeys(tx, &d); err != nil {
		return err
	}
	if err := deleteDomain(tx, ws, id); err != nil {
		return err
	}
	if err := addTotal(tx, d, -1); err != nil {
		return err
	}
	if err := queue.Finish(tx, string(id)); err != nil {
		return err
	}
	d.UpdatedAt = tx.Now()
	return event.Append(tx, s.newEvent(d, "domain.deleted"))
}

// Forget makes the next send look the domain up again. Call it when a transaction that removed or changed one has committed.
func (s *Service) Forget(d Domain) {
	s.sending.forget(d.Workspace, d.Name)
	s.forgetReceiving(d.Name)
}

// OfTenant returns the domains of a managed customer, oldest first.
func (s *Service) OfTenant(tx *db.Tx, ws space.ID, tenant string) ([]Domain, error) {
	domains, err := selectOfTenant(tx, ws, tenant)
	if err != nil {
		return nil, err
	}
	return domains, loadAllKeys(tx, domains)
}
