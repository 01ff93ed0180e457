package stats

import (
	"encoding/json"
	"strings"
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
)

// newNote reads an event of an email. What was erased from the record since is counted as far as it is still told.
func newNote(e event.Event) note {
	f := facts{}
	_ = json.Unmarshal(e.Data, &f) // what cannot be read counts as what its type says
	f.complete(e.Type)
	return note{event: e, facts: f}
}

// add counts the event.
func (n note) add() {
	f := n.facts
	n.facets = facetsOf(n.event, f)
	switch n.event.Type {
	case "email.queued", "email.scheduled":
		n.accepted()
	case "email.sent":
		if f.Relayed > 0 {
			n.settle(queued, "sent", f.Relayed)
		}
	case "email.delivered":
		n.count(Delivered, 1)
		n.isp(func(c *ispCounts) { c.delivered++; c.waitedMs += f.Delivery.WaitedMs })
		n.settle(f.Previous, delivered, 1)
	case "email.delivery_delayed":
		n.delayed()
	case "email.bounced":
		n.bounced()
	case "email.complained":
		n.count(Complained, 1)
		n.isp(func(c *ispCounts) { c.complained++ })
		n.settle(f.Previous, "complained", 1)
	case "email.failed":
		n.count(Failed, 1)
		n.settle(f.Previous, "failed", 1)
	case "email.suppressed":
		n.count(Suppressed, 1)
		n.settle(f.Previous, "suppressed", 1)
	case "email.cancelled":
		n.count(Cancelled, n.recipients())
		n.settle(f.Previous, "cancelled", n.recipients())
	case "email.opened":
		n.visited(f.Open, Opened, UniqueOpened, AutomatedOpens)
	case "email.clicked":
		n.visited(f.Click, Clicked, UniqueClicked, AutomatedClicks)
	case "email.unsubscribed":
		n.count(Unsubscribed, 1)
	case "email.received":
		n.count(Received, 1)
	}
}

// note is one event while it is counted.
type note struct {
	tally  *tally
	event  event.Event
	facts  facts
	facets []facet
}

// recipients is how many an event of a whole email speaks of.
func (n note) recipients() int64 { return int64(len(n.facts.To)) }

func (n note) count(c Counter, by int64) { n.countAt(n.event.OccurredAt, c, by) }

func (n note) countAt(at time.Time, c Counter, by int64) {
	for _, f := range n.facets {
		key := cell{n.event.Workspace, f, bucketOf(at)}
		n.tally.counts[key] = n.tally.counts[key].plus(c, by)
	}
}

func (n note) isp(change func(*ispCounts)) { n.ispAt(n.event.OccurredAt, change) }

func (n note) ispAt(at time.Time, change func(*ispCounts)) {
	for _, f := range n.facets {
		key := ispCell{cell{n.event.Workspace, f, dayOf(at)}, n.facts.ISP}
		c := n.tally.isps[key]
		change(&c)
		n.tally.isps[key] = c
	}
}

// accepted counts an email that was taken. That its time was moved, or has come, only moves its recipients.
func (n note) accepted() {
	if n.facts.Previous == "" {
		n.count(Accepted, n.recipients())
	}
	n.move(n.facts.Previous, n.facts.Status, n.recipients())
}

// settle moves recipients to a state. Who was waiting until now has got as far as mail gets, and counts as sent, unless we have
// stopped before any server was asked for the last time.
func (n note) settle(from, to string, recipients int64) {
	n.move(from, to, recipients)
	switch {
	case !waits(from), to == "suppressed", to == "cancelled", to == "failed" && n.facts.Failed.Reason != expired:
		return
	}
	n.count(Sent, recipients)
	if to != "sent" { // a relay knows the mailboxes, we do not
		n.isp(func(c *ispCounts) { c.sent += recipients })
	}
	n.rank(recipients)
}

// move takes recipients from one state to another, in the count of the day on which their email was accepted.
func (n note) move(from, to string, recipients int64) {
	if from == to || n.facts.CreatedAt.IsZero() {
		return
	}
	for _, f := range n.facets {
		at := cell{n.event.Workspace, f, dayOf(n.facts.CreatedAt)}
		if from != "" {
			n.tally.states[stateCell{at, from}] -= recipients
		}
		n.tally.states[stateCell{at, to}] += recipients
	}
}

func (n note) delayed() {
	if n.facts.Delay.First {
		n.count(Delayed, 1)
		n.isp(func(c *ispCounts) { c.deferred++ })
	}
	if n.facts.Delay.Class == block {
		n.isp(func(c *ispCounts) { c.lastBlock = later(c.lastBlock, n.event.OccurredAt) })
	}
}

// bounced counts a refusal. A mail that bounces after it was delivered is taken out of the time in which it was: delivered and
// bounced mail never add up to more than was sent.
func (n note) bounced() {
	f := n.facts
	if f.Previous == "" {
		return // its reader has it, whatever a server says
	}
	n.count(Bounced, 1)
	if c, ok := map[string]Counter{"hard": BouncedHard, "soft": BouncedSoft, block: BouncedBlock}[f.Bounce.Class]; ok {
		n.count(c, 1)
	}
	n.isp(func(c *ispCounts) {
		c.bounced++
		if f.Bounce.Class == block {
			c.blocked++
			c.lastBlock = later(c.lastBlock, n.event.OccurredAt)
		}
	})
	n.settle(f.Previous, "bounced", 1)
	if n.late() {
		n.countAt(f.DeliveredAt, Delivered, -1)
		n.countAt(f.DeliveredAt, Sent, -1)
		n.ispAt(f.DeliveredAt, func(c *ispCounts) { c.delivered--; c.sent--; c.waitedMs -= f.Delivery.WaitedMs })
		n.count(Sent, 1)
		n.isp(func(c *ispCounts) { c.sent++ })
	}
}

// late tells whether the event is that mail has bounced after it was delivered.
func (n note) late() bool {
	return n.event.Type == "email.bounced" && n.facts.Previous == delivered && !n.facts.DeliveredAt.IsZero()
}

// recall finds out how long mail took that bounced late: only its delivery says so.
func (n *note) recall(tx *db.Tx) error {
	events, err := event.OfSubject(tx, n.event.Workspace, n.event.Subject, n.event.Recipient, maxRecalled, 0)
	for _, e := range events {
		if e.Type == "email.delivered" {
			n.facts.Delivery = newNote(e).facts.Delivery
		}
	}
	return err
}

// maxRecalled is how many events of a recipient are looked through: more than there are attempts.
const maxRecalled = 200

func (n note) visited(v visit, all, unique, automated Counter) {
	if v.Automated {
		n.count(automated, 1)
		return
	}
	n.count(all, 1)
	if v.Count == 1 {
		n.count(unique, 1)
	}
	if n.facts.Previous != "" {
		n.settle(n.facts.Previous, n.facts.Status, 1)
	}
}

// maxName bounds the length of a subject in the lists, in characters: an index refuses long keys.
const maxName = 200

// rank counts the recipient's domain, the subject and the tags of mail that was sent. The text is cut, never the count.
func (n note) rank(recipients int64) {
	lists := []rankCell{{kind: rankSubject, name: cut(n.facts.Subject)}}
	if _, host, ok := strings.Cut(n.event.Recipient, "@"); ok {
		lists = append(lists, rankCell{kind: rankDomain, name: cut(strings.ToLower(host))})
	}
	for name, value := range n.facts.Tags {
		lists = append(lists, rankCell{kind: rankTag, name: cut(name + ":" + value)})
	}
	for _, f := range n.facets {
		for _, l := range lists {
			l.cell = cell{n.event.Workspace, f, dayOf(n.event.OccurredAt)}
			n.tally.ranks[l] += recipients
		}
	}
}

func cut(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), maxName)])
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
