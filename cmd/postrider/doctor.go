package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"postrider/app/doctor"
	"postrider/mail/standing"
	"postrider/platform/db"
	"postrider/product/inbound"
	"postrider/world"
)

// doctorCommand looks for the reasons why mail would not arrive.
type doctorCommand struct {
	storageFlags
	Domain     string   `help:"Domain this installation runs under." default:"mail.localhost" env:"POSTRIDER_DOMAIN"`
	Hello      string   `help:"Name given to other mail servers; mx1 of the domain if absent." env:"POSTRIDER_HELLO"`
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
	if c.Resolver != "" {
		w.Resolver = world.NewResolver([]string{c.Resolver})
	}
	if c.Hello == "" {
		c.Hello = "mx1." + c.Domain
	}
	findings := doctor.Examine(ctx, w, doctor.Patient{Dir: c.Data, Domain: c.Domain, Hello: c.Hello, Certificate: c.TLSCert, Probe: c.Probe,
		Port: c.SMTPPort, Blocklists: c.Blocklists, Database: c.checkDatabase(w), Reports: c.readReports(w)})
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

func (c doctorCommand) checkDatabase(w world.World) func(context.Context) error {
	return func(ctx context.Context) error {
		stores, err := c.storage().Open(ctx, w)
		if err != nil {
			return err
		}
		defer stores.DB.Close()
		migrated, err := stores.DB.Migrated(ctx)
		if err == nil && !migrated {
			err = errors.New("its schema is older than this program")
		}
		return err
	}
}

// reportDays is how far back reports of others are read. Most come a day late.
const reportDays = 7

// readReports adds up what other providers have reported lately about all domains.
func (c doctorCommand) readReports(w world.World) func(context.Context) (inbound.Digest, error) {
	return func(ctx context.Context) (all inbound.Digest, err error) {
		stores, err := c.storage().Open(ctx, w)
		if err != nil {
			return all, err
		}
		defer stores.DB.Close()
		err = stores.DB.Read(ctx, func(tx *db.Tx) error {
			digests, err := inbound.Digests(tx, nil, tx.Now().AddDate(0, 0, -reportDays))
			for _, d := range digests {
				all = all.Plus(d)
			}
			return err
		})
		return all, err
	}
}

func printFindings(findings []doctor.Finding) {
	marks := map[standing.Status]string{standing.Good: "ok  ", standing.Warn: "WARN", standing.Fail: "FAIL"}
	for _, f := range findings {
		fmt.Printf("%s  %-12s  %s\n", marks[f.Status], f.Check, f.Message)
		if f.Mend != "" {
			fmt.Printf("%20s→ %s\n", "", f.Mend)
		}
	}
}
