package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"

	"postrider/app"
	"postrider/mail/address"
	"postrider/platform/httpout"
	"postrider/product/delivery"
	"postrider/product/node"
	"postrider/product/plan"
	"postrider/world"
)

// storageFlags say where the installation keeps its data; every verb that touches data has them.
type storageFlags struct {
	Data        string `help:"Directory of the embedded database and files." default:"./postrider-data" env:"POSTRIDER_DATA" type:"path"`
	DatabaseURL string `help:"PostgreSQL to use instead of the embedded database (postgres://…)." env:"POSTRIDER_DATABASE_URL"`
	BlobURL     string `help:"S3 bucket to use instead of files (s3://KEY:SECRET@host/bucket)." env:"POSTRIDER_BLOB_URL"`
	Secret      string `help:"Seals keys at rest; the same on every node." env:"POSTRIDER_SECRET"`
	// PreviousSecrets open what was sealed before the secret was changed.
	PreviousSecrets []string `help:"Secrets that were in use before, with commas between; what they seal is sealed again with the current one." env:"POSTRIDER_PREVIOUS_SECRETS"`
	Plans           string   `help:"TOML file that changes or adds plans." type:"path" env:"POSTRIDER_PLANS"`
}

// plans reads the operator's plans; nil means the shipped ones.
func (f storageFlags) plans() (map[plan.Name]plan.Plan, error) {
	if f.Plans == "" {
		return nil, nil
	}
	file, err := os.Open(f.Plans)
	if err != nil {
		return nil, usage{fmt.Errorf("--plans: %w", err)}
	}
	defer file.Close()
	plans, err := plan.Read(file)
	if err != nil {
		return nil, usage{fmt.Errorf("--plans %s: %w", f.Plans, err)}
	}
	return plans, nil
}

func (f storageFlags) storage() app.Storage {
	return app.Storage{Dir: f.Data, DatabaseURL: f.DatabaseURL, BlobURL: f.BlobURL, Secret: f.Secret, PreviousSecrets: f.PreviousSecrets}
}

// listenFlags are the doors; the names are fixed, programs rely on them.
type listenFlags struct {
	HTTP        string `name:"http" help:"Address of the API and the dashboard." default:"127.0.0.1:8025" env:"POSTRIDER_HTTP"`
	HTTPS       string `name:"https" help:"Address of the same with encryption; the plain address then only leads there. Certificates are got by themselves (see --acme-ca) unless --tls-cert names one." env:"POSTRIDER_HTTPS"`
	Submission  string `help:"Address for mail from programs, with STARTTLS; dev takes 127.0.0.1:2587 if nobody has it." env:"POSTRIDER_SUBMISSION"`
	Submissions string `help:"Address for mail from programs, with implicit TLS." env:"POSTRIDER_SUBMISSIONS"`
	MX          string `name:"mx" help:"Address for mail from other servers." env:"POSTRIDER_MX"`
	Admin       string `help:"Address of health, metrics and profiles; not for the public." env:"POSTRIDER_ADMIN"`
	ReadyFile   string `help:"File to write when everything is up." type:"path"`
	ClockFile   string `hidden:"" env:"POSTRIDER_CLOCK_FILE"`
	Verbose     bool   `short:"v" help:"Log every request and attempt."`
}

func (f listenFlags) config() app.Config {
	return app.Config{HTTP: f.HTTP, HTTPS: f.HTTPS, Submission: f.Submission, Submissions: f.Submissions, MX: f.MX, Admin: f.Admin, ReadyFile: f.ReadyFile}
}

func orLoopback(address *string) {
	if *address == "" {
		*address = "127.0.0.1:0"
	}
}

type serveCommand struct {
	storageFlags
	listenFlags
	Domain        string    `help:"Domain this installation runs under; customers' DNS records point below it." default:"mail.localhost" env:"POSTRIDER_DOMAIN"`
	BaseURL       string    `help:"Where people and programs reach this installation." env:"POSTRIDER_BASE_URL"`
	CustomerHosts bool      `help:"Put links in mail on customers' own tracking hosts. Whatever ends TLS here must have certificates for them." env:"POSTRIDER_CUSTOMER_HOSTS"`
	Hello         string    `help:"Name given to other mail servers; must resolve to this machine." env:"POSTRIDER_HELLO"`
	Node          string    `help:"Name of this process, for people; the name of the machine if absent." env:"POSTRIDER_NODE"`
	Roles         []string  `help:"What this process does: api, smtp, mx, worker." enum:"api,smtp,mx,worker" default:"api,smtp,mx,worker" env:"POSTRIDER_ROLES"`
	Proxies       []string  `help:"Networks of trusted reverse proxies." env:"POSTRIDER_TRUSTED_PROXIES"`
	TLSCert       string    `name:"tls-cert" help:"Certificate of all doors, in PEM, read again when it changes; without it see --https." type:"path" env:"POSTRIDER_TLS_CERT"`
	TLSKey        string    `name:"tls-key" help:"Key of the certificate, in PEM." type:"path" env:"POSTRIDER_TLS_KEY"`
	ACME          acmeFlags `embed:"" prefix:"acme-"`

	NoticesFrom   string             `help:"Sender of the installation's own mail, such as password resets; its domain must be verified in a workspace." env:"POSTRIDER_NOTICES_FROM"`
	CloudflareURL string             `help:"Address of Cloudflare's API." env:"POSTRIDER_CLOUDFLARE_URL"`
	DomainConnect domainConnectFlags `embed:"" prefix:"domain-connect-"`
	Providers     string             `help:"TOML file that changes how mailbox providers are treated." type:"path" env:"POSTRIDER_PROVIDERS"`
	Sources       string             `help:"TOML file of the addresses, proxies and pools that mail leaves from." type:"path" env:"POSTRIDER_SOURCES"`
	Spam          spamFlags          `embed:"" prefix:"spam-"`
	Blocklists    []string           `help:"DNS blocklists to ask about our addresses." default:"zen.spamhaus.org,bl.spamcop.net,b.barracudacentral.org" env:"POSTRIDER_BLOCKLISTS"`
	Probe         string             `help:"Domain whose mail server is called now and then, to see whether mail gets out; empty calls none." default:"gmail.com" env:"POSTRIDER_PROBE"`
	PrivateHosts  []string           `help:"Names and addresses in private networks that customers may have us call, for webhooks, files and relays." env:"POSTRIDER_PRIVATE_HOSTS"`

	OTLPEndpoint string `name:"otlp-endpoint" help:"Collector that traces are sent to (OTLP over HTTP, such as http://127.0.0.1:4318); none if absent. The variables OTEL_* are obeyed." placeholder:"URL" env:"POSTRIDER_OTLP_ENDPOINT"`

	InsecureTestNetwork bool   `help:"Allow mail to private and loopback addresses. Tests only."`
	Resolver            string `help:"Name server to ask instead of the machine's." env:"POSTRIDER_RESOLVER"`
	ResolverValidates   bool   `help:"Believe --resolver when it calls an answer signed (DNSSEC), though it is on another machine: the way to it must be safe." env:"POSTRIDER_RESOLVER_VALIDATES"`
	SMTPPort            int    `name:"smtp-port" help:"Port of other mail servers." default:"25"`
	InsecureTestClock   bool   `help:"Obey POSTRIDER_CLOCK_FILE. Tests only."`
}

var (
	errWhichResolver = usage{errors.New("--resolver-validates goes with --resolver; a validating server on this machine is believed without")}
	errClockRefused  = usage{errors.New("POSTRIDER_CLOCK_FILE moves the clock and is for tests only; add --insecure-test-clock if this is one")}
)

// Run serves until it is told to stop.
func (c serveCommand) Run(ctx context.Context) error {
	w, err := c.world()
	if err != nil {
		return err
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	config := c.listenFlags.config()
	config.Storage = c.storage()
	if config.Settings, err = c.settings(w); err != nil {
		return err
	}
	config.TLSCert, config.TLSKey = c.TLSCert, c.TLSKey
	config.ACME = c.ACME.config(c.HTTPS != "" && c.TLSCert == "")
	config.Tracing = tracingConfig(c.OTLPEndpoint)
	c.closeDoors(&config)
	config.Workers = slices.Contains(c.Roles, "worker")
	return runServer(ctx, w, config)
}

// world is the machine's, with the name server and the clock that the flags name.
func (c serveCommand) world() (world.World, error) {
	if c.ClockFile != "" && !c.InsecureTestClock {
		return world.World{}, errClockRefused
	}
	w := realWorld(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level(c.Verbose)})), c.ClockFile)
	if c.Resolver == "" && c.ResolverValidates {
		return w, errWhichResolver
	}
	if err := askAt(&w, c.Resolver); err != nil {
		return w, err
	}
	if c.ResolverValidates {
		w.Resolver = world.NewTrustedResolver([]string{c.Resolver})
	}
	return w, nil
}

// settings reads the flags that the parts want to know of, and the files that they name.
func (c serveCommand) settings(w world.World) (s app.Settings, err error) {
	if s.API.TrustedProxies, err = parsePrefixes(c.Proxies); err != nil {
		return s, err
	}
	if s.Plans, err = c.plans(); err != nil {
		return s, err
	}
	if s.NoticesFrom, err = parseSender(c.NoticesFrom); err != nil {
		return s, err
	}
	if s.DNS.DomainConnect, err = c.DomainConnect.config(); err != nil {
		return s, err
	}
	if c.Providers != "" {
		if s.Delivery.Providers, err = delivery.ReadProviders(c.Providers); err != nil {
			return s, usage{err}
		}
	}
	if c.Sources != "" {
		if s.Delivery.Sources, err = node.ReadSources(c.Sources); err != nil {
			return s, usage{err}
		}
	}
	if s.Spam, err = c.Spam.engine(w); err != nil {
		return s, err
	}
	s.ServiceDomain, s.BaseURL, s.CustomerHosts, s.NodeName = c.Domain, c.BaseURL, c.CustomerHosts, c.node()
	s.Outbound = httpout.Policy{PrivateHosts: c.PrivateHosts, AnyLoopbackPort: c.InsecureTestNetwork}
	s.DNS.CloudflareURL = c.CloudflareURL
	s.Delivery.Hello, s.Delivery.Port, s.Delivery.AllowPrivate = c.hello(), c.SMTPPort, c.InsecureTestNetwork
	if !c.InsecureTestNetwork { // a network of its own has neither blocklists nor the mail servers of others
		s.Checks.Blocklists, s.Checks.Probe, s.Checks.Port = c.Blocklists, c.Probe, c.SMTPPort
	}
	return s, nil
}

// closeDoors leaves out what the roles of this process do not include.
func (c serveCommand) closeDoors(config *app.Config) {
	if !slices.Contains(c.Roles, "api") {
		config.HTTP, config.HTTPS = "", ""
	}
	if !slices.Contains(c.Roles, "smtp") {
		config.Submission, config.Submissions = "", ""
	}
	if !slices.Contains(c.Roles, "mx") {
		config.MX = ""
	}
}

func (c serveCommand) hello() string {
	if c.Hello != "" {
		return c.Hello
	}
	return "mx1." + c.Domain
}

func (c serveCommand) node() string {
	if c.Node != "" {
		return c.Node
	}
	name, err := os.Hostname()
	if err != nil {
		return "node"
	}
	return name
}

// parseSender reads the sender of notices; without one none are sent.
func parseSender(text string) (address.Address, error) {
	if text == "" {
		return address.Address{}, nil
	}
	sender, err := address.Parse(text)
	if err != nil {
		return sender, mistake("notices-from", text, "must be an address, such as 'Example <no-reply@example.org>'")
	}
	return sender, nil
}

func parsePrefixes(texts []string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, mistake("proxies", text, "must be a network such as 10.0.0.0/8, or 192.0.2.1/32 for one address")
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

func level(verbose bool) slog.Level {
	if verbose {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}
