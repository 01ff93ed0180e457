// Package app is the roof: it builds every part of the program and joins them. A reader who wants to know what there is reads
// Assemble; one who wants to know what happens at start and stop reads Run.
package app

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/mail/spam"
	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/custody"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/httpout"
	"postrider/platform/queue"
	"postrider/platform/reseal"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/apikey"
	"postrider/product/audience"
	"postrider/product/automation"
	"postrider/product/broadcast"
	"postrider/product/delivery"
	"postrider/product/dnsprovider"
	"postrider/product/domain"
	"postrider/product/email"
	"postrider/product/guard"
	"postrider/product/inbound"
	"postrider/product/logs"
	"postrider/product/node"
	"postrider/product/plan"
	"postrider/product/relay"
	"postrider/product/stats"
	"postrider/product/submission"
	"postrider/product/suppression"
	"postrider/product/template"
	"postrider/product/tenant"
	"postrider/product/webhook"
	"postrider/web"
	"postrider/world"
)

// App is the assembled program, not yet listening.
type App struct {
	World        world.World
	DB           *db.DB
	Plans        *plan.Service
	Accounts     *account.Service
	Keys         *apikey.Service
	Domains      *domain.Service
	Tenants      *tenant.Service
	DNS          *dnsprovider.Service
	Relays       *relay.Service
	Nodes        *node.Service
	Emails       *email.Service
	Delivery     *delivery.Service
	Webhooks     *webhook.Service
	Suppressions *suppression.Service
	Templates    *template.Service
	Audience     *audience.Service
	Automations  *automation.Service
	Broadcasts   *broadcast.Service
	Stats        *stats.Service
	Guard        *guard.Service
	Logs         *logs.Service
	API          *api.Server
	// Submission takes mail over SMTP.
	Submission *submission.Service
	// Inbound takes mail from other servers.
	Inbound *inbound.Service

	blobs  blob.Store
	sweeps *custody.Sweeper
	sealed *reseal.Resealer // nil without a previous secret
	meters *meters
	window *event.Window // what followers have read
}

// Settings are what the parts want to know of the installation.
type Settings struct {
	// ServiceDomain is the domain the installation runs under; customers' records point below it.
	ServiceDomain string
	// BaseURL is where people and programs reach the installation.
	BaseURL string
	// CustomerHosts tells that the installation is also reached under customers' tracking hosts, with certificates for them.
	CustomerHosts bool
	// NodeName is how people know this process.
	NodeName string
	// NoticesFrom is the sender of the installation's own mail; the zero address sends none.
	NoticesFrom address.Address
	// Plans are what workspaces can be on; nil means the shipped ones.
	Plans    map[plan.Name]plan.Plan
	Delivery delivery.Config
	// Checks says what this node looks at to find out how it stands with receivers.
	Checks node.Checks
	// Receives tells that this node takes mail from other servers.
	Receives bool
	// Outbound says which addresses customers may have us post to. Plain http goes to private ones only.
	Outbound httpout.Policy
	// Webhooks is how they are posted; its node, address and policy are those of the installation.
	Webhooks webhook.Config
	// Spam judges messages; nil means the built-in engine.
	Spam    spam.Engine
	Account account.Config
	DNS     dnsprovider.Config
	API     api.Config
	// Web is what the dashboard is told of the installation; the rest it gets here.
	Web web.Config
}

// Assemble builds the parts on an open database. It starts nothing.
func Assemble(w world.World, d *db.DB, blobs blob.Store, keys *seal.Keyring, settings Settings) *App {
	a := &App{World: w, DB: d, blobs: blobs, sweeps: custody.NewSweeper(w, d, blobs), meters: newMeters(), window: event.NewWindow()}
	if keys.Rotating() {
		a.sealed = reseal.New(d, keys, w.Log, sealed())
	}
	settings.Outbound.RequireTLS = true
	settings.BaseURL = strings.TrimRight(settings.BaseURL, "/")
	if settings.Plans == nil {
		settings.Plans = plan.Shipped()
	}
	a.Plans = plan.New(settings.Plans)
	settings.Account.BaseURL = settings.BaseURL
	if settings.NoticesFrom.Domain != "" {
		postman := &postman{app: a, from: settings.NoticesFrom}
		settings.Account.Postman = postman
		settings.Delivery.Reports = delivery.Reports{From: settings.NoticesFrom, Postman: postman}
	}
	settings.Account.Counters = a.counters()
	a.Accounts = account.New(w, d, keys, a.Plans, settings.Account)
	hosts := domain.Hosts{Service: settings.ServiceDomain}
	a.Nodes = node.New(w, d, node.Config{
		ID: node.ID(settings.Delivery.Node), Name: settings.NodeName, Hostname: settings.Delivery.Hello, Sources: settings.Delivery.Sources.Sources,
		Checks: settings.Checks, Receives: settings.Receives,
		SPF: hosts.SPF(), MX: hosts.MX()[0], Bounces: hosts.Bounces(), Tracking: hosts.Tracking(),
	}, func(id node.ID) queue.Lane { return email.LaneOf(string(id)) })
	a.Domains = domain.New(w, d, keys, a.Plans, hosts, a.Nodes, func(ctx context.Context) []domain.HealthCheck { return a.Inbound.Checks(ctx) })
	a.Tenants = tenant.New(w, d, a.Plans, a.Domains, a.Nodes.Exists)
	a.DNS = dnsprovider.New(w, d, keys, a.Accounts, a.Domains, settings.DNS)
	a.Keys = apikey.New(w, d, a.Accounts, a.Domains.Exist)
	a.Relays = relay.New(w, d, keys, a.Accounts, relay.Config{Hello: settings.Delivery.Hello, TrustAnyone: settings.Delivery.AllowPrivate,
		Network: httpout.Policy{AllowPrivate: settings.Delivery.AllowPrivate, PrivateHosts: settings.Outbound.PrivateHosts}})
	a.Logs = logs.New(w, d, logs.Parts{Plans: a.Plans, Accounts: a.Accounts, Steps: a.stepsOf})
	a.Webhooks = a.newWebhooks(keys, settings)
	a.Templates = template.New(w, d, a.Plans, a.Domains,
		func(tx *db.Tx, ws space.ID, id string, versions []int64, from, to time.Time) (stats.OfTemplate, error) {
			return a.Stats.Template(tx, ws, id, versions, from, to)
		})
	a.Suppressions = suppression.New(w, d, suppression.Parts{Keys: keys, Accounts: a.Accounts, BaseURL: settings.BaseURL, Preferences: preferences{a},
		Unsubscribed: func(tx *db.Tx, u suppression.Unsubscription) error { return a.Emails.TellUnsubscribed(tx, u) }})
	a.Emails = a.newEmails(keys, settings)
	a.Audience = audience.New(w, d, audience.Parts{Keys: keys, Blobs: blobs, Plans: a.Plans, Accounts: a.Accounts, Templates: a.Templates,
		Suppressions: a.Suppressions, Emails: a.Emails, Webhooks: a.Webhooks, Logs: a.Logs, BaseURL: settings.BaseURL,
		Node: settings.Delivery.Node, InUse: a.usesOf, Forget: a.forget})
	a.Broadcasts = broadcast.New(w, d, broadcast.Parts{Plans: a.Plans, Accounts: a.Accounts, Templates: a.Templates, Domains: a.Domains,
		Suppressions: a.Suppressions, Emails: a.Emails, Audience: a.Audience, Node: settings.Delivery.Node})
	a.Automations = a.newAutomations(keys, settings)
	a.Stats = stats.New(w, d, stats.Parts{Plans: a.Plans, Domains: a.authentication, Installation: a.installation,
		Held: func(tx *db.Tx, ws space.ID, tenants []string) ([]stats.Hold, error) {
			return a.Guard.Held(tx, ws, tenants)
		}})
	a.Guard = guard.New(w, d, guard.Parts{Stats: a.Stats, Tenants: a.Tenants, Accounts: a.Accounts})
	if d.Shared() || settings.Delivery.Inline { // the embedded database serves one process, be it that the simulator plays several
		settings.Delivery.Nodes = a.Nodes
	}
	a.Delivery = delivery.New(w, d, a.Emails, a.Domains, a.Relays, keys, settings.Delivery)
	a.Inbound = inbound.New(w, d, inbound.Parts{Blobs: blobs, Accounts: a.Accounts, Domains: a.Domains, Emails: a.Emails, Delivery: a.Delivery,
		Webhooks: a.Webhooks, Plans: a.Plans, Logs: a.Logs, Suppressions: a.Suppressions, Keys: keys, Spam: settings.Spam,
		Node: settings.Delivery.Node, BaseURL: settings.BaseURL})
	settings.API.World, settings.API.DB, settings.API.Keys, settings.API.Sessions = w, d, a.Keys, a.Accounts
	settings.API.Rates, settings.API.Info, settings.API.Observe = a.Plans.RateOf, Info, a.noteRequest
	settings.API.Cursors = api.NewCursors(cursorSigner{keys})
	settings.API.Self = httpout.SelfOf(settings.BaseURL)
	settings.API.Fallback = a.newDashboard(settings)
	a.API = api.NewServer(settings.API, a.Routes())
	a.Submission = submission.New(w, a.API, a.Emails, hosts.MX()[0])
	a.Submission.Observe(a.noteSubmission)
	return a
}

// Routes returns the endpoints of all slices.
func (a *App) Routes() []api.Route {
	var routes []api.Route
	for _, slice := range []interface{ Routes() []api.Route }{
		a.Accounts, a.Keys, a.Nodes, a.Relays, a.Webhooks, a.Domains, a.Tenants, a.DNS, a.Templates, a.Suppressions, a.Emails, a.Audience,
		a.Broadcasts, a.Automations, a.Delivery, a.Inbound, a.Stats, a.Logs,
	} {
		routes = append(routes, slice.Routes()...)
	}
	return routes
}

// Followers returns what reads the record of events.
func (a *App) Followers() []event.Follower {
	all := slices.Concat(a.Webhooks.Followers(), a.Audience.Followers(), a.Broadcasts.Followers(), a.Automations.Followers(),
		a.Stats.Followers(), a.Guard.Followers(), a.Logs.Followers())
	for i := range all {
		all[i].Window = a.window
	}
	return all
}

// Workers returns everything that has to be done again and again.
func (a *App) Workers() []queue.Worker {
	workers := []queue.Worker{
		{Name: "idempotency keys", Step: a.forgetKeys, Every: time.Minute, Gentle: true},
		{Name: "unused blobs", Step: a.sweepBlobs, Every: custody.LookEvery},
	}
	for _, slice := range []interface{ Workers() []queue.Worker }{
		a.Accounts, a.Keys, a.Nodes, a.Guard, a.Domains, a.Webhooks, a.Suppressions, a.Audience, a.Broadcasts, a.Automations, a.Emails,
		a.Delivery, a.Inbound, a.Logs, a.Stats,
	} {
		workers = append(workers, slice.Workers()...)
	}
	if a.sealed != nil {
		workers = append(workers, queue.Worker{Name: "previous secrets", Step: a.sealed.Step, Every: time.Hour, Gentle: true})
	}
	for _, f := range a.Followers() {
		workers = append(workers, queue.Worker{Name: "follower " + f.Name, Topics: []string{event.Topic}, Every: 5 * time.Second,
			Gather: f.Gather,
			Step: func(ctx context.Context) (bool, error) {
				_, more, err := f.Advance(ctx, a.DB)
				return more, err
			},
			Next: func(ctx context.Context) (time.Time, bool, error) {
				waiting, err := f.Waiting(ctx, a.DB)
				return a.World.Clock.Now().Add(horizonLook), waiting, err
			}})
	}
	return workers
}

// horizonLook is how soon a follower looks again for events that it may not see yet.
const horizonLook = 20 * time.Millisecond

// Handler answers HTTP requests.
func (a *App) Handler() http.Handler { return a.API }

func (a *App) forgetKeys(ctx context.Context) (bool, error) {
	var forgotten int64
	err := a.DB.Write(ctx, func(tx *db.Tx) (err error) {
		forgotten, err = api.Forget(tx)
		return err
	})
	return forgotten > 0, err
}

// blobGrace is how old a blob without a reference must be before it is swept: a request may be about to refer to it.
const blobGrace = 24 * time.Hour

func (a *App) sweepBlobs(ctx context.Context) (bool, error) {
	_, err := a.sweeps.Sweep(ctx, a.World.Clock.Now().Add(-blobGrace), a.referencedBlobs)
	if errors.Is(err, custody.ErrContested) {
		a.World.Log.Error("nothing is removed from the blob store: another database, or a copy of this one, has signed it; "+
			"stop the other, and run postrider adopt here", "error", err)
		return false, nil // it is told at every look, and no other mends it
	}
	return false, err
}

// referencedBlobs tells which blobs any slice refers to.
func (a *App) referencedBlobs(ctx context.Context, refs []blob.Ref) (map[blob.Ref]bool, error) {
	used := map[blob.Ref]bool{}
	for _, slice := range []interface {
		ReferencedBlobs(context.Context, []blob.Ref) (map[blob.Ref]bool, error)
	}{a.Emails, a.Inbound, a.Audience} {
		found, err := slice.ReferencedBlobs(ctx, refs)
		if err != nil {
			return nil, err
		}
		maps.Copy(used, found)
	}
	return used, nil
}

// ServeFile answers a signed link with the file it stands for, whoever made the link.
func (a *App) ServeFile(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, inbound.FilesPath) {
		a.Inbound.ServeFile(w, r)
		return
	}
	a.Emails.ServeFile(w, r)
}
