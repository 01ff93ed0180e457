package test

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// licence is one that we can live with, and the words by which it is known.
type licence struct {
	name  string
	words []string
}

var licences = []licence{
	{"Apache-2.0", []string{"Apache License", "Version 2.0"}},
	{"MPL-2.0", []string{"Mozilla Public License", "2.0"}},
	{"ISC", []string{"Permission to use, copy, modify, and/or distribute this software for any purpose"}},
	{"ISC", []string{"Permission to use, copy, modify, and distribute this software for any purpose"}},
	{"BSD-3-Clause", []string{"Redistributions of source code must retain", "Neither the name"}},
	{"BSD-3-Clause", []string{"Redistributions of source code must retain", "may not be used to endorse or promote"}},
	{"BSD-2-Clause", []string{"Redistributions of source code must retain", "Redistributions in binary form"}},
	{"MIT", []string{"Permission is hereby granted, free of charge"}},
	{"CC0-1.0", []string{"CC0 1.0 Universal"}},
	{"Unlicense", []string{"This is free and unencumbered software released into the public domain"}},
}

// Everything that is linked into the program has a licence that allows it, and docs/licences.md names each.
func TestLicencesOfAllLinkedModulesAreListed(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", "postrider/cmd/postrider").Output()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if path, rest, ok := strings.Cut(lines.Text(), " "); ok {
			version, dir, _ := strings.Cut(rest, " ")
			rows[path] = fmt.Sprintf("| %s | %s | %s |\n", path, version, licenceIn(t, dir))
		}
	}
	if len(rows) < 10 {
		t.Fatalf("%d modules: the test looks at the wrong place", len(rows))
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	page := "# Licences\n\nWhat is linked into the program, besides Postrider itself, which is under Apache-2.0. Written by a test from the modules on the\n" +
		"machine (`go test ./test -run LicencesOfAll -update`), which fails when a module comes whose licence it does not know.\n\n" +
		"| module | version | licence |\n|---|---|---|\n" +
		fmt.Sprintf("| the Go standard library | as in go.mod | %s |\n", licenceIn(t, strings.TrimSpace(string(root))))
	for _, path := range slices.Sorted(maps.Keys(rows)) {
		page += rows[path]
	}
	const file = "../docs/licences.md"
	if *update && !t.Failed() {
		write(t, file, page)
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != page {
		t.Errorf("%s is not what is linked (%v); write it again with -update and look at the difference", file, err)
	}
}

// licenceIn tells the licence of a module from its text.
func licenceIn(t *testing.T, dir string) string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"LICEN[SC]E*", "COPYING*", "Licen[sc]e*", "licen[sc]e*", "UNLICENSE"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			found = append(found, licencesOf(file)...)
		}
	}
	if len(found) == 0 {
		t.Errorf("the licence of %s is not one that is known", filepath.Base(dir))
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), ", ")
}

// licencesOf tells all licences in a file; some modules took in the work of others.
func licencesOf(file string) (found []string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil // a directory of licences is no licence
	}
	text := strings.Join(strings.Fields(string(raw)), " ")
	for _, l := range licences {
		fits := !slices.ContainsFunc(l.words, func(word string) bool { return !strings.Contains(text, word) })
		// Two clauses are also a part of three.
		if fits && (l.name != "BSD-2-Clause" || !slices.Contains(found, "BSD-3-Clause")) {
			found = append(found, l.name)
		}
	}
	return found
}
