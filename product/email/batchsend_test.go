package email_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/product/email"
	"postrider/product/plan"
)

// item is one email of a batch.
func item(to string, more map[string]any) map[string]any {
	body := map[string]any{"from": "hello@acme.test", "to": to, "subject": "Hello", "text": "Hello"}
	for name, value := range more {
		body[name] = value
	}
	return body
}

func sendBatch(in *apptest.Installation, body any, header map[string]string) apptest.Answer {
	return in.CallAs(in.Key, http.MethodPost, "/emails/batch", body, header)
}

func listed(answer apptest.Answer, list string) []map[string]any {
	var found []map[string]any
	items, _ := answer.Body[list].([]any)
	for _, item := range items {
		row, _ := item.(map[string]any)
		found = append(found, row)
	}
	return found
}

func TestBatchIsAcceptedInOneCallAndArrives(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		var list []any
		for n := range 100 {
			list = append(list, item(fmt.Sprintf("user%d@example.net", n), nil))
		}
		list[7] = item("user7@example.net", map[string]any{"scheduled_at": "in 1 hour"})
		answer := sendBatch(in, list, nil)
		data := listed(answer, "data")
		if answer.Status != http.StatusAccepted || len(data) != 100 || len(listed(answer, "errors")) != 0 || data[7]["status"] != "scheduled" || data[8]["index"] != 8.0 {
			t.Fatalf("%d %.300s", answer.Status, answer.Raw)
		}
		in.Deliver()
		if got := len(in.Mailbox("example.net")); got != 99 {
			t.Fatalf("%d of 99 arrived", got)
		}
		if record := in.Email(data[3]["id"].(string)); record.Text("source") != "batch" || record.Text("status") != "delivered" {
			t.Errorf("%s", record.Raw)
		}
	})
}

func TestStrictBatchIsAllOrNone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answer := sendBatch(in, map[string]any{"emails": []any{item("ann@example.net", nil), item("nobody", nil), item("bob@example.net", map[string]any{"subject": ""}), 5}}, nil)
		fields := answer.Text("error", "details", "fieldErrors")
		for _, want := range []string{"[1].to[0]", "[2].subject", "[3]._body"} {
			if !strings.Contains(fields, want) {
				t.Errorf("%s is not named: %s", want, fields)
			}
		}
		if answer.Status != http.StatusBadRequest {
			t.Errorf("status %d", answer.Status)
		}
		refused := sendBatch(in, []any{item("ann@example.net", nil), item("ann@example.net", map[string]any{"from": "a@elsewhere.test"})}, nil)
		if refused.Text("error", "code") != "invalid_from_address" || refused.Text("error", "details", "index") != "1" {
			t.Errorf("%d %s", refused.Status, refused.Raw)
		}
		both := sendBatch(in, []any{item("ann@example.net", map[string]any{"from": "a@elsewhere.test"}), item("nobody", nil)}, nil)
		if both.Status != http.StatusBadRequest || !strings.Contains(both.Text("error", "details", "fieldErrors"), "[1].to[0]") {
			t.Errorf("what another email is refused for hides a wrong field: %d %s", both.Status, both.Raw)
		}
		if list := listed(in.Call(http.MethodGet, "/emails", nil), "data"); len(list) != 0 {
			t.Fatalf("%d emails were kept of batches that were refused", len(list))
		}
	})
}

func TestPermissiveBatchKeepsWhatIsGood(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answer := sendBatch(in, []any{item("ann@example.net", nil), item("nobody", nil), item("bob@example.net", map[string]any{"from": "a@elsewhere.test"}), item("cat@example.net", nil)},
			map[string]string{"X-Batch-Validation": "permissive"})
		data, refusals := listed(answer, "data"), listed(answer, "errors")
		if answer.Status != http.StatusAccepted || len(data) != 2 || data[1]["index"] != 3.0 || len(refusals) != 2 || refusals[0]["code"] != "validation_error" || refusals[1]["code"] != "invalid_from_address" {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		in.Deliver()
		if got := len(in.Mailbox("example.net")); got != 2 {
			t.Fatalf("%d arrived", got)
		}
	})
}

func TestBatchAndItsEmailsCanBeRetried(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		list := []any{item("ann@example.net", nil), item("bob@example.net", nil)}
		header := map[string]string{"Idempotency-Key": "batch:1234"}
		first, again := sendBatch(in, list, header), sendBatch(in, list, header)
		if again.Status != http.StatusOK || again.Body["idempotent"] != true || listed(first, "data")[0]["id"] != listed(again, "data")[0]["id"] {
			t.Fatalf("%d %s", again.Status, again.Raw)
		}
		if other := sendBatch(in, list[:1], header); other.Text("error", "code") != "idempotency_key_reused" {
			t.Errorf("%d %s", other.Status, other.Raw)
		}
		keyed := item("cat@example.net", map[string]any{"idempotency_key": "welcome:cat:1"})
		one := listed(sendBatch(in, []any{keyed}, nil), "data")[0]
		two := listed(sendBatch(in, []any{keyed, item("dan@example.net", nil)}, nil), "data")
		if two[0]["id"] != one["id"] || two[0]["idempotent"] != true || two[1]["idempotent"] != nil {
			t.Errorf("%v, then %v", one, two)
		}
		named := map[string]any{"emails": []any{item("eve@example.org", nil)}, "idempotency_key": "batch:5678"}
		first, again = sendBatch(in, named, nil), sendBatch(in, named, nil)
		if again.Status != http.StatusOK || listed(first, "data")[0]["id"] != listed(again, "data")[0]["id"] {
			t.Errorf("a key in the body: %d %s", again.Status, again.Raw)
		}
		in.Deliver()
		if got := len(in.Mailbox("example.net")); got != 4 {
			t.Errorf("%d messages for four people", got)
		}
	})
}

func TestBatchIsReplayedEvenAfterTheTimeOfItsEmails(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		at := in.Clock.Now().Add(time.Hour).Format(time.RFC3339)
		list := []any{item("ann@example.net", map[string]any{"scheduled_at": at}), item("bob@example.net", nil)}
		header := map[string]string{"Idempotency-Key": "batch:1234"}
		first := sendBatch(in, list, header)
		in.Clock.Advance(2 * time.Hour)
		again := sendBatch(in, list, header)
		if again.Status != http.StatusOK || again.Body["idempotent"] != true || listed(first, "data")[0]["id"] != listed(again, "data")[0]["id"] {
			t.Errorf("%d %s", again.Status, again.Raw)
		}
		if other := sendBatch(in, list, map[string]string{"Idempotency-Key": "batch:5678"}); other.Status != http.StatusBadRequest {
			t.Errorf("under another key: %d %s", other.Status, other.Raw)
		}
	})
}

func TestEmailOfABatchIsReplayedByItsOwnKeyWhateverHasHappenedSince(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		at := in.Clock.Now().Add(time.Hour).Format(time.RFC3339)
		keyed := item("ann@example.net", map[string]any{"scheduled_at": at, "idempotency_key": "welcome:ann:1"})
		changed := item("ann@example.net", map[string]any{"scheduled_at": at, "idempotency_key": "welcome:ann:1", "subject": "Another"})
		one := listed(sendBatch(in, []any{keyed}, nil), "data")[0]
		in.Clock.Advance(2 * time.Hour)
		for _, mode := range []string{"strict", "permissive"} {
			header := map[string]string{"X-Batch-Validation": mode}
			again := sendBatch(in, []any{item("bob@example.net", nil), keyed, item("cat@example.net", nil)}, header)
			data := listed(again, "data")
			if again.Status != http.StatusAccepted || len(data) != 3 || data[1]["id"] != one["id"] || data[1]["idempotent"] != true || data[1]["index"] != 1.0 || data[2]["idempotent"] != nil {
				t.Errorf("%s: %d %s", mode, again.Status, again.Raw)
			}
		}
		strict := sendBatch(in, []any{item("dan@example.net", nil), changed}, nil)
		if strict.Status != http.StatusConflict || strict.Text("error", "code") != "idempotency_key_reused" || strict.Text("error", "details", "index") != "1" {
			t.Errorf("another body, strict: %d %s", strict.Status, strict.Raw)
		}
		permissive := sendBatch(in, []any{changed, keyed}, map[string]string{"X-Batch-Validation": "permissive"})
		if data, refusals := listed(permissive, "data"), listed(permissive, "errors"); len(data) != 1 || data[0]["id"] != one["id"] || len(refusals) != 1 || refusals[0]["code"] != "idempotency_key_reused" {
			t.Errorf("another body, permissive: %d %s", permissive.Status, permissive.Raw)
		}
		in.Must(http.StatusOK, http.MethodPatch, "/domains/"+in.DomainID, fields{"capabilities": fields{"sending": "disabled"}})
		if broken := sendBatch(in, []any{keyed}, nil); broken.Status != http.StatusAccepted || listed(broken, "data")[0]["id"] != one["id"] {
			t.Errorf("its domain may not send any more: %d %s", broken.Status, broken.Raw)
		}
		in.Must(http.StatusOK, http.MethodPatch, "/domains/"+in.DomainID, fields{"capabilities": fields{"sending": "enabled"}})
		in.Deliver()
		if got := len(in.Mailbox("ann@example.net")); got != 1 {
			t.Errorf("%d messages arrived", got)
		}
	})
}

func TestParallelBatchesWithTheSameEmailsSendThemOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		const twins = 10
		ann := item("ann@example.net", map[string]any{"idempotency_key": "welcome:ann:1"})
		bob := item("bob@example.net", map[string]any{"idempotency_key": "welcome:bob:1"})
		answers := make([]apptest.Answer, twins)
		var all sync.WaitGroup
		for i := range answers {
			list := []any{ann, bob}
			if i%2 == 1 {
				list = []any{bob, ann}
			}
			all.Go(func() { answers[i] = sendBatch(in, list, nil) })
		}
		all.Wait()
		ids := map[any]bool{}
		for _, answer := range answers {
			for _, row := range listed(answer, "data") {
				ids[row["id"]] = true
			}
			if answer.Status != http.StatusAccepted {
				t.Errorf("%d %s", answer.Status, answer.Raw)
			}
		}
		in.Deliver()
		if got := len(in.Mailbox("example.net")); len(ids) != 2 || got != 2 {
			t.Errorf("%d ids, %d messages", len(ids), got)
		}
	})
}

func TestBatchHasItsLimits(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	var many []any
	for range 101 {
		many = append(many, item("ann@example.net", nil))
	}
	for name, body := range map[string]any{"too many": many, "none": []any{}, "no list": map[string]any{}, "a word": "x"} {
		if answer := sendBatch(in, body, nil); answer.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
		}
	}
	if answer := sendBatch(in, many[:1], map[string]string{"X-Batch-Validation": "lenient"}); answer.Status != http.StatusBadRequest {
		t.Errorf("mode: %d", answer.Status)
	}
}

// fullStore is a store that has no room left.
type fullStore struct{ blob.Store }

func (fullStore) Put(context.Context, io.Reader, int64) (blob.Info, error) {
	return blob.Info{}, errors.New("no space left on device")
}

func TestTroubleOfOursIsNotBlamedOnTheEmailsOfAPermissiveBatch(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		service := email.New(in.App.World, in.App.DB, email.Parts{Blobs: fullStore{}, Accounts: in.App.Accounts, Domains: in.App.Domains,
			Tenants: in.App.Tenants, Plans: in.App.Plans, Keys: in.Keys, Templates: in.App.Templates})
		bodies := make([]json.RawMessage, 2)
		for i, text := range []string{"small", strings.Repeat("large ", 20_000)} {
			bodies[i], _ = json.Marshal(item("ann@example.net", map[string]any{"text": text}))
		}
		answer, err := service.AcceptAll(t.Context(), email.Sender{Workspace: in.Workspace, Plan: plan.Unlimited, Source: email.SourceBatch}, bodies, true, api.Idempotency{})
		if !errors.Is(err, api.ErrUnavailable) {
			t.Errorf("%+v %v", answer, err)
		}
		if list := in.Call(http.MethodGet, "/emails", nil); len(rows(list)) != 0 {
			t.Errorf("a part of it was accepted: %s", list.Raw)
		}
	})
}
