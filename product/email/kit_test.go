package email_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email"
)

// fields are parts of a request, by their name on the wire.
type fields = map[string]any

// letter is a send that nothing is wrong with, changed as asked. A change to nil leaves the field out.
func letter(changes fields) fields {
	body := fields{"from": "Acme <hello@acme.test>", "to": "ann@example.net", "subject": "Hello", "text": "Hello there"}
	for name, value := range changes {
		body[name] = value
		if value == nil {
			delete(body, name)
		}
	}
	return body
}

func send(in *apptest.Installation, changes fields) apptest.Answer {
	return in.Call(http.MethodPost, "/emails", letter(changes))
}

// accepted sends and returns the id, or ends the test.
func accepted(t *testing.T, in *apptest.Installation, changes fields) string {
	t.Helper()
	answer := send(in, changes)
	if answer.Status != http.StatusAccepted {
		t.Fatalf("send was answered with %d: %s", answer.Status, answer.Raw)
	}
	return answer.Text("id")
}

// problems returns what a validation error says of each field, as "field: message" in no order.
func problems(answer apptest.Answer) map[string]string {
	found := map[string]string{}
	details, _ := answer.Body["error"].(map[string]any)
	inner, _ := details["details"].(map[string]any)
	named, _ := inner["fieldErrors"].(map[string]any)
	for field, messages := range named {
		list, _ := messages.([]any)
		var texts []string
		for _, message := range list {
			texts = append(texts, fmt.Sprint(message))
		}
		found[field] = strings.Join(texts, " ")
	}
	return found
}

// refused ends the test unless the answer is an error of the status and code.
func refused(t *testing.T, answer apptest.Answer, status int, code string) {
	t.Helper()
	if answer.Status != status || answer.Text("error", "code") != code {
		t.Fatalf("answered with %d %s, want %d %s", answer.Status, answer.Raw, status, code)
	}
}

// rows returns the objects of a list.
func rows(answer apptest.Answer) []fields {
	data, _ := answer.Body["data"].([]any)
	list := make([]fields, len(data))
	for i := range data {
		list[i], _ = data[i].(map[string]any)
	}
	return list
}

// column returns one field of every object of a list.
func column(list []fields, name string) []string {
	values := make([]string, len(list))
	for i, row := range list {
		values[i] = fmt.Sprint(row[name])
	}
	return values
}

// story returns the types of an email's timeline, in order.
func story(record apptest.Answer) string {
	entries, _ := record.Body["timeline"].([]any)
	types := make([]string, len(entries))
	for i := range entries {
		entry, _ := entries[i].(map[string]any)
		types[i] = strings.TrimPrefix(fmt.Sprint(entry["type"]), "email.")
	}
	return strings.Join(types, " ")
}

// recipients returns the addresses an email goes to, each with its kind.
func recipients(record apptest.Answer) string {
	list, _ := record.Body["recipients"].([]any)
	texts := make([]string, len(list))
	for i := range list {
		entry, _ := list[i].(map[string]any)
		texts[i] = fmt.Sprint(entry["kind"], " ", entry["email"])
	}
	return strings.Join(texts, ", ")
}

// many returns n addresses.
func many(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("user%d@example.net", i)
	}
	return list
}

// pickUp lets a worker with room for one recipient take it.
func pickUp(t *testing.T, in *apptest.Installation) {
	t.Helper()
	err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
		items, err := queue.Claim(tx, email.Lane, queue.Lease{Owner: "other", For: time.Minute, Token: 1}, 1)
		if err != nil {
			return err
		}
		_, err = in.App.Emails.Take(tx, items)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
