package shape

// none is the end of a list in the slab.
const none int32 = -1

// slot holds an item. Slots of one group, which may go in one transaction, are linked; the first of them stands for the group.
type slot struct {
	item Item
	next int32 // in the group
	last int32 // of the group; only in its first slot
	then int32 // the next group of the flow; only in its first slot
	size int32 // of the group; only in its first slot
}

// slab keeps all items in one piece of memory, which grows to the bound and stays.
type slab struct {
	slots []slot
	free  int32 // the first of the free slots, from 1; 0 is none
}

func (b *slab) take(item Item) int32 {
	fresh := slot{item: item, next: none, then: none, size: 1}
	at := b.free - 1
	if at < 0 {
		at = int32(len(b.slots))
		b.slots = append(b.slots, fresh)
	} else {
		b.free = b.slots[at].next
		b.slots[at] = fresh
	}
	b.slots[at].last = at
	return at
}

func (b *slab) give(at int32) {
	b.slots[at] = slot{next: b.free}
	b.free = at + 1
}

type groupKey struct {
	flow                 *flow
	email, domain, route string
}

func keyOf(f *flow, item *Item) groupKey { return groupKey{f, item.Email, item.Domain, item.Route} }

// push adds an item to a flow: to the group of its email, if that waits, else to the end.
func (s *Shaper) push(f *flow, item Item) {
	at := s.slab.take(item)
	slots := s.slab.slots
	key := keyOf(f, &item)
	if head, ok := s.groups[key]; ok {
		slots[slots[head].last].next = at
		slots[head].last = at
		slots[head].size++
	} else {
		s.groups[key] = at
		if f.head == none {
			f.head = at
		} else {
			slots[f.tail].then = at
		}
		f.tail = at
	}
	f.waiting++
	f.owner.waiting++
	f.account.waiting++
	s.waiting++
	f.owner.recent = f
}

// pop takes up to most items of the first group of a flow.
func (s *Shaper) pop(f *flow, most int) []Item {
	slots := s.slab.slots
	head := f.head
	first := slots[head]
	count := min(most, int(first.size))
	items := make([]Item, 0, count)
	at := head
	for range count {
		items = append(items, slots[at].item)
		next := slots[at].next
		s.slab.give(at)
		at = next
	}
	key := keyOf(f, &items[0])
	if at == none {
		delete(s.groups, key)
		if f.head = first.then; f.head == none {
			f.tail = none
		}
	} else {
		slots[at].last, slots[at].then, slots[at].size = first.last, first.then, first.size-int32(count)
		s.groups[key] = at
		if f.head = at; f.tail == head {
			f.tail = at
		}
	}
	f.waiting -= count
	f.owner.waiting -= count
	f.account.waiting -= count
	s.waiting -= count
	return items
}

// route returns what the next items of a flow need of a connection.
func (s *Shaper) route(f *flow) string { return s.slab.slots[f.head].item.Route }

// flowHere returns the flow of a tenant's class on a path, or nil. Items of one flow often come one after the other.
func (s *Shaper) flowHere(p *path, tenant string, class Class) *flow {
	if f := p.recent; f != nil && f.class == class && f.tenant == tenant {
		return f
	}
	return s.flows[flowKey{owner: p, tenant: tenant, class: class}]
}

// startFlow makes the flow of a tenant's class on a path.
func (s *Shaper) startFlow(p *path, tenant string, class Class) *flow {
	f := s.newFlow(flowKey{owner: p, tenant: tenant, class: class})
	owner := accountKey{tenant, class}
	f.account = s.accounts[owner]
	if f.account == nil {
		f.account = new(account)
		s.accounts[owner] = f.account
	}
	f.account.flows++
	f.limit = s.use(SharedName{OfTenant, tenant})
	p.turns.add(f)
	return f
}

// retire forgets a flow without items.
func (s *Shaper) retire(f *flow) {
	if f.parked {
		f.owner.removeParked(f)
	}
	f.owner.turns.remove(f)
	if f.owner.recent == f {
		f.owner.recent = nil
	}
	if f.account.flows--; f.account.flows == 0 {
		delete(s.accounts, accountKey{f.tenant, f.class})
	}
	s.unuse(f.limit)
	s.freeFlow(f)
}
