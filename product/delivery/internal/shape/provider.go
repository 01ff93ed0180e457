package shape

import (
	_ "embed"
	"maps"
	"slices"
	"time"
)

// Limits are what a path bears. Zero is not set.
type Limits struct {
	Connections              int     `toml:"max_connections" json:"max_connections,omitempty"`
	MessagesPerConnection    int     `toml:"messages_per_connection" json:"messages_per_connection,omitempty"`
	ConnectsPerMinute        float64 `toml:"connects_per_minute" json:"connects_per_minute,omitempty"`
	MessagesPerSecond        float64 `toml:"messages_per_second" json:"messages_per_second,omitempty"`
	RecipientsPerTransaction int     `toml:"recipients_per_transaction" json:"recipients_per_transaction,omitempty"`
}

// or fills what is not set from other.
func (l Limits) or(other Limits) Limits {
	l.Connections = orInt(l.Connections, other.Connections)
	l.MessagesPerConnection = orInt(l.MessagesPerConnection, other.MessagesPerConnection)
	l.ConnectsPerMinute = orFloat(l.ConnectsPerMinute, other.ConnectsPerMinute)
	l.MessagesPerSecond = orFloat(l.MessagesPerSecond, other.MessagesPerSecond)
	l.RecipientsPerTransaction = orInt(l.RecipientsPerTransaction, other.RecipientsPerTransaction)
	return l
}

// atMost returns the smaller of both limits, each.
func (l Limits) atMost(other Limits) Limits {
	l.Connections = smaller(l.Connections, other.Connections)
	l.MessagesPerConnection = smaller(l.MessagesPerConnection, other.MessagesPerConnection)
	l.ConnectsPerMinute = smaller(l.ConnectsPerMinute, other.ConnectsPerMinute)
	l.MessagesPerSecond = smaller(l.MessagesPerSecond, other.MessagesPerSecond)
	l.RecipientsPerTransaction = smaller(l.RecipientsPerTransaction, other.RecipientsPerTransaction)
	return l
}

func orInt(a, b int) int {
	if a != 0 {
		return a
	}
	return b
}

func orFloat(a, b float64) float64 {
	if a != 0 {
		return a
	}
	return b
}

func smaller[N int | float64](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Provider is what is known about who runs servers. The fields are those of the file; a field that a row does not set is that of
// the default row.
type Provider struct {
	Name  string `toml:"name"`
	Title string `toml:"title"` // for people
	// MX are the endings of the names of its servers, Domains the domains whose mailboxes it is known to run.
	MX      []string `toml:"mx"`
	Domains []string `toml:"domains"`
	// OneSite means that each of its servers takes mail for all its domains. Otherwise each set of servers has limits of its own.
	OneSite bool `toml:"one_site"`
	Limits
	// Shared bounds all paths to the provider together.
	Shared SharedLimits `toml:"shared"`
	// TLS is "required" or "opportunistic".
	TLS         string   `toml:"tls"`
	IdleTimeout Duration `toml:"idle_timeout"`
	// A new path starts with few connections and messages each, and doubles both after each DoubleAfter without deferrals.
	StartConnections int      `toml:"start_connections"`
	StartMessages    int      `toml:"start_messages"`
	DoubleAfter      Duration `toml:"double_after"`
	// CircuitAfter is how many connections must fail in a row before the provider is left alone for a while.
	CircuitAfter int    `toml:"circuit_after"`
	Rules        []Rule `toml:"rule"`
}

// TLSRequired tells whether mail must not go to the provider in the clear.
func (p *Provider) TLSRequired() bool { return p.TLS == tlsRequired }

const (
	tlsRequired      = "required"
	tlsOpportunistic = "opportunistic"
)

// inherit fills what a row does not say from the default row. Its rules come before the general ones.
func (p Provider) inherit(standard Provider) Provider {
	p.Limits = p.Limits.or(standard.Limits)
	if p.TLS == "" {
		p.TLS = standard.TLS
	}
	if p.Title == "" {
		p.Title = p.Name
	}
	p.IdleTimeout = Duration(orInt(int(p.IdleTimeout), int(standard.IdleTimeout)))
	p.DoubleAfter = Duration(orInt(int(p.DoubleAfter), int(standard.DoubleAfter)))
	p.StartConnections = orInt(p.StartConnections, standard.StartConnections)
	p.StartMessages = orInt(p.StartMessages, standard.StartMessages)
	p.CircuitAfter = orInt(p.CircuitAfter, standard.CircuitAfter)
	p.Rules = slices.Concat(p.Rules, standard.Rules)
	return p
}

// Duration is a time.Duration that files write as "90s", "15m" or "2h".
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Table is what is known about providers. It does not change.
type Table struct {
	rows     []Provider // as they were read
	base     *Provider  // the default row as it was read, or nil
	standard *Provider
	byName   map[string]*Provider
	bySuffix map[string]string
	byDomain map[string]string
}

//go:embed providers.toml
var shipped string

// Shipped returns the table that comes with the program.
func Shipped() Table {
	table, err := ReadProviders(shipped)
	if err != nil {
		panic("shape: " + err.Error())
	}
	return table
}

// newTable joins rows; what the default row does not say is filled with what no server minds.
func newTable(base *Provider, rows []Provider) Table {
	t := Table{rows: rows, base: base, byName: map[string]*Provider{}, bySuffix: map[string]string{}, byDomain: map[string]string{}}
	var standard Provider
	if base != nil {
		standard = *base
	}
	standard = standard.inherit(Provider{
		Limits: Limits{Connections: 10, MessagesPerConnection: 100, ConnectsPerMinute: 100, MessagesPerSecond: 100, RecipientsPerTransaction: 50},
		TLS:    tlsOpportunistic, IdleTimeout: Duration(time.Minute), DoubleAfter: Duration(15 * time.Minute),
		StartConnections: 2, StartMessages: 20, CircuitAfter: 3,
	})
	standard.Name = "" // it is nobody's row
	t.standard = &standard
	for _, row := range rows {
		full := row.inherit(standard)
		t.byName[row.Name] = &full
		for _, suffix := range row.MX {
			t.bySuffix[suffix] = row.Name
		}
		for _, domain := range row.Domains {
			t.byDomain[domain] = row.Name
		}
	}
	return t
}

// With returns the table with the rows of over in it: a provider of the same name is replaced as a whole, and so is the default
// row, if over has one.
func (t Table) With(over Table) Table {
	base := t.base
	if over.base != nil {
		base = over.base
	}
	rows := slices.DeleteFunc(slices.Clone(t.rows), func(p Provider) bool { return over.byName[p.Name] != nil })
	return newTable(base, append(rows, over.rows...))
}

// Names returns the names of the providers, sorted.
func (t Table) Names() []string { return slices.Sorted(maps.Keys(t.byName)) }
