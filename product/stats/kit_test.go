package stats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/message"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// fields are parts of a request or an answer, by their name on the wire.
type fields = map[string]any

// follow lets the follower of events count everything that has happened.
func follow(t testing.TB, in *apptest.Installation) {
	t.Helper()
	in.CatchUp(in.App.Stats.Followers())
}

// get asks for statistics, which must be told.
func get(t *testing.T, in *apptest.Installation, path string, query ...string) apptest.Answer {
	t.Helper()
	answer := in.Call(http.MethodGet, path+params(query), nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("%s was answered with %d: %s", path, answer.Status, answer.Raw)
	}
	return answer
}

// params writes names and values as a query.
func params(pairs []string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// send sends an email and returns its id.
func send(t *testing.T, in *apptest.Installation, more fields) string {
	t.Helper()
	body := fields{"from": "Acme <hello@" + apptest.Domain + ">", "subject": "Hello", "text": "Hello there"}
	for name, value := range more {
		body[name] = value
	}
	answer := in.Call(http.MethodPost, "/emails", body)
	if answer.Status != http.StatusAccepted {
		t.Fatalf("send was answered with %d: %s", answer.Status, answer.Raw)
	}
	return answer.Text("id")
}

// numbers returns the values of an object that are numbers and not zero, sorted by name.
func numbers(object any) string {
	values, _ := object.(map[string]any)
	kept := map[string]float64{}
	for name, value := range values {
		if n, ok := value.(float64); ok && n != 0 {
			kept[name] = n
		}
	}
	raw, _ := json.Marshal(kept) // maps are written in the order of their keys
	return string(raw)
}

// rows returns a list of an answer.
func rows(answer apptest.Answer, name string) []map[string]any {
	list, _ := answer.Body[name].([]any)
	found := make([]map[string]any, len(list))
	for i := range list {
		found[i], _ = list[i].(map[string]any)
	}
	return found
}

var link = regexp.MustCompile(`https://[a-z.]+/v1/(?:links|images)/[A-Za-z0-9_-]+`)

// links returns the tracked links of the mail that somebody got; the last is the pixel.
func links(t *testing.T, in *apptest.Installation, to string) []string {
	t.Helper()
	box := in.Mailbox(to)
	if len(box) == 0 {
		t.Fatalf("%s got no mail", to)
	}
	content, err := message.ReadContent(strings.NewReader(box[0].Raw), 1<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	return link.FindAllString(content.HTML, -1)
}

// happened is an event that nobody but this test makes happen.
type happened struct {
	kind, recipient string
	at              time.Time
	data            fields
}

// record writes events of an email of the installation's domain.
func record(t testing.TB, in *apptest.Installation, events ...happened) {
	t.Helper()
	recordOf(t, in, in.Workspace, events...)
}

// recordOf writes events of an email of a workspace.
func recordOf(t testing.TB, in *apptest.Installation, ws space.ID, events ...happened) {
	t.Helper()
	err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		for _, h := range events {
			data := fields{"created_at": h.at, "to": []string{"ann@example.net"}, "subject": "Hello", "tags": fields{}}
			for name, value := range h.data {
				data[name] = value
			}
			raw, err := json.Marshal(data)
			if err != nil {
				return err
			}
			id := in.App.World.NewID()
			if err := event.Append(tx, event.Event{ID: id, Workspace: ws, Type: h.kind, Subject: id, Domain: in.DomainID,
				Recipient: h.recipient, OccurredAt: h.at, Data: raw}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func fieldError(answer apptest.Answer, field string) string {
	details, _ := answer.Body["error"].(map[string]any)["details"].(map[string]any)
	wrong, _ := details["fieldErrors"].(map[string]any)
	if wrong[field] == nil {
		return ""
	}
	return fmt.Sprint(wrong[field])
}
