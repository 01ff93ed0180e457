package httpout

import (
	"net/http"
	"net/url"
	"strings"
)

// loopHeader tells whose request it is, so that whoever gets it back knows it again (RFC 8586). Those that pass requests on leave it
// as it is, which no other header can be sure of.
const loopHeader = "CDN-Loop"

// SelfOf is the name under which an installation at a URL makes requests.
func SelfOf(baseURL string) string {
	own, err := url.Parse(baseURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(own.Host)
}

// LeadsTo tells whether a URL names the server of an installation. It keeps honest mistakes out; CameBack keeps out the rest.
func LeadsTo(target *url.URL, baseURL string) bool {
	own, err := url.Parse(baseURL)
	return err == nil && own.Host != "" && strings.EqualFold(own.Hostname(), target.Hostname()) && PortOf(own) == PortOf(target)
}

// PortOf is the port that a URL leads to.
func PortOf(u *url.URL) string {
	if u.Port() == "" {
		return map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Port()
}

// CameBack tells whether a request was made under the name of self. A URL cannot tell: any name may lead to us, and any server may
// pass on to us what it gets.
func CameBack(header http.Header, self string) bool {
	if self == "" {
		return false
	}
	for _, line := range header.Values(loopHeader) {
		for member := range strings.SplitSeq(line, ",") {
			if name, _, _ := strings.Cut(member, ";"); strings.EqualFold(strings.TrimSpace(name), self) {
				return true
			}
		}
	}
	return false
}
