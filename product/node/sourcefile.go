package node

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"

	"github.com/BurntSushi/toml"

	"postrider/mail/address"
)

const (
	defaultWeight = 10
	maxWeight     = 1_000
	maxSources    = 1_000
	maxCap        = 1_000_000_000
)

var sourceName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,62}$`)

// ReadSources reads an operator's file of sources. Its errors say which row to mend and how.
func ReadSources(path string) (Sources, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Sources{}, fmt.Errorf("--sources: %w", err)
	}
	read, err := parseSources(string(text))
	if err != nil {
		return Sources{}, fmt.Errorf("%s: %w", path, err)
	}
	return read, nil
}

func parseSources(text string) (Sources, error) {
	var file struct {
		Source []Source `toml:"source"`
		Use    []Use    `toml:"use"`
	}
	meta, err := toml.Decode(text, &file)
	var bad toml.ParseError
	if errors.As(err, &bad) {
		return Sources{}, fmt.Errorf("line %d: %s", bad.Position.Line, bad.Message)
	}
	if err != nil {
		return Sources{}, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Sources{}, fmt.Errorf("%q is not a known setting", unknown[0].String())
	}
	if len(file.Source) == 0 || len(file.Source) > maxSources {
		return Sources{}, fmt.Errorf("there must be 1 to %d sources", maxSources)
	}
	names, pools := map[string]bool{}, map[string]bool{}
	for i := range file.Source {
		s := &file.Source[i]
		if !sourceName.MatchString(s.Name) || names[s.Name] {
			return Sources{}, fmt.Errorf("source %d: the name %q must be unique, of lower-case letters, digits, dots and dashes", i+1, s.Name)
		}
		if err := s.complete(); err != nil {
			return Sources{}, fmt.Errorf("source %q: %w", s.Name, err)
		}
		names[s.Name], pools[s.Pool] = true, true
	}
	if !pools[MainPool] {
		return Sources{}, fmt.Errorf("no source is in the pool %q, which takes all mail that no [[use]] row sends elsewhere", MainPool)
	}
	for i, use := range file.Use {
		if err := use.check(pools); err != nil {
			return Sources{}, fmt.Errorf("use %d: %w", i+1, err)
		}
	}
	return Sources{Sources: file.Source, Uses: file.Use}, nil
}

// complete checks a source and fills in what was left out.
func (s *Source) complete() error {
	if s.Pool == "" {
		s.Pool = MainPool
	}
	if s.Weight == 0 {
		s.Weight = defaultWeight
	}
	switch {
	case s.Weight < 0 || s.Weight > maxWeight:
		return fmt.Errorf("weight must be 1 to %d", maxWeight)
	case s.IPv4 != netip.Addr{} && !s.IPv4.Is4():
		return errors.New("ipv4 must be an IPv4 address")
	case s.IPv6 != netip.Addr{} && !s.IPv6.Is6():
		return errors.New("ipv6 must be an IPv6 address")
	}
	if s.Hello != "" {
		if _, err := address.Parse("postmaster@" + s.Hello); err != nil {
			return fmt.Errorf("hello %q must be the name of a host", s.Hello)
		}
	}
	if s.SOCKS5 != "" {
		proxy, err := url.Parse(s.SOCKS5)
		if err != nil || proxy.Scheme != "socks5" || proxy.Port() == "" || proxy.Path != "" {
			return errors.New("socks5 must be like socks5://10.0.0.2:1080 or socks5://name:password@10.0.0.2:1080")
		}
	}
	if s.Warmup != nil {
		if s.Warmup.Started.IsZero() {
			return errors.New("warmup needs the first day, like started = 2026-11-15")
		}
		if slices.ContainsFunc(s.Warmup.Caps, func(most int) bool { return most < 0 || most > maxCap }) {
			return errors.New("caps of a warmup are numbers of messages a day")
		}
	}
	return nil
}

func (u Use) check(pools map[string]bool) error {
	switch {
	case !pools[u.Pool]:
		return fmt.Errorf("no source is in the pool %q", u.Pool)
	case (u.Class == "") == (u.Tenant == ""):
		return errors.New("set either class or tenant")
	case u.Class != "" && !slices.Contains([]string{"transactional", "automation", "broadcast"}, u.Class):
		return fmt.Errorf("class %q must be transactional, automation or broadcast", u.Class)
	}
	return nil
}
