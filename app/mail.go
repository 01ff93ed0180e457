package app

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listen opens a TCP address; the empty address opens none.
func listen(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	return net.Listen("tcp", address)
}

// doorError says which door could not be opened, and what to do about it.
func doorError(flag, address string, err error) error {
	var reason *net.DNSError
	var malformed *net.AddrError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s %s: another program uses this address; stop it (ss -ltnp shows which) or choose another address for %s", flag, address, flag)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s %s: only privileged programs may use this port; choose one above 1023, or give the program the right: setcap cap_net_bind_service=+ep on it, or AmbientCapabilities=CAP_NET_BIND_SERVICE in its systemd unit", flag, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s %s: this machine does not have the address; use one that ip addr shows, or 0.0.0.0 for all", flag, address)
	case errors.As(err, &malformed):
		return Misconfigured{fmt.Errorf("%s %s: %s; write it as host:port, such as 0.0.0.0:25", flag, address, malformed.Err)}
	case errors.As(err, &reason):
		return fmt.Errorf("%s %s: host or port is not known (%s); use an address of this machine and a number, such as 0.0.0.0:25", flag, address, reason.Err)
	}
	return fmt.Errorf("%s %s: %w", flag, address, err)
}
