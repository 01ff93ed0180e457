package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"postrider/app"
)

// How the program ends. Scripts decide by it; docs/operating.md lists them.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitUnauthorized = 3
)

// errUnauthorized means that the server does not let this key do it.
var errUnauthorized = errors.New("not allowed")

// usage is a mistake in flags or configuration: trying again changes nothing.
type usage struct{ error }

// Unwrap returns the mistake.
func (u usage) Unwrap() error { return u.error }

// mistake returns a usage error that names the flag, the value, and what to write instead.
func mistake(flag, value, fix string) error {
	return usage{fmt.Errorf("--%s %s: %s", flag, value, fix)}
}

// exitCode is what an error ends the program with.
func exitCode(err error) int {
	var wrong usage
	var misconfigured app.Misconfigured
	var parse *kong.ParseError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &wrong), errors.As(err, &misconfigured), errors.As(err, &parse):
		return exitUsage
	case errors.Is(err, errUnauthorized):
		return exitUnauthorized
	}
	return exitFailed
}

// complain tells a person what went wrong, and where to read on if it was the way we were called.
func complain(w io.Writer, err error) {
	fmt.Fprintln(w, "postrider:", strings.TrimSpace(err.Error()))
	var parse *kong.ParseError
	if !errors.As(err, &parse) {
		return
	}
	verb := ""
	if parse.Context != nil {
		if node := parse.Context.Selected(); node != nil && node.Type == kong.CommandNode {
			verb = " " + commandPath(node)
		}
	}
	fmt.Fprintf(w, "Try: postrider%s --help\n", verb)
}

// commandPath is a verb as it is written, without the name of the program.
func commandPath(node *kong.Node) string {
	var words []string
	for ; node != nil && node.Type == kong.CommandNode; node = node.Parent {
		words = append([]string{node.Name}, words...)
	}
	return strings.Join(words, " ")
}
