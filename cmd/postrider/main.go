// Command postrider is the whole email platform in one program. "postrider dev" runs it on a laptop with a small internet of
// its own; "postrider serve" runs it for real.
package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // people name time zones; the machine may not know them

	"github.com/alecthomas/kong"

	"postrider/world"
)

// commands are the verbs of the command line.
type commands struct {
	Config kong.ConfigFlag `help:"TOML file whose keys are names of flags; flags and environment win." placeholder:"FILE" env:"POSTRIDER_CONFIG"`

	Dev       devCommand       `cmd:"" help:"Run everything on this machine, with a sandbox instead of the internet."`
	Serve     serveCommand     `cmd:"" help:"Run for real."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database schema up to date, or move all data to another storage."`
	Workspace workspaceCommand `cmd:"" help:"Make workspaces."`
	Plan      planCommand      `cmd:"" help:"Change the plan of a workspace."`
	Key       keyCommand       `cmd:"" help:"Make API keys."`
	Backup    backupCommand    `cmd:"" help:"Copy everything that must not be lost, while it is in use."`
	Restore   restoreCommand   `cmd:"" help:"Put a backup back."`
	Adopt     adoptCommand     `cmd:"" help:"Let this database do the work, and clean up its blobs, where another did: the other is gone."`
	Setup     setupCommand     `cmd:"" help:"Set a server up: its name, DNS records, configuration and systemd unit."`
	Doctor    doctorCommand    `cmd:"" help:"Look for the reasons why mail would not arrive, and say what to do."`
	Health    healthCommand    `cmd:"" help:"Ask a running server on this machine whether it can take mail."`
	Send      sendCommand      `cmd:"" help:"Send one email through a running server."`
	Listen    listenCommand    `cmd:"" help:"Forward events of a running server to a local address, signed like webhooks."`
	MCP       mcpCommand       `cmd:"" name:"mcp" help:"Let an assistant use a running server (Model Context Protocol on standard input and output)."`

	Completion completionCommand `cmd:"" help:"Print a script that lets a shell complete verbs and flags."`
	Version    versionCommand    `cmd:"" help:"Tell which program this is."`
}

func main() {
	boundMemory()
	if err := obey(os.Args[1:]); err != nil {
		complain(os.Stderr, err)
		os.Exit(exitCode(err))
	}
}

// obey does what a command line says.
func obey(args []string) error {
	var cli commands
	parser, err := kong.New(&cli, kong.Name("postrider"), kong.Description("Email for applications, self-hosted."), kong.Configuration(readConfig), kong.NamedMapper("path", kong.MapperFunc(readPath)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Help(printHelp))
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:], "--help")
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // whoever asks a second time wants the process to end now
	parsed.BindTo(ctx, (*context.Context)(nil))
	return parsed.Run()
}

// realWorld is the world of a command; the clock may be moved for tests.
func realWorld(log *slog.Logger, clockFile string) world.World {
	w := world.New(log)
	if clockFile != "" {
		w.Clock = world.NewOffsetClock(clockFile)
	}
	return w
}

// quietWorld is for verbs that print their result and nothing else.
func quietWorld() world.World { return world.New(slog.New(slog.NewTextHandler(io.Discard, nil))) }
