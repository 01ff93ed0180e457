package shape

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"postrider/mail/report"
)

// Action is what a rule does.
type Action string

// What rules do.
const (
	SuspendPath      Action = "suspend_path"
	SlowPath         Action = "slow_path"
	SuspendTenant    Action = "suspend_tenant"
	QuarantineSource Action = "quarantine_source"
)

// Rule says what follows from a reply. Everything that it names must fit.
type Rule struct {
	Name     string          `toml:"name"`
	Says     string          `toml:"says"`
	Code     int             `toml:"code"`
	Enhanced string          `toml:"enhanced"`
	Category report.Category `toml:"category"`

	Action Action   `toml:"action"`
	For    Duration `toml:"for"`
	// The rule acts on the After-th reply that fits Within; zero is the first.
	After  int      `toml:"after"`
	Within Duration `toml:"within"`
	// Limits are those of a slowed path.
	Limits

	says *regexp.Regexp
}

// Speaker tells who said a reply. What we say to ourselves teaches nothing about the other side.
type Speaker uint8

// Who may have said a reply.
const (
	Ourselves Speaker = iota
	TheServer
)

// Reply is the answer about one recipient, or to one command that was meant for all.
type Reply struct {
	Speaker  Speaker
	Code     int
	Enhanced string
	Text     string
	// Class and Category are the verdict on a refusal; they are empty if the mail was taken.
	Class    report.Class
	Category report.Category
}

func (r Reply) accepted() bool { return r.Class == "" && r.Code/100 == 2 }

// maxReply bounds how much of a reply is looked at and kept; what matters is said first.
const (
	maxReply = 2 << 10
	maxCause = 200
)

func (r *Rule) fits(reply Reply, line string) bool {
	switch {
	case r.Code != 0 && r.Code != reply.Code:
		return false
	case r.Category != "" && r.Category != reply.Category:
		return false
	case strings.HasSuffix(r.Enhanced, ".") && !strings.HasPrefix(reply.Enhanced, r.Enhanced):
		return false
	case r.Enhanced != "" && !strings.HasSuffix(r.Enhanced, ".") && r.Enhanced != reply.Enhanced:
		return false
	}
	return r.says == nil || r.says.MatchString(line)
}

// addresses are those of mailboxes. Servers repeat them, and whoever sends chooses them: they must not be read as the server's words.
var addresses = regexp.MustCompile(`("[^"]*"|[^\s<>"]+)@[^\s<>]+`)

// match returns the first rule that fits a refusal, or nil. Only what a server said may be asked about.
func (p *Provider) match(reply Reply) *Rule {
	line := strconv.Itoa(reply.Code) + " " + reply.Enhanced + " " + addresses.ReplaceAllString(reply.Text[:min(len(reply.Text), maxReply)], "")
	for i := range p.Rules {
		if p.Rules[i].fits(reply, line) {
			return &p.Rules[i]
		}
	}
	return nil
}

// BlocksSource tells whether a reply names the address that the mail came from as blocked: from another one it may be welcome. A refusal
// of what the mail says, or of the domain in its sender, would follow the mail from source to source.
func (p *Provider) BlocksSource(reply Reply) bool {
	if reply.Speaker != TheServer {
		return false
	}
	rule := p.match(reply)
	return rule != nil && rule.Action == QuarantineSource
}

// Cause is the reply that made us hold back.
type Cause struct {
	Rule     string `json:"rule,omitempty"`
	Code     int    `json:"code,omitempty"`
	Enhanced string `json:"enhanced,omitempty"`
	Text     string `json:"text,omitempty"`
}

func causeOf(rule string, r Reply) Cause {
	return Cause{Rule: rule, Code: r.Code, Enhanced: r.Enhanced, Text: strings.ToValidUTF8(r.Text[:min(len(r.Text), maxCause)], "")}
}

// String names the cause as briefly as a mail engineer would: 421-4.7.28.
func (c Cause) String() string {
	switch {
	case c.Code != 0 && c.Enhanced != "":
		return strconv.Itoa(c.Code) + "-" + c.Enhanced
	case c.Code != 0:
		return strconv.Itoa(c.Code)
	case c.Text != "":
		return c.Text
	}
	return c.Rule
}

type (
	countKey struct {
		rule   *Rule
		path   Path
		tenant string
	}
	// count counts the replies that fit a rule with a threshold, and what was taken since one was last forgiven.
	count struct {
		since instant
		fits  int
		taken int
	}
)

// makeUpFor is how many messages that are taken make up for one reply that fits a rule with a threshold: three in ten minutes are a request
// to a path with ten messages, and chance on one with ten thousand.
const makeUpFor = 20

// maxCounts bounds the rules that are being counted towards; when it is reached, counting starts anew.
const maxCounts = 10_000

// reached counts a reply that fits and tells whether the rule acts.
func (s *Shaper) reached(rule *Rule, p *path, tenant string, at instant) bool {
	if rule.After <= 1 {
		return true
	}
	key := keyOfCount(rule, p, tenant)
	c := s.counts[key]
	if c == nil || !at.within(c.since, c.since.add(time.Duration(rule.Within))) {
		if len(s.counts) >= maxCounts {
			clear(s.counts)
		}
		c = &count{since: at}
		s.counts[key] = c
	}
	if c.fits++; c.fits < rule.After {
		return false
	}
	delete(s.counts, key)
	return true
}

func keyOfCount(rule *Rule, p *path, tenant string) countKey {
	if rule.Action != SuspendTenant {
		tenant = ""
	}
	return countKey{rule, p.key, tenant}
}

// forgive notes a message that was taken.
func (s *Shaper) forgive(p *path, tenant string) {
	for i := 0; i < len(p.row.Rules) && len(s.counts) > 0; i++ {
		key := keyOfCount(&p.row.Rules[i], p, tenant)
		c := s.counts[key]
		if c == nil {
			continue
		}
		if c.taken++; c.taken < makeUpFor {
			continue
		}
		c.taken = 0
		if c.fits--; c.fits == 0 {
			delete(s.counts, key)
		}
	}
}

// apply does what the rules say about a reply.
func (s *Shaper) apply(p *path, tenant string, reply Reply, at instant) {
	rule := p.row.match(reply)
	if rule == nil || !s.reached(rule, p, tenant, at) {
		return
	}
	h := Hold{Path: p.key, Cause: causeOf(rule.Name, reply)}
	duration := time.Duration(rule.For)
	switch rule.Action {
	case SuspendPath:
		h.Kind = Suspended
		if hint, ok := report.RetryHint(reply.Text); ok {
			duration = max(duration, hint)
		}
	case SlowPath:
		h.Kind, h.Limits = Slowed, rule.Limits
	case SuspendTenant:
		h.Kind, h.Tenant = Suspended, tenant
	case QuarantineSource:
		h.Kind = Quarantined
		if hint, ok := report.RetryHint(reply.Text); ok && reply.Code/100 == 4 {
			duration = hint // who says when to come again has not listed us for long
		}
	}
	s.place(h, span{at, at.add(duration)}, at)
}
