package node

import (
	"context"
	"time"

	"postrider/platform/db"
)

// Topic is woken when a node comes or says that it goes.
const Topic = "nodes"

// SayEvery is how often a node says that it is there; who has to know the others looks as often.
const SayEvery = sayEvery

// maxKnown bounds the nodes that one looks at: more processes than that share no database.
const maxKnown = 1_000

// Known returns the nodes of the list, those that are gone among them.
func (s *Service) Known(ctx context.Context) (nodes []Node, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		nodes, err = selectNodes(tx, maxKnown, 0)
		return err
	})
	return nodes, err
}

// Started is when this process began to deliver.
func (s *Service) Started() time.Time { return s.started }

// Gone tells that a node has not said for a while that it is there.
func (n Node) Gone(now time.Time) bool { return now.Sub(n.SeenAt) > goneAfter }

// Leaves returns the sources of a node: one that names none has that of its host name.
func (n Node) Leaves() []Source {
	if len(n.Sources) == 0 {
		return []Source{{Name: n.Hostname}}
	}
	return n.Sources
}

// Same tells whether servers that limit a source see one and the same in both: it has one name, and the addresses that it is known by.
func (s Source) Same(other Source) bool {
	return s.Name == other.Name && s.IPv4 == other.IPv4 && s.IPv6 == other.IPv6
}
