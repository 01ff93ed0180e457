package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/limit"
	"postrider/world"
)

// people is a key checker and session checker with a few known faces.
type people struct{}

func (people) CheckKey(_ context.Context, key string, _ netip.Addr) (api.Principal, error) {
	all := api.Principal{Workspace: "w1", Plan: "pro", KeyID: "k1", Scopes: api.Scopes}
	switch key {
	case "all":
		return all, nil
	case "reader":
		all.Scopes = []api.Scope{"email:read"}
		return all, nil
	case "elsewhere":
		all.Networks = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
		return all, nil
	case "broken":
		panic("broken invariant")
	}
	return api.Principal{}, api.ErrInvalidKey
}

func (people) Forget(string) {}

func (people) CheckSession(_ context.Context, cookie string) (api.Principal, error) {
	if cookie == "stale" || cookie == "good" {
		return api.Principal{Workspace: "w1", Plan: "pro", SessionID: "s1", UserID: "u1", Role: api.Admin, Scopes: api.Scopes,
			CheckCSRF: func(token string) bool { return token == "csrf" }, TwoFactorStale: cookie == "stale"}, nil
	}
	return api.Principal{}, api.ErrSessionExpired
}

type sendRequest struct {
	Body struct {
		To      api.Strings `json:"to"`
		At      api.Time    `json:"scheduled_at"`
		Subject string      `json:"subject"`
		Files   []struct {
			Name string      `json:"name"`
			Tags api.Strings `json:"tags"`
		} `json:"files"`
		Note api.Optional[struct {
			Words []string `json:"words"`
		}] `json:"note"`
		Headers map[string]string `json:"headers"`
		urgency
	}
}

type urgency struct {
	Urgent bool `json:"urgent"`
}

type echo struct {
	To   api.Strings `json:"to"`
	ID   string      `json:"id"`
	Page int         `json:"page"`
	At   api.Time    `json:"at"`
}

func routes() []api.Route {
	one := api.Handle(func(_ context.Context, _ api.Caller, r struct {
		ID    string `path:"id"`
		Page  int    `query:"page"`
		Limit int    `query:"limit" least:"1"`
	}) (echo, error) {
		return echo{ID: r.ID, Page: r.Page}, nil
	})
	return []api.Route{
		{Method: "POST", Path: "/emails", Scope: "email:send", Bucket: api.BucketSend, Success: 202,
			Handler: api.Handle(func(_ context.Context, _ api.Caller, r sendRequest) (echo, error) {
				return echo{To: r.Body.To, At: r.Body.At}, nil
			})},
		{Method: "GET", Path: "/emails/{id}", Scope: "email:read", Bucket: api.BucketRead, Handler: one},
		{Method: "GET", Path: "/emails/{id}/events", Scope: "email:read", Bucket: api.BucketRead, Handler: one},
		{Method: "GET", Path: "/emails/receiving/{id}", Scope: "email:read", Bucket: api.BucketRead,
			Handler: api.Handle(func(_ context.Context, _ api.Caller, r struct {
				ID string `path:"id"`
			}) (echo, error) {
				return echo{ID: "received " + r.ID}, nil
			})},
		{Method: "DELETE", Path: "/domains/{id}", Access: api.SessionOnly, Scope: "domain:manage", FreshTwoFactor: true, Bucket: api.BucketWrite,
			Handler: api.Handle(func(_ context.Context, _ api.Caller, r struct {
				ID string `path:"id"`
			}) (api.Deleted, error) {
				return api.Deleted{Object: "domain", ID: r.ID, Deleted: true}, nil
			})},
		{Method: "POST", Path: "/auth/login", Private: true, Access: api.Public, Bucket: api.BucketAuth,
			Handler: api.Handle(func(context.Context, api.Caller, api.None) (echo, error) { return echo{}, nil })},
		{Method: "GET", Path: "/fails", Bucket: api.BucketRead,
			Handler: api.Handle(func(context.Context, api.Caller, api.None) (echo, error) {
				return echo{}, io.ErrClosedPipe
			})},
	}
}

func server(t *testing.T, rate limit.Rate) http.Handler {
	t.Helper()
	w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
	return api.NewServer(api.Config{World: w, Keys: people{}, Sessions: people{},
		Rates: func(string, api.Bucket) limit.Rate { return rate }}, routes())
}

var plenty = limit.Rate{Count: 50, Per: time.Second, Burst: 100}

type request struct {
	method, path, body string
	header             map[string]string
}

func ask(h http.Handler, r request) *httptest.ResponseRecorder {
	if r.method == "" {
		r.method = "GET"
	}
	in := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
	if r.body != "" {
		in.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		in.Header.Set(name, value)
	}
	out := httptest.NewRecorder()
	h.ServeHTTP(out, in)
	return out
}

func bearer(key string) map[string]string { return map[string]string{"Authorization": "Bearer " + key} }

func TestAnswersByRequest(t *testing.T) {
	t.Parallel()
	h := server(t, plenty)
	session := func(extra ...string) map[string]string {
		header := map[string]string{"Cookie": "__Host-session=good", "X-CSRF-Token": "csrf"}
		for i := 0; i < len(extra); i += 2 {
			header[extra[i]] = extra[i+1]
		}
		return header
	}
	for name, c := range map[string]struct {
		request
		status int
		want   string
	}{
		"no key":                        {request{path: "/v1/emails/1"}, 401, `missing_api_key`},
		"unknown key":                   {request{path: "/v1/emails/1", header: bearer("nope")}, 401, `invalid_api_key`},
		"other scheme":                  {request{path: "/v1/emails/1", header: map[string]string{"Authorization": "Basic all"}}, 401, `invalid_api_key`},
		"quotes are not stripped":       {request{path: "/v1/emails/1", header: bearer(`"all"`)}, 401, `invalid_api_key`},
		"scheme in any case":            {request{path: "/v1/emails/1", header: map[string]string{"Authorization": "bEARER all"}}, 200, `"id":"1"`},
		"missing scope before body":     {request{method: "POST", path: "/v1/emails", body: "{", header: bearer("reader")}, 403, `"required":["email:send"]`},
		"foreign network":               {request{path: "/v1/emails/1", header: bearer("elsewhere")}, 403, `ip_not_allowed`},
		"spoofed network":               {request{path: "/v1/emails/1", header: map[string]string{"Authorization": "Bearer elsewhere", "X-Forwarded-For": "198.51.100.7"}}, 403, `ip_not_allowed`},
		"unknown route":                 {request{path: "/v1/nothing", header: bearer("all")}, 404, `not_found`},
		"unknown method":                {request{method: "PUT", path: "/v1/emails/1", header: bearer("all")}, 405, `method_not_allowed`},
		"doubled and trailing slashes":  {request{path: "/v1//emails/7/", header: bearer("all")}, 200, `"id":"7"`},
		"mount without version":         {request{path: "/emails/7", header: bearer("all")}, 200, `"id":"7"`},
		"no mount without key":          {request{path: "/emails/7"}, 404, `not_found`},
		"NUL in a path":                 {request{path: "/v1/emails/a%00b", header: bearer("all")}, 404, `not_found`},
		"fixed segment wins":            {request{path: "/v1/emails/receiving/7", header: bearer("all")}, 200, `"id":"received 7"`},
		"parameter beside fixed":        {request{path: "/v1/emails/7/events", header: bearer("all")}, 200, `"id":"7"`},
		"encoded slash stays in place":  {request{path: "/v1/emails/a%2Fb", header: bearer("all")}, 200, `"id":"a/b"`},
		"bad number in query":           {request{path: "/v1/emails/1?page=x", header: bearer("all")}, 400, `"page":["Must be a whole number."]`},
		"malformed query":               {request{path: "/v1/emails/1?page=%zz", header: bearer("all")}, 400, `"_query":["Malformed query: invalid URL escape \"%zz\"."]`},
		"malformed query of a link":     {request{method: "POST", path: "/auth/login?from=%zz"}, 200, `"id"`},
		"number below the least":        {request{path: "/v1/emails/1?limit=0", header: bearer("all")}, 400, `"limit":["Must be at least 1."]`},
		"string for list":               {request{method: "POST", path: "/v1/emails", body: `{"to":"a@b.c"}`, header: bearer("all")}, 202, `"to":["a@b.c"]`},
		"list":                          {request{method: "POST", path: "/v1/emails", body: `{"to":["a@b.c","d@e.f"],"unknown":1}`, header: bearer("all")}, 202, `"to":["a@b.c","d@e.f"]`},
		"no body is an empty object":    {request{method: "POST", path: "/v1/emails", header: map[string]string{"Authorization": "Bearer all", "Content-Type": "application/json"}}, 202, `"to":[]`},
		"malformed JSON":                {request{method: "POST", path: "/v1/emails", body: `{"to":`, header: bearer("all")}, 400, `_body`},
		"two values":                    {request{method: "POST", path: "/v1/emails", body: `{} {}`, header: bearer("all")}, 400, `single JSON value`},
		"wrong type names the field":    {request{method: "POST", path: "/v1/emails", body: `{"subject":5}`, header: bearer("all")}, 400, `"subject":["Must be a string."]`},
		"own decoder names the field":   {request{method: "POST", path: "/v1/emails", body: `{"to":{"a":1}}`, header: bearer("all")}, 400, `"to":["Must be a string or a list of strings."]`},
		"wrong type deep inside":        {request{method: "POST", path: "/v1/emails", body: `{"files":[{"name":"a"},{"name":5}]}`, header: bearer("all")}, 400, `"files[1].name":["Must be a string."]`},
		"not UTF-8":                     {request{method: "POST", path: "/v1/emails", body: "{\"subject\":\"caf\xe9\"}", header: bearer("all")}, 400, `"_body":["Must be UTF-8; byte 15 is not."]`},
		"wrong type in what may lack":   {request{method: "POST", path: "/v1/emails", body: `{"note":{"words":["a",5]}}`, header: bearer("all")}, 400, `"note.words[1]":["Must be a string."]`},
		"wrong type of a value":         {request{method: "POST", path: "/v1/emails", body: `{"headers":{"a":"1","b":2}}`, header: bearer("all")}, 400, `"headers.b":["Must be a string."]`},
		"wrong type in a shared part":   {request{method: "POST", path: "/v1/emails", body: `{"urgent":"yes"}`, header: bearer("all")}, 400, `"urgent":["Must be true or false."]`},
		"own decoder deep inside":       {request{method: "POST", path: "/v1/emails", body: `{"files":[{"tags":5}]}`, header: bearer("all")}, 400, `"files[0].tags":["Must be a string or a list of strings."]`},
		"empty time is absent":          {request{method: "POST", path: "/v1/emails", body: `{"scheduled_at":""}`, header: bearer("all")}, 202, `"at":null`},
		"time is answered in UTC":       {request{method: "POST", path: "/v1/emails", body: `{"scheduled_at":"2026-11-15T03:00:00+01:00"}`, header: bearer("all")}, 202, `"at":"2026-11-15T02:00:00.000Z"`},
		"form body":                     {request{method: "POST", path: "/v1/emails", body: `to=x`, header: map[string]string{"Authorization": "Bearer all", "Content-Type": "application/x-www-form-urlencoded"}}, 415, `unsupported_media_type`},
		"other charset":                 {request{method: "POST", path: "/v1/emails", body: `{}`, header: map[string]string{"Authorization": "Bearer all", "Content-Type": "application/json; charset=utf-16"}}, 415, `unsupported_media_type`},
		"too large":                     {request{method: "POST", path: "/v1/emails", body: `{"subject":"` + strings.Repeat("x", 1<<20) + `"}`, header: bearer("all")}, 413, `"max_bytes":1048576`},
		"key on a session route":        {request{method: "DELETE", path: "/v1/domains/1", header: bearer("all")}, 403, `dashboard_session_required`},
		"key on a private route":        {request{method: "POST", path: "/auth/login", header: bearer("all")}, 403, `dashboard_session_required`},
		"session":                       {request{method: "DELETE", path: "/v1/domains/1", header: session()}, 200, `"deleted":true`},
		"session with minimal answer":   {request{method: "DELETE", path: "/v1/domains/1", header: session("Prefer", "return=minimal")}, 204, ``},
		"session without CSRF token":    {request{method: "DELETE", path: "/v1/domains/1", header: session("X-CSRF-Token", "")}, 403, `csrf_failed`},
		"session from another site":     {request{method: "DELETE", path: "/v1/domains/1", header: session("Sec-Fetch-Site", "cross-site")}, 403, `csrf_failed`},
		"stream for another site":       {request{path: "/v1/emails/1", header: session("Origin", "https://evil.test")}, 403, `csrf_failed`},
		"reading for another site":      {request{path: "/v1/emails/1", header: session("Sec-Fetch-Site", "cross-site")}, 403, `csrf_failed`},
		"session with stale factor":     {request{method: "DELETE", path: "/v1/domains/1", header: session("Cookie", "__Host-session=stale")}, 403, `"max_age_sec":600`},
		"ended session":                 {request{method: "DELETE", path: "/v1/domains/1", header: session("Cookie", "__Host-session=old")}, 401, `session_expired`},
		"session may read without CSRF": {request{path: "/v1/emails/1", header: map[string]string{"Cookie": "__Host-session=good"}}, 200, `"id":"1"`},
		"cross-site login":              {request{method: "POST", path: "/auth/login", header: map[string]string{"Origin": "https://evil.test"}}, 403, `csrf_failed`},
		"unforeseen error":              {request{path: "/v1/fails", header: bearer("all")}, 500, `internal_error`},
		"panic":                         {request{path: "/v1/emails/1", header: bearer("broken")}, 500, `internal_error`},
		"OpenAPI":                       {request{path: "/v1/openapi.json"}, 200, `"openapi": "3.1.0"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(h, c.request)
			if got.Code != c.status || !strings.Contains(got.Body.String(), c.want) {
				t.Fatalf("%d %s, want %d with %s", got.Code, got.Body, c.status, c.want)
			}
			if got.Header().Get("X-Request-Id") == "" {
				t.Error("no request id")
			}
			if strings.Contains(got.Body.String(), "closed pipe") || strings.Contains(got.Body.String(), "invariant") {
				t.Error("the private cause leaked")
			}
		})
	}
}

func TestErrorBodySpeaksBothVocabularies(t *testing.T) {
	t.Parallel()
	got := ask(server(t, plenty), request{method: "POST", path: "/v1/emails", body: `{"subject":5}`,
		header: map[string]string{"Authorization": "Bearer all", "X-Request-Id": "order-4711"}})
	var body map[string]any
	if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	inner := body["error"].(map[string]any)
	if body["name"] != "validation_error" || body["statusCode"] != 400.0 || inner["code"] != "validation_error" || inner["request_id"] != "order-4711" {
		t.Fatalf("body = %s", got.Body)
	}
	if body["message"] != "The request has 1 invalid field. subject: Must be a string." || inner["message"] != "The request has 1 invalid field." {
		t.Fatalf("messages = %v / %v", body["message"], inner["message"])
	}
	if !strings.HasPrefix(got.Header().Get("Content-Type"), "application/json") {
		t.Fatalf("content type %q", got.Header().Get("Content-Type"))
	}
}

func TestRequestIDsAreReflectedOnlyWhenHarmless(t *testing.T) {
	t.Parallel()
	h := server(t, plenty)
	for given, kept := range map[string]bool{
		"order-4711": true, "short": false, "has space in it": false, "<script>alert(1)</script>": false, strings.Repeat("x", 129): false,
	} {
		for _, header := range []string{"X-Request-Id", "X-Correlation-Id"} {
			answer := ask(h, request{path: "/v1/emails/1", header: map[string]string{header: given}}).Header()
			got := answer.Get("X-Request-Id")
			if (got == given) != kept || got == "" || header == "X-Correlation-Id" && (answer.Get(header) == given) != kept {
				t.Errorf("%s %q was answered with %v", header, given, answer)
			}
		}
	}
}

func TestBucketRunsEmptyAndSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	h := server(t, limit.Rate{Count: 1, Per: time.Minute, Burst: 2})
	var last *httptest.ResponseRecorder
	for range 3 {
		last = ask(h, request{path: "/v1//emails/1/", header: bearer("all")})
	}
	if last.Code != 429 || last.Header().Get("Retry-After") == "" || !strings.Contains(last.Body.String(), `"retry_after_sec"`) {
		t.Fatalf("%d %v %s", last.Code, last.Header(), last.Body)
	}
	for _, name := range []string{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "Ratelimit-Policy"} {
		if last.Header().Get(name) == "" {
			t.Errorf("no %s header", name)
		}
	}
	if other := ask(h, request{method: "POST", path: "/v1/emails", body: "{}", header: bearer("all")}); other.Code != 202 {
		t.Errorf("another bucket was empty too: %d", other.Code)
	}
}

func TestEveryAnswerNamesALimit(t *testing.T) {
	t.Parallel()
	h := server(t, limit.Rate{Count: 5, Per: time.Second})
	for _, c := range []struct {
		request
		status    int
		remaining string
	}{
		{request{path: "/v1/emails/1"}, 401, "60"},
		{request{path: "/v1/emails/1", header: bearer("guess")}, 401, "59"},
		{request{path: "/v1/nowhere"}, 404, "59"},
		{request{path: "/v1/nowhere", header: bearer("all")}, 404, "59"},
		{request{method: "PUT", path: "/v1/emails/1"}, 405, "59"},
		{request{method: "POST", path: "/v1/emails", body: "{}", header: bearer("reader")}, 403, "4"},
		{request{method: "POST", path: "/v1/emails", body: "{}", header: bearer("all")}, 202, "3"},
	} {
		got := ask(h, c.request)
		if got.Code != c.status || got.Header().Get("Ratelimit-Remaining") != c.remaining {
			t.Errorf("%s %s: %d with %s left, want %d with %s", c.method, c.path, got.Code, got.Header().Get("Ratelimit-Remaining"), c.status, c.remaining)
		}
		for _, name := range []string{"Ratelimit-Limit", "Ratelimit-Reset", "Ratelimit-Policy"} {
			if got.Header().Get(name) == "" {
				t.Errorf("%s %s: no %s header", c.method, c.path, name)
			}
		}
	}
}

func TestGuessingKeysIsSlowedDownPerAddress(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(int) string{
		"one address":       func(int) string { return "192.0.2.7" },
		"one IPv6 customer": func(i int) string { return fmt.Sprintf("[2001:db8::%x]", i+1) },
	} {
		h := server(t, plenty)
		code := 0
		for i := range 61 {
			guess := httptest.NewRequest(http.MethodGet, "/v1/emails/1", nil)
			guess.RemoteAddr = address(i) + ":1234"
			guess.Header.Set("Authorization", "Bearer guess")
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, guess)
			code = answer.Code
		}
		if code != 429 {
			t.Errorf("%s: the 61st guess was answered with %d", name, code)
		}
	}
}

func TestClashingRoutesPanicAtStart(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Fatal("two routes with one address were accepted")
		}
	}()
	api.NewServer(api.Config{World: world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))}, append(routes(), routes()[0]))
}

// chunked hides the length of a body, as a client does that does not know it.
type chunked struct{ io.Reader }

func TestBodiesOfUnknownLengthHaveTheSameCap(t *testing.T) {
	t.Parallel()
	list := routes()
	list[0].MaxBody = 4 << 20
	h := api.NewServer(api.Config{World: world.New(slog.New(slog.NewTextHandler(io.Discard, nil))), Keys: people{}, Sessions: people{},
		Rates: func(string, api.Bucket) limit.Rate { return plenty }}, list)
	for size, want := range map[int]int{10: 202, 1 << 20: 202, 3 << 20: 202, 4<<20 + 1: 413, 9 << 20: 413} {
		body := `{"to":"` + strings.Repeat("x", max(size-9, 0)) + `"}`
		in := httptest.NewRequest("POST", "/v1/emails", chunked{strings.NewReader(body)})
		in.Header.Set("Content-Type", "application/json")
		in.Header.Set("Authorization", "Bearer all")
		out := httptest.NewRecorder()
		h.ServeHTTP(out, in)
		if out.Code != want || want == 202 && !strings.Contains(out.Body.String(), strings.Repeat("x", max(size-9, 0))) {
			t.Errorf("%d bytes: %d, want %d", size, out.Code, want)
		}
	}
}
