package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"postrider/app/doctor"
	"postrider/mail/standing"
)

// doctorCommand looks for the reasons why mail would not arrive.
type doctorCommand struct {
	storageFlags
	Domain     string   `help:"Domain this installation runs under." default:"mail.localhost" env:"POSTRIDER_DOMAIN"`
	Hello      string   `help:"Name given to other mail servers; mx1 of the domain if absent." env:"POSTRIDER_HELLO"`
	BaseURL    string   `help:"Where people and programs reach this installation." env:"POSTRIDER_BASE_URL"`
	TLSCert    string   `name:"tls-cert" help:"Certificate of the mail ports, in PEM." type:"path" env:"POSTRIDER_TLS_CERT"`
	Resolver   string   `help:"Name server to ask instead of the machine's." env:"POSTRIDER_RESOLVER"`
	Probe      string   `help:"Domain whose mail server is called, to see whether mail gets out." default:"gmail.com"`
	SMTPPort   int      `name:"smtp-port" help:"Port of other mail servers." default:"25"`
	Blocklists []string `help:"DNS blocklists to ask about our addresses." default:"zen.spamhaus.org,bl.spamcop.net,b.barracudacentral.org"`
	JSON       bool     `name:"json" help:"Print the findings as JSON."`
}

var errSick = errors.New("something keeps mail from arriving; see above")

// Run prints every finding, and fails if one of them is serious.
func (c doctorCommand) Run(ctx context.Context) error {
	w := quietWorld()
	if err := askAt(&w, c.Resolver); err != nil {
		return err
	}
	if !isHostname(c.Domain) {
		return mistake("domain", c.Domain, hostFix)
	}
	if c.Hello == "" {
		c.Hello = "mx1." + c.Domain
	}
	screen := newTerminal(os.Stderr)
	findings := doctor.Examine(ctx, w, doctor.Patient{Dir: c.Data, Domain: c.Domain, Hello: c.Hello, Certificate: c.TLSCert, Probe: c.Probe,
		Hostname: c.hostname(), Port: c.SMTPPort, Blocklists: c.Blocklists, Database: c.checkDatabase(w), Bucket: c.checkBucket(w), Reports: c.readReports(w), Inside: c.lookInside(w),
		Progress: func(what string) { screen.progress("Looking at %s …", what) }})
	screen.done()
	sick := false
	for _, f := range findings {
		sick = sick || f.Status == standing.Fail
	}
	if c.JSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(map[string]any{"ok": !sick, "findings": findings}); err != nil {
			return err
		}
	} else {
		printFindings(findings)
	}
	if sick {
		return errSick
	}
	return nil
}

func printFindings(findings []doctor.Finding) {
	out := newTerminal(os.Stdout)
	marks := map[standing.Status]string{standing.Good: out.paint(green, "ok  "), standing.Warn: out.paint(yellow, "WARN"), standing.Fail: out.paint(red, "FAIL")}
	for _, f := range findings {
		fmt.Printf("%s  %-12s  %s\n", marks[f.Status], f.Check, f.Message)
		if f.Mend != "" {
			fmt.Printf("%20s→ %s\n", "", f.Mend)
		}
	}
}
