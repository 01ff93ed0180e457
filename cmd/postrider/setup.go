package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"postrider/app/install"
	"postrider/mail/standing"
)

// setupCommand makes a server of a machine.
type setupCommand struct {
	Hostname    string   `help:"Where people and programs will reach this installation, such as mail.example.org; asked for if absent."`
	Domain      string   `help:"Domain that customers' DNS records point below; the host name if absent."`
	Hello       string   `help:"Name given to other mail servers; mx1 of the domain if absent."`
	Address     []string `help:"Public addresses of this machine; its own if absent."`
	Data        string   `help:"Directory for everything that must not be lost." default:"/var/lib/postrider"`
	File        string   `help:"Configuration file to write." default:"/etc/postrider/postrider.toml"`
	Unit        string   `help:"Systemd unit to write; empty writes none." default:"/etc/systemd/system/postrider.service"`
	User        string   `help:"User that runs it." default:"postrider"`
	Program     string   `help:"Path of the program, for the unit; this one if absent."`
	DatabaseURL string   `help:"PostgreSQL to use instead of the embedded database (postgres://…)."`
	ACMEEmail   string   `name:"acme-email" help:"Address that the certificate authority may write to."`
	Resolver    string   `help:"Name server to ask instead of the machine's."`

	WorkspaceName string `help:"Name of the first workspace." default:"My workspace"`
	OwnerEmail    string `help:"Make the first workspace, whose owner signs in with this address."`
	OwnerPassword string `help:"Password of the owner; made up and shown once if absent." env:"POSTRIDER_OWNER_PASSWORD"`

	Check bool `help:"Only look at the DNS records; write nothing."`
	Yes   bool `short:"y" help:"Ask nothing."`
	Force bool `help:"Replace files that are there already."`
	JSON  bool `name:"json" help:"Print JSON; asks nothing."`
}

// setupReport is what a set-up has found and done.
type setupReport struct {
	Hostname  string           `json:"hostname"`
	Domain    string           `json:"domain"`
	Addresses []string         `json:"addresses"`
	Records   []install.Looked `json:"records"`
	Complete  bool             `json:"records_complete"`
	Files     []setupFile      `json:"files"`
	Workspace *setupWorkspace  `json:"workspace,omitempty"`
	Next      []string         `json:"next"`
}

type setupFile struct {
	Path    string `json:"path"`
	Written bool   `json:"written"`
}

// Run looks, writes, and says what to do next.
func (c setupCommand) Run(ctx context.Context) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	w := quietWorld()
	if err := askAt(&w, c.Resolver); err != nil {
		return err
	}
	report := setupReport{Hostname: site.Hostname, Domain: site.Domain, Complete: true, Files: []setupFile{}}
	for _, addr := range site.Addresses {
		report.Addresses = append(report.Addresses, addr.String())
	}
	records := install.Records(site)
	screen := newTerminal(os.Stderr)
	for i, r := range records {
		screen.progress("Looking at DNS: %d of %d, %s", i+1, len(records), r.Name)
		looked := install.Look(ctx, w.Resolver, r)
		report.Records = append(report.Records, looked)
		report.Complete = report.Complete && (looked.State == install.Published || !r.Required)
	}
	screen.done()
	if !c.Check {
		if err := c.write(ctx, w, site, &report); err != nil {
			return err
		}
	}
	report.Next = c.next(report)
	if c.JSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	c.print(report)
	return nil
}

// site finds out what is to be set up, by flags, by asking, or by looking at the machine.
func (c *setupCommand) site() (install.Site, error) {
	if c.Hostname == "" {
		if c.Yes || c.JSON || !newTerminal(os.Stdin).person {
			return install.Site{}, mistake("hostname", "", "is needed, such as --hostname mail.example.org")
		}
		c.Hostname = ask("Host name of this installation, such as mail.example.org: ")
	}
	c.Hostname = strings.ToLower(strings.TrimSuffix(c.Hostname, "."))
	if !isHostname(c.Hostname) || !strings.Contains(c.Hostname, ".") {
		return install.Site{}, mistake("hostname", c.Hostname, hostFix)
	}
	if c.Domain == "" {
		c.Domain = c.Hostname
	}
	if !isHostname(c.Domain) {
		return install.Site{}, mistake("domain", c.Domain, hostFix)
	}
	if c.Hello == "" {
		c.Hello = "mx1." + c.Domain
	}
	if !isHostname(c.Hello) {
		return install.Site{}, mistake("hello", c.Hello, hostFix)
	}
	for _, dir := range []*string{&c.Data, &c.File, &c.Program} {
		if *dir == "" {
			continue
		}
		if path, err := filepath.Abs(*dir); err == nil {
			*dir = path // a unit knows no current directory
		}
	}
	addrs, err := c.addresses()
	return install.Site{Hostname: c.Hostname, Domain: c.Domain, Hello: c.Hello, Addresses: addrs}, err
}

// addresses are the given ones, or those of the machine that the internet can reach.
func (c *setupCommand) addresses() ([]netip.Addr, error) {
	var addrs []netip.Addr
	for _, text := range c.Address {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return nil, mistake("address", text, "must be an address, such as 203.0.113.7")
		}
		addrs = append(addrs, addr.Unmap())
	}
	if len(addrs) > 0 {
		return addrs, nil
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, each := range own {
		if prefix, err := netip.ParsePrefix(each.String()); err == nil && standing.Public(prefix.Addr()) {
			addrs = append(addrs, prefix.Addr())
		}
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	if len(addrs) == 0 {
		return nil, mistake("address", "", "is needed: this machine has no public address of its own; name the one that the internet sees, such as --address 203.0.113.7")
	}
	return addrs, nil
}

// ask reads one line from the person at the terminal.
func ask(question string) string {
	fmt.Fprint(os.Stderr, question)
	var line string
	_, _ = fmt.Fscanln(os.Stdin, &line) // an empty line is an empty answer
	return strings.TrimSpace(line)
}
