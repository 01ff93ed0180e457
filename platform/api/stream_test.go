package api_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/limit"
	"postrider/world"
)

// ticker is an answer that says something once, and then has nothing more to say.
type ticker struct{ ended chan<- struct{} }

func (s ticker) Stream(ctx context.Context, out io.Writer) error {
	defer close(s.ended)
	_, err := io.WriteString(out, "data: 1\n\n")
	<-ctx.Done()
	return err
}

func streamServer(t *testing.T) (h *api.Server, url string, ended chan struct{}) {
	t.Helper()
	ended = make(chan struct{})
	h = newServer(api.Config{Keys: people{}}, api.Route{Method: http.MethodGet, Path: "/stream", Bucket: api.BucketRead,
		Handler: api.Handle(func(context.Context, api.Caller, api.None) (ticker, error) { return ticker{ended}, nil })})
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return h, s.URL, ended
}

func open(t *testing.T, method, url string) *http.Response {
	t.Helper()
	ask, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Authorization", "Bearer all")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func TestWhatIsWrittenToAStreamIsSentAtOnceAndItEndsWithTheServer(t *testing.T) {
	t.Parallel()
	h, url, ended := streamServer(t)
	answer := open(t, http.MethodGet, url+"/v1/stream")
	in := bufio.NewReader(answer.Body)
	if line, err := in.ReadString('\n'); err != nil || line != "data: 1\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if kind := answer.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		t.Errorf("it is %s", kind)
	}
	h.EndStreams()
	<-ended
	if _, err := io.ReadAll(in); err != nil {
		t.Errorf("cut off: %v", err)
	}
}

// Who asks for the headers alone would have to leave, or the next request on the connection would wait without end.
func TestOnlyTheHeadersOfAStreamEndByThemselves(t *testing.T) {
	t.Parallel()
	_, url, _ := streamServer(t)
	for range 2 {
		if answer := open(t, http.MethodHead, url+"/v1/stream"); answer.StatusCode != http.StatusOK {
			t.Errorf("%d", answer.StatusCode)
		}
	}
	open(t, http.MethodGet, url+"/v1/openapi.json")
}

// wrist is a clock whose waits end when told to.
type wrist struct {
	world.SystemClock
	due chan time.Time
}

func (c wrist) After(time.Duration) (<-chan time.Time, func()) { return c.due, func() {} }

// desk answers with those who are known at the time.
type desk struct{ known *atomic.Pointer[faces] }

func (d desk) CheckKey(ctx context.Context, key string, from netip.Addr) (api.Principal, error) {
	return d.known.Load().CheckKey(ctx, key, from)
}

func (desk) Forget(string) {}

func TestAStreamEndsWhenItsKeyIsRevokedOrItsRightsChange(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]faces{
		"revoked":    {},
		"restricted": {"all": {Workspace: "w1", KeyID: "k1", Scopes: []api.Scope{"email:read"}}},
	} {
		clock, ended := wrist{due: make(chan time.Time)}, make(chan struct{})
		keys := desk{&atomic.Pointer[faces]{}}
		keys.known.Store(&faces{"all": {Workspace: "w1", KeyID: "k1", Scopes: api.Scopes}})
		w := world.New(slog.New(slog.DiscardHandler))
		w.Clock = clock
		s := httptest.NewServer(api.NewServer(api.Config{World: w, Keys: keys, Rates: func(string, api.Bucket) limit.Rate { return plenty }},
			[]api.Route{{Method: http.MethodGet, Path: "/stream", Scope: "email:read", Bucket: api.BucketRead,
				Handler: api.Handle(func(context.Context, api.Caller, api.None) (ticker, error) { return ticker{ended}, nil })}}))
		t.Cleanup(s.Close)
		answer := open(t, http.MethodGet, s.URL+"/v1/stream")
		keys.known.Store(&later)
		clock.due <- time.Time{}
		<-ended
		if _, err := io.ReadAll(answer.Body); err != nil {
			t.Errorf("%s: cut off: %v", name, err)
		}
	}
}

// ponderous knows everybody at once, and is in doubt about whoever comes again until they have gone.
type ponderous struct {
	questions *atomic.Int64
	doubtful  chan struct{}
	sure      chan struct{}
}

func (p ponderous) CheckKey(ctx context.Context, _ string, _ netip.Addr) (api.Principal, error) {
	if p.questions.Add(1) > 1 {
		close(p.doubtful)
		<-ctx.Done()
		close(p.sure)
	}
	return api.Principal{Workspace: "w1", KeyID: "k1"}, ctx.Err()
}

func (ponderous) Forget(string) {}

func TestNothingIsAskedAnyMoreAboutAStreamThatHasEnded(t *testing.T) {
	t.Parallel()
	clock, keys := wrist{due: make(chan time.Time)}, ponderous{&atomic.Int64{}, make(chan struct{}), make(chan struct{})}
	w := world.New(slog.New(slog.DiscardHandler))
	w.Clock = clock
	h := api.NewServer(api.Config{World: w, Keys: keys, Rates: func(string, api.Bucket) limit.Rate { return plenty }},
		[]api.Route{{Method: http.MethodGet, Path: "/stream", Bucket: api.BucketRead,
			Handler: api.Handle(func(context.Context, api.Caller, api.None) (ticker, error) { return ticker{make(chan struct{})}, nil })}})
	ask := httptest.NewRequest(http.MethodGet, "/v1/stream", nil)
	ask.Header.Set("Authorization", "Bearer all")
	served := make(chan struct{})
	go func() {
		defer close(served)
		h.ServeHTTP(httptest.NewRecorder(), ask)
	}()
	clock.due <- time.Time{}
	<-keys.doubtful
	h.EndStreams()
	<-served
	select {
	case <-keys.sure:
	default:
		t.Error("the stream has ended, and its key is still looked up")
	}
}

// half is a file that breaks in the middle.
type half struct{}

func (half) File() (string, string) { return "text/csv", "half.csv" }

func (half) WriteFile(_ context.Context, out io.Writer) error {
	_, _ = io.WriteString(out, "one,two\n")
	return io.ErrClosedPipe
}

func TestAFileThatEndsTooEarlyIsNotTakenForAWholeOne(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(newServer(api.Config{Keys: people{}}, api.Route{Method: http.MethodGet, Path: "/file", Bucket: api.BucketRead,
		Handler: api.Handle(func(context.Context, api.Caller, api.None) (half, error) { return half{}, nil })}))
	t.Cleanup(s.Close)
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/file", nil)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Authorization", "Bearer all")
	answer, err := http.DefaultClient.Do(ask)
	if err == nil { // else nothing of it came
		defer answer.Body.Close()
		_, err = io.ReadAll(answer.Body)
	}
	if err == nil {
		t.Error("the file looks whole")
	}
}
