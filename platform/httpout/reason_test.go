package httpout_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postrider/platform/httpout"
)

func TestARequestWithoutAnswerHasAReason(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	for want, test := range map[httpout.Reason]struct {
		target string
		answer http.HandlerFunc
	}{
		httpout.Blocked:     {"http://inside.example.com/", nil},
		httpout.Unresolved:  {"http://missing.example.com/", nil},
		httpout.Unreachable: {"http://closed.example.com/", nil},
		httpout.Insecure:    {"https://plain.example.com/", func(http.ResponseWriter, *http.Request) {}},
		httpout.TooLarge: {"http://example.com/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Huge", strings.Repeat("a", 1<<20))
		}},
		httpout.TooSlow: {"http://example.com/", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}},
	} {
		l := newLookout(t, func(c *httpout.Config) { c.Timeout = 500 * time.Millisecond })
		l.names.answers["inside.example.com"] = [][]string{{"10.0.0.1"}}
		l.names.answers["closed.example.com"] = [][]string{{"1.1.1.1"}}
		l.names.answers["plain.example.com"] = [][]string{{"9.9.9.9"}}
		l.roads.lead["1.1.1.1:80"] = closed.Listener.Addr().String()
		if test.answer != nil {
			server := l.serve(t, "80", test.answer)
			l.roads.lead["9.9.9.9:443"] = server.Listener.Addr().String() // speaks no TLS
		}

		_, err := l.get(t, test.target)

		if err == nil || httpout.ReasonOf(err) != want {
			t.Errorf("%s: %v, want %s", test.target, err, want)
		}
	}
}

func TestOnlyTheNamedPrivateHostIsReached(t *testing.T) {
	t.Parallel()
	l := newLookout(t, func(c *httpout.Config) { c.RequireTLS, c.PrivateHosts = true, []string{"crm.example.com"} })
	server := l.serve(t, "80", func(http.ResponseWriter, *http.Request) {})
	l.roads.lead["10.0.0.7:80"] = server.Listener.Addr().String()
	l.names.answers["crm.example.com"] = [][]string{{"10.0.0.7"}}
	l.names.answers["other.example.com"] = [][]string{{"10.0.0.7"}}

	response, err := l.get(t, "http://crm.example.com/")
	if err != nil || response.Status != 200 {
		t.Errorf("the named host: %+v, %v", response, err)
	}
	_, err = l.get(t, "https://other.example.com/")
	wantRefusal(t, "another name of the same address", err)
	if dialed := l.roads.dialed(); len(dialed) != 1 {
		t.Errorf("dialed %v", dialed)
	}
}
