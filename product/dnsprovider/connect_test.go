package dnsprovider_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"postrider/platform/api"
	"postrider/platform/db"
)

func TestATokenIsCheckedSealedAndNeverShownAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		made := h.owner.Must(201, "POST", h.path, fields{"provider": "cloudflare", "name": " Acme ", "api_token": goodToken})
		listed := h.owner.Must(200, "GET", h.path, nil)
		audit := h.owner.Must(200, "GET", strings.Replace(h.path, "dns-connections", "audit-log", 1), nil)

		if made.Text("object") != "dns_connection" || made.Text("name") != "Acme" || made.Text("provider") != "cloudflare" ||
			made.Text("api_token_last4") != "9_AZ" || made.Text("created_by") == "" || made.Text("created_at") == "" {
			t.Errorf("made: %s", made.Body)
		}
		if listed.Value("total") != 1.0 || listed.Text("data.0.id") != made.Text("id") || listed.Text("data.0.api_token_last4") != "9_AZ" {
			t.Errorf("listed: %s", listed.Body)
		}
		if audit.Text("data.0.action") != "dns_connection.created" || audit.Text("data.0.target.name") != "Acme" {
			t.Errorf("audit: %s", audit.Body)
		}
		if calls := h.cloud.heard(); len(calls) != 1 || calls[0] != "GET /user/tokens/verify" {
			t.Errorf("calls: %v", calls)
		}
		for place, text := range map[string]string{"answer": made.Body, "list": listed.Body, "audit log": audit.Body, "log": h.Log.String()} {
			if strings.Contains(text, goodToken[:20]) {
				t.Errorf("the token is readable in the %s", place)
			}
		}
		sealed := storedToken(t, h.DB, made.Text("id"))
		if bytes.Contains(sealed, []byte(goodToken[:20])) {
			t.Error("the token is readable in the database")
		}
		if plain, err := h.Keyring.Open(sealed, made.Text("id")); err != nil || string(plain) != goodToken {
			t.Errorf("stored token is %q, %v", plain, err)
		}
		if _, err := h.Keyring.Open(sealed, missing); err == nil {
			t.Error("the token can be moved to another row")
		}
	})
}

func storedToken(t *testing.T, d *db.DB, id string) (sealed []byte) {
	t.Helper()
	err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		sealed, err = db.One(tx, db.Value[[]byte], `SELECT token FROM dnsprovider_connection WHERE id = $1`, id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestWhatCannotBeConnectedIsNotStored(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.cloud.set(func(f *fakeCloudflare) { f.tokens["disabled-token-0000000000000000000000000"] = "disabled" })
		h.connect("Taken", goodToken)
		body := func(name string, value any) fields {
			b := fields{"provider": "cloudflare", "name": "Acme", "api_token": goodToken}
			b[name] = value
			return b
		}
		for name, c := range map[string]struct {
			body   fields
			status int
			want   string
		}{
			"other provider":     {body("provider", "route53"), 400, `"provider":[`},
			"no name":            {body("name", " "), 400, `"name":[`},
			"long name":          {body("name", strings.Repeat("é", 81)), 400, `"name":[`},
			"no token":           {body("api_token", ""), 400, `"api_token":[`},
			"header injection":   {body("api_token", goodToken+"\r\nX-Auth-Email: a@b.test"), 400, `"api_token":[`},
			"unknown token":      {body("api_token", strings.Repeat("x", 40)), 400, "does not accept"},
			"token switched off": {body("api_token", "disabled-token-0000000000000000000000000"), 400, "not active"},
			"name in use":        {body("name", "Taken"), 409, `"already_exists"`},
		} {
			if got := h.owner.Do("POST", h.path, c.body); got.Code != c.status || !strings.Contains(got.Body, c.want) {
				t.Errorf("%s: %d %s", name, got.Code, got.Body)
			}
		}

		if listed := h.owner.Must(200, "GET", h.path, nil); listed.Value("total") != 1.0 {
			t.Fatalf("listed: %s", listed.Body)
		}
	})
}

func TestAProviderThatIsDownIsNotTheTokensFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status float64
	}{
		"broken":   {func(w http.ResponseWriter, _ *http.Request) { problem(w, 500, 1, "oops") }, 500},
		"busy":     {func(w http.ResponseWriter, _ *http.Request) { problem(w, 429, 971, "slow down") }, 429},
		"not JSON": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello</html>") }, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, h house) {
				h.cloud.intercept(func(w http.ResponseWriter, r *http.Request) bool { c.answer(w, r); return true })

				got := h.owner.Refused(502, "dns_provider_error", "POST", h.path, fields{"provider": "cloudflare", "name": "Acme", "api_token": goodToken})

				if got.Value("error.details.status") != c.status || got.Text("error.details.provider") != "cloudflare" {
					t.Errorf("details: %s", got.Body)
				}
				if strings.Contains(h.Log.String(), goodToken[:20]) {
					t.Error("the token is in the log")
				}
			})
		})
	}
}

func TestAForgottenConnectionIsGone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.connect("Acme", goodToken)

		deleted := h.owner.Must(200, "DELETE", h.path+"/"+id, nil)

		if deleted.Text("object") != "dns_connection" || deleted.Text("id") != id || deleted.Value("deleted") != true {
			t.Errorf("deleted: %s", deleted.Body)
		}
		h.owner.Refused(404, "not_found", "DELETE", h.path+"/"+id, nil)
		h.owner.Refused(404, "not_found", "DELETE", h.path+"/not-an-id", nil)
		h.owner.Refused(409, "dns_provider_not_connected", "POST", "/v1/domains/"+h.domain+"/cloudflare/apply", nil)
		audit := h.owner.Must(200, "GET", strings.Replace(h.path, "dns-connections", "audit-log", 1), nil)
		if audit.Text("data.0.action") != "dns_connection.deleted" || audit.Text("data.0.target.name") != "Acme" {
			t.Errorf("audit: %s", audit.Body)
		}
		h.connect("Acme", goodToken)
	})
}

func TestOnlyManagersOfTheWorkspaceReachItsConnections(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.connect("Acme", goodToken)
		stranger, developer := h.SignUp("eve@other.test"), h.owner.Join("dev@acme.test", api.Developer)
		program := h.program(fields{"preset": "full_access"})
		body := fields{"provider": "cloudflare", "name": "Other", "api_token": goodToken}
		requests := []struct {
			method, path string
			body         any
		}{{"GET", h.path, nil}, {"POST", h.path, body}, {"DELETE", h.path + "/" + id, nil}}
		for _, r := range requests {
			stranger.Refused(404, "not_found", r.method, r.path, r.body)
			developer.Refused(403, "workspace_role_required", r.method, r.path, r.body)
			program.Refused(403, "dashboard_session_required", r.method, r.path, r.body)
		}
		stranger.Refused(404, "not_found", "DELETE", "/workspaces/"+stranger.Workspace()+"/dns-connections/"+id, nil)
		code, err := totp.GenerateCode(h.owner.Must(200, "POST", "/account/2fa/setup", nil).Text("secret"), h.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		h.owner.Must(200, "POST", "/account/2fa/enable", fields{"code": code})

		h.Clock.Move(10 * time.Minute)

		for _, r := range requests[1:] {
			h.owner.Refused(403, "two_factor_required", r.method, r.path, r.body)
		}
		if listed := h.owner.Must(200, "GET", h.path, nil); listed.Value("total") != 1.0 {
			t.Fatalf("listed: %s", listed.Body)
		}
	})
}

func TestAWorkspaceHasABoundedNumberOfConnections(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		for i := range 50 {
			h.connect(fmt.Sprint("Account ", i), goodToken)
		}

		h.owner.Refused(409, "invalid_state", "POST", h.path, fields{"provider": "cloudflare", "name": "One more", "api_token": goodToken})

		if page := h.owner.Must(200, "GET", h.path+"?limit=2&offset=1", nil); page.Text("data.0.name") != "Account 48" || page.Value("has_more") != true {
			t.Fatalf("page: %s", page.Body)
		}
	})
}
