package sandbox

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
)

// change is one line of the journal: sets that were published or removed together.
type change struct {
	Publish []recordSet `json:"publish,omitempty"`
	Remove  []recordSet `json:"remove,omitempty"`
}

// openZone reads what was published, rewrites it without its history, and adds the names of the service.
func openZone(path, serviceDomain string) (*zone, error) {
	z := &zone{names: map[string]map[uint16][]version{}, base: map[string]map[uint16][]version{}, below: map[string]int{}}
	service, err := serviceRecords(serviceDomain)
	if err != nil {
		return nil, err
	}
	for _, set := range service {
		put(z.base, set, 0)
	}
	old, err := openJournal(path, func(line []byte, _ int64) {
		var c change
		if json.Unmarshal(line, &c) == nil {
			z.apply(c)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := old.close(); err != nil {
		return nil, err
	}
	z.forget()
	if err := z.compact(path); err != nil {
		return nil, err
	}
	return z, nil
}

// serviceRecords are the names that the operator of the product would publish for it.
func serviceRecords(domain string) ([]recordSet, error) {
	const senders = "v=spf1 ip4:127.0.0.0/8 ip6:::1 -all" // every product in the sandbox sends from this machine
	records := []Record{
		{Type: "TXT", Name: "spf." + domain, Value: senders},
		{Type: "TXT", Name: "bounces." + domain, Value: senders},
		{Type: "MX", Name: "bounces." + domain, Value: "mx1." + domain, Priority: 10},
		{Type: "PTR", Name: "1.0.0.127.in-addr.arpa", Value: "mx1." + domain},
	}
	for _, host := range []string{"mx1", "mx2", "bounces", "track"} {
		records = append(records, Record{Type: "A", Name: host + "." + domain, Value: "127.0.0.1"})
	}
	return collect(records)
}

// collect brings records of one name and type together.
func collect(records []Record) ([]recordSet, error) {
	type key struct{ name, kind string }
	var order []key
	values := map[key][]string{}
	for _, r := range records {
		k := key{r.Name, r.Type}
		if values[k] == nil {
			order = append(order, k)
		}
		value := r.Value
		if r.Type == "MX" {
			value = strconv.Itoa(r.Priority) + " " + r.Value
		}
		values[k] = append(values[k], value)
	}
	sets := make([]recordSet, len(order))
	for i, k := range order {
		set, err := newRecordSet(k.name, k.kind, values[k])
		if err != nil {
			return nil, err
		}
		sets[i] = set
	}
	return sets, nil
}

// apply makes a change of the journal. Sets that this version no longer understands are left out.
func (z *zone) apply(c change) {
	z.now++
	for _, s := range c.Publish {
		if set, err := newRecordSet(s.Name, s.Type, s.Values); err == nil {
			z.put(set)
		}
	}
	for _, s := range c.Remove {
		if set, err := newRecordSet(s.Name, s.Type, nil); err == nil {
			z.remove(set)
		}
	}
}

// forget drops the past, which belongs to mail of the last run.
func (z *zone) forget() {
	for name, sets := range z.names {
		for kind, versions := range sets {
			if set := last(versions); set != nil {
				sets[kind] = []version{{set: set}}
			} else {
				delete(sets, kind)
			}
		}
		if len(sets) == 0 {
			delete(z.names, name)
		}
	}
	z.now = 0
}

// compact replaces the journal by one that holds only what is published now.
func (z *zone) compact(path string) error {
	if err := os.Remove(path + ".new"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	fresh, err := openJournal(path+".new", func([]byte, int64) {})
	if err != nil {
		return err
	}
	for _, sets := range z.names {
		var c change
		for _, versions := range sets {
			c.Publish = append(c.Publish, *last(versions))
		}
		if err := fresh.appendJSON(c); err != nil {
			return errors.Join(err, fresh.close())
		}
	}
	if err := os.Rename(path+".new", path); err != nil {
		return errors.Join(err, fresh.close())
	}
	z.journal = fresh
	return nil
}
