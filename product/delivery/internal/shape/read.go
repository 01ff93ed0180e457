package shape

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

const (
	// maxProviderFile bounds the file; the shipped one has a hundredth of it.
	maxProviderFile = 1 << 20
	// maxLimit is more than any server was seen to bear; beyond it a figure is a slip of the pen.
	maxLimit = 100_000
)

var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// ReadProviders reads a file of providers. Its errors say which row to mend and how.
func ReadProviders(text string) (Table, error) {
	if len(text) > maxProviderFile {
		return Table{}, fmt.Errorf("providers: the file is larger than %d bytes", maxProviderFile)
	}
	var file struct {
		Default  *Provider  `toml:"default"`
		Provider []Provider `toml:"provider"`
	}
	meta, err := toml.Decode(text, &file)
	var bad toml.ParseError
	if errors.As(err, &bad) {
		return Table{}, fmt.Errorf("providers: line %d: %s", bad.Position.Line, bad.Message)
	}
	if err != nil {
		return Table{}, fmt.Errorf("providers: %w", err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Table{}, fmt.Errorf("providers: %q is not a known setting; look at the shipped file for those that are", unknown[0].String())
	}
	if file.Default != nil {
		if err := file.Default.check(); err != nil {
			return Table{}, fmt.Errorf("providers: default: %w", err)
		}
	}
	names, suffixes := map[string]bool{}, map[string]string{}
	for i := range file.Provider {
		p := &file.Provider[i]
		if !providerName.MatchString(p.Name) || names[p.Name] {
			return Table{}, fmt.Errorf("providers: provider %d: the name %q must be unique, of lower-case letters, digits and dashes", i+1, p.Name)
		}
		names[p.Name] = true
		if err := p.claim(suffixes); err != nil {
			return Table{}, fmt.Errorf("providers: provider %q: %w", p.Name, err)
		}
		if err := p.check(); err != nil {
			return Table{}, fmt.Errorf("providers: provider %q: %w", p.Name, err)
		}
	}
	return newTable(file.Default, file.Provider), nil
}

// claim notes the names of servers and domains, which no two providers may share.
func (p *Provider) claim(taken map[string]string) error {
	if len(p.MX) == 0 {
		return errors.New("mx must name at least one ending of its servers' names")
	}
	claims := func(kind string, names []string) error {
		for i, name := range names {
			name = canonicalHost(strings.TrimPrefix(name, "."))
			if name == "." {
				return fmt.Errorf("%s has an empty name", kind)
			}
			if owner, ok := taken[kind+" "+name]; ok {
				return fmt.Errorf("%s %q belongs to provider %q already", kind, name, owner)
			}
			taken[kind+" "+name], names[i] = p.Name, name
		}
		return nil
	}
	return errors.Join(claims("mx", p.MX), claims("domain", p.Domains))
}

func (p *Provider) check() error {
	if p.TLS != "" && p.TLS != tlsRequired && p.TLS != tlsOpportunistic {
		return fmt.Errorf("tls must be %q or %q, not %q", tlsRequired, tlsOpportunistic, p.TLS)
	}
	if p.IdleTimeout < 0 || p.DoubleAfter < 0 {
		return errors.New("idle_timeout and double_after must not be negative")
	}
	if err := errors.Join(inRange("start_connections", float64(p.StartConnections)), inRange("start_messages", float64(p.StartMessages)),
		inRange("circuit_after", float64(p.CircuitAfter))); err != nil {
		return err
	}
	if err := errors.Join(p.Limits.check(), p.Shared.check()); err != nil {
		return err
	}
	for i := range p.Rules {
		if err := p.Rules[i].compile(); err != nil {
			return fmt.Errorf("rule %d (%s): %w", i+1, p.Rules[i].Name, err)
		}
	}
	return nil
}

func (l Limits) check() error {
	return errors.Join(inRange("max_connections", float64(l.Connections)), inRange("messages_per_connection", float64(l.MessagesPerConnection)),
		inRange("connects_per_minute", l.ConnectsPerMinute), inRange("messages_per_second", l.MessagesPerSecond),
		inRange("recipients_per_transaction", float64(l.RecipientsPerTransaction)))
}

func (l SharedLimits) check() error {
	return errors.Join(inRange("shared.max_connections", float64(l.Connections)), inRange("shared.connects_per_minute", l.ConnectsPerMinute),
		inRange("shared.messages_per_second", l.MessagesPerSecond))
}

func inRange(name string, value float64) error {
	if !(value >= 0 && value <= maxLimit) {
		return fmt.Errorf("%s must be between 0 and %d; it is %v", name, maxLimit, value)
	}
	return nil
}

// compile checks a rule and prepares its expression.
func (r *Rule) compile() error {
	switch r.Action {
	case SuspendPath, SuspendTenant, QuarantineSource:
	case SlowPath:
		if r.Limits == (Limits{}) {
			return errors.New("slow_path needs a limit, such as messages_per_second")
		}
	default:
		return fmt.Errorf("action must be %s, %s, %s or %s, not %q", SuspendPath, SlowPath, SuspendTenant, QuarantineSource, r.Action)
	}
	if r.Says == "" && r.Code == 0 && r.Enhanced == "" && r.Category == "" {
		return errors.New("it must name what it fits: says, code, enhanced or category")
	}
	if r.For <= 0 {
		return errors.New("for must say how long, such as \"15m\"")
	}
	if r.After > 1 && r.Within <= 0 {
		return errors.New("after needs within, such as \"10m\"")
	}
	if r.Says != "" {
		compiled, err := regexp.Compile("(?is)" + r.Says)
		if err != nil {
			return fmt.Errorf("says: %w", err)
		}
		r.says = compiled
	}
	return r.Limits.check()
}
