package main

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"
)

// readPath makes a path absolute. An empty one, as a variable that is set to nothing has it, is none: the library takes it for the
// current directory.
func readPath(ctx *kong.DecodeContext, target reflect.Value) error {
	var path string
	if err := ctx.Scan.PopValueInto("file", &path); err != nil {
		return err
	}
	if path != "" {
		path = kong.ExpandPath(path)
	}
	target.SetString(path)
	return nil
}

// configuration lets a TOML file answer for flags that were neither given nor set in the environment. Its keys are the names of the
// flags, with - or _ between words.
type configuration struct {
	file    string
	values  map[string]any    // by the name of the flag
	written map[string]string // the key as the file has it, by the name of the flag
}

// readConfig reads the file of --config.
func readConfig(r io.Reader) (kong.Resolver, error) {
	c := configuration{file: "the configuration file", values: map[string]any{}, written: map[string]string{}}
	if file, ok := r.(*os.File); ok {
		c.file = file.Name()
	}
	raw := map[string]any{}
	if _, err := toml.NewDecoder(r).Decode(&raw); err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return nil, usage{fmt.Errorf("%s, line %d: %s", c.file, syntax.Position.Line, syntax.Message)}
		}
		return nil, usage{fmt.Errorf("%s: %w", c.file, err)}
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		name := strings.ReplaceAll(key, "_", "-")
		if other, twice := c.written[name]; twice {
			return nil, usage{fmt.Errorf("%s: the keys %s and %s are the same; keep one of them", c.file, other, key)}
		}
		c.values[name], c.written[name] = raw[key], key
	}
	return c, nil
}

// Resolve returns what the file says about a flag.
func (c configuration) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := c.values[flag.Name]
	if !ok {
		return nil, nil
	}
	return value, c.check(flag, value)
}

func (c configuration) check(flag *kong.Flag, value any) error {
	if wanted := mismatch(flag, value); wanted != "" {
		return usage{fmt.Errorf("%s: %s = %s: %s", c.file, flag.Name, shownValue(flag, value), wanted)}
	}
	return nil
}

// Validate finds keys that mean nothing and values that cannot be meant, before anything is started with the rest.
func (c configuration) Validate(app *kong.Application) error {
	flags := map[string]*kong.Flag{}
	collect(app.Node, flags)
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		flag, known := flags[name]
		if !known {
			return usage{fmt.Errorf("%s: the key %s is not known%s", c.file, c.written[name], suggestion(name, slices.Collect(maps.Keys(flags))))}
		}
		if err := c.check(flag, c.values[name]); err != nil {
			return err
		}
	}
	return nil
}

// collect gathers the flags of all verbs that a file may answer for.
func collect(node *kong.Node, into map[string]*kong.Flag) {
	for _, flag := range node.Flags {
		if flag.Name != "help" && flag.Name != "config" {
			into[flag.Name] = flag
		}
	}
	for _, child := range node.Children {
		collect(child, into)
	}
}

// mismatch tells what a flag wants instead of a value; nothing if it can be used.
func mismatch(flag *kong.Flag, value any) string {
	target := flag.Target.Type()
	if enum := flag.EnumSlice(); flag.Enum != "" && target.Kind() != reflect.Slice && !slices.Contains(enum, fmt.Sprint(value)) {
		return "must be one of " + strings.Join(enum, ", ")
	}
	text, isText := value.(string)
	switch {
	case target == reflect.TypeFor[time.Duration]():
		if _, err := time.ParseDuration(text); err != nil {
			return `must be a length of time, such as "30s" or "5m"`
		}
	case target.Kind() == reflect.Bool:
		if _, ok := value.(bool); !ok {
			return "must be true or false, without quotes"
		}
	case isInteger(target.Kind()):
		if _, ok := value.(int64); !ok {
			return "must be a whole number, without quotes"
		}
	case target.Kind() == reflect.Slice:
		return mismatchedList(flag, value)
	case target.Kind() == reflect.String && !isText && !target.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return "must be a text in quotes"
	}
	return ""
}

func isInteger(kind reflect.Kind) bool { return kind >= reflect.Int && kind <= reflect.Uint64 }

func mismatchedList(flag *kong.Flag, value any) string {
	const wanted = `must be a list of texts, such as ["one", "two"]`
	if _, ok := value.(string); ok {
		return ""
	}
	list, ok := value.([]any)
	if !ok {
		return wanted
	}
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return wanted
		}
		if flag.Enum != "" && !slices.Contains(flag.EnumSlice(), text) {
			return "each must be one of " + strings.Join(flag.EnumSlice(), ", ")
		}
	}
	return ""
}

// secrets are flags whose values hold passwords or keys.
var secrets = []string{"secret", "previous-secrets", "database-url", "blob-url", "spam-password", "owner-password", "key", "from", "to"}

// shownValue is a value as it may be shown: whoever reads the message may not be who may read the file.
func shownValue(flag *kong.Flag, value any) string {
	if slices.Contains(secrets, flag.Name) {
		return "…"
	}
	text := fmt.Sprintf("%#v", value)
	if list, ok := value.([]any); ok {
		text = fmt.Sprint(list)
	}
	const most = 60
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
