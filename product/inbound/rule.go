package inbound

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/domain"
)

// Rule says to whom mail for an address is passed on.
type Rule struct {
	ID        string
	Workspace space.ID
	DomainID  domain.ID
	Domain    string
	// Address is in lower case; * before the @ means every address of the domain that has no rule of its own.
	Address     string
	ForwardTo   []string
	Enabled     bool
	KeepCopy    bool
	Mode        Mode
	Description string
	Forwarded   int64
	LastError   string

	LastForwardedAt, CreatedAt, UpdatedAt time.Time
}

// Mode is how mail is passed on.
type Mode string

// Modes of passing on.
const (
	// Rewrite sends it in the name of the domain, so that it passes every check; an answer goes to the author.
	Rewrite Mode = "rewrite"
	// Passthrough leaves the author, with a rewritten envelope and a seal about what we saw.
	Passthrough Mode = "passthrough"
)

// Limits of rules.
const (
	maxForwardTo   = 10
	maxDescription = 500
	// maxRules keeps a workspace from making a rule for every address of a mailing list.
	maxRules = 1000
)

// everyone is the local part of a rule for all addresses.
const everyone = "*"

func (r Rule) catchAll() bool { return strings.HasPrefix(r.Address, everyone+"@") }

// ruleBody is what can be said about a rule. An absent field stays as it is.
type ruleBody struct {
	ForwardTo   api.Strings           `json:"forward_to" doc:"1 to 10 addresses." example:"[\"team@example.net\"]"`
	Enabled     *bool                 `json:"enabled" example:"true"`
	KeepCopy    *bool                 `json:"keep_copy" doc:"false passes the mail on without keeping it here." example:"true"`
	Mode        Mode                  `json:"mode" doc:"rewrite or passthrough." example:"rewrite"`
	Description api.Optional[api.Ref] `json:"description" example:"Support inbox"`
}

// apply changes a rule and notes what is wrong with the wish.
func (b ruleBody) apply(wrong *api.Fields, r *Rule) {
	if b.ForwardTo != nil {
		r.ForwardTo = checkDestinations(wrong, b.ForwardTo)
	}
	if b.Enabled != nil {
		r.Enabled = *b.Enabled
	}
	if b.KeepCopy != nil {
		r.KeepCopy = *b.KeepCopy
	}
	if b.Mode != "" {
		r.Mode = b.Mode
	}
	if r.Mode != Rewrite && r.Mode != Passthrough {
		wrong.Add("mode", "Must be rewrite or passthrough.")
	}
	if b.Description.Set {
		r.Description = api.CheckText(wrong, "description", string(b.Description.Value), maxDescription)
	}
	if slices.ContainsFunc(r.ForwardTo, func(to string) bool { return strings.EqualFold(to, r.Address) }) {
		wrong.Add("forward_to", "An address cannot be passed on to itself.")
	}
}

func checkDestinations(wrong *api.Fields, texts []string) []string {
	if len(texts) < 1 || len(texts) > maxForwardTo {
		wrong.Add("forward_to", fmt.Sprintf("Must have 1 to %d addresses.", maxForwardTo))
		return nil
	}
	var list []string
	seen := map[string]bool{}
	for i, text := range texts {
		a, err := address.Parse(text)
		if err != nil {
			wrong.Add(fmt.Sprintf("forward_to[%d]", i), "Invalid email address: "+strings.TrimSuffix(err.Error(), ".")+".")
			continue
		}
		if !seen[a.Key()] {
			seen[a.Key()] = true
			list = append(list, a.Addr())
		}
	}
	return list
}

// readRuleAddress reads support@acme.test, or *@acme.test.
func readRuleAddress(text string) (key, name string, err error) {
	local, host, found := strings.Cut(strings.TrimSpace(text), "@")
	if found && local == everyone {
		name, err = address.ParseDomain(host)
		return everyone + "@" + name, name, err
	}
	a, err := address.Parse(text)
	return a.Key(), a.Domain, err
}

func (s *Service) addRule(tx *db.Tx, rule Rule) error {
	if err := deleteRuleLeftBehind(tx, rule); err != nil {
		return err
	}
	count, err := countRules(tx, rule.Workspace)
	if err != nil {
		return err
	}
	if count >= maxRules {
		return api.Invalid("address", fmt.Sprintf("A workspace has at most %d forwarding rules.", maxRules))
	}
	added, err := insertRule(tx, rule)
	if err != nil || added {
		return err
	}
	there, err := selectRulesOf(tx, rule.Workspace, []string{rule.Address})
	if err != nil {
		return err
	}
	refusal := api.ErrAlreadyExists.Saying("There is a forwarding rule for this address already.").With("resource", "forwarding_rule")
	if known, ok := there[rule.Address]; ok {
		refusal = refusal.With("id", known.ID)
	}
	return refusal
}
