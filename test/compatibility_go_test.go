package test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	v2 "github.com/resend/resend-go/v2"
	v3 "github.com/resend/resend-go/v3"

	"postrider/client"
)

// sdk is a client of one of Resend's Go SDKs, with what to call each method with where that differs from the others.
type sdk struct {
	services  reflect.Value
	arguments func(p *preparer, method string) []any
}

func sdkV3(t *testing.T, p *process) sdk {
	t.Helper()
	c := v3.NewClient(p.APIKey)
	base, err := c.BaseURL.Parse(p.HTTP + "/v1/")
	if err != nil {
		t.Fatal(err)
	}
	c.BaseURL = base
	return sdk{reflect.ValueOf(c), (*preparer).arguments}
}

func sdkV2(t *testing.T, p *process) sdk {
	t.Helper()
	c := v2.NewClient(p.APIKey)
	base, err := c.BaseURL.Parse(p.HTTP + "/v1/")
	if err != nil {
		t.Fatal(err)
	}
	c.BaseURL = base
	return sdk{reflect.ValueOf(c), (*preparer).argumentsV2}
}

// goOutcomes calls every method of every service. Methods that differ only in taking a context or options are one row.
func goOutcomes(prepare *preparer, of sdk) []outcome {
	t := prepare.t
	t.Helper()
	rows := map[string]outcome{}
	var visit func(service reflect.Value, path string)
	visit = func(service reflect.Value, path string) {
		for i := range service.NumMethod() {
			name := path + "." + service.Type().Method(i).Name
			row := strings.TrimSuffix(strings.TrimSuffix(name, "WithContext"), "WithOptions")
			was, seen := rows[row]
			if now := callMethod(prepare, of, row, service.Method(i)); !seen || was.Error == "" {
				rows[row] = now
			}
		}
		for inner, name := range servicesOf(service) {
			visit(inner, path+"."+name)
		}
	}
	for service, name := range servicesOf(of.services) {
		visit(service, name)
	}
	var list []outcome
	for _, row := range rows {
		list = append(list, row)
	}
	if len(list) < 30 {
		t.Fatalf("%d methods: the test looks at the wrong place", len(list))
	}
	return list
}

// servicesOf yields the fields of a client or a service that are services.
func servicesOf(v reflect.Value) func(yield func(reflect.Value, string) bool) {
	return func(yield func(reflect.Value, string) bool) {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() || !strings.Contains(field.Type.String(), "Svc") {
				continue
			}
			inner := v.Field(i)
			if inner.Kind() == reflect.Interface {
				inner = inner.Elem()
			}
			if !yield(inner, field.Name) {
				return
			}
		}
	}
}

// callMethod calls a method with what it needs: a context where it takes one, the arguments of its row, and empty options.
func callMethod(p *preparer, of sdk, row string, method reflect.Value) outcome {
	given := of.arguments(p, row)
	if given == nil {
		return outcome{Method: row, Unknown: true}
	}
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		kind := method.Type().In(i)
		switch {
		case kind == reflect.TypeFor[context.Context]():
			in = append(in, reflect.ValueOf(p.t.Context()))
		case len(given) > 0:
			in = append(in, p.convert(given[0], kind))
			given = given[1:]
		case kind.Kind() == reflect.Pointer:
			in = append(in, reflect.New(kind.Elem()))
		default:
			in = append(in, reflect.Zero(kind))
		}
	}
	results := method.Call(in)
	if err, failed := results[len(results)-1].Interface().(error); failed {
		return outcome{Method: row, Error: err.Error()}
	}
	// The SDK reads the answer to a change of a contact, which is its id, into fields of other names.
	if len(results) > 1 && results[0].IsZero() && row != "Contacts.Update" {
		return outcome{Method: row, Error: "no data"}
	}
	return outcome{Method: row}
}

// fields are the fields of a request by their Go names.
type fields map[string]any

// convert makes an argument of a type from a text, from fields, or from a list of them.
func (p *preparer) convert(given any, kind reflect.Type) reflect.Value {
	p.t.Helper()
	target := reflect.New(kind).Elem()
	switch value := given.(type) {
	case fields:
		request := reflect.New(kind.Elem())
		for name, content := range value {
			field := request.Elem().FieldByName(name)
			if !field.IsValid() {
				p.t.Fatalf("%s has no field %s", kind, name)
			}
			raw, err := json.Marshal(content)
			if err == nil {
				err = json.Unmarshal(raw, field.Addr().Interface())
			}
			if err != nil {
				p.t.Fatalf("%s.%s: %v", kind, name, err)
			}
		}
		return request
	case []fields:
		for _, each := range value {
			target = reflect.Append(target, p.convert(each, kind.Elem()))
		}
		return target
	}
	target.Set(reflect.ValueOf(given))
	return target
}

// preparer makes the things that calls are about, each for one call.
type preparer struct {
	t       *testing.T
	c       *client.Client
	process *process
	count   atomic.Int64
}

func (p *preparer) next(word string) string { return fmt.Sprintf("go%s%d", word, p.count.Add(1)) }

func (p *preparer) address() string { return p.next("person") + "@example.net" }

func (p *preparer) email() fields {
	return fields{"From": "Acme <hello@acme.test>", "To": []string{p.address()}, "Subject": "SDK", "Text": "Hi"}
}

// id returns the id of what was made.
func id(p *preparer, answer any, err error) string {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	return reflect.ValueOf(answer).Elem().FieldByName("ID").String()
}
