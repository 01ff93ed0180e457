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
