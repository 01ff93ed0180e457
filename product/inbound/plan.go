package inbound

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/product/suppression"
)

// planForwards returns the work that the rules make of a message, and notes whether anybody wants it kept.
func (s *Service) planForwards(tx *db.Tx, m *Message) ([]queue.Item, error) {
	keys := make([]string, 0, 2*len(m.Addresses.ReceivedFor))
	for _, to := range m.Addresses.ReceivedFor {
		key, wild := ruleKeys(to)
		keys = append(keys, key, wild)
	}
	rules, err := selectRulesOf(tx, m.Workspace, keys)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	var items []queue.Item
	seen := map[string]bool{}
	kept := false
	for _, to := range m.Addresses.ReceivedFor {
		key, wild := ruleKeys(to)
		rule, ok := rules[key]
		if !ok || !rule.Enabled {
			rule, ok = rules[wild]
		}
		if !ok || !rule.Enabled {
			kept = true
			continue
		}
		kept = kept || rule.KeepCopy
		if seen[rule.ID] {
			continue
		}
		seen[rule.ID] = true
		items = append(items, queue.Item{ID: derivedID("forward", string(m.ID), rule.ID), Lane: forwardLane, Rank: queue.Urgent, Flow: string(m.Workspace), Due: tx.Now(),
			Payload: db.JSON(forwardJob{Workspace: m.Workspace, Message: m.ID, Rule: rule.ID, Test: m.test})})
	}
	m.Kept = kept
	return items, nil
}

// ruleKeys returns the addresses under which rules for a recipient are found.
func ruleKeys(recipient string) (exact, wild string) {
	at := strings.LastIndexByte(recipient, '@')
	exact = strings.ToLower(recipient)
	if a, err := address.Parse(recipient); err == nil {
		exact = a.Key()
	}
	return exact, everyone + strings.ToLower(recipient[max(at, 0):])
}

// forwarding is a message on its way to others. Without a rule there is nothing to do any more.
type forwarding struct {
	message      Message
	content      stored
	rule         Rule
	domain       domain.Domain
	plan         plan.Name
	destinations []address.Address
}

func (f forwarding) to() api.Strings {
	list := make(api.Strings, len(f.destinations))
	for i, a := range f.destinations {
		list[i] = a.Addr()
	}
	return list
}

// Reasons why a rule did not pass a message on; the last one is shown with it.
const (
	problemLoop   = "loop_detected"
	problemRate   = "rate_limited"
	problemNobody = "no_destination"
	// problemAuthor is a message that says not whom it is from: it cannot be signed, and is not ours to change.
	problemAuthor = "no_author"
	// problemStopped is a workspace that the operator stopped.
	problemStopped = "workspace_suspended"
	// problemTrouble is a message that could not be read or stored for too long.
	problemTrouble = "internal_error"
)

// prepareForward loads what is passed on, and looks for loops.
func (s *Service) prepareForward(ctx context.Context, job forwardJob) (f forwarding, problem string, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		f, problem = forwarding{}, ""
		found, err := selectByIDs(tx, []string{string(job.Message)})
		if err != nil || len(found) == 0 {
			return err
		}
		f.message = found[0]
		rule, err := selectRule(tx, job.Workspace, job.Rule)
		if errors.Is(err, db.ErrNotFound) || err == nil && !rule.Enabled {
			return nil
		}
		if err != nil {
			return err
		}
		if f.content, err = selectContent(tx, job.Workspace, job.Message); err != nil {
			return err
		}
		domains, err := s.domains.Load(tx, []domain.ID{rule.DomainID})
		if err != nil {
			return err
		}
		workspace, err := s.accounts.Workspace(tx, job.Workspace)
		if err != nil {
			return err
		}
		f.rule, f.domain, f.plan = rule, domains[rule.DomainID], workspace.Plan
		if f.domain.ID == "" {
			f.rule = Rule{} // the domain has gone
			return nil
		}
		allowed, err := countForward(tx, rule, maxForwardsAnHour)
		switch {
		case workspace.Status != account.Active:
			problem = problemStopped
		case !allowed:
			problem = problemRate
		}
		return err
	})
	if err != nil || problem != "" || f.rule.ID == "" {
		return f, problem, err
	}
	if f.destinations, err = s.destinations(ctx, f); err == nil && len(f.destinations) == 0 {
		problem = problemNobody
	}
	return f, problem, err
}

// destinations leaves out those to whom an automatic message must not go: two programs on one installation that answer each other
// would never stop.
func (s *Service) destinations(ctx context.Context, f forwarding) ([]address.Address, error) {
	var list []address.Address
	for _, text := range f.rule.ForwardTo {
		to, err := address.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("stored destination: %w", err)
		}
		if f.message.Automatic {
			_, ours, err := s.domains.ForReceiving(ctx, to.Domain)
			if err != nil {
				return nil, err
			}
			if ours {
				continue
			}
		}
		if !slices.ContainsFunc(f.message.Envelope.RcptTo, func(recipient string) bool { return strings.EqualFold(recipient, to.Addr()) }) {
			list = append(list, to)
		}
	}
	return s.reachable(ctx, f.message.Workspace, list)
}

// reachable leaves out those who are on the suppression list. If nobody is left, the message is kept: it would be sent to nobody.
func (s *Service) reachable(ctx context.Context, ws space.ID, list []address.Address) (open []address.Address, err error) {
	queries := make([]suppression.Query, len(list))
	for i, to := range list {
		queries[i] = suppression.Query{Workspace: ws, Address: to.Addr()}
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		stops, err := s.suppressions.Check(tx, queries)
		for i, stop := range stops {
			if stop == nil {
				open = append(open, list[i])
			}
		}
		return err
	})
	return open, err
}
