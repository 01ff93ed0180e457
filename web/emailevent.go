package web

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

type eventRow struct {
	ID, Type, Recipient, Data string
	At                        moment
	Deliveries                []deliveryRow
}

type deliveryRow struct {
	ID, Status, Href string
	Attempts         int
}

func (v *visit) addEvents(p *emailPage, id string) error {
	var list listOf[struct {
		ID, Type, Recipient string
		OccurredAt          time.Time `json:"occurred_at"`
		Data                json.RawMessage
		Deliveries          []struct {
			ID, Status string
			Attempts   int `json:"attempt_count"`
		}
	}]
	if err := v.get(apiPath("emails", id, "events"), v.pageQuery(), &list); err != nil {
		return err
	}
	p.Pager = beside(v, list)
	for _, e := range list.Data {
		row := eventRow{ID: e.ID, Type: e.Type, Recipient: e.Recipient, Data: indented(e.Data), At: v.exact(e.OccurredAt)}
		for _, d := range e.Deliveries {
			row.Deliveries = append(row.Deliveries, deliveryRow{d.ID, d.Status, v.linkFor("webhook:read", "webhooks", "deliveries", d.ID), d.Attempts})
		}
		p.Events = append(p.Events, row)
	}
	return nil
}

// indented writes JSON for people.
func indented(raw json.RawMessage) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return string(raw)
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(value) != nil {
		return string(raw)
	}
	return strings.TrimSuffix(text.String(), "\n")
}
