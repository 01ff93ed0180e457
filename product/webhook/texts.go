package webhook

import (
	"encoding/json"

	"postrider/platform/db"
	"postrider/platform/space"
)

// The texts of received mail are in an event only if an endpoint of the workspace asked for them, and are posted only to those that
// did. All other payloads are the same for everybody.

// textFields are the parts of data that hold them.
var textFields = []string{"html", "text"}

// receivedType is the only event that has texts.
const receivedType = "email.received"

// WantsTexts tells whether an endpoint of the workspace asked for the texts of received mail.
func (s *Service) WantsTexts(tx *db.Tx, ws space.ID) (bool, error) {
	found, err := selectWithTexts(tx, ws)
	return len(found) > 0, err
}

// shownTo returns a body as the endpoint is to get it; the same at every attempt, unless its owner changes their mind.
func shownTo(e *Endpoint, eventType, body string) string {
	var whole envelope
	var data map[string]json.RawMessage
	if e == nil || e.IncludeBody || eventType != receivedType || json.Unmarshal([]byte(body), &whole) != nil || json.Unmarshal(whole.Data, &data) != nil {
		return body
	}
	if len(takeTexts(data)) == 0 {
		return body
	}
	whole.Data = mustMarshal(data)
	return string(mustMarshal(whole))
}

// takeTexts takes the texts out of data and returns them.
func takeTexts(data map[string]json.RawMessage) map[string]json.RawMessage {
	texts := map[string]json.RawMessage{}
	for _, name := range textFields {
		if value, ok := data[name]; ok {
			texts[name] = value
			delete(data, name)
		}
	}
	return texts
}
