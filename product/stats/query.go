package stats

import (
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a machine without time zones must know them, too

	"postrider/platform/api"
)

const (
	// defaultDays is the time that is told when nobody asks for another.
	defaultDays = 30
	// maxDays is the longest time that can be asked for: a year.
	maxDays = 366
	// maxChoices bounds how many alternatives a filter may name.
	maxChoices = 100
	// maxZone is longer than the name of any time zone.
	maxZone = 64
)

// query is what all questions about counts have in common.
type query struct {
	Days      int       `query:"days" least:"1" doc:"The last days, today included: 1 to 365. Instead of start and end." example:"30"`
	Start     time.Time `query:"start" doc:"From this time on."`
	End       time.Time `query:"end" doc:"Before this time; now, if it is missing."`
	Domain    []string  `query:"domain_id" doc:"Only mail of these domains. One kind of filter at a time."`
	Tenant    []string  `query:"managed_tenant_id" doc:"Only mail of these managed customers."`
	Broadcast []string  `query:"broadcast_id" doc:"Only mail of these broadcasts."`
	Template  []string  `query:"template_id" doc:"Only mail made from these templates."`
	Tag       []string  `query:"tag" doc:"Only mail with this one tag, as name:value. The first 100 tags of a workspace are counted, and the first 1,000 values of each; what is not seen for 31 days makes room." example:"category:welcome"`
}

// period is a time, in whole quarters of an hour.
type period struct{ from, until time.Time }

func (p period) length() time.Duration { return p.until.Sub(p.from) }

// before is the time of the same length that comes before.
func (p period) before() period { return period{p.from.Add(-p.length()), p.from} }

// wholeDays widens a period to days in UTC.
func (p period) wholeDays() period {
	until := dayOf(p.until)
	if until.Before(p.until) {
		until = until.Add(day)
	}
	return period{dayOf(p.from), until}
}

// fullDays narrows a period to days in UTC. If it has none, what is left of it is empty and lies within it.
func (p period) fullDays() period {
	from := dayOf(p.from)
	if from.Before(p.from) {
		from = from.Add(day)
	}
	if until := dayOf(p.until); from.Before(until) {
		return period{from, until}
	}
	return period{p.until, p.until}
}

// period returns the time that is asked for, in days of the zone.
func (q query) period(now time.Time, zone *time.Location) (period, error) {
	var wrong api.Fields
	if q.Days != 0 && (!q.Start.IsZero() || !q.End.IsZero()) {
		wrong.Add("days", "Ask for days, or for start and end, not for both.")
	}
	if q.Days < 0 || q.Days >= maxDays {
		wrong.Add("days", fmt.Sprintf("Must be between 1 and %d.", maxDays-1))
	}
	if q.Start.IsZero() && !q.End.IsZero() {
		wrong.Add("start", "A time is required where an end is given.")
	}
	if err := wrong.Err(); err != nil {
		return period{}, err
	}
	if q.Start.IsZero() {
		days := q.Days
		if days == 0 {
			days = defaultDays
		}
		today := dateOf(now, zone)
		return period{beginning(today.AddDate(0, 0, 1-days), zone).UTC(), beginning(today.AddDate(0, 0, 1), zone).UTC()}, nil
	}
	p := period{bucketOf(q.Start), q.End}
	if q.End.IsZero() {
		p.until = now
	}
	if up := bucketOf(p.until); up.Before(p.until) {
		p.until = up.Add(quarter)
	}
	switch {
	case !q.Start.Before(p.until) || !q.End.IsZero() && !q.Start.Before(q.End):
		return p, api.Invalid("start", "Must be before the end.")
	case p.length() > maxDays*day:
		return p, api.Invalid("end", fmt.Sprintf("Must be at most %d days after the start.", maxDays))
	}
	return p, nil
}

// facets returns what the filters mean for the caller. A key that is restricted to domains sees only what is theirs.
func (q query) facets(caller api.Caller) ([]facet, error) {
	filters := []struct {
		name string
		ids  []string
		of   func(string) facet
	}{{"domain_id", q.Domain, ofDomain}, {"managed_tenant_id", q.Tenant, ofTenant}, {"broadcast_id", q.Broadcast, ofBroadcast}, {"template_id", q.Template, ofTemplate}}
	var facets []facet
	var used []string
	for _, filter := range filters {
		if len(filter.ids) == 0 {
			continue
		}
		if len(filter.ids) > maxChoices || slices.ContainsFunc(filter.ids, func(id string) bool { return !api.IsID(id) }) {
			return nil, api.Invalid(filter.name, fmt.Sprintf("Must be ids, at most %d.", maxChoices))
		}
		used = append(used, filter.name)
		for _, id := range filter.ids {
			facets = append(facets, filter.of(strings.ToLower(id)))
		}
	}
	if len(q.Tag) > 1 {
		return nil, api.Invalid("tag", "Ask for one tag at a time: mail with several would be counted several times.")
	}
	if len(q.Tag) == 1 {
		name, value, ok := strings.Cut(q.Tag[0], ":")
		if !ok {
			return nil, api.Invalid("tag", "Must be name:value.")
		}
		used, facets = append(used, "tag"), append(facets, ofTag(name, value))
	}
	if len(used) > 1 {
		return nil, api.Invalid(used[1], fmt.Sprintf("Counts are kept by one thing at a time: ask without %s.", used[0]))
	}
	if len(caller.DomainIDs) > 0 {
		return restricted(caller, q.Domain, used)
	}
	if len(facets) == 0 {
		return []facet{""}, nil
	}
	slices.Sort(facets)
	return slices.Compact(facets), nil
}

// restricted returns the facets of a key that is restricted to domains.
func restricted(caller api.Caller, domains, used []string) ([]facet, error) {
	if len(domains) == 0 {
		if len(used) > 0 {
			return nil, api.ErrDomainNotAllowed.Saying("An API key that is restricted to domains can ask for domain_id only.")
		}
		domains = caller.DomainIDs
	}
	var facets []facet
	for _, id := range domains {
		if !caller.MayUseDomain(strings.ToLower(id)) {
			return nil, api.DomainNotAllowed(id)
		}
		facets = append(facets, ofDomain(strings.ToLower(id)))
	}
	slices.Sort(facets)
	return slices.Compact(facets), nil
}

// zoneOf returns a time zone by its name.
func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" || len(name) > maxZone {
		return nil, api.Invalid("timezone", "Must be the name of a time zone, such as Europe/Berlin.")
	}
	return zone, nil
}

// span joins what is asked for into one question.
func (q query) span(caller api.Caller, now time.Time, zone *time.Location) (span, error) {
	p, err := q.period(now, zone)
	if err != nil {
		return span{}, err
	}
	facets, err := q.facets(caller)
	return span{caller.Workspace, facets, p.from, p.until}, err
}

func (s span) period() period { return period{s.from, s.until} }

// in is the same question about another time.
func (s span) in(p period) span {
	s.from, s.until = p.from, p.until
	return s
}
