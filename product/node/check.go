package node

import (
	"context"
	"crypto/x509"
	"net/netip"
	"slices"
	"time"

	"postrider/mail/standing"
	"postrider/platform/api"
	"postrider/platform/db"
)

const (
	// checkEvery is how often a node looks at how it stands. Blocklists ask not to be asked much more often.
	checkEvery = 30 * time.Minute
	// maxFindings bounds what is kept of one look; what is bad comes first.
	maxFindings = 200
)

// Checks says what a node looks at besides names and addresses.
type Checks struct {
	// Blocklists are asked about our addresses.
	Blocklists []string
	// Probe is a domain whose mail server is called on Port, to see whether mail gets out; empty calls none.
	Probe string
	Port  int
	// Certificate returns the one that the mail ports show now, nil if they have none yet. No function means self-signed.
	Certificate func() *x509.Certificate
	// Clock compares the clock with that of a database that others share. It is off where a test moves the clock.
	Clock bool
}

// Standing is how the addresses of a node stand with receivers.
type Standing struct {
	CheckedAt time.Time          `json:"checked_at"`
	Findings  []standing.Finding `json:"findings"`
}

// check looks at this node from outside, and keeps what it has found. The network is asked outside any transaction.
func (s *Service) check(ctx context.Context) error {
	if err := s.say(ctx); err != nil { // there must be a row to keep it in
		return err
	}
	found := s.examine(ctx)
	if ctx.Err() != nil {
		return ctx.Err() // half of a look would say that the rest is well
	}
	look := Standing{CheckedAt: s.world.Clock.Now().UTC().Truncate(time.Millisecond), Findings: worstFirst(found)}
	for _, f := range look.Findings {
		if f.Status == standing.Fail {
			s.world.Log.Warn("mail may not arrive", "check", f.Check, "finding", f.Message, "mend", f.Mend)
		}
	}
	return s.db.Write(ctx, func(tx *db.Tx) error { return updateStanding(tx, s.config.ID, look) })
}

func worstFirst(found []standing.Finding) []standing.Finding {
	slices.SortStableFunc(found, func(a, b standing.Finding) int { return severity[b.Status] - severity[a.Status] })
	return found[:min(len(found), maxFindings)]
}

var severity = map[standing.Status]int{standing.Good: 0, standing.Warn: 1, standing.Fail: 2}

// seen is an address as receivers see it, and the name it greets them with.
type seen struct {
	addr  netip.Addr
	hello string
}

func (s *Service) examine(ctx context.Context) []standing.Finding {
	names, found := s.world.Resolver, []standing.Finding{}
	list := s.addresses()
	if len(list) == 0 {
		addrs, finding := standing.Name(ctx, names, s.config.Hostname)
		found = append(found, finding)
		for _, addr := range addrs {
			list = append(list, seen{addr, s.config.Hostname})
		}
	}
	var addrs []netip.Addr
	for _, one := range list {
		addrs = append(addrs, one.addr)
		found = append(found, standing.Reverse(ctx, names, one.addr, one.hello))
	}
	found = append(found, standing.SPF(ctx, names, s.config.SPF, addrs))
	for _, addr := range addrs {
		for _, blocklist := range s.config.Checks.Blocklists {
			if standing.Public(addr) {
				found = append(found, standing.Blocklist(ctx, names, blocklist, addr))
			}
		}
	}
	if s.config.Checks.Clock && s.db.Shared() {
		found = append(found, s.reading().finding())
	}
	if s.config.Checks.Probe != "" {
		found = append(found, standing.Port(ctx, s.world, standing.Probe{Domain: s.config.Checks.Probe, Port: s.config.Checks.Port, Hello: s.config.Hostname}))
	}
	if s.config.Checks.Certificate == nil {
		return append(found, standing.Certificate("", s.config.MX, s.world.Clock.Now()))
	}
	return append(found, standing.CertificateInUse(s.config.Checks.Certificate(), s.config.MX, s.world.Clock.Now()))
}

// addresses are those that the operator has named, each once.
func (s *Service) addresses() []seen {
	var list []seen
	for _, source := range s.config.Sources {
		hello := source.Hello
		if hello == "" {
			hello = s.config.Hostname
		}
		for _, addr := range []netip.Addr{source.IPv4, source.IPv6} {
			if addr.IsValid() && !slices.ContainsFunc(list, func(known seen) bool { return known.addr == addr }) {
				list = append(list, seen{addr, hello})
			}
		}
	}
	return list
}

// reverse sums up the reverse names of all addresses: the worst of them is told.
func (l Standing) reverse() reverse {
	told := reverse{Status: "not_checked"}
	worst := -1
	for _, f := range l.Findings {
		if f.Check == "reverse name" && severity[f.Status] > worst {
			worst = severity[f.Status]
			told = reverse{Status: map[standing.Status]string{standing.Good: "pass", standing.Warn: "warning", standing.Fail: "fail"}[f.Status], PTR: api.Ref(f.Found)}
		}
	}
	return told
}

// blocklists are those that warn of an address of the node.
func (l Standing) blocklists() []string {
	lists := []string{}
	for _, f := range l.Findings {
		if f.Check == standing.ListedBy && f.Status == standing.Fail && !slices.Contains(lists, f.Found) {
			lists = append(lists, f.Found)
		}
	}
	slices.Sort(lists)
	return lists
}

// Findings returns what the live nodes have found out about themselves, the worst first.
func (s *Service) Findings(tx *db.Tx) ([]standing.Finding, error) {
	nodes, err := selectNodes(tx, maxPage, 0)
	if err != nil {
		return nil, err
	}
	var all []standing.Finding
	for _, n := range nodes {
		if !n.Gone(tx.Now()) {
			all = append(all, n.Standing.Findings...)
		}
	}
	slices.SortStableFunc(all, func(a, b standing.Finding) int { return severity[b.Status] - severity[a.Status] })
	return all, nil
}
