package stats

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Tags are whatever customers write. The number of an order, different in every mail, would make a table of mails out of the counts, so a
// workspace has its first tags counted apart, and of each the first values. Those that are not seen any more make room for others.

const (
	maxTags   = 100
	maxValues = 1000
	// freeAfter is for how long a tag keeps its place without being seen.
	freeAfter = 31 * 24 * time.Hour
)

// tagList is the values of a tag that are counted apart or, without a name, the tags.
type tagList struct {
	workspace space.ID
	name      string
}

func (l tagList) most() int {
	if l.name == "" {
		return maxTags
	}
	return maxValues
}

func (l tagList) compare(other tagList) int {
	return cmp.Or(cmp.Compare(l.workspace, other.workspace), cmp.Compare(l.name, other.name))
}

// tagsApart are the lists with what is counted apart in them.
type tagsApart map[tagList]map[string]bool

func (t tagsApart) has(ws space.ID, name, value string) bool { return t[tagList{ws, name}][value] }

func (t tagsApart) want(list tagList, value string) {
	if t[list] == nil {
		t[list] = map[string]bool{}
	}
	t[list][value] = true
}

// of returns the tags of an event that are counted apart.
func (t tagsApart) of(n note) map[string]string {
	tags := map[string]string{}
	for name, value := range n.facts.Tags {
		if t.has(n.event.Workspace, name, value) {
			tags[name] = value
		}
	}
	return tags
}

// tagsOf tells which tags of the events are counted apart, and takes new ones in.
func tagsOf(tx *db.Tx, notes []note) (tagsApart, error) {
	wanted := tagsApart{}
	for _, n := range notes {
		for name, value := range n.facts.Tags {
			wanted.want(tagList{n.event.Workspace, ""}, name)
			wanted.want(tagList{n.event.Workspace, name}, value)
		}
	}
	apart := tagsApart{}
	for _, list := range slices.SortedFunc(maps.Keys(wanted), tagList.compare) { // the tags of a workspace come before their values
		if list.name != "" && !apart.has(list.workspace, "", list.name) {
			continue
		}
		var err error
		if apart[list], err = findRoom(tx, list, slices.Sorted(maps.Keys(wanted[list]))); err != nil {
			return nil, err
		}
	}
	return apart, nil
}

// findRoom returns which values of a list are counted apart, and takes new ones in as long as there is room.
func findRoom(tx *db.Tx, list tagList, values []string) (map[string]bool, error) {
	today := dayOf(tx.Now())
	known, err := selectTags(tx, list, values)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	var stale, strange []string
	for _, value := range values {
		seen, ok := known[value]
		kept[value] = ok
		switch {
		case !ok:
			strange = append(strange, value)
		case seen.Before(today):
			stale = append(stale, value)
		}
	}
	if len(stale) > 0 {
		if err := updateSeen(tx, list, stale, today); err != nil {
			return nil, err
		}
	}
	if len(strange) == 0 {
		return kept, nil
	}
	used, err := countTags(tx, list)
	if err != nil {
		return nil, err
	}
	strange = strange[:min(len(strange), max(list.most()-used, 0))]
	for _, value := range strange {
		kept[value] = true
	}
	return kept, insertTags(tx, list, strange, today)
}
