package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// versionCommand tells which program this is.
type versionCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// build is what is known of how the program was built.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// buildVersion reads what the Go tool wrote into the program. A build from a working copy is a development version.
func buildVersion() build {
	b := build{Version: "development", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Run prints it.
func (c versionCommand) Run() error {
	b := buildVersion()
	if c.JSON {
		return printJSON(b)
	}
	fmt.Printf("postrider %s (%s, %s)\n", b.Version, b.Go, b.Platform)
	if b.Revision != "" {
		fmt.Printf("built from %s of %s\n", b.Revision, b.Time)
	}
	return nil
}
