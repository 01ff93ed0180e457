package app

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"postrider/product/domain"
)

// acmeProtocol is what an authority asks for that looks at the secure door whether a host is ours (RFC 8737).
const acmeProtocol = "acme-tls/1"

func webTLS(c certificates) *tls.Config {
	return &tls.Config{GetCertificate: c.forWeb, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1", acmeProtocol}}
}

// plainHandler answers at the plain door beside a secure one: authorities and monitors get their answers, everybody else is sent to
// the secure door.
func (s *server) plainHandler() http.Handler {
	mux := http.NewServeMux()
	s.addHealth(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if a, ok := s.certificates.(*authority); ok && a.answersChallenge(w, r) {
			return
		}
		host := hostOnly(r.Host)
		if host == "" {
			http.Error(w, "This address is for encrypted connections: use https.", http.StatusBadRequest)
			return
		}
		http.Redirect(w, r, "https://"+host+s.securePort()+r.URL.RequestURI(), http.StatusPermanentRedirect)
	})
	return mux
}

// hostOnly returns the host of a Host header, or "" if it could not be one.
func hostOnly(header string) string {
	host := header
	if name, _, err := net.SplitHostPort(header); err == nil {
		host = name
	}
	for _, c := range host {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == ':' || c == '[' || c == ']') {
			return ""
		}
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]"
	}
	return host
}

// securePort is what follows the host in addresses of the secure door. The public address knows best, because ports may be mapped.
func (s *server) securePort() string {
	if base, err := url.Parse(s.config.BaseURL); err == nil && base.Scheme == "https" {
		if base.Port() == "" {
			return ""
		}
		return ":" + base.Port()
	}
	return portOf(s.https)
}

func portOf(listener net.Listener) string {
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok && tcp.Port != 443 {
		return fmt.Sprintf(":%d", tcp.Port)
	}
	return ""
}

// policyHosts are where other servers look for our MTA-STS policies (RFC 8461): those of the domains that we take mail for ourselves.
func policyHosts(hosts domain.Hosts) []string {
	return []string{"mta-sts." + hosts.Service, "mta-sts." + hosts.Bounces()}
}

// policyAge is how long others may believe the policy, in seconds: a week, so that a mistake does not last.
const policyAge = 7 * 24 * 60 * 60

// withPolicy answers with the MTA-STS policy on the hosts for it, and lets next answer the rest. It is served only by an installation
// whose mail doors have certificates from an authority: others would be kept from mailing us.
func (s *server) withPolicy(next http.Handler) http.Handler {
	if _, ok := s.certificates.(*authority); !ok {
		return next
	}
	hosts := domain.Hosts{Service: s.config.ServiceDomain}
	policy := "version: STSv1\r\nmode: enforce\r\n"
	for _, mx := range hosts.MX() {
		policy += "mx: " + mx + "\r\n"
	}
	policy += fmt.Sprintf("max_age: %d\r\n", policyAge)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/mta-sts.txt" || !slices.Contains(policyHosts(hosts), hostOnly(r.Host)) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=us-ascii")
		_, _ = w.Write([]byte(policy)) // the reader may have gone
	})
}

// stickSecure is how long browsers may remember that the host is reached encrypted only, in seconds: half a year.
const stickSecure = 180 * 24 * 60 * 60

// withSecurity tells browsers to come encrypted next time. It says nothing of hosts below, which are not all ours, and nothing on a
// laptop, where other programs answer under the same name.
func (s *server) withSecurity(next http.Handler) http.Handler {
	if s.config.Dev != nil {
		return next
	}
	value := fmt.Sprintf("max-age=%d", stickSecure)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", value)
		next.ServeHTTP(w, r)
	})
}
