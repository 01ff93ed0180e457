package account_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/product/account"
	"postrider/product/account/accounttest"
	"postrider/product/plan"
)

func TestSignUpMakesASessionAndTheFirstAccountRunsTheInstance(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.Browser()
		first := b.Must(201, "POST", "/auth/signup", map[string]any{"email": "Olga@Acme.test", "password": accounttest.Password, "name": " Olga ", "workspace_name": "Acme & Co."})
		second := h.Browser().Must(201, "POST", "/auth/signup", map[string]any{"email": "ann@b.test", "password": accounttest.Password, "name": "Ann", "workspace_name": "Acme Co"})

		want := []string{"authenticated_at", "csrf_token", "expires_at", "id", "idle_expires_at", "ip", "object", "reauthenticated_at", "two_factor_at",
			"two_factor_fresh", "user", "user_agent", "workspace", "workspaces"}
		if got := slices.Sorted(maps.Keys(first.JSON)); !slices.Equal(got, want) {
			t.Errorf("session has %v", got)
		}
		for path, value := range map[string]any{"object": "session", "user.email": "olga@acme.test", "user.name": "Olga", "user.email_verified": false,
			"user.operator": true, "workspace.name": "Acme & Co.", "workspace.slug": "acme-co", "workspace.role": "owner", "workspace.plan": "free",
			"workspace.status": "active", "workspaces.0.role": "owner", "two_factor_at": nil, "two_factor_fresh": false, "ip": "203.0.113.9",
			"authenticated_at": "2026-11-15T02:00:00.100Z", "expires_at": "2026-11-22T02:00:00.100Z", "idle_expires_at": "2026-11-16T02:00:00.100Z"} {
			if got := first.Value(path); got != value {
				t.Errorf("%s = %v, want %v", path, got, value)
			}
		}
		if second.Value("user.operator") != false || !strings.HasPrefix(second.Text("workspace.slug"), "acme-co-") {
			t.Errorf("second account: %s", second.Body)
		}
		cookie := first.Header.Get("Set-Cookie")
		for _, attribute := range []string{"__Host-session=", "Path=/", "HttpOnly", "Secure", "SameSite=Lax", "Max-Age=604800"} {
			if !strings.Contains(cookie, attribute) {
				t.Errorf("cookie %q lacks %s", cookie, attribute)
			}
		}
	})
}

func TestSignUpRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		for name, c := range map[string]struct {
			email, password, person, workspace string
			status                             int
			want                               string
		}{
			"no address":           {"olga", accounttest.Password, "Olga", "Acme", 400, `"email"`},
			"display name":         {"Olga <o@acme.test>", accounttest.Password, "Olga", "Acme", 400, `"email"`},
			"nine characters":      {"o@acme.test", "123456789", "Olga", "Acme", 400, `"password"`},
			"endless password":     {"o@acme.test", strings.Repeat("x", 1025), "Olga", "Acme", 400, `"password"`},
			"no name":              {"o@acme.test", accounttest.Password, " ", "Acme", 400, `"name"`},
			"line break in a name": {"o@acme.test", accounttest.Password, "a\r\nBcc: b", "Acme", 400, `"name"`},
			"no workspace":         {"o@acme.test", accounttest.Password, "Olga", "", 400, `"workspace_name"`},
			"taken":                {"OLGA@acme.test", accounttest.Password, "Olga", "Acme", 409, `already_exists`},
		} {
			got := h.Browser().Do("POST", "/auth/signup", map[string]any{"email": c.email, "password": c.password, "name": c.person, "workspace_name": c.workspace})
			if got.Code != c.status || !strings.Contains(got.Body, c.want) || got.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s: %d %s", name, got.Code, got.Body)
			}
		}
	})
}

func TestAnInviteOnlyInstanceTakesNobodyElse(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{InviteOnly: true}, func(t *testing.T, h *accounttest.House) {
		h.Browser().Refused(403, "sign_up_closed", "POST", "/auth/signup",
			map[string]any{"email": "a@b.test", "password": accounttest.Password, "name": "A", "workspace_name": "B"})
	})
}

func TestWhoIsNotInvitedDoesNotLearnWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{InviteOnly: true}, func(t *testing.T, h *accounttest.House) {
		_, _, err := h.Accounts.CreateWorkspace(t.Context(), account.CreateWorkspace{Name: "Acme", Plan: plan.Pro, OwnerEmail: "olga@acme.test", OwnerPassword: accounttest.Password})
		if err != nil {
			t.Fatal(err)
		}
		olga := h.Browser()
		olga.SignIn("olga@acme.test", accounttest.Password)
		olga.Must(201, "POST", "/workspaces/"+olga.Workspace()+"/invitations", map[string]any{"email": "ann@acme.test", "role": "viewer"})

		for _, token := range []string{"made up", h.LastLetter("ann@acme.test").Token("/invite/")} {
			ask := func(email string) string {
				return h.Browser().Do("POST", "/auth/signup", map[string]any{"email": email, "password": accounttest.Password, "name": "Eve", "invite_token": token}).Same()
			}
			if known, unknown := ask("olga@acme.test"), ask("nobody@acme.test"); known != unknown {
				t.Errorf("%s\n%s", known, unknown)
			}
		}
	})
}

func TestSignInReplacesTheSessionOfTheBrowser(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		old := *b

		if got := b.SignIn(" olga@acme.test", accounttest.Password); got.Code != 200 {
			t.Fatalf("%d %s", got.Code, got.Body)
		}

		if b.Cookie == old.Cookie {
			t.Error("the cookie is the same before and after sign-in")
		}
		b.Must(200, "GET", "/auth/session", nil)
		old.Refused(401, "session_expired", "GET", "/auth/session", nil)
	})
}

func TestSignOutEndsTheSession(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		old := *b

		got := b.Must(204, "POST", "/auth/logout", nil)

		if cookie := got.Header.Get("Set-Cookie"); !strings.Contains(cookie, "Max-Age=0") {
			t.Errorf("cookie %q", cookie)
		}
		old.Refused(401, "session_expired", "GET", "/auth/session", nil)
	})
}

func TestSessionsEndWhenIdleAndAfterAWeek(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		idle, busy := h.SignUp("olga@acme.test"), h.SignUp("ann@acme.test")
		for range 8 {
			h.Clock.Move(20 * time.Hour)
			busy.Must(200, "GET", "/auth/session", nil)
		}

		idle.Refused(401, "session_expired", "GET", "/auth/session", nil)
		h.Clock.Move(9 * time.Hour)
		busy.Refused(401, "session_expired", "GET", "/auth/session", nil)
	})
}

func TestKnownAndUnknownAddressesAreAnsweredAlike(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		for n := range 12 {
			known := h.Browser().SignIn("olga@acme.test", "a wrong password")
			unknown := h.Browser().SignIn("nobody@acme.test", "a wrong password")
			if known.Code != unknown.Code || n < 10 && known.Same() != unknown.Same() {
				t.Fatalf("try %d: known %d %s, unknown %d %s", n, known.Code, known.Body, unknown.Code, unknown.Body)
			}
			if want := map[bool]int{true: 401, false: 429}[n < 10]; known.Code != want {
				t.Fatalf("try %d was answered with %d", n, known.Code)
			}
		}
	})
}

func TestWhatWasLeftOutIsNamedAndCountsAsNoTry(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		for range 11 { // one more than lock an account
			for _, left := range []struct{ path, body, field string }{
				{"/auth/login", `{"email":"olga@acme.test"}`, "password"},
				{"/auth/login", `{"password":null}`, "email"},
				{"/auth/login/2fa", `{"code":"123456"}`, "challenge"},
				{"/auth/login/2fa", `{"challenge":"x"}`, "code"},
				{"/auth/reauthenticate", `{}`, "password"},
				{"/auth/2fa/verify", `{"code":""}`, "code"},
				{"/account/2fa/enable", `{}`, "code"},
				{"/account/2fa/disable", `{"code":"123456"}`, "password"},
				{"/account/password", `{"new_password":"another long one"}`, "password"},
			} {
				got := b.Refused(400, "validation_error", "POST", left.path, json.RawMessage(left.body))
				if !strings.Contains(got.Body, `"`+left.field+`":["Is required."]`) {
					t.Fatalf("%s %s: %s", left.path, left.body, got.Body)
				}
			}
		}
		b.Must(200, "POST", "/auth/reauthenticate", map[string]any{"password": accounttest.Password})
	})
}

func TestTenFailuresLockTheAccountForAQuarterOfAnHour(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		for range 10 {
			h.Browser().Refused(401, "invalid_credentials", "POST", "/auth/login", map[string]any{"email": "olga@acme.test", "password": "wrong"})
		}
		elsewhere := h.Browser()
		elsewhere.IP = "198.51.100.1"

		locked := elsewhere.SignIn("olga@acme.test", accounttest.Password)

		if locked.Code != 429 || locked.Header.Get("Retry-After") == "" || locked.Text("error.details.bucket") != "auth" {
			t.Fatalf("the right password was answered with %d %s", locked.Code, locked.Body)
		}
		h.Clock.Move(15 * time.Minute)
		if got := elsewhere.SignIn("olga@acme.test", accounttest.Password); got.Code != 200 {
			t.Fatalf("after the lock: %d %s", got.Code, got.Body)
		}
	})
}

func TestASuccessForgetsEarlierFailures(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		for range 2 {
			for range 7 {
				h.Browser().SignIn("olga@acme.test", "wrong")
			}
			if got := h.Browser().SignIn("olga@acme.test", accounttest.Password); got.Code != 200 {
				t.Fatalf("%d %s", got.Code, got.Body)
			}
		}
	})
}

func TestParallelGuessesAreCountedOneByOne(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		codes := make([]int, 16)
		var all sync.WaitGroup
		for i := range codes {
			all.Go(func() {
				b := h.Browser()
				b.IP = fmt.Sprintf("198.51.100.%d", i+1)
				codes[i] = b.SignIn("olga@acme.test", "wrong").Code
			})
		}
		all.Wait()

		slices.Sort(codes)
		if codes[9] != http.StatusUnauthorized || codes[10] != http.StatusTooManyRequests {
			t.Fatalf("16 guesses at once were answered with %v; want ten times 401", codes)
		}
	})
}

func TestAHundredFailuresCloseTheDoorForANetworkAddress(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		b := h.Browser()
		b.IP = "2001:db8:1:2::7"
		failures := 0
		for b.Do("POST", "/auth/login/2fa", map[string]any{"challenge": "guess", "code": "123456"}).Code == 401 {
			failures++
		}
		neighbour, stranger := h.Browser(), h.Browser()
		neighbour.IP, stranger.IP = "2001:db8:1:2:3::1", "2001:db8:1:3::1"

		if failures < 100 || failures > 102 {
			t.Errorf("%d failures were allowed", failures)
		}
		if got := neighbour.SignIn("olga@acme.test", accounttest.Password); got.Code != 429 {
			t.Errorf("the same network was answered with %d", got.Code)
		}
		if got := stranger.SignIn("olga@acme.test", accounttest.Password); got.Code != 200 {
			t.Errorf("another network was answered with %d", got.Code)
		}
	})
}

func TestOtherSitesAndKeysCannotUseASession(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		with := func(name, value string) *accounttest.Browser {
			other := *b
			other.Header = map[string]string{name: value}
			return &other
		}
		rename := map[string]any{"name": "Mallory"}

		with("X-CSRF-Token", "").Refused(403, "csrf_failed", "PATCH", "/account", rename)
		with("X-CSRF-Token", "guess").Refused(403, "csrf_failed", "PATCH", "/account", rename)
		with("Sec-Fetch-Site", "cross-site").Refused(403, "csrf_failed", "PATCH", "/account", rename)
		with("Sec-Fetch-Site", "cross-site").Refused(403, "csrf_failed", "POST", "/auth/login", map[string]any{})
		with("Authorization", "Bearer x").Refused(403, "dashboard_session_required", "PATCH", "/account", rename)
		with("Authorization", "Bearer x").Refused(403, "dashboard_session_required", "POST", "/auth/login", map[string]any{})
		if name := b.Must(200, "GET", "/account", nil).Text("name"); name != "Olga" {
			t.Fatalf("name is %q", name)
		}
	})
}
