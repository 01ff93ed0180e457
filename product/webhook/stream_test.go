package webhook_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/product/apikey"
	"postrider/product/plan"
)

// heard is one server-sent event.
type heard struct{ id, kind, data string }

// listener is a client of a stream.
type listener struct {
	t    *testing.T
	in   *bufio.Scanner
	ctx  context.Context
	stop context.CancelFunc
}

// listen opens a stream on a real connection and returns once it is open.
func listen(t *testing.T, in *apptest.Installation, key, query, lastID string) *listener {
	t.Helper()
	server := httptest.NewServer(in.App.API)
	t.Cleanup(server.Close)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(stop)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/events/stream"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	l := &listener{t: t, in: bufio.NewScanner(answer.Body), ctx: ctx, stop: stop}
	for l.in.Scan() && l.in.Text() != ": listening" {
	}
	return l
}

// next waits for an event. ok is false if the stream ended.
func (l *listener) next() (e heard, ok bool) {
	for l.in.Scan() {
		name, value, _ := strings.Cut(l.in.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.kind = value
		case "data":
			e.data = value
		case "":
			if e.kind != "" {
				return e, true
			}
		}
	}
	return heard{}, false
}

func (l *listener) expect(kinds ...string) (last heard) {
	l.t.Helper()
	for _, kind := range kinds {
		e, ok := l.next()
		if !ok || e.kind != kind {
			l.t.Fatalf("heard %+v, want %s", e, kind)
		}
		last = e
	}
	return last
}

// opening is the reader of a stream that does something the moment it is open, before anything else can happen.
type opening struct {
	http.ResponseWriter
	opened func()
	heard  chan string
}

func (o *opening) Flush() { o.opened() }

func (o *opening) Write(p []byte) (int, error) {
	o.heard <- string(p)
	return len(p), nil
}

func TestAStreamMissesNothingFromTheMomentItIsOpen(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/events/stream", nil)
		r.Header.Set("Authorization", "Bearer "+in.Key)
		o := &opening{ResponseWriter: httptest.NewRecorder(), opened: sync.OnceFunc(func() { in.Send("ann@example.net") }), heard: make(chan string, 100)}
		var serving sync.WaitGroup
		serving.Go(func() { in.App.API.ServeHTTP(o, r) })
		defer serving.Wait()
		defer stop()
		for {
			select {
			case got := <-o.heard:
				if strings.Contains(got, "event: email.queued") {
					return
				}
			case <-ctx.Done():
				t.Fatal("what happened when the stream was open was not told")
			}
		}
	})
}

func TestAStreamTellsWhatHappensAndGoesOnWhereItWasLeft(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Send("before@example.net")
		l := listen(t, in, in.Key, "", "")
		id := in.Send("ann@example.net")
		first := l.expect("email.queued")
		var payload struct {
			Type string
			Data struct {
				EmailID string `json:"email_id"`
			}
		}
		if err := json.Unmarshal([]byte(first.data), &payload); err != nil || payload.Type != "email.queued" || payload.Data.EmailID != id {
			t.Errorf("%s (%v), want an event of %s", first.data, err, id)
		}
		l.stop()
		in.Deliver()
		again := listen(t, in, in.Key, "?type=email.delivered", first.id)
		again.expect("email.delivered", "email.delivered")
	})
}

func TestAStreamTellsNothingOfOthersAndEndsWithItsKey(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		ws, stranger := in.NewWorkspace(plan.Unlimited)
		in.VerifiedDomain(ws, "theirs.test")
		theirs := listen(t, in, stranger, "?type=email.*", "")
		made := in.Browse(http.MethodPost, "/v1/api-keys", map[string]any{"name": "listener", "scopes": []string{"webhook:read"}})
		ours := listen(t, in, made.Text("key"), "?type=email.queued", "")
		in.Send("ann@example.net")
		ours.expect("email.queued")
		sent := in.CallAs(stranger, http.MethodPost, "/emails", map[string]any{"from": "a@theirs.test", "to": "b@example.net", "subject": "x", "text": "x"}, nil)
		if e := theirs.expect("email.queued"); !strings.Contains(e.data, sent.Text("id")) {
			t.Errorf("the stranger heard %s", e.data)
		}
		if gone := in.Browse(http.MethodDelete, "/v1/api-keys/"+made.Text("id"), nil); gone.Status != http.StatusOK {
			t.Fatalf("%d %s", gone.Status, gone.Raw)
		}
		in.Clock.Advance(3 * time.Second)
		if e, ok := ours.next(); ok || ours.ctx.Err() != nil {
			t.Errorf("the stream went on with a revoked key: %+v", e)
		}
	})
}

func TestAStreamTellsOnlyWhatItsReaderMayRead(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		reader := func(scope string) *listener {
			made := in.Browse(http.MethodPost, "/v1/api-keys", map[string]any{"name": scope, "scopes": []string{scope}})
			return listen(t, in, made.Text("key"), "", "")
		}
		mail, people, all := reader("email:read"), reader("audience:read"), reader("webhook:read")
		if made := in.Call(http.MethodPost, "/audience/contacts", map[string]any{"email": "ann@example.net"}); made.Status != http.StatusCreated {
			t.Fatalf("%d %s", made.Status, made.Raw)
		}
		in.Send("bob@example.net")
		in.Call(http.MethodPatch, "/audience/contacts/ann@example.net", map[string]any{"first_name": "Ann"})
		mail.expect("email.queued")
		people.expect("contact.created", "contact.updated")
		all.expect("contact.created", "email.queued", "contact.updated")
	})
}

func TestAStreamEndsWhenTheRightsOfItsReaderChange(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	made := in.Browse(http.MethodPost, "/v1/api-keys", map[string]any{"name": "listener", "scopes": []string{"webhook:read", "email:read"}})
	l := listen(t, in, made.Text("key"), "", "")
	err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE apikey_key SET scopes = $1 WHERE id = $2`, `["email:read"]`, made.Text("id"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	in.Clock.Advance(time.Minute)
	if e, ok := l.next(); ok || l.ctx.Err() != nil {
		t.Errorf("the stream went on with rights that were taken away: %+v", e)
	}
}

func TestWhatCannotBeStreamedIsRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	if answer := in.Call(http.MethodGet, "/events/stream?type=email.unheard", nil); answer.Status != http.StatusBadRequest || !strings.Contains(string(answer.Raw), `"type[0]":`) {
		t.Errorf("%d %s", answer.Status, answer.Raw)
	}
	made := in.Browse(http.MethodPost, "/v1/api-keys", map[string]any{"name": "sender", "scopes": []string{"email:send"}})
	if answer := in.CallAs(made.Text("key"), http.MethodGet, "/events/stream", nil, nil); answer.Status != http.StatusForbidden {
		t.Errorf("%d %s", answer.Status, answer.Raw)
	}
}

func TestAKeyOfSomeDomainsHearsOnlyOfThose(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other := in.VerifiedDomain(in.Workspace, "other.test")
		_, key, err := in.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: in.Workspace, Name: "narrow", Preset: "webhooks", DomainIDs: []string{other}})
		if err != nil {
			t.Fatal(err)
		}
		l := listen(t, in, key, "?type=email.queued", "")
		in.Send("ann@example.net")
		sent := in.Call(http.MethodPost, "/emails", map[string]any{"from": "a@other.test", "to": "bob@example.net", "subject": "x", "text": "x"})
		if e := l.expect("email.queued"); !strings.Contains(e.data, sent.Text("id")) {
			t.Errorf("heard %s", e.data)
		}
	})
}

func TestAWorkspaceHasSoManyStreamsOpen(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	_, stranger := in.NewWorkspace(plan.Unlimited)
	for range 50 {
		listen(t, in, in.Key, "", "")
	}
	if answer := in.Call(http.MethodGet, "/events/stream", nil); answer.Status != http.StatusTooManyRequests || answer.Text("error", "details", "limit") != "50" {
		t.Errorf("%d %s", answer.Status, answer.Raw)
	}
	listen(t, in, stranger, "", "")
}

func TestAStreamThatIsLeftMakesRoomForAnother(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for i := range 51 {
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/events/stream", nil)
		r.Header.Set("Authorization", "Bearer "+in.Key)
		answer := httptest.NewRecorder()
		in.App.API.ServeHTTP(&opening{ResponseWriter: answer, opened: leave, heard: make(chan string, 100)}, r)
		if answer.Code != http.StatusOK {
			t.Fatalf("stream %d: %d", i, answer.Code)
		}
	}
}

func TestAStreamTellsOfBroadcastsImportsAndOwnEventsWithWhatTheyBelongTo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		for scope, kind := range map[string]string{"email:read": "broadcast.sent", "audience:read": "import.completed", "automation:read": "event.sent"} {
			made := h.browse(201, "POST", "/api-keys", fields{"name": scope, "scopes": []string{scope}})
			l := listen(t, h.Installation, made.Text("key"), "", "")
			for _, other := range []string{"webhook.test", kind} {
				h.happen(other, 1)
			}
			l.expect(kind)
		}
	})
}

func TestAStreamTellsOfReceivedMailWithoutItsTexts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.webhook("https://app.example.com/hooks", []string{"email.received"}, fields{"include_body": true})
		l := listen(t, h.Installation, h.Key, "", "")

		h.happen("email.received", 1, func(e *event.Event) {
			e.Data = json.RawMessage(`{"subject":"Hi","html":"<p>secret</p>","text":"secret"}`)
		})

		if got := l.expect("email.received").data; !strings.Contains(got, `"subject":"Hi"`) || strings.Contains(got, "secret") {
			t.Errorf("heard %s", got)
		}
	})
}

func TestStreamsThatAreOpenedAtOnceAreNoMoreThanAWorkspaceMayHave(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/events/stream", nil)
	r.Header.Set("Authorization", "Bearer "+in.Key)
	o := &opening{ResponseWriter: httptest.NewRecorder(), heard: make(chan string, 100)}
	o.opened = sync.OnceFunc(func() { // others come between its check and its first word
		for range 50 {
			listen(t, in, in.Key, "", "")
		}
		o.opened = stop
	})
	in.App.API.ServeHTTP(o, r)
	if len(o.heard) > 0 {
		t.Errorf("one more than the limit was served: %q", <-o.heard)
	}
}
