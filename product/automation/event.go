package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/automation/internal/flow"
)

// Event is a kind of event that a customer sends into flows.
type Event struct {
	ID          string
	Workspace   space.ID
	Name        string
	Description string
	// Fields are the types of what the event says, by key; nil means that it may say anything.
	Fields  map[string]string
	Sample  map[string]any
	Sent    int64
	SentAt  time.Time
	Created time.Time
	Updated time.Time
}

const (
	maxEventFields      = 100
	maxEventKey         = 100
	maxEventDescription = 500
	// maxPayload bounds what an event says: it is kept with every run that it begins.
	maxPayload = 64 << 10
)

// newEvent is an event as it is asked for.
type newEvent struct {
	Name string `json:"name" doc:"1 to 100 letters, digits, dots, colons, hyphens and underscores." example:"user.signed_up"`
	eventChange
}

// eventChange is what may be different later.
type eventChange struct {
	Description api.Optional[string]            `json:"description" example:"Somebody has signed up"`
	Schema      api.Optional[map[string]string] `json:"schema" doc:"string, number, boolean or date by key; null means anything." example:"{\"plan\":\"string\",\"seats\":\"number\"}"`
	Sample      api.Optional[map[string]any]    `json:"sample_payload" example:"{\"plan\":\"pro\",\"seats\":3}"`
}

func (c eventChange) apply(wrong *api.Fields, e *Event) {
	if c.Description.Set {
		e.Description = api.CheckText(wrong, "description", c.Description.Value, maxEventDescription)
	}
	if c.Schema.Set {
		e.Fields = c.Schema.Value
		checkEventFields(wrong, e.Fields)
	}
	if c.Sample.Set {
		e.Sample = c.Sample.Value
	}
	if raw, err := json.Marshal(e.Sample); err != nil || len(raw) > maxPayload {
		wrong.Add("sample_payload", fmt.Sprintf("Must have at most %d bytes.", maxPayload))
	}
}

func checkEventFields(wrong *api.Fields, fields map[string]string) {
	if len(fields) > maxEventFields {
		wrong.Add("schema", fmt.Sprintf("Must have at most %d keys.", maxEventFields))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key == "" || len(key) > maxEventKey || strings.ContainsAny(key, ". \x00") {
			wrong.Add("schema", fmt.Sprintf("%q is not a key: use at most %d characters without dots and spaces.", key, maxEventKey))
		}
		switch fields[key] {
		case "string", "number", "boolean", "date":
		default:
			wrong.Add("schema."+key, "Must be string, number, boolean or date.")
		}
	}
}

func (s *Service) createEvent(ctx context.Context, ws space.ID, body newEvent) (e Event, err error) {
	var wrong api.Fields
	e = Event{ID: s.world.NewID(), Workspace: ws, Name: body.Name}
	if !flow.ValidEventName(body.Name) {
		wrong.Add("name", "Must begin with a letter or digit, have at most 100 letters, digits, dots, colons, hyphens and underscores, not begin with system: or resend:, and not be send or stream.")
	}
	body.apply(&wrong, &e)
	if err := wrong.Err(); err != nil {
		return e, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		e.Created, e.Updated = tx.Now(), tx.Now()
		made, err := insertEvent(tx, e)
		if err != nil || made {
			return err
		}
		other, err := findEvent(tx, ws, e.Name)
		if errors.Is(err, ErrEventNotFound) {
			return db.ErrConflict // given up in this very moment; the next try gets the name
		}
		if err != nil {
			return err
		}
		return api.ErrAlreadyExists.With("resource", "event").With("id", other.ID)
	})
	return e, err
}

func (s *Service) updateEvent(ctx context.Context, ws space.ID, name string, change eventChange) (e Event, used []ID, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if e, err = lockEvent(tx, ws, name); err != nil {
			return err
		}
		var wrong api.Fields
		if change.apply(&wrong, &e); len(wrong) > 0 {
			return wrong.Err()
		}
		if used, err = selectTriggered(tx, ws, e.Name); err != nil {
			return err
		}
		e.Updated = tx.Now()
		return updateEvent(tx, e)
	})
	return e, used, err
}

func (s *Service) deleteEvent(ctx context.Context, ws space.ID, name string) (e Event, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if e, err = lockEvent(tx, ws, name); err != nil {
			return err
		}
		uses, err := selectTriggered(tx, ws, e.Name)
		if err != nil {
			return err
		}
		if len(uses) > 0 {
			return inUse(uses)
		}
		return removeEvent(tx, ws, e.ID)
	})
	return e, err
}

// checkPayload compares what an event says with what it is to say. Further keys pass.
func (e Event) checkPayload(wrong *api.Fields, payload map[string]any) {
	for key, kind := range e.Fields {
		value, there := payload[key]
		if !there || value == nil {
			wrong.Add("payload."+key, "The event needs this key.")
			continue
		}
		ok := false
		switch kind {
		case "string":
			_, ok = value.(string)
		case "number":
			_, number := value.(json.Number)
			_, float := value.(float64)
			ok = number || float
		case "boolean":
			_, ok = value.(bool)
		case "date":
			text, _ := value.(string)
			_, err := time.Parse(time.RFC3339, text)
			_, dayErr := time.Parse(time.DateOnly, text)
			ok = err == nil || dayErr == nil
		}
		if !ok {
			wrong.Add("payload."+key, fmt.Sprintf("Must be a %s.", kind))
		}
	}
}
