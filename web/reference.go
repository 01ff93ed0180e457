package web

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// referencePage lists the families of endpoints, or all endpoints of one.
type referencePage struct {
	shell
	Volumes    []volume
	Families   []family
	Family     string
	Operations []operationRow
}

type family struct {
	Name, Href string
	Current    bool
	Endpoints  []endpointRow
}

type endpointRow struct{ Href, Method, Path, Summary string }

type operationRow struct {
	ID, Method, Path, Summary string
	Text                      []passage
	Inputs, Fields            []inputRow
	// Request is a call with curl that works where the things exist that it names; empty if a key does not open the endpoint.
	Request string
	Answers []outcomeRow
}

type inputRow struct {
	Name, Where, Type, Text string
	Required                bool
}

type outcomeRow struct {
	Status, Example string
	Text            []passage
}

func showReference(v *visit) error {
	var d document
	if err := v.get("/v1/openapi.json", nil, &d); err != nil {
		return err
	}
	wanted := v.path("tag")
	p := referencePage{shell: v.shell("API reference", "").with("manual.css", "build.css"), Volumes: volumesAt("api"), Family: wanted}
	endpoints := map[string][]endpointRow{}
	for _, at := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete", "head"} {
			o, ok := d.Paths[at][method]
			if !ok {
				continue
			}
			name := familyOf(o, at)
			endpoints[name] = append(endpoints[name], endpointRow{"/docs/api/" + name + "#" + o.ID, strings.ToUpper(method), at, o.Summary})
			if name == wanted {
				p.Operations = append(p.Operations, d.row(v.dashboard.config.BaseURL, method, at, o))
			}
		}
	}
	if wanted != "" && len(p.Operations) == 0 {
		return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such family of endpoints."}
	}
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		p.Families = append(p.Families, family{name, "/docs/api/" + name, name == wanted, endpoints[name]})
	}
	return v.show("manual/reference", p)
}

// familyOf is the tag of an endpoint, or the first word of its path.
func familyOf(o operation, path string) string {
	if len(o.Tags) > 0 {
		return strings.ReplaceAll(strings.ToLower(o.Tags[0]), " ", "-")
	}
	parts := strings.Split(strings.TrimPrefix(path, "/v1/"), "/")
	return parts[0]
}
