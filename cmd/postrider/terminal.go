package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/mattn/go-isatty"
)

// terminal knows whether a person looks at an output, and whether they want colours (no-color.org).
type terminal struct {
	file   *os.File
	person bool
	colour bool
}

func newTerminal(file *os.File) terminal {
	person := isatty.IsTerminal(file.Fd())
	return terminal{file: file, person: person, colour: person && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// printJSON prints the result of a verb for programs, in one line.
func printJSON(result any) error { return json.NewEncoder(os.Stdout).Encode(result) }

type colour string

const (
	green  colour = "32"
	yellow colour = "33"
	red    colour = "31"
	bold   colour = "1"
)

// paint colours a text if it is seen by somebody who wants that.
func (t terminal) paint(c colour, text string) string {
	if !t.colour {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// progress tells a waiting person what is being done, on a line that the next one replaces. Programs see nothing of it.
func (t terminal) progress(format string, args ...any) {
	if t.person {
		fmt.Fprintf(t.file, "\r\x1b[K"+format, args...)
	}
}

// done removes the line of progress.
func (t terminal) done() { t.progress("") }
