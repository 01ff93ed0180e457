package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/account"
	"postrider/product/plan"
	"postrider/web"
)

// visitor is a browser without a screen.
type visitor struct {
	t      *testing.T
	in     *apptest.Installation
	cookie *http.Cookie
}

func (v visitor) ask(method, path string, header map[string]string) *httptest.ResponseRecorder {
	v.t.Helper()
	r := httptest.NewRequestWithContext(v.t.Context(), method, path, strings.NewReader(""))
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	answer := httptest.NewRecorder()
	v.in.App.Handler().ServeHTTP(answer, r)
	return answer
}

// signedIn is the owner of the installation's workspace, in another role if one is given.
func signedIn(t *testing.T, in *apptest.Installation, role api.Role) visitor {
	t.Helper()
	err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE account_member SET role = $1 WHERE workspace_id = $2`, string(role), in.Workspace)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cookie, err := in.App.Accounts.Enter(context.Background(), in.Owner(), account.Visitor{})
	if err != nil {
		t.Fatal(err)
	}
	return visitor{t, in, cookie}
}

var parameter = regexp.MustCompile(`\{[a-z_]+(\.\.\.)?\}`)

const nobody = "00000000-0000-7000-8000-000000000000"

// walk calls do for every page and action of a method, with its path in the workspace; whole tells that the path names no record.
func walk(in *apptest.Installation, method string, do func(path string, whole bool)) {
	for _, pattern := range new(web.Dashboard).Patterns() {
		verb, path, _ := strings.Cut(pattern, " ")
		if verb != method {
			continue
		}
		path = strings.ReplaceAll(strings.TrimSuffix(path, "{$}"), "{workspace}", string(in.Workspace))
		do(parameter.ReplaceAllString(path, nobody), !parameter.MatchString(path))
	}
}

func isOpen(path string) bool {
	for _, door := range []string{"/signin", "/signup", "/invite", "/forgot", "/reset", "/verify-email", "/start", "/docs"} {
		if strings.HasPrefix(path, door) {
			return true
		}
	}
	return false
}

func TestEveryPageOpensOnAFreshInstallation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		owner, opened := signedIn(t, in, api.Owner), 0
		walk(in, http.MethodGet, func(path string, whole bool) {
			opened++
			answer := owner.ask(http.MethodGet, path, nil)
			if answer.Code >= 500 || whole && answer.Code >= 400 && !strings.HasPrefix(path, "/system") && !strings.HasSuffix(path, "/sandbox") {
				t.Errorf("%s: %d %.300s", path, answer.Code, answer.Body)
			}
			if policy := answer.Header().Get("Content-Security-Policy"); policy == "" || strings.Contains(policy, "unsafe-inline") && !strings.HasPrefix(policy, "sandbox;") {
				t.Errorf("%s: policy %q", path, policy)
			}
		})
		if opened < 100 {
			t.Errorf("opened %d pages, which cannot be all", opened)
		}
	})
}

func TestNoRoleBreaksAPage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for _, role := range []api.Role{api.Admin, api.Developer, api.Marketer, api.Viewer} {
			member := signedIn(t, in, role)
			walk(in, http.MethodGet, func(path string, _ bool) {
				if answer := member.ask(http.MethodGet, path, nil); answer.Code >= 500 {
					t.Errorf("%s as %s: %d", path, role, answer.Code)
				}
			})
			walk(in, http.MethodPost, func(path string, _ bool) {
				if path == "/signout" || path == "/switch" {
					return
				}
				if answer := member.ask(http.MethodPost, path, nil); answer.Code >= 500 {
					t.Errorf("post %s as %s: %d", path, role, answer.Code)
				}
			})
		}
	})
}

func TestStrangersAreAskedToSignInAndOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	stranger, owner := visitor{t: t, in: in}, signedIn(t, in, api.Owner)
	walk(in, http.MethodGet, func(path string, _ bool) {
		if answer := stranger.ask(http.MethodGet, path, nil); !isOpen(path) && (answer.Code != http.StatusSeeOther || !strings.HasPrefix(answer.Header().Get("Location"), "/signin")) {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Header().Get("Location"))
		}
	})
	walk(in, http.MethodPost, func(path string, _ bool) {
		if answer := stranger.ask(http.MethodPost, path, nil); !isOpen(path) && answer.Code != http.StatusUnauthorized {
			t.Errorf("post %s: %d", path, answer.Code)
		}
		if answer := owner.ask(http.MethodPost, path, map[string]string{"Sec-Fetch-Site": "cross-site"}); answer.Code != http.StatusForbidden {
			t.Errorf("post %s from another site: %d", path, answer.Code)
		}
	})
}

func TestALinkFromAnotherSiteLeadsToThePage(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	followed := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
	for _, path := range []string{owner.path(""), owner.path("/emails"), owner.path("/domains"), "/account"} {
		if answer := owner.ask(http.MethodGet, path, followed); answer.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
	script := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
	if answer := owner.ask(http.MethodGet, "/v1/events/stream", script); answer.Code != http.StatusForbidden {
		t.Errorf("a script of another site listens: %d", answer.Code)
	}
}

func TestWhoIsLostInAWorkspaceStillHasItsNavigation(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	for _, path := range []string{"/nope", "/emails/nope/nope/nope", "/suppressions/remove"} {
		lost := owner.ask(http.MethodGet, owner.path(path), nil)
		if lost.Code != http.StatusNotFound || !strings.Contains(lost.Body.String(), `href="`+owner.path("/emails")+`"`) {
			t.Errorf("%s: %d %s", path, lost.Code, lost.Body)
		}
	}
}

func TestLinksAfterSigningInStayHere(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	for _, next := range []string{"https://evil.test/", "//evil.test/", `/\evil.test`, "javascript:alert(1)", "/%0d%0aX: y"} {
		r := httptest.NewRequest(http.MethodPost, "/switch", strings.NewReader("workspace_id="+string(in.Workspace)+"&next="+next))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(owner.cookie)
		answer := httptest.NewRecorder()
		in.App.Handler().ServeHTTP(answer, r)
		if to := answer.Header().Get("Location"); answer.Code == http.StatusSeeOther && !strings.HasPrefix(to, "/w/") && !strings.HasPrefix(to, "/%0d") {
			t.Errorf("%q leads to %q", next, to)
		}
		for _, set := range answer.Result().Cookies() { // moving renews the cookie
			owner.cookie = set
		}
	}
}

func TestLookingTakesNothingFromPrograms(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite", func(s *app.Settings) {
		s.Plans = plan.Shipped() // what was taken comes back slowly enough to be seen
		s.Plans[plan.Unlimited].Rates[api.BucketRead] = plan.Rate{PerSecond: 1, Burst: 200}
	})
	left := func() int {
		t.Helper()
		remaining, err := strconv.Atoi(in.Call(http.MethodGet, "/emails", nil).Header.Get("Ratelimit-Remaining"))
		if err != nil {
			t.Fatal(err)
		}
		return remaining
	}
	owner, before := signedIn(t, in, api.Owner), left()
	for range 30 {
		if answer := owner.ask(http.MethodGet, "/w/"+string(in.Workspace)+"/emails", nil); answer.Code != http.StatusOK {
			t.Fatalf("%d %.200s", answer.Code, answer.Body)
		}
	}
	if after := left(); after < before-1 { // its own look counts
		t.Errorf("programs had %d requests left, and have %d after somebody looked", before, after)
	}
}
