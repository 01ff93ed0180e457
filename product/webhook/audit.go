package webhook

import (
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/account"
)

// What the audit log tells of endpoints: they lead what happens out of the house.
const (
	EndpointCreated       account.Action = "webhook.created"
	EndpointChanged       account.Action = "webhook.updated"
	EndpointDeleted       account.Action = "webhook.deleted"
	SecretRotated         account.Action = "webhook.secret_rotated"
	PreviousSecretRevoked account.Action = "webhook.previous_secret_revoked"
)

func (s *Service) audit(tx *db.Tx, caller api.Caller, action account.Action, e Endpoint) error {
	return s.parts.Accounts.Audit(tx, account.By(caller, action, account.Target{Type: "webhook", ID: string(e.ID), Name: e.URL}))
}
