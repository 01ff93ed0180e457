package world

import "net/netip"

// dockerForwarder is a loopback address that vouches for nothing: it passes on what a server far away has said.
var dockerForwarder = netip.MustParseAddr("127.0.0.11")

// NewTrustedResolver returns a resolver that believes every one of the given servers when it says that an answer is authentic.
// The caller vouches that the servers validate DNSSEC and that nobody can change an answer on its way from them.
func NewTrustedResolver(servers []string) Resolver {
	return &resolver{servers: servers, vouches: func(string) bool { return true }}
}

// vouchesLocally tells whether a server on this machine says so. The bit that marks an answer as authentic is not signed, so on a
// network anybody on the path could set it and forge the certificate a mail server is known by.
func vouchesLocally(server string) bool {
	at, err := netip.ParseAddrPort(server)
	return err == nil && at.Addr().Unmap().IsLoopback() && at.Addr().Unmap() != dockerForwarder
}
