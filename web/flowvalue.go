package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"postrider/web/internal/tree"
)

// readStep makes the config of a step from a form about it. What the form does not ask about stays. It tells what cannot be read,
// by the path of the input.
func (f *flow) readStep(step tree.Step, form url.Values) (json.RawMessage, map[string]string) {
	config := configOf(step.Config)
	wrong := map[string]string{}
	if step.Type == "trigger" {
		f.turn(config, form)
	}
	f.meta.kind(step, config).Schema.leaves("", func(path string, s flowSchema) {
		value, keep, problem := f.readField(path, s, form)
		switch {
		case problem != "":
			wrong[path] = problem
		case keep:
		case path == "":
			config = objectOf(value)
		default:
			setAt(config, path, value)
		}
	})
	raw, err := json.Marshal(config)
	if err != nil {
		return step.Config, map[string]string{"": err.Error()}
	}
	return raw, wrong
}

// turn makes a trigger one of another kind, if the form asks for that. What belongs to the old kind is forgotten.
func (f *flow) turn(config map[string]any, form url.Values) {
	kind, now := form.Get("kind"), textOf(config["event_name"])
	was := now
	if !strings.HasPrefix(now, "system:") {
		was = "event"
	}
	if kind == "" || kind == was {
		return
	}
	for _, name := range []string{"event_name", "list_id", "segment_id", "cron", "timezone"} {
		delete(config, name)
		form.Del("c." + name)
	}
	if kind != "event" {
		config["event_name"] = kind
		form.Set("c.event_name", kind)
	}
	if kind == "system:schedule" {
		form.Set("c.cron", "0 9 * * 1")
	}
}

// readField reads one input. keep tells that the form has no such input.
func (f *flow) readField(path string, s flowSchema, form url.Values) (value any, keep bool, problem string) {
	name := "c." + path
	kind := inputKind(path, s)
	if kind == fieldRules && form.Has(name+".match") {
		return f.readRules(name, form), false, ""
	}
	if kind == fieldBranches && form.Has(name+".key") {
		return readBranches(form[name+".key"], form[name+".weight"]), false, ""
	}
	if !form.Has(name) {
		return nil, true, ""
	}
	text := strings.ReplaceAll(form.Get(name), "\r\n", "\n")
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, false, ""
	}
	switch kind {
	case fieldDuration:
		return trimmed + " " + plainUnit(trimmed, form.Get(name+".unit")), false, ""
	case fieldNumber:
		var number json.Number
		if json.Unmarshal([]byte(trimmed), &number) != nil {
			return nil, false, "Must be a number."
		}
		return number, false, ""
	case fieldCode, fieldRules:
		parsed, err := parseJSON(trimmed)
		if _, isObject := parsed.(map[string]any); err != nil || !isObject {
			return nil, false, "Must be an object in JSON, such as {\"plan\": \"pro\"}."
		}
		return parsed, false, ""
	case fieldAny:
		if parsed, err := parseJSON(trimmed); err == nil {
			return parsed, false, ""
		}
	case fieldList:
		if all := addresses(trimmed); len(all) > 1 {
			return all, false, ""
		}
	case fieldLong:
		return text, false, ""
	}
	return trimmed, false, ""
}

func plainUnit(count, unit string) string {
	unit = orElse(unit, "day")
	if count == "1" {
		return unit
	}
	return unit + "s"
}

func parseJSON(text string) (value any, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err = decoder.Decode(&value); err == nil && decoder.More() {
		err = fmt.Errorf("more than one value")
	}
	return value, err
}

func readBranches(keys, weights []string) []any {
	var all []any
	for i, key := range keys {
		if key = strings.TrimSpace(key); key == "" || i >= len(weights) {
			continue
		}
		weight := json.Number(orElse(strings.TrimSpace(weights[i]), "1"))
		if _, err := weight.Int64(); err != nil {
			weight = "1"
		}
		all = append(all, map[string]any{"key": key, "weight": weight})
	}
	return all
}

// setAt puts a value at a path of a config, and takes away what is nothing.
func setAt(config map[string]any, path string, value any) {
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		if value == nil {
			delete(config, name)
		} else {
			config[name] = value
		}
		return
	}
	child := objectOf(config[name])
	if child == nil {
		child = map[string]any{}
	}
	setAt(child, rest, value)
	if config[name] = child; len(child) == 0 {
		delete(config, name)
	}
}
