package audience_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"postrider/platform/db"
	"postrider/platform/event"
)

// toldLists returns the kinds of the events of a contact, each with the lists it tells of.
func (h *house) toldLists(id string) string {
	h.t.Helper()
	var told []string
	err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
		events, err := event.OfSubject(tx, h.Workspace, id, "", 100, 0)
		for _, e := range events {
			var data struct {
				Lists []string `json:"list_ids"`
			}
			if err := json.Unmarshal(e.Data, &data); err != nil {
				return err
			}
			told = append(told, fmt.Sprint(e.Type, data.Lists))
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.Join(told, " ")
}

func TestEventsTellTheListsThatAContactIsSubscribedTo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		id := h.contact("ann@example.net", fields{"list_id": list})
		h.browse("POST", h.linkFrom(h.must(202, "POST", "/audience/contacts/"+id+"/send-confirmation", fields{"list_id": list}).Text("email_id")))
		h.ask("POST", h.unsubscribeLink("ann@example.net", "", list), []byte("scope=list"), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
		if got, want := h.toldLists(id), "contact.created[] contact.confirmed["+list+"] contact.unsubscribed[]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
