package automation

import (
	"encoding/json"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
)

// scope returns what the variables of a step stand for.
func (w *walk) scope() (flow.Scope, error) {
	if w.run.Contact == "" {
		return w.scopeWith(map[string]any{})
	}
	contact, err := w.service.contactValues(w.tx, w.run.Workspace, w.run.Contact)
	if err != nil {
		return nil, err
	}
	return w.scopeWith(contact)
}

func (w *walk) scopeWith(contact map[string]any) (flow.Scope, error) {
	steps, err := w.history()
	return flow.Scope{"event": w.run.Payload, "contact": contact, "steps": outputs(steps)}, err
}

// contactValues are what variables can say of a contact.
func (s *Service) contactValues(tx *db.Tx, ws space.ID, id audience.ContactID) (map[string]any, error) {
	c, err := s.parts.Audience.Find(tx, ws, string(id))
	if err != nil {
		return nil, err
	}
	r, err := s.parts.Audience.Recipient(tx, ws, c.ID)
	if err != nil {
		return nil, err
	}
	created, err := api.Time(c.CreatedAt).MarshalJSON()
	if err != nil {
		return nil, err
	}
	var at any
	if err := json.Unmarshal(created, &at); err != nil {
		return nil, err
	}
	return map[string]any{"id": string(c.ID), "email": c.Address, "first_name": c.FirstName, "last_name": c.LastName, "status": string(c.Status),
		"unsubscribed": c.Unsubscribed, "created_at": at, "properties": r.Properties}, nil
}

// outputs returns what steps gave, by their keys. The last time counts.
func outputs(steps []taken) map[string]any {
	byKey := map[string]any{}
	for _, t := range steps {
		var output any
		if len(t.Output) > 0 && decodeExactly(t.Output, &output) != nil {
			continue
		}
		byKey[t.Key] = map[string]any{"output": output}
	}
	return byKey
}
