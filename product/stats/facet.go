package stats

import (
	"postrider/platform/event"
)

// facet is what is counted apart. The empty facet is everything in a workspace.
type facet string

func ofDomain(id string) facet    { return facet("d:" + id) }
func ofTenant(id string) facet    { return facet("t:" + id) }
func ofTemplate(id string) facet  { return facet("e:" + id) }
func ofBroadcast(id string) facet { return facet("b:" + id) }

// ofSimulated is the part of a customer's mail, or of all if tenant is empty, that never left the machine.
func ofSimulated(tenant string) facet { return facet("s:" + tenant) }

func ofTag(name, value string) facet { return facet("g:" + name + ":" + value) }

// facetsOf returns everything an event counts for.
func facetsOf(e event.Event, f facts) []facet {
	facets := []facet{""}
	for _, one := range []struct {
		id string
		of func(string) facet
	}{{e.Domain, ofDomain}, {e.Tenant, ofTenant}, {f.Template, ofTemplate}, {f.Broadcast, ofBroadcast}} {
		if one.id != "" {
			facets = append(facets, one.of(one.id))
		}
	}
	if f.Template != "" && f.Version > 0 {
		facets = append(facets, ofTemplateVersion(f.Template, f.Version))
	}
	if f.Simulated {
		facets = append(facets, ofSimulated(""))
		if e.Tenant != "" {
			facets = append(facets, ofSimulated(e.Tenant))
		}
	}
	for name, value := range f.Tags {
		facets = append(facets, ofTag(name, value))
	}
	return facets
}
