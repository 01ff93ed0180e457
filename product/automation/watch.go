package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
)

// WatchLane is the queue of what triggers that watch a place have left to note, and to forget.
const WatchLane queue.Lane = "automation_watch"

// watchPage is how many contacts one transaction notes or forgets.
const watchPage = 500

// noting is the noted of a trigger whose place is still being looked through: no event is after it.
const noting = math.MaxInt64

// watched is the payload of an item of WatchLane: who is there after a contact is to be noted for a trigger, or, without a step, all that stands
// under a key is to be forgotten.
type watched struct {
	Automation ID     `json:"automation"`
	Watch      string `json:"watch"`
	Step       string `json:"step"`
	Since      int64  `json:"since"`
	After      int64  `json:"after"`
}

// beginWatch notes who is where a trigger watches already, because they have not come there. With many of them the rest is left for later.
func (s *Service) beginWatch(tx *db.Tx, l *listener, config flow.Config) error {
	l.watch = l.step
	gone, err := forgetMembers(tx, l.automation, l.watch, watchPage)
	if err != nil {
		return err
	}
	if gone == watchPage { // there may be others from before, and they are not to be taken for those of now
		if err := s.planWatch(tx, watched{Automation: l.automation, Watch: l.watch}); err != nil {
			return err
		}
		l.watch = s.world.NewID()
	}
	last, more, err := s.note(tx, *l, config, 0)
	if err != nil || !more {
		return err
	}
	l.noted = noting
	return s.planWatch(tx, watched{Automation: l.automation, Watch: l.watch, Step: l.step, Since: l.since.UnixMicro(), After: last})
}

// note notes some who are where a trigger watches: those after a contact. It returns the last of them, and whether there may be more.
func (s *Service) note(tx *db.Tx, l listener, config flow.Config, after int64) (last int64, more bool, err error) {
	page, err := s.parts.Audience.Members(tx, l.workspace, audience.Target{List: config.ListID, Segment: config.SegmentID}, after, watchPage)
	if err != nil || len(page) == 0 {
		return after, false, err
	}
	return page[len(page)-1].Number, len(page) == watchPage, noteMembers(tx, l, page)
}

// endWatches lets go of what was noted for triggers that watch no longer.
func (s *Service) endWatches(tx *db.Tx, before, now []listener) error {
	for _, l := range before {
		if !slices.Contains(placeTriggers, l.event) || watches(now, l.watch) {
			continue
		}
		if err := s.planWatch(tx, watched{Automation: l.automation, Watch: l.watch}); err != nil {
			return err
		}
	}
	return nil
}

// watches tells whether those who are where a trigger watches stand under a key.
func watches(listeners []listener, key string) bool {
	return slices.ContainsFunc(listeners, func(l listener) bool { return l.watch == key && slices.Contains(placeTriggers, l.event) })
}

func (s *Service) planWatch(tx *db.Tx, w watched) error {
	return queue.Add(tx, queue.Item{ID: s.world.NewID(), Lane: WatchLane, Rank: queue.Normal, Due: tx.Now(), Payload: db.JSON(w)})
}

// stepWatches notes or forgets some contacts for one trigger.
func (s *Service) stepWatches(ctx context.Context) (bool, error) {
	if due, err := s.holder.IsDue(ctx, WatchLane); err != nil || !due {
		return false, err
	}
	worked, lease := false, s.holder.Lease(leaseFor)
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		items, err := queue.Claim(tx, WatchLane, lease, 1)
		if worked = len(items) > 0; err != nil || !worked {
			return err
		}
		var w watched
		if err := json.Unmarshal([]byte(items[0].Payload), &w); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		goOn := s.goOnNoting
		if w.Step == "" {
			goOn = s.goOnForgetting
		}
		if err := goOn(tx, w); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		return queue.Finish(tx, items[0].ID) // what is left is an item of its own
	})
	return worked, err
}

// goOnNoting notes some more. From the event on that is the newest when all are noted, what is noted tells where everybody was.
func (s *Service) goOnNoting(tx *db.Tx, w watched) error {
	l, err := lockListener(tx, w.Automation, w.Step)
	if err != nil || l == nil || l.watch != w.Watch || l.noted != noting || l.since.UnixMicro() != w.Since {
		return err
	}
	graph, err := s.graph(tx, l.automation, l.version)
	if err != nil {
		return err
	}
	last, more, err := s.note(tx, *l, graph.Step(l.step).Config, w.After)
	if err != nil && !isAnswer(err) { // the answer is that the place is gone, and nobody is there
		return err
	}
	if more {
		w.After = last
		return s.planWatch(tx, w)
	}
	newest, err := event.Newest(tx) // after they were read: what happened to one before that is not after it
	if err != nil {
		return err
	}
	return updateNoted(tx, *l, newest)
}

// goOnForgetting forgets some more, unless a trigger has begun to use the key again.
func (s *Service) goOnForgetting(tx *db.Tx, w watched) error {
	if err := holdAutomation(tx, w.Automation); err != nil {
		return err
	}
	listeners, err := listenersOf(tx, w.Automation)
	if err != nil || watches(listeners, w.Watch) {
		return err
	}
	gone, err := forgetMembers(tx, w.Automation, w.Watch, watchPage)
	if err != nil || gone < watchPage {
		return err
	}
	return s.planWatch(tx, w)
}

// watch compares where a contact is with where it was, for triggers of lists and segments.
func (s *Service) watch(tx *db.Tx, e event.Event, h happening, listeners []listener) error {
	if strings.HasPrefix(e.Type, "email.") {
		return nil
	}
	for _, l := range listeners {
		if !slices.Contains(placeTriggers, l.event) {
			continue
		}
		moved, err := s.moved(tx, e, h, l)
		if err != nil {
			return err
		}
		if !moved {
			continue
		}
		there := h
		there.name = l.event
		if _, err := s.begin(tx, there, []listener{l}); err != nil {
			return err
		}
		if err := s.resume(tx, there); err != nil {
			return err
		}
	}
	return nil
}

// moved notes where a contact is, and tells whether that is a move a trigger waits for.
func (s *Service) moved(tx *db.Tx, e event.Event, h happening, l listener) (bool, error) {
	if l.noted == noting { // who notes the others comes before or after
		now, err := lockListener(tx, l.automation, l.step)
		if err != nil || now == nil {
			return false, err
		}
		l = *now
	}
	graph, err := s.graph(tx, l.automation, l.version)
	if err != nil {
		return false, err
	}
	config := graph.Step(l.step).Config
	inside := e.Type != "contact.deleted" && isAt(h.payload, config)
	note := forgetMember
	if inside {
		note = noteMember
	}
	changed, err := note(tx, l, h.contact)
	if err == nil && e.Number() <= l.noted {
		changed, err = s.cameOrWent(tx, e, l, config, inside, changed)
	}
	return changed && e.Number() > l.after && inside != (l.event == flow.SegmentLeft) && e.Type != "contact.deleted", err
}

// cameOrWent is what an event before all were noted has changed: somebody who is not noted may have been there, and somebody who is may have
// come just now. The event before it tells where the contact was, and a list when somebody joined it. Of whom nothing is known is taken to have
// been there for long.
func (s *Service) cameOrWent(tx *db.Tx, e event.Event, l listener, config flow.Config, inside, changed bool) (bool, error) {
	was, known, err := placeBefore(tx, e, config)
	switch {
	case err != nil:
		return false, err
	case !inside:
		return changed || was, nil
	case was:
		return false, nil
	case config.ListID != "":
		return s.parts.Audience.JoinedSince(tx, e.Workspace, config.ListID, audience.ContactID(e.Subject), l.since)
	}
	return known, nil
}

// placeBefore tells whether a contact was where a trigger watches before an event.
func placeBefore(tx *db.Tx, e event.Event, config flow.Config) (was, known bool, err error) {
	if e.Type == "contact.created" {
		return false, true, nil
	}
	last, err := event.PartOfSubject(tx, e.Workspace, e.Subject, nil, db.Keyset{Beyond: []any{e.Number()}, Down: true}, 1, 0)
	if err != nil || len(last) == 0 {
		return false, false, err
	}
	var said map[string]any
	if err := json.Unmarshal(last[0].Data, &said); err != nil {
		return false, false, err
	}
	return isAt(said, config), said["segment_ids"] != nil, nil
}

// isAt tells whether a contact is where a trigger watches, by what an event says of it.
func isAt(said map[string]any, config flow.Config) bool {
	return holds(said["list_ids"], config.ListID) || holds(said["segment_ids"], config.SegmentID)
}

func holds(list any, id string) bool {
	ids, _ := list.([]any)
	return id != "" && slices.ContainsFunc(ids, func(one any) bool { return one == id })
}
