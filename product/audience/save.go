package audience

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
	"postrider/product/suppression"
)

// wish is what a contact is to be, as far as somebody says.
type wish struct {
	address     string
	first, last api.Optional[string]
	// values are by property; nil takes a value away.
	values       map[int64]*filter.Value
	unsubscribed *bool
	// resubscribe brings back somebody who left by themselves. Whoever says so has asked them.
	resubscribe bool
	lists       []List
	topics      map[int64]Subscription
	segments    []int64
	consent     *Consent
	// presumed is the consent of somebody of whom none is known.
	presumed *Consent
}

// conflict is what to do about a contact that is there already.
type conflict string

const (
	update conflict = "update"
	skip   conflict = "skip"
	refuse conflict = "error"
)

// saved is what became of a wish.
type saved struct {
	*Contact
	created, skipped bool
	// full means that the plan has no room for the contact: it was not made.
	full bool
}

// card is a contact that a transaction works on.
type card struct {
	Contact
	isNew, touched, renamed, full bool
	values                        map[int64]*filter.Value
	said                          map[int64]stance
	segments                      []int64
	joins                         []join
}

// stance is what is to hold for a topic. It turns round what the person said only if they came back.
type stance struct {
	Subscription
	back bool
}

type join struct {
	list              List
	consent, presumed *Consent
	resubscribe       bool
}

// book is the part of an audience that one transaction writes to.
type book struct {
	service *Service
	tx      *db.Tx
	ws      space.ID
	schema  schema
	cards   map[string]*card
	counts  counts
	back    []string // addresses of those who come back
}

// save makes and changes contacts as the wishes say, many with few statements. The outcomes are in the order of the wishes.
func (s *Service) save(tx *db.Tx, ws space.ID, known schema, limit *int64, wishes []wish, on conflict) ([]saved, error) {
	b := &book{service: s, tx: tx, ws: ws, schema: known, cards: map[string]*card{}, counts: newCounts()}
	if err := b.open(wishes, limit); err != nil {
		return nil, err
	}
	outcomes := make([]saved, len(wishes))
	for i, w := range wishes {
		c := b.cards[w.address]
		there := !c.isNew || c.touched
		switch {
		case c.full:
			outcomes[i] = saved{full: true}
			continue
		case there && on == refuse:
			return nil, api.ErrAlreadyExists.With("resource", "contact").With("id", c.ID)
		case there && on == skip:
			outcomes[i] = saved{Contact: &c.Contact, skipped: true}
			continue
		}
		outcomes[i] = saved{Contact: &c.Contact, created: !there}
		b.apply(c, w)
	}
	return outcomes, b.close()
}

// open locks what there is of the contacts, and makes room for the others.
func (b *book) open(wishes []wish, limit *int64) error {
	addresses := make([]string, len(wishes))
	for i, w := range wishes {
		addresses[i] = w.address
	}
	found, err := lockContacts(b.tx, b.ws, addresses)
	if err != nil {
		return err
	}
	for _, c := range found {
		b.cards[c.Address] = newCard(c)
	}
	var strangers []suppression.Query
	for _, address := range addresses {
		if b.cards[address] == nil {
			c := newCard(Contact{ID: ContactID(b.service.world.NewID()), Workspace: b.ws, Address: address, Status: Subscribed, CreatedAt: b.tx.Now(), UpdatedAt: b.tx.Now()})
			c.isNew = true
			b.cards[address] = c
			strangers = append(strangers, suppression.Query{Workspace: b.ws, Address: address, Bulk: true})
		}
	}
	if len(strangers) == 0 {
		return nil
	}
	stops, err := b.service.parts.Suppressions.Check(b.tx, strangers)
	for i, stop := range stops {
		if stop != nil {
			b.cards[strangers[i].Address].Suppression = stop.Reason
		}
	}
	if err != nil {
		return err
	}
	return b.reserve(strangers, limit)
}

func newCard(c Contact) *card {
	return &card{Contact: c, values: map[int64]*filter.Value{}, said: map[int64]stance{}}
}

// reserve counts new contacts as far as the plan has room, in the order in which they were asked for.
func (b *book) reserve(strangers []suppression.Query, limit *int64) error {
	have, err := lockTotal(b.tx, b.ws)
	if err != nil {
		return err
	}
	made := int64(len(strangers))
	if limit != nil {
		made = min(made, max(0, *limit-have))
	}
	for _, q := range strangers[made:] {
		b.cards[q.Address].full = true
	}
	return addTotal(b.tx, b.ws, made)
}

// apply does to a card what a wish says.
func (b *book) apply(c *card, w wish) {
	c.touched = true
	c.UpdatedAt = b.tx.Now()
	first, last := w.first.Or(c.FirstName), w.last.Or(c.LastName)
	c.renamed = c.renamed || first != c.FirstName || last != c.LastName
	c.FirstName, c.LastName = first, last
	maps.Copy(c.values, w.values)
	for topic, subscription := range w.topics {
		c.said[topic] = stance{subscription, w.resubscribe}
	}
	c.segments = append(c.segments, w.segments...)
	c.Consent = cmp.Or(w.consent, c.Consent, w.presumed)
	for _, l := range w.lists {
		c.joins = append(c.joins, join{l, w.consent, w.presumed, w.resubscribe})
	}
	b.subscribe(c, w)
}

// subscribe changes whether the contact gets mail at all. What the person said stays, unless somebody says that they came back.
func (b *book) subscribe(c *card, w wish) {
	switch {
	case w.resubscribe && (w.unsubscribed == nil || !*w.unsubscribed):
		c.comeBack()
		b.back = append(b.back, c.Address)
	case w.unsubscribed == nil:
	case *w.unsubscribed:
		c.Unsubscribed = true
	case c.LeftAt.IsZero():
		c.Unsubscribed = false
	}
}

func (c *Contact) comeBack() {
	c.Unsubscribed, c.LeftAt = false, time.Time{}
	if c.Suppression == suppression.Unsubscribe {
		c.Suppression = ""
	}
}

// close writes everything.
func (b *book) close() error {
	memberships, err := b.joinLists()
	if err != nil {
		return err
	}
	fresh, changed := b.touched()
	for _, c := range append(slices.Clone(fresh), changed...) {
		c.settle()
	}
	if err := b.writeContacts(fresh, changed); err != nil {
		return err
	}
	for i, m := range memberships {
		memberships[i].Contact = m.card.Number
	}
	rows := make([]Membership, len(memberships))
	for i, m := range memberships {
		rows[i] = m.Membership
	}
	if err := saveMemberships(b.tx, rows); err != nil {
		return err
	}
	if err := b.writeValues(append(fresh, changed...)); err != nil {
		return err
	}
	if err := b.service.parts.Suppressions.Resubscribe(b.tx, b.ws, b.back); err != nil {
		return err
	}
	return b.counts.save(b.tx)
}

// touched returns the cards that are to be written, by their address.
func (b *book) touched() (fresh, changed []*card) {
	for _, address := range slices.Sorted(maps.Keys(b.cards)) {
		switch c := b.cards[address]; {
		case !c.touched:
		case c.isNew:
			fresh = append(fresh, c)
		default:
			changed = append(changed, c)
		}
	}
	return fresh, changed
}

func (b *book) writeContacts(fresh, changed []*card) error {
	rows, addresses := make([]*Contact, len(fresh)), make([]string, len(fresh))
	for i, c := range fresh {
		rows[i], addresses[i] = &c.Contact, c.Address
	}
	n, err := insertContacts(b.tx, rows)
	if err != nil {
		return err
	}
	if int(n) < len(rows) {
		return db.ErrConflict // another transaction has just added one of them; the next try will see it
	}
	if len(fresh) > 0 {
		numbers, err := selectNumbersOf(b.tx, b.ws, addresses)
		if err != nil {
			return err
		}
		for _, c := range fresh {
			c.Number = numbers[c.Address]
		}
	}
	var index, again []Contact
	for _, c := range fresh {
		index = append(index, c.Contact)
	}
	for _, c := range changed {
		if err := updateContact(b.tx, c.Contact); err != nil {
			return fmt.Errorf("update contact %s: %w", c.ID, err)
		}
		if c.renamed {
			again = append(again, c.Contact)
		}
	}
	if err := b.tx.UnindexWords(searchIndex, documents(again)...); err != nil {
		return err
	}
	return b.tx.IndexWords(searchIndex, documents(append(index, again...))...)
}
