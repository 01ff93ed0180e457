package broadcast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/product/email"
)

// Followers returns what reads the record of events.
func (s *Service) Followers() []event.Follower {
	return []event.Follower{{Name: "broadcast", Gather: event.Leisurely, Choose: choose, Handle: s.follow}}
}

// facts is what an event of an email says that matters here.
type facts struct {
	Broadcast ID          `json:"broadcast_id"`
	Status    email.State `json:"status"`
	ISP       string      `json:"isp"`
	Relayed   int64       `json:"relayed"`
	Bounce    *struct {
		Type     string `json:"type"`
		Class    string `json:"class"`
		Message  string `json:"message"`
		SMTPCode int    `json:"smtp_code"`
		Enhanced string `json:"enhanced_code"`
	} `json:"bounce"`
	Failed     *Failure `json:"failed"`
	Suppressed *Failure `json:"suppressed"`
	Open       *visit   `json:"open"`
	Click      *visit   `json:"click"`
}

// visit is an open or a click.
type visit struct {
	Link      string `json:"link"`
	Automated bool   `json:"automated"`
}

// ours begins the data of mail that is part of a broadcast; other mail has null there and need not be read.
var ours = []byte(`"broadcast_id":"`)

// mayBeOurs tells whether an event may be about mail of a broadcast. A customer's own words can look like it.
func mayBeOurs(e event.Event) bool {
	return strings.HasPrefix(e.Type, "email.") && bytes.Contains(e.Data, ours)
}

// choose leaves out other mail, so that nothing is written for it.
func choose(_ *db.Tx, events []event.Event) ([]event.Event, error) {
	return slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return !mayBeOurs(e) }), nil
}

// follow brings the rows and the counters of broadcasts up to what happened to their mail, and ends broadcasts whose last row is
// settled. Broadcasts are locked first and in order, as everybody does who changes their rows.
func (s *Service) follow(tx *db.Tx, events []event.Event) error {
	ids, news := newsOf(events)
	if len(ids) == 0 {
		return nil
	}
	broadcasts, err := lockForWork(tx, ids)
	if err != nil {
		return err
	}
	rows, err := selectByEmails(tx, slices.Sorted(maps.Keys(news)))
	if err != nil {
		return err
	}
	tallies := map[ID]*tally{}
	var changed []recipient
	for _, r := range rows {
		if tallies[r.Broadcast] == nil {
			tallies[r.Broadcast] = newTally()
		}
		before := r
		for _, n := range news[string(r.Email)] {
			tallies[r.Broadcast].hear(&r, n.Event, n.facts)
		}
		if before != r {
			changed = append(changed, r)
		}
	}
	if err := updateRecipients(tx, changed); err != nil {
		return err
	}
	for _, b := range broadcasts {
		if t := tallies[b.ID]; t != nil {
			if err := s.keep(tx, b, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece is an event with what it says that matters here.
type piece struct {
	event.Event
	facts facts
}

// newsOf returns the broadcasts that events tell of, and what they tell, by email.
func newsOf(events []event.Event) (ids []ID, news map[string][]piece) {
	news = map[string][]piece{}
	for _, e := range events {
		if !mayBeOurs(e) {
			continue
		}
		var f facts
		if err := json.Unmarshal(e.Data, &f); err != nil || f.Broadcast == "" {
			continue
		}
		news[e.Subject] = append(news[e.Subject], piece{e, f})
		if !slices.Contains(ids, f.Broadcast) {
			ids = append(ids, f.Broadcast)
		}
	}
	return ids, news
}

// keep adds a tally to the counters of a broadcast, and ends it if nothing is left to do.
func (s *Service) keep(tx *db.Tx, b Broadcast, t *tally) error {
	if err := addCounts(tx, b.ID, t.counts); err != nil {
		return err
	}
	if err := addParts(tx, b.ID, t.parts); err != nil {
		return err
	}
	if err := s.keepClicks(tx, b.ID, t.clicks); err != nil {
		return err
	}
	return s.endIfDone(tx, &b)
}

// hear lets a recipient learn what an event says.
func (t *tally) hear(r *recipient, e event.Event, f facts) {
	next := f.Status
	switch e.Type {
	case "email.opened":
		t.visited(r, f.Open, opened, uniqueOpened, automatedOpens, &r.Opens, e, f.ISP)
	case "email.clicked":
		t.visited(r, f.Click, clicked, uniqueClicked, automatedClicks, &r.Clicks, e, f.ISP)
		if f.Click != nil && !f.Click.Automated {
			t.clicks[click{r.ID, f.Click.Link}]++
		}
	case "email.unsubscribed":
		if !r.Unsubscribed {
			r.Unsubscribed = true
			t.counts[unsubscribed]++
		}
	case "email.queued", "email.scheduled":
		return // the row said so in the same moment
	case "email.sent":
		if f.Relayed == 0 {
			return // the delivery of its recipient is told apart
		}
	}
	if e.OccurredAt.After(r.UpdatedAt) {
		r.UpdatedAt = e.OccurredAt
	}
	if !r.mayBecome(next) {
		return
	}
	t.move(r, next, e.OccurredAt, f.ISP)
	r.explain(e, f)
	if next == email.Bounced && f.Bounce != nil {
		if which, ok := bounceCounters[f.Bounce.Class]; ok {
			t.counts[which]++
		}
	}
}

// visited counts an open or a click.
func (t *tally) visited(r *recipient, v *visit, all, unique, automated counter, times *int64, e event.Event, isp string) {
	switch {
	case v == nil:
	case v.Automated:
		t.counts[automated]++
	default:
		if *times++; *times == 1 {
			t.counts[unique]++
		}
		t.add(all, 1, e.OccurredAt, isp)
	}
}

// explain notes why a recipient did not get the mail.
func (r *recipient) explain(e event.Event, f facts) {
	p := problem{Stage: atDelivery, At: api.Time(e.OccurredAt)}
	switch {
	case f.Bounce != nil:
		r.BounceType = strings.ToLower(f.Bounce.Type)
		p.Reason, p.Class, p.Message, p.Enhanced = f.Bounce.Class+"_bounce", api.Ref(f.Bounce.Class), f.Bounce.Message, api.Ref(f.Bounce.Enhanced)
		if f.Bounce.SMTPCode > 0 {
			p.SMTPCode = &f.Bounce.SMTPCode
		}
	case f.Failed != nil:
		p.Reason, p.Message = f.Failed.Reason, f.Failed.Message
	case f.Suppressed != nil:
		p.Stage, p.Reason, p.Message = atSuppression, f.Suppressed.Reason, f.Suppressed.Message
	case r.State == email.Cancelled:
		p.Reason, p.Message = reasonCancel, cancelMessage
	default:
		return
	}
	r.Problem = &p
	r.keepSilent()
}

const (
	// maxLinks is how many links of a broadcast are counted apart. Links that differ for every recipient would be as many as they.
	maxLinks = 500
	// otherLinks stands for all further links.
	otherLinks = "(other links)"
	// maxLinkBytes is where the address of a link is cut.
	maxLinkBytes = 2048
)

// followed is a link, by its id, that a recipient followed.
type followed struct{ recipient, link string }

// keepClicks counts clicks by link and by recipient.
func (s *Service) keepClicks(tx *db.Tx, id ID, clicks map[click]int64) error {
	if len(clicks) == 0 {
		return nil
	}
	known, err := s.linksFor(tx, id, clicks)
	if err != nil {
		return err
	}
	var who []string
	byRow := map[followed]int64{}
	for c, n := range clicks {
		who = append(who, c.recipient)
		byRow[followed{c.recipient, known(c.url)}] += n
	}
	before, err := selectClicks(tx, who)
	if err != nil {
		return err
	}
	had := map[followed]bool{}
	for _, row := range before {
		had[followed{row.recipient, row.link}] = true
	}
	sums := map[string]*link{}
	for key, n := range byRow {
		if err := addClick(tx, key.recipient, key.link, n); err != nil {
			return err
		}
		if sums[key.link] == nil {
			sums[key.link] = &link{id: key.link}
		}
		if sums[key.link].clicks += n; !had[key] {
			sums[key.link].unique++
		}
	}
	for _, l := range sums {
		if err := addToLink(tx, *l); err != nil {
			return fmt.Errorf("count clicks of %s: %w", id, err)
		}
	}
	return nil
}

// linksFor makes sure that there is a row for every link, and returns the id of each. The broadcast is locked. The links of a batch
// come in the order of their addresses: which of them is the last with a row of its own must not be left to chance.
func (s *Service) linksFor(tx *db.Tx, id ID, clicks map[click]int64) (func(url string) string, error) {
	rows, err := selectLinks(tx, id, maxLinks+1)
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for _, l := range rows {
		ids[l.url] = l.id
	}
	var urls []string
	for c := range clicks {
		urls = append(urls, shortLink(c.url))
	}
	slices.Sort(urls)
	for _, url := range slices.Compact(urls) {
		if ids[url] != "" {
			continue
		}
		if len(ids) >= maxLinks {
			url = otherLinks
		}
		if ids[url] == "" {
			ids[url] = s.world.NewID()
			if err := insertLink(tx, id, link{id: ids[url], url: url}); err != nil {
				return nil, err
			}
		}
	}
	return func(url string) string {
		if known := ids[shortLink(url)]; known != "" {
			return known
		}
		return ids[otherLinks]
	}, nil
}

func shortLink(url string) string {
	if len(url) > maxLinkBytes {
		return strings.ToValidUTF8(url[:maxLinkBytes], "")
	}
	return url
}
