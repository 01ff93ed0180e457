package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// examples are lines to copy, by the verb whose help shows them. Every verb has some; a test sees to it.
func examples() map[string][]string {
	return map[string][]string{
		"":    {"postrider dev", "postrider setup --hostname mail.example.org", "postrider serve --config /etc/postrider/postrider.toml", "postrider doctor --domain mail.example.org"},
		"dev": {"postrider dev", "postrider dev --data /tmp/try --http 127.0.0.1:9000"},
		"serve": {"postrider serve --domain mail.example.org --http 0.0.0.0:80 --https 0.0.0.0:443 --submission 0.0.0.0:587 --mx 0.0.0.0:25",
			"postrider serve --config /etc/postrider/postrider.toml", "POSTRIDER_DATABASE_URL=postgres://… postrider serve --roles api,worker"},
		"setup":            {"postrider setup --hostname mail.example.org", "postrider setup --hostname mail.example.org --yes --json", "postrider setup --hostname mail.example.org --owner-email you@example.org"},
		"migrate":          {"postrider migrate --data /var/lib/postrider", "postrider migrate --from /var/lib/postrider --to postgres://… --to s3://…", "postrider migrate --json"},
		"workspace create": {"postrider workspace create --name Acme --owner-email you@example.org --owner-password '…'", "postrider workspace create --name Acme --owner-email you@example.org --owner-password '…' --json"},
		"plan set":         {"postrider plan set --workspace 0193… --plan pro"},
		"key create":       {"postrider key create --workspace 0193…", "postrider key create --workspace 0193… --preset sending_access --name Shop --json"},
		"backup":           {"postrider backup --data /var/lib/postrider --out /backup/today", "postrider backup --config /etc/postrider/postrider.toml --out /backup/today --json"},
		"restore":          {"postrider restore --from /backup/today --data /var/lib/postrider", "postrider restore --from /backup/today --data /var/lib/postrider --json"},
		"adopt":            {"postrider adopt --config /etc/postrider/postrider.toml", "postrider adopt --data /var/lib/postrider --json"},
		"doctor":           {"postrider doctor --config /etc/postrider/postrider.toml", "postrider doctor --domain mail.example.org --json"},
		"health":           {"postrider health --admin 127.0.0.1:8026", "postrider health --admin 127.0.0.1:8026 --json"},
		"send":             {"postrider send --from you@example.org --to friend@example.net --subject Hello --text 'It works.'", "uptime | postrider send --from you@example.org --to you@example.org --subject Uptime"},
		"listen":           {"postrider listen --forward http://localhost:3000/hook", "postrider listen --forward http://localhost:3000/hook --events 'email.*'"},
		"mcp":              {"POSTRIDER_API_KEY=… postrider mcp --url https://mail.example.org"},
		"version":          {"postrider version", "postrider version --json"},
		"completion":       {"source <(postrider completion bash)", "postrider completion zsh > ~/.zfunc/_postrider", "postrider completion fish > ~/.config/fish/completions/postrider.fish"},
	}
}

// printHelp prints the help of a verb and its examples.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	verb := ""
	if node := ctx.Selected(); node != nil {
		verb = commandPath(node)
	}
	lines := examples()[verb]
	if len(lines) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(ctx.Stdout, "\nExamples:\n  %s\n", strings.Join(lines, "\n  "))
	return err
}
