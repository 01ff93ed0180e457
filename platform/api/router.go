package api

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// router finds the route of a path. A fixed segment wins over a parameter at the same place; the standard mux refuses such
// pairs (/emails/receiving/{id} beside /emails/{id}/events), which this API has many of.
type router struct {
	fixed     map[string]*router
	parameter *router
	methods   map[string]*endpoint
}

// endpoint is a route with what the server has made of it.
type endpoint struct {
	Route
	parameters []string
	// fields are those that the body is read from; nil if it may be any.
	fields []string
}

func (r *router) add(route Route) {
	node := r
	e := &endpoint{Route: route, fields: fieldsOf(route.Handler.input.body)}
	for _, segment := range segments(route.fullPath()) {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			e.parameters = append(e.parameters, strings.TrimSuffix(name, "}"))
			if node.parameter == nil {
				node.parameter = &router{}
			}
			node = node.parameter
			continue
		}
		if node.fixed == nil {
			node.fixed = map[string]*router{}
		}
		if node.fixed[segment] == nil {
			node.fixed[segment] = &router{}
		}
		node = node.fixed[segment]
	}
	if node.methods == nil {
		node.methods = map[string]*endpoint{}
	}
	if node.methods[route.Method] != nil {
		panic(fmt.Sprintf("api: %s %s is declared twice", route.Method, route.fullPath()))
	}
	node.methods[route.Method] = e
}

func (r Route) fullPath() string {
	if r.Private {
		return r.Path
	}
	return "/v1" + r.Path
}

// segments splits a path; doubled and trailing slashes mean nothing.
func segments(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
}

// find returns the methods of the path and the values of its parameters in order, or nil.
func (r *router) find(path []string) (map[string]*endpoint, []string) {
	if len(path) == 0 {
		return r.methods, nil
	}
	if next := r.fixed[path[0]]; next != nil {
		if methods, values := next.find(path[1:]); methods != nil {
			return methods, values
		}
	}
	if r.parameter != nil {
		if methods, values := r.parameter.find(path[1:]); methods != nil {
			return methods, append([]string{path[0]}, values...)
		}
	}
	return nil, nil
}

// values names and decodes the parameters. They are decoded after routing, so an encoded slash stays inside its segment.
func (e *endpoint) values(found []string) (map[string]string, bool) {
	named := make(map[string]string, len(found))
	for i, raw := range found {
		value, err := url.PathUnescape(raw)
		if err != nil || strings.ContainsRune(value, 0) {
			return nil, false
		}
		named[e.parameters[i]] = value
	}
	return named, true
}

func allowed(methods map[string]*endpoint) string { return strings.Join(sortedKeys(methods), ", ") }
