package webhook

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

const (
	// beatEvery is how often a silent stream shows that it is alive; proxies give up on what is silent for a minute.
	beatEvery = 15 * time.Second
	// lookAgain is how soon a stream looks for events that it may not see yet.
	lookAgain = 20 * time.Millisecond
	// maxStreams is how many streams one workspace may have open on one node.
	maxStreams = 50
)

// ErrStreams means that a workspace has enough streams open.
var ErrStreams = api.ErrRateLimit.Saying("The workspace has as many streams open as it may have. Close one.").With("bucket", "streams").
	With("limit", maxStreams).After(beatEvery)

func (s *Service) streamRoute() api.Route {
	return api.Route{Method: http.MethodGet, Path: "/events/stream", Scope: webhookRead, OrScopes: slices.Sorted(maps.Values(readScopes)), Bucket: api.BucketRead,
		Summary: "Follow events as they happen, as server-sent events with the payloads of webhooks.", Handler: api.Handle(s.handleStream)}
}

// webhookRead lets a caller hear of everything, as a webhook does.
const webhookRead api.Scope = "webhook:read"

// readScopes say by which right somebody may read, and so hear, what happens to a kind of thing. Other kinds take the right to read webhooks.
var readScopes = map[string]api.Scope{"email": "email:read", "domain": "domain:read", "contact": "audience:read", "automation": "automation:read",
	"managed_tenant": "tenant:read", "suppression": "suppression:read"}

// alsoRead are kinds that are read with another: broadcasts are mail, and imports and events of one's own are part of what they belong to.
var alsoRead = map[string]string{"broadcast": "email", "import": "contact", "event": "automation"}

// mayHear tells whether somebody with these rights may hear of a type of event.
func mayHear(scopes []api.Scope, eventType string) bool {
	if slices.Contains(scopes, webhookRead) {
		return true
	}
	family, _, _ := strings.Cut(eventType, ".")
	if other, ok := alsoRead[family]; ok {
		family = other
	}
	needed, ok := readScopes[family]
	return ok && slices.Contains(scopes, needed)
}

// stream is an answer that goes on: the events of one workspace, as they would be posted to a webhook.
type stream struct {
	service   *Service
	workspace space.ID
	tail      *event.Tail
	hears     Endpoint // what it listens to
	scopes    []api.Scope
}

type streamRequest struct {
	Types  []string `query:"type" doc:"Names of events, or families such as email.*; all if absent." example:"email.delivered"`
	LastID string   `header:"Last-Event-ID" doc:"Id of the last event that was read, to go on after it."`
	Since  string   `query:"last_event_id" doc:"The same, for clients that cannot set headers."`
}

// handleStream decides where the stream begins before the answer does: whoever sees that it is open misses nothing from then on.
func (s *Service) handleStream(ctx context.Context, caller api.Caller, r streamRequest) (stream, error) {
	var wrong api.Fields
	if len(r.Types) == 0 {
		r.Types = []string{"*"}
	}
	s.checkEvents(&wrong, "type", r.Types)
	if err := wrong.Err(); err != nil {
		return stream{}, err
	}
	if s.streams.full(caller.Workspace) {
		return stream{}, ErrStreams
	}
	place := r.LastID
	if place == "" {
		place = r.Since
	}
	horizon, err := s.db.Horizon(ctx)
	if err != nil {
		return stream{}, err
	}
	st := stream{service: s, workspace: caller.Workspace, hears: Endpoint{Events: r.Types, Domains: caller.DomainIDs}, scopes: caller.Scopes}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		st.tail, err = event.NewTail(tx, caller.Workspace, place, horizon)
		return err
	})
	return st, err
}

// Stream writes events until the reader goes. It ends at once if others have taken the last place meanwhile; a reader that comes back
// is told why.
func (st stream) Stream(ctx context.Context, out io.Writer) error {
	s := st.service
	if !s.streams.enter(st.workspace) {
		return ErrStreams
	}
	defer s.streams.leave(st.workspace)
	news, unsubscribe := s.db.Subscribe(event.Topic)
	defer unsubscribe()
	if _, err := io.WriteString(out, "retry: 2000\n: listening\n\n"); err != nil {
		return err
	}
	for {
		more, err := st.write(ctx, out)
		if err != nil {
			return err
		}
		if err := st.wait(ctx, out, news, more); err != nil {
			return err
		}
	}
}

// write sends the events that have come.
func (st stream) write(ctx context.Context, out io.Writer) (more bool, err error) {
	var events []event.Event
	var bodies []string
	horizon, err := st.service.db.Horizon(ctx)
	if err != nil {
		return false, err
	}
	err = st.service.db.Read(ctx, func(tx *db.Tx) (err error) {
		if events, more, err = st.tail.Next(tx, horizon); err != nil {
			return err
		}
		events = slices.DeleteFunc(events, func(e event.Event) bool { return !st.wants(e) })
		names := externalIDs{service: st.service, tx: tx, known: map[string]string{}}
		for _, e := range events {
			external, err := names.of(e)
			if err != nil {
				return err
			}
			bodies = append(bodies, shownTo(&st.hears, e.Type, string(newEnvelope(e, external).write())))
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for i, e := range events {
		if _, err := fmt.Fprintf(out, "id: %s\nevent: %s\ndata: %s\n\n", e.Place(), e.Type, bodies[i]); err != nil {
			return false, err
		}
	}
	return more, nil
}

func (st stream) wants(e event.Event) bool {
	_, known := st.service.catalogue.byType[e.Type]
	return known && mayHear(st.scopes, e.Type) && st.hears.hears(e.Type) && st.hears.concerns(e.Domain, e.Tenant)
}

// wait returns when there may be news, and shows the reader meanwhile that the stream is alive.
func (st stream) wait(ctx context.Context, out io.Writer, news <-chan struct{}, soon bool) error {
	patience := beatEvery
	if soon {
		patience = lookAgain
	}
	due, stop := st.service.world.Clock.After(patience)
	defer stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-news:
	case <-due:
		if !soon {
			_, err := io.WriteString(out, ": alive\n\n")
			return err
		}
	}
	return nil
}
