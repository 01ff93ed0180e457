package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"postrider/app"
	"postrider/mail/address"
	"postrider/product/account"
	"postrider/product/delivery"
)

// devServiceDomain is the domain of the installation inside the sandbox.
const devServiceDomain = "mail.postrider.test"

// devSubmission is where mail from programs is taken unless the address is given or in use: what a program was told yesterday is right today.
const devSubmission = "127.0.0.1:2587"

type devCommand struct {
	Data string `help:"Directory to keep everything in." default:"./postrider-data" type:"path"`
	JSON bool   `name:"json" help:"Print addresses and keys as JSON instead of the greeting."`
	listenFlags
}

// Run serves on this machine until it is told to stop.
func (c devCommand) Run(ctx context.Context) error {
	w := realWorld(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level(c.Verbose)})), c.ClockFile)
	wished := ""
	if c.Submission == "" {
		wished = devSubmission
	}
	for _, address := range []*string{&c.Submission, &c.Submissions, &c.MX, &c.Admin} {
		orLoopback(address)
	}
	config := c.listenFlags.config()
	config.WishedSubmission = wished
	config.Storage = app.Storage{Dir: c.Data}
	config.Settings = app.Settings{
		ServiceDomain: devServiceDomain,
		NodeName:      "dev",
		NoticesFrom:   address.Address{Name: "Postrider", Local: "no-reply", Domain: app.DevDomain},
		Account:       account.Config{Dev: true},
		Delivery:      delivery.Config{Hello: "mx1." + devServiceDomain},
	}
	config.Workers, config.Dev, config.Print = true, &app.Dev{}, greet
	if c.JSON {
		config.Print = func(ready app.Ready) { _ = printJSON(ready) } // whoever reads it has gone
	}
	return runServer(ctx, w, config)
}

// greet is the first thing a newcomer reads.
func greet(ready app.Ready) {
	fmt.Printf(`
Postrider is running on this machine, with a sandbox instead of the internet.

  Dashboard  %[8]s  (signs you in, once)
  API        %[1]s/v1
  Mailbox    %[2]s
  SMTP       %[7]s, user postrider, password: the API key

  Sign in    %[1]s with %[3]s and %[4]s
  API key    %[5]s

Send your first email:

  curl %[1]s/v1/emails -H "Authorization: Bearer %[5]s" -H "Content-Type: application/json" \
    -d '{"from":"hello@%[6]s","to":"you@example.net","subject":"Hello","text":"It works."}'

Then watch it arrive in the dashboard, or ask what became of it: %[1]s/v1/emails/{id}
Stop with Ctrl-C; everything is kept.
`, ready.HTTP, ready.Sandbox, ready.Owner.Email, ready.Owner.Password, ready.APIKey, ready.Domain, ready.Submission, ready.Start)
}
