package app

import (
	"context"
	"net/http"
	"time"

	"postrider/platform/db"
	"postrider/platform/httpout"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/automation"
	"postrider/product/email"
	"postrider/product/webhook"
	"postrider/web"
)

// counters count what a plan limits, in slices that stand above accounts and are built later.
func (a *App) counters() account.Counters {
	return account.Counters{
		Templates:       func(tx *db.Tx, ws space.ID) (int64, error) { return a.Templates.Count(tx, ws) },
		Contacts:        func(tx *db.Tx, ws space.ID) (int64, error) { return a.Audience.Count(tx, ws) },
		Automations:     func(tx *db.Tx, ws space.ID) (int64, error) { return a.Automations.Count(tx, ws) },
		Webhooks:        func(tx *db.Tx, ws space.ID) (int64, error) { return a.Webhooks.Count(tx, ws) },
		VerifiedDomains: func(tx *db.Tx, ws space.ID) (int64, error) { return a.Domains.Count(tx, ws) },
		ManagedTenants:  func(tx *db.Tx, ws space.ID) (int64, error) { return a.Tenants.Count(tx, ws) },
		TenantDomains:   func(tx *db.Tx, ws space.ID) (int64, error) { return a.Domains.CountOfTenants(tx, ws) },
	}
}

// newEmails builds the service of emails.
func (a *App) newEmails(keys *seal.Keyring, settings Settings) *email.Service {
	return email.New(a.World, a.DB, email.Parts{Blobs: a.blobs, Accounts: a.Accounts, Domains: a.Domains, Tenants: a.Tenants, Plans: a.Plans,
		Keys: keys, BaseURL: settings.BaseURL, CustomerHosts: settings.CustomerHosts, Spam: settings.Spam, Webhooks: a.Webhooks,
		Suppressions: a.Suppressions, Topics: preferences{a}, Templates: a.Templates,
		Delay: func(ctx context.Context, ws space.ID, tenant string, recipients int) time.Duration {
			return a.Guard.Delay(ctx, ws, tenant, recipients)
		},
		Fetcher: email.NewFetcher(httpout.Config{
			Policy: settings.Outbound, Resolver: a.World.Resolver, Dialer: a.World.Dialer, Clock: a.World.Clock,
		})})
}

// newWebhooks builds the service of webhooks. A development installation, whose mail may stay on the machine, may also post to it.
func (a *App) newWebhooks(keys *seal.Keyring, settings Settings) *webhook.Service {
	config := settings.Webhooks
	config.Node, config.Inline = settings.Delivery.Node, settings.Delivery.Inline
	config.BaseURL, config.Postman = settings.BaseURL, settings.Account.Postman
	config.Policy = settings.Outbound
	config.Policy.AnyLoopbackPort = config.Policy.AnyLoopbackPort || settings.Delivery.AllowPrivate
	return webhook.New(a.World, a.DB, webhook.Parts{Keys: keys, Plans: a.Plans, Accounts: a.Accounts, DomainsExist: a.Domains.Exist,
		ExternalID: a.Tenants.ExternalID, Posted: a.notePost}, config)
}

// newDashboard builds the pages, which ask the API for everything.
func (a *App) newDashboard(settings Settings) *web.Dashboard {
	config := settings.Web
	config.API = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.API.ServeHTTP(w, r) })
	config.BaseURL, config.EventTypes, config.Clock, config.Log = settings.BaseURL, a.Webhooks.EventTypes(), a.World.Clock, a.World.Log
	config.Operator = a.Delivery.OperatorHandler()
	return web.New(config)
}

// newAutomations builds the service of automations. A development installation may also ask servers on the machine.
func (a *App) newAutomations(keys *seal.Keyring, settings Settings) *automation.Service {
	policy := settings.Outbound
	policy.AnyLoopbackPort = policy.AnyLoopbackPort || settings.Delivery.AllowPrivate
	return automation.New(a.World, a.DB, automation.Parts{Keys: keys, Plans: a.Plans, Accounts: a.Accounts, Domains: a.Domains,
		Webhooks: a.Webhooks, Templates: a.Templates, Suppressions: a.Suppressions, Emails: a.Emails, Audience: a.Audience},
		automation.Config{Node: settings.Delivery.Node, BaseURL: settings.BaseURL, Policy: policy, Inline: settings.Delivery.Inline})
}
