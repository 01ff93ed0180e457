package node

import (
	"net/netip"
	"time"
)

// MainPool is where mail leaves from if nothing else is said.
const MainPool = "main"

// Source is a way in which mail leaves a node: from an address of the machine, or through a proxy that has one.
type Source struct {
	Name string `json:"name" toml:"name"`
	// Pool names the sources that stand in for each other.
	Pool string `json:"pool" toml:"pool"`
	// IPv4 and IPv6 are bound; without either the operating system chooses. Through a proxy they only say what others see.
	IPv4 netip.Addr `json:"ipv4" toml:"ipv4"`
	IPv6 netip.Addr `json:"ipv6" toml:"ipv6"`
	// Hello is the name given to other servers, which should resolve to the address and back.
	Hello string `json:"hello" toml:"hello"`
	// SOCKS5 is a proxy to connect through, such as socks5://name:password@10.0.0.2:1080. It may hold a password and is told to
	// nobody.
	SOCKS5 string `json:"-" toml:"socks5"`
	// Weight is its share of the mail of its pool.
	Weight int     `json:"weight" toml:"weight"`
	Warmup *Warmup `json:"warmup" toml:"warmup"`
}

// Warmup lets servers get used to a new address: a little mail on the first day, more on each that follows.
type Warmup struct {
	// Started is the first day.
	Started time.Time `json:"started" toml:"started"`
	// Caps are how much may be sent on each day; after the last there is no bound. None means the usual ones.
	Caps []int `json:"caps" toml:"caps"`
}

// usualCaps double from day to day, as mailbox providers advise, until no provider would notice the source any more.
var usualCaps = []int{50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 100_000, 200_000, 400_000}

// Cap returns which day of its warm-up a source has, from 1 on, and how much may be sent on it. ok is false if there is no bound.
func (s Source) Cap(now time.Time) (day, most int, ok bool) {
	if s.Warmup == nil {
		return 0, 0, false
	}
	caps := s.Warmup.Caps
	if len(caps) == 0 {
		caps = usualCaps
	}
	began := s.Warmup.Started
	passed := now.UTC().Sub(time.Date(began.Year(), began.Month(), began.Day(), 0, 0, 0, 0, time.UTC))
	day = int(passed/(24*time.Hour)) + 1
	switch {
	case passed < 0: // it begins later
		return 0, 0, true
	case day > len(caps):
		return 0, 0, false
	}
	return day, caps[day-1], true
}

// Use sends certain mail through a pool.
type Use struct {
	Pool string `toml:"pool"`
	// Class is transactional, automation or broadcast; Tenant a workspace or managed customer, which goes before the class. One of
	// them is set.
	Class  string `toml:"class"`
	Tenant string `toml:"tenant"`
}

// Sources is all that a node sends from.
type Sources struct {
	Sources []Source
	Uses    []Use
}

// PoolOf returns where mail of a tenant and class leaves from.
func (s Sources) PoolOf(tenant, class string) string {
	pool := MainPool
	for _, use := range s.Uses {
		switch {
		case use.Tenant != "" && use.Tenant == tenant:
			return use.Pool
		case use.Class != "" && use.Class == class:
			pool = use.Pool
		}
	}
	return pool
}
