package accounttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"postrider/platform/api"
)

// Password is that of everybody who signs up by SignUp.
const Password = "correct horse battery"

// Browser is somebody at a screen. It keeps the session cookie and sends the CSRF token, as the dashboard does.
type Browser struct {
	House  *House
	IP     string
	Cookie string
	CSRF   string
	// Header is sent with every request.
	Header map[string]string
}

// Browser returns a browser that nobody has used yet.
func (h *House) Browser() *Browser { return &Browser{House: h, IP: "203.0.113.9"} }

// Answer is what a browser was answered.
type Answer struct {
	Code   int
	Header http.Header
	Body   string
	JSON   map[string]any
}

// betweenRequests is how much time passes with every request; it keeps the limits on requests per second out of the way.
const betweenRequests = 100 * time.Millisecond

// Do sends a request with a body as JSON, if it is not nil.
func (b *Browser) Do(method, path string, body any) Answer {
	b.House.T.Helper()
	b.House.Clock.Move(betweenRequests)
	sent := ""
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			b.House.T.Fatal(err)
		}
		sent = string(raw)
	}
	r := httptest.NewRequest(method, path, strings.NewReader(sent))
	r.RemoteAddr = b.IP + ":40000"
	if strings.Contains(b.IP, ":") {
		r.RemoteAddr = "[" + b.IP + "]:40000"
	}
	r.Header.Set("User-Agent", "Mozilla/5.0")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if b.Cookie != "" {
		r.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: b.Cookie})
	}
	if b.CSRF != "" {
		r.Header.Set("X-CSRF-Token", b.CSRF)
	}
	for name, value := range b.Header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	b.House.server.ServeHTTP(w, r)
	return b.read(w)
}

func (b *Browser) read(w *httptest.ResponseRecorder) Answer {
	b.House.T.Helper()
	answer := Answer{Code: w.Code, Header: w.Header(), Body: w.Body.String()}
	if answer.Body != "" {
		if err := json.Unmarshal(w.Body.Bytes(), &answer.JSON); err != nil {
			b.House.T.Fatalf("answer %q: %v", answer.Body, err)
		}
	}
	for _, c := range w.Result().Cookies() {
		if c.Name == api.SessionCookie {
			b.Cookie = c.Value
		}
	}
	if token, ok := answer.JSON["csrf_token"].(string); ok {
		b.CSRF = token
	}
	return answer
}

// Must is Do for a request whose status is certain.
func (b *Browser) Must(status int, method, path string, body any) Answer {
	b.House.T.Helper()
	answer := b.Do(method, path, body)
	if answer.Code != status {
		b.House.T.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Code, status, answer.Body)
	}
	return answer
}

// Refused is Do for a request that must fail with the status and code.
func (b *Browser) Refused(status int, code, method, path string, body any) Answer {
	b.House.T.Helper()
	answer := b.Must(status, method, path, body)
	if got := answer.Text("error.code"); got != code {
		b.House.T.Fatalf("%s %s: error %q, want %q", method, path, got, code)
	}
	return answer
}

// Value returns the value at a path such as user.email or data.0.id, or nil.
func (a Answer) Value(path string) any {
	var at any = a.JSON
	for name := range strings.SplitSeq(path, ".") {
		switch inner := at.(type) {
		case map[string]any:
			at = inner[name]
		case []any:
			var index int
			if _, err := fmt.Sscan(name, &index); err != nil || index >= len(inner) {
				return nil
			}
			at = inner[index]
		default:
			return nil
		}
	}
	return at
}

// Text returns the text at a path, or the empty string.
func (a Answer) Text(path string) string {
	text, _ := a.Value(path).(string)
	return text
}

// Same returns the body without its request id, to compare answers.
func (a Answer) Same() string { return strings.ReplaceAll(a.Body, a.Text("error.request_id"), "") }

// SignUp returns the browser of a new user with a workspace of their own.
func (h *House) SignUp(email string) *Browser {
	h.T.Helper()
	b := h.Browser()
	b.Must(201, "POST", "/auth/signup", map[string]any{"email": email, "password": Password, "name": "Olga", "workspace_name": "Acme"})
	return b
}

// SignIn signs a user in.
func (b *Browser) SignIn(email, password string) Answer {
	b.House.T.Helper()
	return b.Do("POST", "/auth/login", map[string]any{"email": email, "password": password})
}

// Workspace returns the id of the workspace the browser is in.
func (b *Browser) Workspace() string {
	b.House.T.Helper()
	return b.Must(200, "GET", "/auth/session", nil).Text("workspace.id")
}

// Verify follows the link to verify the user's address, unless it is verified.
func (b *Browser) Verify() {
	b.House.T.Helper()
	session := b.Must(200, "GET", "/auth/session", nil)
	if session.Value("user.email_verified") != true {
		b.Must(200, "POST", "/auth/verify-email", map[string]any{"token": b.House.LastLetter(session.Text("user.email")).Token("/verify-email/")})
	}
}

// Join returns the browser of a new user who was invited by b into its workspace. Who invites is verified.
func (b *Browser) Join(email string, role api.Role) *Browser {
	b.House.T.Helper()
	b.Verify()
	b.Must(201, "POST", "/workspaces/"+b.Workspace()+"/invitations", map[string]any{"email": email, "role": role})
	token := b.House.LastLetter(email).Token("/invite/")
	joined := b.House.Browser()
	joined.Must(201, "POST", "/auth/signup", map[string]any{"email": email, "password": Password, "name": "Ann", "invite_token": token})
	return joined
}
