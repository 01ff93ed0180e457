package automation

import (
	"encoding/json"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
)

// listen writes down what an automation waits for, and what it needs. Only an enabled one waits for anything.
func (s *Service) listen(tx *db.Tx, a Automation) error {
	before, err := listenersOf(tx, a.ID)
	if err != nil {
		return err
	}
	if err := deleteListeners(tx, a.ID); err != nil {
		return err
	}
	definitions := []flow.Definition{a.Draft}
	var graph *flow.Graph
	if a.Published > 0 && a.Status != Archived {
		text, err := selectDefinition(tx, a.ID, a.Published)
		if err != nil {
			return err
		}
		var published flow.Definition
		if err := json.Unmarshal([]byte(text), &published); err != nil {
			return err
		}
		definitions = append(definitions, published)
		graph, _ = flow.Read(published)
	}
	if a.Status == Archived {
		definitions = nil
	}
	if err := replaceUses(tx, a, usesOf(definitions...)); err != nil {
		return err
	}
	var now []listener
	if a.Status == Enabled && graph != nil {
		if now, err = s.listeners(tx, a, graph, before); err != nil {
			return err
		}
	}
	if err := s.endWatches(tx, before, now); err != nil {
		return err
	}
	return insertListeners(tx, now)
}

// listeners are the triggers of a graph, ready to hear of what they wait for.
func (s *Service) listeners(tx *db.Tx, a Automation, graph *flow.Graph, before []listener) (now []listener, err error) {
	newest, err := event.Newest(tx)
	if err != nil {
		return nil, err
	}
	for _, node := range graph.Triggers() {
		l := listener{automation: a.ID, workspace: a.Workspace, step: node.Key, event: node.Config.EventName, version: a.Published, since: tx.Now(), stops: a.Stops, after: newest}
		if err := s.prepareListener(tx, &l, node, before); err != nil {
			return nil, err
		}
		now = append(now, l)
	}
	return now, nil
}

// sameListener returns what was listened to before under the same key and name.
func sameListener(before []listener, l listener) *listener {
	for i := range before {
		if before[i].step == l.step && before[i].event == l.event {
			return &before[i]
		}
	}
	return nil
}

// prepareListener does what a trigger needs once: a schedule gets its first item, and who is where a trigger watches already has
// not come there. What another version of it has goes on if that is the same place.
func (s *Service) prepareListener(tx *db.Tx, l *listener, node *flow.Node, before []listener) error {
	same := sameListener(before, *l)
	if same != nil && same.version == l.version {
		l.goOn(*same)
		return nil
	}
	switch l.event {
	case flow.Schedule:
		return s.planNext(tx, *l, node)
	case flow.ListJoined, flow.SegmentEntered, flow.SegmentLeft:
		if same != nil {
			graph, err := s.graph(tx, same.automation, same.version)
			if err != nil {
				return err
			}
			if old := graph.Step(same.step).Config; old.ListID == node.Config.ListID && old.SegmentID == node.Config.SegmentID {
				l.goOn(*same)
				return nil
			}
		}
		return s.beginWatch(tx, l, node.Config)
	}
	for _, other := range before {
		if other.event == l.event { // another version has listened to it, be it under another key
			l.after = min(l.after, other.after)
		}
	}
	return nil
}

// goOn lets a trigger hear what it would have heard before it was written anew.
func (l *listener) goOn(before listener) {
	l.since, l.after, l.watch, l.noted = before.since, before.after, before.watch, before.noted
}

// Uses returns the automations that need a list, a segment, a topic or a property, for whoever wants to delete it.
func (s *Service) Uses(tx *db.Tx, ws space.ID, idOrKey string) ([]audience.Use, error) {
	ids, err := selectUses(tx, ws, idOrKey)
	uses := make([]audience.Use, len(ids))
	for i, id := range ids {
		uses[i] = audience.Use{Type: "automation", ID: string(id)}
	}
	return uses, err
}

// planned is the payload of a schedule's queue item: the trigger it is for, since when, and how far a round has come.
type planned struct {
	Automation ID     `json:"automation"`
	Step       string `json:"step"`
	Version    int64  `json:"version"`
	Since      int64  `json:"since"`
	After      int64  `json:"after"`
	Round      string `json:"round"`
}

// planNext adds the item of the next time of a schedule.
func (s *Service) planNext(tx *db.Tx, l listener, node *flow.Node) error {
	due := node.Config.Cron.Next(tx.Now())
	if due.IsZero() {
		return nil
	}
	return s.plan(tx, planned{Automation: l.automation, Step: l.step, Version: l.version, Since: l.since.UnixMicro()}, queue.Item{Due: due})
}

func (s *Service) plan(tx *db.Tx, p planned, item queue.Item) error {
	item.ID, item.Lane, item.Rank, item.Payload = s.world.NewID(), ScheduleLane, queue.Normal, db.JSON(p)
	return queue.Add(tx, item)
}
