package automation

import (
	"encoding/json"

	"postrider/platform/db"
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
	if err := replaceUses(tx, a, usesOf(definitions...)); err != nil || a.Status != Enabled || graph == nil {
		return err
	}
	var listeners []listener
	for _, node := range graph.Triggers() {
		l := listener{automation: a.ID, workspace: a.Workspace, step: node.Key, event: node.Config.EventName, version: a.Published, since: tx.Now(), stops: a.Stops}
		same := sameListener(before, l)
		if same != nil && same.version == l.version {
			l.since = same.since
		}
		listeners = append(listeners, l)
		if err := s.prepareListener(tx, l, node, same); err != nil {
			return err
		}
	}
	return insertListeners(tx, listeners)
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
// not come there.
func (s *Service) prepareListener(tx *db.Tx, l listener, node *flow.Node, same *listener) error {
	switch l.event {
	case flow.Schedule:
		if same != nil && same.version == l.version {
			return nil
		}
		return s.planNext(tx, l, node)
	case flow.ListJoined, flow.SegmentEntered, flow.SegmentLeft:
		if same != nil && same.version == l.version {
			return nil
		}
		if err := forgetMembers(tx, l.automation, l.step); err != nil {
			return err
		}
		return s.seed(tx, l, audience.Target{List: node.Config.ListID, Segment: node.Config.SegmentID})
	}
	return nil
}

// seedPage is how many contacts are looked at with one question.
const seedPage = 500

// seed notes who is on a list or in a segment now.
func (s *Service) seed(tx *db.Tx, l listener, target audience.Target) error {
	after := int64(0)
	for {
		page, err := s.parts.Audience.Members(tx, l.workspace, target, after, seedPage)
		if err != nil {
			return err
		}
		if err := noteMembers(tx, l, page); err != nil {
			return err
		}
		if len(page) < seedPage {
			return nil
		}
		after = page[len(page)-1].Number
	}
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
