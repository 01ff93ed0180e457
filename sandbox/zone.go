package sandbox

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/miekg/dns"
)

const (
	// maxNames bounds the zone; a load test with that many domains would be a test of something else.
	maxNames = 500_000
	// maxPast is how many former states of a set are kept for mail that is judged late.
	maxPast = 8
)

var errZoneFull = errors.New("the zone is full")

// moment is a count of changes: the state of the zone after that many of them.
type moment uint64

// zone holds what was published. It remembers what each name held before, so that a mail which is judged late is judged by the
// records of the moment it came.
type zone struct {
	mu      sync.RWMutex
	now     moment
	names   map[string]map[uint16][]version // guarded by mu; published by people
	base    map[string]map[uint16][]version // the service's own names; never changes
	below   map[string]int                  // guarded by mu; how many published names lie at or under a name
	journal *journal                        // guarded by mu
}

// version is a set from a moment on. A version without a set says that it was removed.
type version struct {
	since moment
	set   *recordSet
}

// publish puts sets in place of those of the same name and type, all or none.
func (z *zone) publish(sets ...recordSet) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	if len(z.names)+len(sets) > maxNames {
		return errZoneFull
	}
	if err := z.journal.appendJSON(change{Publish: sets}); err != nil {
		return err
	}
	z.now++
	for _, set := range sets {
		z.put(set)
	}
	return nil
}

// withdraw removes the set of a name and type, or all sets of the name if kind is 0, and returns how many there were.
func (z *zone) withdraw(name string, kind uint16) (int, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	var gone []recordSet
	for k, versions := range z.names[name] {
		if set := last(versions); set != nil && (kind == 0 || kind == k) {
			gone = append(gone, *set)
		}
	}
	if len(gone) == 0 {
		return 0, nil
	}
	if err := z.journal.appendJSON(change{Remove: gone}); err != nil {
		return 0, err
	}
	z.now++
	for _, set := range gone {
		z.remove(set)
	}
	return len(gone), nil
}

func (z *zone) put(set recordSet) {
	fresh := !isPublished(z.names[set.Name])
	put(z.names, set, z.now)
	if fresh {
		z.count(set.Name, 1)
	}
}

func put(names map[string]map[uint16][]version, set recordSet, since moment) {
	if names[set.Name] == nil {
		names[set.Name] = map[uint16][]version{}
	}
	names[set.Name][set.kind] = appendVersion(names[set.Name][set.kind], version{since: since, set: &set})
}

func (z *zone) remove(set recordSet) {
	sets := z.names[set.Name]
	if last(sets[set.kind]) == nil {
		return
	}
	sets[set.kind] = appendVersion(sets[set.kind], version{since: z.now})
	if !isPublished(sets) {
		z.count(set.Name, -1)
	}
}

func appendVersion(versions []version, v version) []version {
	if len(versions) == maxPast {
		versions = slices.Delete(versions, 0, 1)
		versions[0].since = 0 // the oldest that is remembered stands for all before it
	}
	return append(versions, v)
}

func last(versions []version) *recordSet {
	if len(versions) == 0 {
		return nil
	}
	return versions[len(versions)-1].set
}

func isPublished(sets map[uint16][]version) bool {
	for _, versions := range sets {
		if last(versions) != nil {
			return true
		}
	}
	return false
}

// count notes a name at itself and at every name above it.
func (z *zone) count(name string, change int) {
	for ; name != ""; _, name, _ = strings.Cut(name, ".") {
		if z.below[name] += change; z.below[name] == 0 {
			delete(z.below, name)
		}
	}
}

// list returns everything that is published, by name and type.
func (z *zone) list() []recordSet {
	z.mu.RLock()
	defer z.mu.RUnlock()
	sets := []recordSet{}
	for _, layer := range []map[string]map[uint16][]version{z.names, z.base} {
		for name, kinds := range layer {
			for kind := range kinds {
				if set := z.at(z.now, name, kind); set != nil && set == last(layer[name][kind]) {
					sets = append(sets, *set)
				}
			}
		}
	}
	slices.SortFunc(sets, func(a, b recordSet) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Type, b.Type))
	})
	return sets
}

// at returns the set of a name and type at a moment, or nil. What people publish hides what the service publishes.
func (z *zone) at(when moment, name string, kind uint16) *recordSet {
	for _, versions := range [][]version{z.names[name][kind], z.base[name][kind]} {
		for i := len(versions) - 1; i >= 0; i-- {
			if versions[i].since > when {
				continue
			}
			if versions[i].set != nil {
				return versions[i].set
			}
			break
		}
	}
	return nil
}

// moment returns the present state's number.
func (z *zone) moment() moment {
	z.mu.RLock()
	defer z.mu.RUnlock()
	return z.now
}

func (z *zone) close() error { return z.journal.close() }

// has reports whether a name holds any record at a moment.
func (z *zone) has(when moment, name string) bool {
	for _, layer := range []map[string]map[uint16][]version{z.names, z.base} {
		for kind := range layer[name] {
			if z.at(when, name, kind) != nil {
				return true
			}
		}
	}
	return false
}

// records returns the records of a name and type at a moment, and whether the set is published at all.
func (z *zone) records(when moment, name string, kind uint16) ([]dns.RR, bool) {
	set := z.at(when, name, kind)
	if set == nil {
		return nil, false
	}
	return set.records, true
}
