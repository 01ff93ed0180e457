package sandbox

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// localNames are ends of names that nobody can register.
var localNames = []string{".localhost", ".test", ".internal"}

// onlyAtHome refuses requests for names of the public internet. Whoever owns one can point it at this machine, and to a browser a page of
// that name is then of the same origin as these doors.
func (s *Sandbox) onlyAtHome(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host) {
			s.refuse(w, http.StatusMisdirectedRequest, "The sandbox has no lock, so it answers only at an address or a local name of this machine, such as 127.0.0.1 or localhost.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLocal tells whether a host, with or without a port, is an address, a name of one label or one that nobody can register.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || !strings.Contains(host, ".") {
		return true
	}
	for _, end := range localNames {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}
