package domain

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"postrider/mail/spf"
	"postrider/platform/api"
)

// Record is a domain on the wire.
type Record struct {
	Object          string         `json:"object" example:"domain"`
	ID              ID             `json:"id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	Domain          string         `json:"domain" example:"acme.test"`
	Name            string         `json:"name" example:"acme.test"`
	Verified        bool           `json:"verified" example:"false"`
	Status          Status         `json:"status" example:"not_started"`
	TenantID        api.Ref        `json:"managed_tenant_id"`
	Region          string         `json:"region" example:"default"`
	Capabilities    capabilities   `json:"capabilities"`
	ReceivingWanted bool           `json:"receiving_requested" example:"false"`
	OpenTracking    bool           `json:"open_tracking" example:"false"`
	ClickTracking   bool           `json:"click_tracking" example:"false"`
	TrackingLabel   string         `json:"tracking_subdomain" example:"track"`
	ReturnPath      string         `json:"custom_return_path" example:"bounce"`
	TLS             string         `json:"tls" example:"opportunistic"`
	Selector        string         `json:"dkim_selector" example:"s7k2m9qx4"`
	KeyBits         int            `json:"dkim_key_bits" example:"2048"`
	NodeID          api.Ref        `json:"sending_node_id"`
	Provider        string         `json:"provider" example:"inherit"`
	DNSProvider     api.Ref        `json:"dns_provider"`
	Records         []DNSRecord    `json:"records"`
	Checks          map[string]any `json:"checks" example:"{\"spf\":{\"status\":\"not_checked\",\"message\":null}}"`
	CreatedAt       api.Time       `json:"created_at"`
	UpdatedAt       api.Time       `json:"updated_at"`
	LastCheckedAt   api.Time       `json:"last_checked_at"`
	VerifiedAt      api.Time       `json:"verified_at"`
	NextCheckAt     api.Time       `json:"next_check_at"`
}

type capabilities struct {
	Sending   string `json:"sending" example:"enabled"`
	Receiving string `json:"receiving" example:"disabled"`
}

// DNSRecord is a record the owner of a domain has to publish.
type DNSRecord struct {
	Record   string   `json:"record" example:"SPF"`
	Purpose  string   `json:"purpose" example:"spf"`
	Type     string   `json:"type" example:"TXT"`
	Name     string   `json:"name" example:"acme.test"`
	Host     string   `json:"host" example:"@"`
	Value    string   `json:"value" example:"v=spf1 include:spf.mail.example.org ~all"`
	Priority *int     `json:"priority,omitempty"`
	TTL      string   `json:"ttl" example:"Auto"`
	Status   string   `json:"status" example:"pending"`
	Required bool     `json:"required" example:"true"`
	Found    []string `json:"found,omitzero"`
	Message  api.Ref  `json:"message" example:"No SPF record found."`
}

// records returns what has to be published, with what was found of it.
func (s *Service) records(d Domain) []DNSRecord {
	list := []DNSRecord{s.spfRecord(d)}
	for _, key := range d.Keys {
		list = append(list, keyRecord(d, key))
	}
	list = append(list,
		record("DMARC", "dmarc", "TXT", "_dmarc."+d.Name, fmt.Sprintf("v=DMARC1; p=%s; rua=mailto:dmarc@%s", d.DMARCPolicy, s.hosts.Service), d.Checks.DMARC),
		record("Return-Path", "return_path", "CNAME", d.ReturnHost(), s.hosts.Bounces(), d.Checks.ReturnPath),
		record("Tracking", "tracking", "CNAME", d.TrackingLabel+"."+d.Name, s.hosts.Tracking(), d.Checks.Tracking))
	for i, host := range s.hosts.MX() {
		receiving := record("Receiving", "receiving", "MX", d.Name, host, d.Checks.MX)
		priority := 10 * (i + 1)
		receiving.Priority, receiving.Required = &priority, d.ReceivingRequested && i == 0
		list = append(list, receiving)
	}
	for i := range list {
		list[i].Host = relativeHost(list[i].Name)
	}
	return list
}

// spfRecord asks for the policy the domain has, with ours added: a second record would make receivers use none.
func (s *Service) spfRecord(d Domain) DNSRecord {
	value := "v=spf1 include:" + s.hosts.SPF() + " ~all"
	if len(d.Checks.SPF.Found) > 0 {
		value = d.Checks.SPF.Found[0]
		if d.Checks.SPF.Status != CheckPass {
			value, _ = spf.Merge(value, s.hosts.SPF())
		}
	}
	r := record("SPF", "spf", "TXT", d.Name, value, d.Checks.SPF)
	r.Required = true
	return r
}

func keyRecord(d Domain, key Key) DNSRecord {
	check := d.Checks.key(key.Selector)
	r := record("DKIM", "dkim", "TXT", key.Selector+"._domainkey."+d.Name, key.PublicRecord, check)
	r.Required = key.Algorithm == RSA && key.Role == Current
	switch {
	case key.Role == Next && check.Status != CheckPass:
		r.Message = "The next key: it takes over signing as soon as this record is published."
	case key.Role == Old:
		r.Message = api.Ref("The key before: keep this record until " + key.RoleSince.Add(oldKeyFor).UTC().Format("2006-01-02") + ", mail it signed is still on its way.")
	case key.Algorithm == Ed25519 && check.Status != CheckPass:
		r.Message = "Optional: a second, smaller signature for receivers that know it."
	}
	return r
}

func record(title, purpose, kind, name, value string, check Check) DNSRecord {
	r := DNSRecord{Record: title, Purpose: purpose, Type: kind, Name: name, Value: value, TTL: "Auto", Found: check.Found, Message: api.Ref(check.Message)}
	if r.Found == nil {
		r.Found = []string{}
	}
	switch check.Status {
	case CheckPass:
		r.Status = "verified"
	case CheckNotChecked:
		r.Status = "not_started"
	case CheckDNSError:
		r.Status = "temporary_failure"
	case CheckMissing:
		r.Status = "pending"
	default:
		r.Status = "failed"
	}
	return r
}

// relativeHost is the name as a form of the registrar wants it: without the zone, @ for the zone itself.
func relativeHost(name string) string {
	zone, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	if name == zone {
		return "@"
	}
	return strings.TrimSuffix(name, "."+zone)
}

// place is where a page after the domain begins.
func (r Record) place() api.Cursor { return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)} }

// NewRecord returns a domain as it is shown to its workspace.
func (s *Service) NewRecord(d Domain) Record {
	checks := map[string]any{}
	for name, check := range map[string]Check{"spf": d.Checks.SPF, "dkim": d.Checks.DKIM, "dmarc": d.Checks.DMARC,
		"return_path": d.Checks.ReturnPath, "tracking": d.Checks.Tracking, "mx": d.Checks.MX} {
		checks[name] = map[string]any{"status": check.Status, "message": api.Ref(check.Message)}
	}
	return Record{
		Object: "domain", ID: d.ID, Domain: d.Name, Name: d.Name, Verified: d.Verified, Status: d.Status, TenantID: api.Ref(d.TenantID), Region: d.Region,
		Capabilities: capabilities{enabled(d.SendingEnabled), enabled(d.Receiving)}, ReceivingWanted: d.ReceivingRequested, OpenTracking: d.OpenTracking, ClickTracking: d.ClickTracking,
		TrackingLabel: d.TrackingLabel, ReturnPath: d.ReturnLabel, TLS: d.TLS, Selector: d.selector(), KeyBits: 2048, NodeID: api.Ref(d.node()), Provider: d.Provider,
		Records: s.records(d), Checks: checks, CreatedAt: api.Time(d.CreatedAt), UpdatedAt: api.Time(d.UpdatedAt),
		LastCheckedAt: api.Time(d.LastCheckedAt), VerifiedAt: api.Time(d.VerifiedAt), NextCheckAt: api.Time(d.NextCheckAt),
	}
}

// newRow returns a domain as it is listed: without what was found of its records.
func (s *Service) newRow(d Domain) Record {
	r := s.NewRecord(d)
	for i := range r.Records {
		r.Records[i].Found = nil
	}
	return r
}

func enabled(on bool) string {
	if on {
		return "enabled"
	}
	return "disabled"
}
