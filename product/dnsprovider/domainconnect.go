package dnsprovider

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"postrider/platform/api"
	"postrider/platform/space"
	"postrider/product/domain"
)

const (
	// linkLife is how long somebody may take to sign in at the provider and agree.
	linkLife = time.Hour
	// linkPurpose keeps states apart from other tokens.
	linkPurpose = "domain-connect"

	cloudflareDomainConnect = "https://dash.cloudflare.com/domainconnect"
)

// errNoTemplate is for the customer; what is missing is the operator's.
var errNoTemplate = ErrNotConnected.Saying("This installation has no Domain Connect template for these records. Publish them by hand.")

// Link leads the owner of a domain to the page of the provider where they agree to its records.
type Link struct {
	URL     string
	Service string
	Records Selection
	// State comes back with the owner; see ReadState.
	State     string
	ExpiresAt time.Time
}

// Link returns a signed link of the synchronous Domain Connect flow.
func (s *Service) Link(ctx context.Context, ws space.ID, id string, selected Selection) (Link, error) {
	d, err := s.domains.Get(ctx, ws, id)
	if err != nil {
		return Link{}, err
	}
	if err := selected.check(); err != nil {
		return Link{}, err
	}
	config := s.config.DomainConnect
	service := config.service(selected)
	if config.ProviderID == "" || config.KeyHost == "" || config.PrivateKey == nil || service == "" {
		return Link{}, errNoTemplate
	}
	zone, err := publicsuffix.EffectiveTLDPlusOne(d.Name)
	if err != nil {
		return Link{}, errNoTemplate.Because(err)
	}
	link := Link{Service: service, Records: selected, ExpiresAt: s.world.Clock.Now().Add(linkLife)}
	link.State = s.keys.Sign(linkPurpose, writeState(state{ws, d.ID}), link.ExpiresAt)
	values := map[string]string{"domain": zone, "state": link.State}
	if host := strings.TrimSuffix(strings.TrimSuffix(d.Name, zone), "."); host != "" {
		values["host"] = host
	}
	if config.RedirectURI != "" {
		values["redirect_uri"] = config.RedirectURI
	}
	if selected.Mail {
		s.addVariables(values, d)
	}
	query, err := config.sign(writeQuery(values))
	if err != nil {
		return Link{}, fmt.Errorf("sign link for %s: %w", d.Name, err)
	}
	link.URL = fmt.Sprintf("%s/v2/domainTemplates/providers/%s/services/%s/apply?%s", cloudflareDomainConnect,
		url.PathEscape(config.ProviderID), url.PathEscape(service), query)
	return link, nil
}

// service returns the id of the template for the selected records, empty if there is none.
func (c DomainConnect) service(selected Selection) string {
	switch selected {
	case Selection{Mail: true, Inbound: true}:
		return c.BothService
	case Selection{Inbound: true}:
		return c.InboundService
	}
	return c.MailService
}

// addVariables adds what the templates for mail are filled in with.
func (s *Service) addVariables(values map[string]string, d domain.Domain) {
	values["dmarcpolicy"], values["returnpath"], values["tracking"] = d.DMARCPolicy, d.ReturnLabel, d.TrackingLabel
	record := s.domains.NewRecord(d)
	values["selector"] = record.Selector
	for _, r := range record.Records {
		if r.Name == record.Selector+"._domainkey."+d.Name {
			_, values["publickey"], _ = strings.Cut(r.Value, "p=")
		}
	}
}

// writeQuery writes a query in the one form that every reader agrees on: sorted by name, escaped as RFC 3986 has it. A provider
// that takes it apart and puts it together again before it checks the signature gets the same bytes.
func writeQuery(values map[string]string) string {
	pairs := make([]string, 0, len(values))
	for name, value := range values {
		pairs = append(pairs, escape(name)+"="+escape(value))
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// sign appends the signature and the place of its key; neither is signed itself (Domain Connect, "Digitally Sign Requests").
func (c DomainConnect) sign(query string) (string, error) {
	digest := sha256.Sum256([]byte(query))
	signature, err := rsa.SignPKCS1v15(nil, c.PrivateKey, crypto.SHA256, digest[:])
	if err != nil {
		return "", err
	}
	return query + "&sig=" + escape(base64.StdEncoding.EncodeToString(signature)) + "&key=" + escape(c.KeyHost), nil
}

// state says what a link was made for.
type state struct {
	Workspace space.ID  `json:"w"`
	Domain    domain.ID `json:"d"`
}

func writeState(of state) []byte {
	raw, err := json.Marshal(of)
	if err != nil {
		panic(fmt.Sprintf("dnsprovider: state: %v", err))
	}
	return raw
}

// ReadState returns the workspace and domain that a link was made for, when its state comes back. A state that is old or not ours
// is a validation error. It proves that the link was ours, not that its reader agreed: only DNS shows that.
func (s *Service) ReadState(text string) (space.ID, domain.ID, error) {
	raw, err := s.keys.Verify(linkPurpose, text, s.world.Clock.Now())
	if err != nil {
		return "", "", api.Invalid("state", "This link has expired or is not valid.")
	}
	var of state
	if err := json.Unmarshal(raw, &of); err != nil {
		return "", "", fmt.Errorf("read state: %w", err)
	}
	return of.Workspace, of.Domain, nil
}
