package domain_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// fields are parts of a request, by their name on the wire.
type fields = map[string]any

func register(in *apptest.Installation, key string, body fields) apptest.Answer {
	return in.CallAs(key, http.MethodPost, "/domains", body, nil)
}

// registered registers a domain and returns its id, or ends the test.
func registered(t *testing.T, in *apptest.Installation, name string) string {
	t.Helper()
	answer := register(in, in.Key, fields{"domain": name})
	if answer.Status != http.StatusCreated {
		t.Fatalf("register %s: %d %s", name, answer.Status, answer.Raw)
	}
	return answer.Text("id")
}

// verify checks a domain now and returns its record, or ends the test.
func verify(t *testing.T, in *apptest.Installation, id string) apptest.Answer {
	t.Helper()
	answer := in.Call(http.MethodPost, "/domains/"+id+"/verify", nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("verify: %d %s", answer.Status, answer.Raw)
	}
	return answer
}

// publishAll publishes every record a domain asks for.
func publishAll(t *testing.T, in *apptest.Installation, name string) {
	t.Helper()
	if err := in.Sandbox.Publish(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// addNode adds a sending node in a region and returns its id.
func addNode(t *testing.T, in *apptest.Installation, region string) string {
	t.Helper()
	id := in.App.World.NewID()
	err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`
			INSERT INTO node (id, name, hostname, region, started_at, seen_at, sources, receives)
			VALUES ($1, 'node-2', 'mx2.test', $2, $3, $3, '[]', FALSE)`, id, region, tx.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// told returns the types of the events of a domain, in order.
func told(t *testing.T, in *apptest.Installation, ws space.ID, id string) []string {
	t.Helper()
	var types []string
	err := in.App.DB.Read(context.Background(), func(tx *db.Tx) error {
		events, err := event.OfSubject(tx, ws, id, "", 100, 0)
		for _, e := range events {
			types = append(types, e.Type)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return types
}

// recordOf returns the DNS record of a purpose.
func recordOf(answer apptest.Answer, purpose string) fields {
	list, _ := answer.Body["records"].([]any)
	for _, item := range list {
		if record, _ := item.(map[string]any); record["purpose"] == purpose {
			return record
		}
	}
	return fields{}
}

// problem returns what a validation error says of a field.
func problem(answer apptest.Answer, field string) string {
	envelope, _ := answer.Body["error"].(map[string]any)
	details, _ := envelope["details"].(map[string]any)
	wrong, _ := details["fieldErrors"].(map[string]any)
	messages, _ := wrong[field].([]any)
	if len(messages) == 0 {
		return ""
	}
	return fmt.Sprint(messages[0])
}

// refused ends the test unless the answer is an error of the status and code.
func refused(t *testing.T, answer apptest.Answer, status int, code string) {
	t.Helper()
	if answer.Status != status || answer.Text("error", "code") != code {
		t.Fatalf("answered with %d %s, want %d %s", answer.Status, answer.Raw, status, code)
	}
}

// names returns the names of the domains of a list.
func names(answer apptest.Answer) []string {
	data, _ := answer.Body["data"].([]any)
	list := []string{}
	for _, item := range data {
		record, _ := item.(map[string]any)
		list = append(list, fmt.Sprint(record["name"]))
	}
	return list
}
