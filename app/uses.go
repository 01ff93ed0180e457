package app

import (
	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/audience"
	"postrider/product/automation"
)

// usesOf returns what slices above audiences need a list, a segment, a topic or a property for.
func (a *App) usesOf(tx *db.Tx, ws space.ID, idOrKey string) ([]audience.Use, error) {
	uses, err := a.Broadcasts.Uses(tx, ws, idOrKey)
	if err != nil {
		return nil, err
	}
	automated, err := a.Automations.Uses(tx, ws, idOrKey)
	return append(uses, automated...), err
}

// forget lets slices above audiences forget what they keep of a contact.
func (a *App) forget(tx *db.Tx, ws space.ID, contact audience.ContactID, number int64) error {
	if err := a.Broadcasts.Forget(tx, ws, number); err != nil {
		return err
	}
	return a.Automations.Forget(tx, ws, contact)
}

// newAutomations builds the service of automations. A development installation may also ask servers on the machine.
func (a *App) newAutomations(keys *seal.Keyring, settings Settings) *automation.Service {
	policy := settings.Outbound
	policy.AnyLoopbackPort = policy.AnyLoopbackPort || settings.Delivery.AllowPrivate
	return automation.New(a.World, a.DB, automation.Parts{Keys: keys, Plans: a.Plans, Accounts: a.Accounts, Domains: a.Domains, Webhooks: a.Webhooks, Templates: a.Templates,
		Suppressions: a.Suppressions, Emails: a.Emails, Audience: a.Audience},
		automation.Config{Node: settings.Delivery.Node, BaseURL: settings.BaseURL, Policy: policy, Inline: settings.Delivery.Inline})
}
