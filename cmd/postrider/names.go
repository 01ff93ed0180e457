package main

import (
	"net"
	"net/url"
	"regexp"
	"strconv"

	"postrider/mail/address"
	"postrider/world"
)

// hostname is what may be in front of customers: labels of letters, digits and hyphens.
var hostname = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// maxHostname is the longest name that DNS has (RFC 1035 §2.3.4).
const maxHostname = 253

const maxPort = 65535

func isHostname(text string) bool {
	return len(text) <= maxHostname && hostname.MatchString(text) && net.ParseIP(text) == nil
}

// isAddress tells whether a URL names a server of the web.
func isAddress(u *url.URL) bool { return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") }

const hostFix = "must be a host name in lower case, such as mail.example.org, without https:// and without a port"

// checkNames finds names that cannot be meant before they get into customers' mail.
func (c serveCommand) checkNames() error {
	if !isHostname(c.Domain) {
		return mistake("domain", c.Domain, hostFix)
	}
	if c.Hello != "" && !isHostname(c.Hello) {
		return mistake("hello", c.Hello, hostFix)
	}
	if c.BaseURL != "" {
		base, err := url.Parse(c.BaseURL)
		if err != nil || !isAddress(base) || base.Path != "" && base.Path != "/" || base.RawQuery != "" || base.Fragment != "" || base.User != nil {
			return mistake("base-url", c.BaseURL, "must be an address without a path, such as https://mail.example.org")
		}
	}
	if len(c.Roles) == 0 {
		return mistake("roles", "", "must name at least one of api, smtp, mx and worker")
	}
	if c.SMTPPort < 1 || c.SMTPPort > maxPort {
		return mistake("smtp-port", strconv.Itoa(c.SMTPPort), "must be a port, such as 25")
	}
	if c.Probe != "" && !isHostname(c.Probe) {
		return mistake("probe", c.Probe, "must be a domain, such as gmail.com")
	}
	for _, zone := range c.Blocklists {
		if !isHostname(zone) {
			return mistake("blocklists", zone, "must be names of DNS zones, such as zen.spamhaus.org")
		}
	}
	for _, host := range c.PrivateHosts {
		if !isHostname(host) && net.ParseIP(host) == nil {
			return mistake("private-hosts", host, "must be host names in lower case or single addresses, such as crm.intranet.example,10.0.0.7, not networks")
		}
	}
	if _, err := address.Parse(c.ACME.Email); c.ACME.Email != "" && err != nil {
		return mistake("acme-email", c.ACME.Email, "must be an address, such as ops@example.org")
	}
	if cloudflare, err := url.Parse(c.CloudflareURL); err != nil || c.CloudflareURL != "" && !isAddress(cloudflare) {
		return mistake("cloudflare-url", c.CloudflareURL, "must be an address such as https://api.cloudflare.com/client/v4")
	}
	if ca, err := url.Parse(c.ACME.CA); err != nil || c.ACME.CA != "" && !isAddress(ca) {
		return mistake("acme-ca", c.ACME.CA, "must be the address of a directory, such as https://acme-v02.api.letsencrypt.org/directory")
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return mistake("tls-cert", c.TLSCert, "goes together with --tls-key; name both files or neither")
	}
	return nil
}

// askAt makes a world ask the name server of --resolver, if it names one.
func askAt(w *world.World, server string) error {
	if server == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(server)
	if number, wrong := strconv.Atoi(port); err != nil || host == "" || wrong != nil || number < 1 || number > maxPort {
		return mistake("resolver", server, "must be host:port, such as 127.0.0.1:53")
	}
	w.Resolver = world.NewResolver([]string{server})
	return nil
}
