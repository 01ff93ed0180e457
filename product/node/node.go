// Package node knows the processes that deliver mail, so that customers can choose one and operators can see them.
//
//	Owns     node
package node

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/world"
)

// ID names a node.
type ID string

// Node is a process that delivers mail.
type Node struct {
	ID                ID
	Name              string
	Hostname          string
	Region            string
	StartedAt, SeenAt time.Time
	Sources           []Source
	// Receives tells whether it takes mail from other servers.
	Receives bool
	// DrainingAt is since when it takes no more mail, because it is about to stop.
	DrainingAt time.Time
	// Ahead is how far its clock was ahead of the database's when it last looked.
	Ahead    time.Duration
	Standing Standing
}

// Live tells how many nodes are there now; one that is about to stop, or has just stopped, is not.
func (s *Service) Live(tx *db.Tx) (int64, error) { return countSeen(tx, tx.Now().Add(-goneAfter)) }

const (
	// sayEvery is how often a node says that it is there, goneAfter when it counts as gone if it does not.
	sayEvery  = 10 * time.Second
	goneAfter = time.Minute
	// forgetAfter is when a node that is gone is no longer shown.
	forgetAfter = 30 * 24 * time.Hour
)

// Config says who this process is, and the names that mail of all nodes goes by.
type Config struct {
	// ID must outlive restarts; empty means that this process does not deliver.
	ID       ID
	Name     string
	Hostname string
	Region   string
	Sources  []Source
	Checks   Checks
	// Receives tells whether this process takes mail from other servers.
	Receives bool

	SPF, MX, Bounces, Tracking string
}

// Service keeps the list of nodes.
type Service struct {
	world  world.World
	db     *db.DB
	config Config
	lane   func(id ID) queue.Lane

	started time.Time
	saying  chan struct{} // holds a token while the list is told that this process is there, or leaves
	leaving atomic.Bool
	said    atomic.Bool // that this process is there
	clock   atomic.Pointer[reading]
}

// New returns the service. lane is the queue of the mail that only a certain node may deliver; the empty id means any.
func New(w world.World, d *db.DB, config Config, lane func(ID) queue.Lane) *Service {
	if config.Region == "" {
		config.Region = "default"
	}
	return &Service{world: w, db: d, config: config, lane: lane, started: w.Clock.Now(), saying: make(chan struct{}, 1)}
}

// Workers returns what keeps this node in the list.
func (s *Service) Workers() []queue.Worker {
	if s.config.ID == "" {
		return nil
	}
	return []queue.Worker{
		{Name: "node", Every: sayEvery, Step: func(ctx context.Context) (bool, error) { return false, s.say(ctx) }},
		{Name: "standing of the node", Every: checkEvery, Step: func(ctx context.Context) (bool, error) { return false, s.check(ctx) }},
	}
}

// Leave tells everyone that this node is about to stop. Others take its paths over, and delivery drains by itself.
func (s *Service) Leave(ctx context.Context) error {
	s.leaving.Store(true)
	if s.config.ID == "" {
		return nil
	}
	return s.alone(ctx, func() error {
		return s.db.Write(ctx, func(tx *db.Tx) error {
			tx.Wake(Topic)
			return updateDraining(tx, s.config.ID)
		})
	})
}

// alone keeps one word about this node from crossing another: who is about to stop must not be there again.
func (s *Service) alone(ctx context.Context, tell func() error) error {
	select {
	case s.saying <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.saying }()
	return tell()
}

// say tells everyone that this node is there.
func (s *Service) say(ctx context.Context) error {
	return s.alone(ctx, func() error {
		if s.leaving.Load() {
			return nil
		}
		if err := s.CheckClock(ctx); err != nil || !s.InTime() {
			return err // by our time the others would be gone, or we; so they take over what is ours
		}
		return s.enlist(ctx)
	})
}

func (s *Service) enlist(ctx context.Context) error {
	doubled := false
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		if !s.said.Load() {
			tx.Wake(Topic)
		}
		var err error
		if doubled, err = s.overwritten(tx); err != nil {
			return err
		}
		err = upsertNode(tx, Node{ID: s.config.ID, Name: s.config.Name, Hostname: s.config.Hostname, Region: s.config.Region, StartedAt: s.started, SeenAt: tx.Now(), Sources: s.config.Sources, Receives: s.config.Receives, Ahead: s.Ahead()})
		if err != nil {
			return err
		}
		return deleteGone(tx, tx.Now().Add(-forgetAfter))
	})
	if err == nil && doubled {
		s.world.Log.Error("another server runs under the same id, and mail may be sent twice: stop one of the two, and remove the file node from its data directory")
	}
	if err == nil {
		s.said.Store(true)
	}
	return err
}

// Regions are those that nodes of the list are in.
func (s *Service) Regions(tx *db.Tx) ([]string, error) { return selectRegions(tx) }

// Exists tells whether there is such a node; nodes serve all workspaces.
func (s *Service) Exists(tx *db.Tx, _ space.ID, id string) (bool, error) {
	if !api.IsID(id) {
		return false, nil
	}
	_, err := selectNode(tx, ID(id))
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
