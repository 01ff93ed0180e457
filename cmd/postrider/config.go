package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"
)

// readConfig lets a TOML file answer for flags that were neither given nor set in the environment. Its keys are the names of the
// flags, with - or _ between words.
func readConfig(r io.Reader) (kong.Resolver, error) {
	values := map[string]any{}
	if _, err := toml.NewDecoder(r).Decode(&values); err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	known := make(map[string]any, len(values))
	for name, value := range values {
		known[strings.ReplaceAll(name, "_", "-")] = value
	}
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		return known[flag.Name], nil
	}), nil
}
