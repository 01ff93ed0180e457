package domain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
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
