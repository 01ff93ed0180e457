package automation

import (
	"encoding/json"
	"fmt"
	"sync"

	"postrider/platform/db"
	"postrider/product/automation/internal/flow"
)

// graphs remembers versions that have been read. They never change, so what is remembered is never wrong.
type graphs struct {
	mu    sync.Mutex
	known map[versionKey]*flow.Graph // guarded by mu
}

type versionKey struct {
	automation ID
	version    int64
}

// maxGraphs bounds what is remembered; a graph of 150 steps has some hundred kilobytes.
const maxGraphs = 500

func newGraphs() *graphs { return &graphs{known: map[versionKey]*flow.Graph{}} }

func (g *graphs) get(key versionKey) *flow.Graph {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[key]
}

func (g *graphs) put(key versionKey, graph *flow.Graph) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= maxGraphs {
		clear(g.known)
	}
	g.known[key] = graph
}

// graph returns the graph of a version, for runs and triggers, which work across workspaces. Only versions that were committed are
// remembered, so a transaction that publishes one must not ask for it.
func (s *Service) graph(tx *db.Tx, automation ID, version int64) (*flow.Graph, error) {
	key := versionKey{automation, version}
	if known := s.graphs.get(key); known != nil {
		return known, nil
	}
	text, err := selectDefinition(tx, automation, version)
	if err != nil {
		return nil, fmt.Errorf("definition of automation %s version %d: %w", automation, version, err)
	}
	var definition flow.Definition
	if err := json.Unmarshal([]byte(text), &definition); err != nil {
		return nil, fmt.Errorf("definition of automation %s version %d: %w", automation, version, err)
	}
	graph, problems := flow.Read(definition)
	if len(problems) > 0 {
		return nil, fmt.Errorf("definition of automation %s version %d: %s: %s", automation, version, problems[0].Path, problems[0].Message)
	}
	s.graphs.put(key, graph)
	return graph, nil
}
