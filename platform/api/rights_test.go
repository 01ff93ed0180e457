package api_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/limit"
	"postrider/platform/space"
	"postrider/world"
)

// faces are whom keys and cookies stand for.
type faces map[string]api.Principal

func (f faces) CheckKey(_ context.Context, key string, _ netip.Addr) (api.Principal, error) {
	if p, ok := f[key]; ok {
		return p, nil
	}
	return api.Principal{}, api.ErrInvalidKey
}

func (f faces) CheckSession(_ context.Context, cookie string) (api.Principal, error) {
	if p, ok := f[cookie]; ok {
		return p, nil
	}
	return api.Principal{}, api.ErrSessionExpired
}

func (faces) Forget(string) {}

func cookie(name string) map[string]string {
	return map[string]string{"Cookie": "__Host-session=" + name}
}

func newServer(config api.Config, routes ...api.Route) *api.Server {
	if config.World.Log == nil {
		config.World = world.New(slog.New(slog.DiscardHandler))
	}
	if config.Rates == nil {
		config.Rates = func(string, api.Bucket) limit.Rate { return plenty }
	}
	return api.NewServer(config, routes)
}

func TestWhoMayUseARoute(t *testing.T) {
	t.Parallel()
	known := faces{
		"reader": {Workspace: "w1", KeyID: "k1", Scopes: []api.Scope{"email:read"}},
		"both":   {Workspace: "w1", KeyID: "k2", Scopes: []api.Scope{"email:read", "domain:read"}},
		"logs":   {Workspace: "w1", KeyID: "k3", Scopes: []api.Scope{"logs:read"}},
		"owner":  {Workspace: "w1", SessionID: "s1", Role: api.Owner, Scopes: api.Scopes},
		"viewer": {Workspace: "w1", SessionID: "s2", Role: api.Viewer},
		"halted": {Workspace: "w1", SessionID: "s3", Role: api.Owner, Scopes: api.Scopes, Suspended: "spam"},
	}
	fine := api.Handle(func(context.Context, api.Caller, api.None) (echo, error) { return echo{}, nil })
	h := newServer(api.Config{Keys: known, Sessions: known},
		api.Route{Method: "GET", Path: "/both", Scope: "email:read", AndScope: "domain:read", Bucket: api.BucketRead, Handler: fine},
		api.Route{Method: "GET", Path: "/either", Scope: "email:read", OrScopes: []api.Scope{"logs:read"}, Bucket: api.BucketRead, Handler: fine},
		api.Route{Method: "GET", Path: "/owners", Access: api.SessionOnly, Roles: []api.Role{api.Owner}, Bucket: api.BucketRead, Handler: fine},
		api.Route{Method: "GET", Path: "/auth/me", Private: true, Access: api.SessionOnly, Bucket: api.BucketAuth, Handler: fine})
	for name, c := range map[string]struct {
		path   string
		header map[string]string
		status int
		want   string
	}{
		"one scope of two":             {"/v1/both", bearer("reader"), 403, `"required":["email:read","domain:read"]`},
		"both scopes":                  {"/v1/both", bearer("both"), 200, ``},
		"the other scope":              {"/v1/either", bearer("logs"), 200, ``},
		"the first scope":              {"/v1/either", bearer("reader"), 200, ``},
		"neither scope":                {"/v1/both", bearer("logs"), 403, `"granted":["logs:read"]`},
		"role":                         {"/v1/owners", cookie("owner"), 200, ``},
		"lower role":                   {"/v1/owners", cookie("viewer"), 403, `"required":["owner"]`},
		"role without the scope":       {"/v1/both", cookie("viewer"), 403, `workspace_role_required`},
		"suspended":                    {"/v1/both", cookie("halted"), 403, `"reason":"spam"`},
		"suspended sees their account": {"/auth/me", cookie("halted"), 200, ``},
		"ended session":                {"/auth/me", cookie("gone"), 401, `session_expired`},
		"no session":                   {"/auth/me", nil, 401, `session_expired`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ask(h, request{path: c.path, header: c.header}); got.Code != c.status || !strings.Contains(got.Body.String(), c.want) {
				t.Errorf("%d %s, want %d with %s", got.Code, got.Body, c.status, c.want)
			}
		})
	}
}

func TestARateIsOfOneWorkspaceOrOneSession(t *testing.T) {
	t.Parallel()
	known := faces{
		"one": {Workspace: "w1", KeyID: "k1"}, "twin": {Workspace: "w1", KeyID: "k2"}, "other": {Workspace: "w2", KeyID: "k3"},
		"here": {Workspace: "w1", SessionID: "s1"}, "there": {Workspace: "w1", SessionID: "s2"},
	}
	h := newServer(api.Config{Keys: known, Sessions: known, Rates: func(string, api.Bucket) limit.Rate { return limit.Rate{Count: 1, Per: time.Hour} }},
		api.Route{Method: "GET", Path: "/things", Bucket: api.BucketRead,
			Handler: api.Handle(func(context.Context, api.Caller, api.None) (echo, error) { return echo{}, nil })})
	for _, c := range []struct {
		key    string
		status int
	}{{"one", 200}, {"one", 429}, {"twin", 429}, {"other", 200}} {
		if got := ask(h, request{path: "/v1/things", header: bearer(c.key)}); got.Code != c.status {
			t.Errorf("%s: %d, want %d", c.key, got.Code, c.status)
		}
	}
	for ws, want := range map[string]error{"w1": api.ErrRateLimit, "w3": nil} { // as it is counted for callers who do not come over HTTP
		if err := h.Count(t.Context(), api.Principal{Workspace: space.ID(ws)}, api.BucketRead); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", ws, err, want)
		}
	}
	left := func(name string) string {
		return ask(h, request{path: "/v1/things", header: cookie(name)}).Header().Get("Ratelimit-Remaining")
	}
	if first, second := left("here"), left("there"); first != "299" || second != "299" {
		t.Errorf("sessions have %s and %s left", first, second)
	}
}

func TestTheAddressOfACallerIsWhatTrustedProxiesSaw(t *testing.T) {
	t.Parallel()
	h := newServer(api.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}},
		api.Route{Method: "GET", Path: "/me", Access: api.Public, Bucket: api.BucketTracking,
			Handler: api.Handle(func(_ context.Context, c api.Caller, _ api.None) (echo, error) { return echo{ID: c.IP.String()}, nil })})
	for _, c := range []struct{ peer, forwarded, want string }{
		{"192.0.2.1:1", "", "192.0.2.1"},
		{"192.0.2.1:1", "198.51.100.7", "198.51.100.7"},
		{"192.0.2.1:1", "::ffff:198.51.100.7", "198.51.100.7"},
		{"192.0.2.1:1", "203.0.113.9, 198.51.100.7", "198.51.100.7"}, // the first was said by the caller
		{"192.0.2.1:1", "198.51.100.7, 192.0.2.5", "198.51.100.7"},
		{"192.0.2.1:1", "198.51.100.7, nonsense", "192.0.2.1"},
		{"203.0.113.1:1", "198.51.100.7", "203.0.113.1"},
	} {
		r, w := httptest.NewRequest(http.MethodGet, "/v1/me", nil), httptest.NewRecorder()
		r.RemoteAddr = c.peer
		r.Header.Set("X-Forwarded-For", c.forwarded)
		if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), `"id":"`+c.want+`"`) {
			t.Errorf("%s forwarding %q: %s, want %s", c.peer, c.forwarded, w.Body, c.want)
		}
	}
}

// changing is a key that was changed a moment ago, which only who asks anew finds out.
type changing struct{ now, later api.Principal }

func (c *changing) CheckKey(context.Context, string, netip.Addr) (api.Principal, error) {
	return c.now, nil
}

func (c *changing) Forget(string) { c.now = c.later }

func TestAnUpgradeActsOnTheVeryNextRequest(t *testing.T) {
	t.Parallel()
	free := api.Principal{Workspace: "w1", KeyID: "k1", Plan: "free", Scopes: []api.Scope{"email:read"}}
	for name, c := range map[string]struct {
		change        func(*api.Principal)
		status, asked int
	}{
		"the plan is another":   {func(p *api.Principal) { p.Plan = "pro" }, 200, 2},
		"nothing has changed":   {func(*api.Principal) {}, 402, 1},
		"a right was taken too": {func(p *api.Principal) { p.Plan, p.Scopes = "pro", nil }, 402, 1},
		"it has other networks": {func(p *api.Principal) {
			p.Plan, p.Networks = "pro", []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
		}, 402, 1},
	} {
		asked, later := 0, free
		c.change(&later)
		h := newServer(api.Config{Keys: &changing{free, later}}, api.Route{Method: "GET", Path: "/things", Scope: "email:read", Bucket: api.BucketRead,
			Handler: api.Handle(func(_ context.Context, c api.Caller, _ api.None) (echo, error) {
				if asked++; c.Plan != "pro" {
					return echo{}, api.NewError(http.StatusPaymentRequired, "quota", "quota", "Too many.")
				}
				return echo{}, nil
			})})
		if got := ask(h, request{path: "/v1/things", header: bearer("any")}); got.Code != c.status || asked != c.asked {
			t.Errorf("%s: %d, asked %d times; want %d, %d", name, got.Code, asked, c.status, c.asked)
		}
	}
}

func TestADatabaseThatIsAwayIsNoBug(t *testing.T) {
	t.Parallel()
	h := newServer(api.Config{}, api.Route{Method: "GET", Path: "/things", Access: api.Public,
		Handler: api.Handle(func(context.Context, api.Caller, api.None) (echo, error) { return echo{}, db.ErrUnavailable })})
	got := ask(h, request{path: "/v1/things"})
	if got.Code != 503 || got.Header().Get("Retry-After") != "5" || !strings.Contains(got.Body.String(), "service_unavailable") {
		t.Errorf("%d %v %s", got.Code, got.Header(), got.Body)
	}
}

func TestACallerWhoHangsUpIsNoFaultOfTheServer(t *testing.T) {
	t.Parallel()
	var diary bytes.Buffer
	h := newServer(api.Config{World: world.New(slog.New(slog.NewTextHandler(&diary, nil)))}, api.Route{Method: "GET", Path: "/things", Access: api.Public,
		Handler: api.Handle(func(ctx context.Context, _ api.Caller, _ api.None) (echo, error) {
			return echo{}, cmp.Or(ctx.Err(), db.ErrUnavailable)
		})})
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	for ctx, want := range map[context.Context]string{t.Context(): "level=ERROR msg=\"request failed\"", gone: "level=INFO msg=\"request failed\""} {
		diary.Reset()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/v1/things", nil))
		if !strings.Contains(diary.String(), want) {
			t.Errorf("said %s; want %s", diary.String(), want)
		}
	}
}

func TestWhatIsNoRouteAndBringsNoKeyIsAPage(t *testing.T) {
	t.Parallel()
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	h := newServer(api.Config{Keys: faces{}, Fallback: page})
	for _, c := range []struct {
		request
		status int
	}{{request{path: "/domains"}, 418}, {request{path: "/domains", header: bearer("any")}, 404}, {request{path: "/v1/domains"}, 404}} {
		if got := ask(h, c.request); got.Code != c.status {
			t.Errorf("%s %v: %d, want %d", c.path, c.header, got.Code, c.status)
		}
	}
}

func TestAddressesOfPeopleStayOutOfTheLog(t *testing.T) {
	t.Parallel()
	var diary bytes.Buffer
	h := newServer(api.Config{Keys: people{}, World: world.New(slog.New(slog.NewTextHandler(&diary, nil)))}, api.Route{Method: "POST", Path: "/people/{email}/erase",
		Bucket: api.BucketWrite, Handler: api.Handle(func(context.Context, api.Caller, api.None) (echo, error) { return echo{}, errors.New("broken") })})

	for _, path := range []string{"/v1/people/ann@example.net/erase", "/v1/people/ann%40example.net/erase", "/v1/persons/ann@example.net"} {
		ask(h, request{method: "POST", path: path, header: bearer("all")})
	}

	if text := diary.String(); strings.Contains(text, "ann") || strings.Count(text, "path=/v1/people/{address}/erase") != 4 {
		t.Errorf("%s", text)
	}
}
