package inbound

import (
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/account"
)

// What the audit log tells of rules: they lead mail out of the house.
const (
	RuleCreated account.Action = "forwarding_rule.created"
	RuleChanged account.Action = "forwarding_rule.updated"
	RuleDeleted account.Action = "forwarding_rule.deleted"
)

func (s *Service) audit(tx *db.Tx, caller api.Caller, action account.Action, r Rule) error {
	return s.accounts.Audit(tx, account.By(caller, action, account.Target{Type: "forwarding_rule", ID: r.ID, Name: r.Address}))
}
