package dashboard

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"postrider/platform/api"
)

// person is somebody who is signed in by a program of their own.
type person struct {
	t      *testing.T
	base   string
	client *http.Client
	token  string
}

func (o *tour) person() *person {
	o.t.Helper()
	return o.signIn(o.ready.Owner.Email, o.ready.Owner.Password)
}

// signIn returns somebody who has an account.
func (o *tour) signIn(email, password string) *person {
	o.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		o.t.Fatal(err)
	}
	p := &person{t: o.t, base: o.ready.HTTP, client: &http.Client{Jar: jar}}
	p.call("POST", "/auth/login", map[string]string{"email": email, "password": password})
	p.token, _ = p.call("GET", "/auth/session", nil)["csrf_token"].(string)
	return p
}

// cookie is what makes a request one of the person.
func (p *person) cookie() *http.Cookie {
	p.t.Helper()
	at, err := url.Parse(p.base)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, cookie := range p.client.Jar.Cookies(at) {
		if cookie.Name == api.SessionCookie {
			return cookie
		}
	}
	p.t.Fatal("nobody is signed in")
	return nil
}

func (p *person) call(method, path string, body any) map[string]any {
	p.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, bytes.NewReader(raw))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Csrf-Token", p.token)
	response, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	answer := map[string]any{}
	if err != nil || response.StatusCode >= 300 || json.Unmarshal(text, &answer) != nil {
		p.t.Fatalf("%s %s: %d %v %s", method, path, response.StatusCode, err, text)
	}
	return answer
}

// enableTwoFactor gives the owner a second factor and returns what tells a code that is good when it is asked for: that of now, or of the
// next half minute as long as the one that was used up is of this.
func (p *person) enableTwoFactor() (codeNow func() string) {
	p.t.Helper()
	secret, _ := p.call("POST", "/account/2fa/setup", nil)["secret"].(string)
	codeAt := func(at time.Time) string {
		digits, err := totp.GenerateCode(secret, at)
		if err != nil {
			p.t.Fatal(err)
		}
		return digits
	}
	used := time.Now()
	p.call("POST", "/account/2fa/enable", map[string]string{"code": codeAt(used)})
	return func() string {
		next := used.Add(30 * time.Second)
		if now := time.Now(); now.After(next) {
			next = now
		}
		return codeAt(next)
	}
}

func TestKeyIsCreatedInTheMiddleOfWhichTheSecondFactorIsAsked(t *testing.T) {
	t.Parallel()
	o := begin(t)
	code := o.person().enableTwoFactor()
	o.look("key-new", "/keys/new")
	o.open("/keys/new")
	o.Press("Create key")
	o.See("Confirm that it is you")
	o.open("/keys/new")
	o.Fill("name", "Billing")
	o.Set("expires_at", "2035-01-01T10:00")
	o.Press("Create key")
	o.See("Confirm that it is you")
	o.Fill("confirm_code", "000000")
	o.Press("Confirm and go on")
	o.See("The credentials are not right.")
	o.Fill("confirm_code", code())
	o.Press("Confirm and go on")
	o.See("Copy it now")
	o.See("Billing")
	if *pictures {
		o.Picture("../../docs/pictures/key-created-light-1440.png")
	}
	command := o.Eval(`document.querySelector(".listing pre").textContent`)
	if out, err := exec.CommandContext(t.Context(), "bash", "-c", command).CombinedOutput(); err != nil || !strings.Contains(string(out), `"id"`) {
		t.Errorf("%s\nsaid %s %v", command, out, err)
	}
	o.Press("I saved it")
	o.See("Send emails")
	page := strings.TrimPrefix(o.Path(), o.path(""))
	o.openUntil(page, "POST /emails")
	if text := o.Eval("document.body.innerText"); strings.Contains(text, strings.Fields(strings.Split(command, "Bearer ")[1])[0]) {
		t.Error("the secret is shown a second time")
	}
	o.look("key", page)
	o.look("keys", "/keys")
}

func TestKeyIsMadeByHandRotatedAndRevoked(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/keys/new")
	o.Fill("name", "Reports")
	o.Eval(`document.querySelector("[name=preset][value='']").click()`)
	o.Eval(`document.querySelector("[name=scopes][value='logs:read']").click()`)
	o.Fill("networks", "not a network")
	o.Press("Create key")
	o.See("Must be an IP address or a network")
	if kept := o.Eval(`document.querySelector("[name=scopes][value='logs:read']").checked`); kept != "true" {
		t.Error("the form forgot the right that was ticked")
	}
	o.Fill("networks", "127.0.0.1, 10.0.0.0/8")
	o.Press("Create key")
	o.See("Copy it now")
	o.See("/v1/logs")
	o.Press("I saved it")
	o.See("10.0.0.0/8")
	o.Press("Rotate key")
	o.See("The new secret")
	o.Press("I saved it")
	o.See("Rotated")
	o.Press("Revoke key")
	o.Press("Yes, revoke it")
	o.See("Requests with the key are refused from now on")
	o.open("/keys?status=revoked")
	o.See("Reports")
}
