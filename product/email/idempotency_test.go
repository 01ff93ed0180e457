package email_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

// sendWithKey sends with an Idempotency-Key in the header.
func sendWithKey(in *apptest.Installation, key string, changes fields) apptest.Answer {
	return in.CallAs(in.Key, http.MethodPost, "/emails", letter(changes), map[string]string{"Idempotency-Key": key})
}

func stored(in *apptest.Installation) int {
	return len(rows(in.Call(http.MethodGet, "/emails?limit=200", nil)))
}

func TestSameKeyAndBodyIsAnsweredWithTheFirstEmail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		first := sendWithKey(in, "welcome:u_42:1", nil)
		if first.Status != http.StatusAccepted || first.Body["idempotent"] != nil {
			t.Fatalf("%d %s", first.Status, first.Raw)
		}
		replay := sendWithKey(in, "welcome:u_42:1", nil)
		if replay.Status != http.StatusOK || replay.Body["idempotent"] != true {
			t.Fatalf("%d %s", replay.Status, replay.Raw)
		}
		for _, name := range []string{"object", "id", "status", "message_id", "created_at", "scheduled_at"} {
			if replay.Body[name] != first.Body[name] {
				t.Errorf("%s: %v, then %v", name, first.Body[name], replay.Body[name])
			}
		}
		if n := stored(in); n != 1 {
			t.Errorf("%d emails stored", n)
		}
	})
}

func TestTwoKeysInOneRequestAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	body, err := json.Marshal(letter(nil))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/emails", bytes.NewReader(body))
	r.Header = http.Header{"Authorization": {"Bearer " + in.Key}, "Content-Type": {"application/json"}, "Idempotency-Key": {"order:1234", "order:5678"}}
	w := httptest.NewRecorder()

	in.App.API.ServeHTTP(w, r)

	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "\"idempotency_key\"") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestWhatATestKeySentDoesNotAnswerForALiveOne(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		made := in.Browse(http.MethodPost, "/v1/api-keys", fields{"name": "trial", "preset": "sending_access", "mode": "test"})
		testKey := made.Text("key")
		header := map[string]string{"Idempotency-Key": "order-12"}
		batch := []fields{letter(fields{"idempotency_key": "order-34"})}
		for path, body := range map[string]any{"/emails": letter(nil), "/emails/batch": batch} {
			if tried := in.CallAs(testKey, http.MethodPost, path, body, header); tried.Status != http.StatusAccepted {
				t.Fatalf("%s with a test key: %d %s", path, tried.Status, tried.Raw)
			}

			sent := in.CallAs(in.Key, http.MethodPost, path, body, header)

			if sent.Status != http.StatusAccepted || sent.Body["idempotent"] == true {
				t.Errorf("%s: %d %s", path, sent.Status, sent.Raw)
			}
			for _, key := range []string{testKey, in.Key} {
				if again := in.CallAs(key, http.MethodPost, path, body, header); again.Body["idempotent"] != true {
					t.Errorf("%s again: %d %s", path, again.Status, again.Raw)
				}
			}
		}
		in.Deliver()
		if n := len(in.Mailbox("ann@example.net")); n != 2 {
			t.Errorf("%d mails arrived", n)
		}
	})
}

func TestKeyMayStandInTheHeaderOrTheBody(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	first := sendWithKey(in, "order.1234", nil)
	inHeader := map[string]string{"Idempotency-Key": "order.1234"}
	reordered := []byte(`{ "text":"Hello there", "subject":"Hello", "to":"ann@example.net", "from":"Acme <hello@acme.test>" }`)
	for name, answer := range map[string]apptest.Answer{
		"in the body":       send(in, fields{"idempotency_key": "order.1234"}),
		"in both":           sendWithKey(in, "order.1234", fields{"idempotency_key": "order.1234"}),
		"in another layout": in.CallAs(in.Key, http.MethodPost, "/emails", reordered, inHeader),
	} {
		if answer.Status != http.StatusOK || answer.Text("id") != first.Text("id") {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
		}
	}
	answer := sendWithKey(in, "order.1234", fields{"idempotency_key": "order.9999"})
	if got := problems(answer)["idempotency_key"]; got != "The header and the body name different keys." {
		t.Errorf("two keys: %d %s", answer.Status, answer.Raw)
	}
}

func TestKeysOfAnotherShapeAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, key := range []string{"1234567", strings.Repeat("k", 129), "welcome/user-123", "with space", "umlaut-ü-key", "semi;colon"} {
		answer := sendWithKey(in, key, nil)
		if answer.Status != http.StatusBadRequest || problems(answer)["idempotency_key"] == "" {
			t.Errorf("%q: %d %s", key, answer.Status, answer.Raw)
		}
	}
}

func TestSameKeyWithAnotherBodyIsAConflict(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		sendWithKey(in, "order.1234", nil)
		for _, change := range []fields{{"subject": "Goodbye"}, {"cc": "bob@example.net"}, {"unknown": 1}} {
			refused(t, sendWithKey(in, "order.1234", change), http.StatusConflict, "idempotency_key_reused")
		}
		if n := stored(in); n != 1 {
			t.Errorf("%d emails stored", n)
		}
	})
}

func TestParallelTwinsBecomeOneEmail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		const twins = 50
		answers := make([]apptest.Answer, twins)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = sendWithKey(in, "order.1234", nil) })
		}
		all.Wait()
		fresh, ids := 0, map[string]bool{}
		for _, answer := range answers {
			ids[answer.Text("id")] = true
			switch {
			case answer.Status == http.StatusAccepted && answer.Body["idempotent"] == nil:
				fresh++
			case answer.Status != http.StatusOK || answer.Body["idempotent"] != true:
				t.Errorf("%d %s", answer.Status, answer.Raw)
			}
		}
		if fresh != 1 || len(ids) != 1 || stored(in) != 1 {
			t.Errorf("%d were new, %d ids, %d stored", fresh, len(ids), stored(in))
		}
		in.Deliver()
		if got := len(in.Mailbox("ann@example.net")); got != 1 {
			t.Errorf("%d messages arrived", got)
		}
	})
}

func TestRefusedSendDoesNotUseItsKeyUp(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		refused(t, sendWithKey(in, "order.1234", fields{"to": "nobody"}), http.StatusBadRequest, "validation_error")
		refused(t, sendWithKey(in, "order.1234", fields{"from": "a@unknown.test"}), http.StatusForbidden, "invalid_from_address")
		if answer := sendWithKey(in, "order.1234", nil); answer.Status != http.StatusAccepted {
			t.Errorf("%d %s", answer.Status, answer.Raw)
		}
	})
}

func TestKeysOfTwoWorkspacesHaveNothingToDoWithEachOther(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other, key := in.NewWorkspace(plan.Unlimited)
		in.VerifiedDomain(other, "other.test")
		mine := sendWithKey(in, "order.1234", nil)
		theirs := in.CallAs(key, http.MethodPost, "/emails", letter(fields{"from": "a@other.test"}), map[string]string{"Idempotency-Key": "order.1234"})
		if theirs.Status != http.StatusAccepted || theirs.Text("id") == mine.Text("id") {
			t.Errorf("%d %s", theirs.Status, theirs.Raw)
		}
	})
}

func TestKeyIsRememberedForADay(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		first := sendWithKey(in, "order.1234", nil)
		in.Clock.Advance(23*time.Hour + 59*time.Minute)
		if replay := sendWithKey(in, "order.1234", nil); replay.Text("id") != first.Text("id") {
			t.Errorf("a minute early: %d %s", replay.Status, replay.Raw)
		}
		in.Clock.Advance(2 * time.Minute)
		again := sendWithKey(in, "order.1234", fields{"subject": "Another"})
		if again.Status != http.StatusAccepted || again.Text("id") == first.Text("id") {
			t.Errorf("a minute late: %d %s", again.Status, again.Raw)
		}
		if replay := sendWithKey(in, "order.1234", fields{"subject": "Another"}); replay.Text("id") != again.Text("id") {
			t.Errorf("the key was not taken anew: %s", replay.Raw)
		}
	})
}

func TestScheduledEmailIsReplayedEvenAfterItsTime(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	at := in.Clock.Now().Add(time.Hour).Format(time.RFC3339)
	first := sendWithKey(in, "order.1234", fields{"scheduled_at": at})
	in.Clock.Advance(2 * time.Hour)
	replay := sendWithKey(in, "order.1234", fields{"scheduled_at": at})
	if replay.Status != http.StatusOK || replay.Text("id") != first.Text("id") {
		t.Errorf("%d %s", replay.Status, replay.Raw)
	}
}
