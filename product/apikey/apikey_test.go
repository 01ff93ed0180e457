package apikey_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/account/accounttest"
	"postrider/product/apikey"
)

const (
	ownDomain     = "0193a1e0-2222-7000-8000-0000000000d1"
	foreignDomain = "0193a1e0-2222-7000-8000-0000000000d2"
	missing       = "0193a1e0-2222-7000-8000-000000000501"
)

// house is an installation with keys. Every workspace in it has one domain, ownDomain.
type house struct {
	*accounttest.House
	keys *apikey.Service
}

func newHouse(h *accounttest.House) house {
	keys := newService(h)
	sends := api.Route{Method: "POST", Path: "/emails", Scope: "email:send", Bucket: api.BucketSend,
		Handler: api.Handle(func(_ context.Context, caller api.Caller, _ api.None) (map[string]any, error) {
			return map[string]any{"test": caller.Test, "own": caller.MayUseDomain(ownDomain), "foreign": caller.MayUseDomain(foreignDomain)}, nil
		})}
	h.Serve(keys, append(keys.Routes(), sends)...)
	return house{h, keys}
}

func newService(h *accounttest.House) *apikey.Service {
	return apikey.New(h.World, h.DB, h.Accounts, func(_ *db.Tx, _ space.ID, ids []string) (bool, error) {
		return !slices.ContainsFunc(ids, func(id string) bool { return id != ownDomain }), nil
	})
}

func each(t *testing.T, test func(t *testing.T, h house)) {
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) { test(t, newHouse(h)) })
}

// secondFactor turns the second factor of a browser's user on and returns a recovery code.
func secondFactor(b *accounttest.Browser) string {
	b.House.T.Helper()
	code, err := totp.GenerateCode(b.Must(200, "POST", "/account/2fa/setup", nil).Text("secret"), b.House.Clock.Now())
	if err != nil {
		b.House.T.Fatal(err)
	}
	return b.Must(200, "POST", "/account/2fa/enable", map[string]any{"code": code}).Text("recovery_codes.0")
}

// program is a caller with a key.
func (h house) program(key string) *accounttest.Browser {
	b := h.Browser()
	b.Header = map[string]string{"Authorization": "Bearer " + key}
	return b
}

func create(b *accounttest.Browser, body map[string]any) accounttest.Answer {
	b.House.T.Helper()
	if body["name"] == nil {
		body["name"] = "Production"
	}
	return b.Must(201, "POST", "/v1/api-keys", body)
}

var somewhere = netip.MustParseAddr("203.0.113.9")

var shape = regexp.MustCompile(`^pr_(live|test)_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$`)

func TestAKeyIsShownOnceAndActsWithItsScopes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		made := create(owner, map[string]any{"scopes": []string{"email:read", "email:send", "email:read"}, "ip_allowlist": []string{"203.0.113.9/24", "198.51.100.7"}})
		listed := owner.Must(200, "GET", "/v1/api-keys", nil)
		key := made.Text("token")

		want := []string{"created_at", "created_by", "domain_ids", "expires_at", "id", "ip_allowlist", "key", "key_prefix", "last_used_at", "last_used_ip",
			"mode", "name", "object", "preset", "revoked_at", "rotated_at", "scopes", "status", "token"}
		if got := slices.Sorted(maps.Keys(made.JSON)); !slices.Equal(got, want) {
			t.Errorf("record has %v", got)
		}
		if !shape.MatchString(key) || made.Text("key") != key || !strings.HasPrefix(key, made.Text("key_prefix")+"_") {
			t.Errorf("key %q", key)
		}
		for path, value := range map[string]any{"object": "api_key", "mode": "live", "scopes.0": "email:send", "scopes.1": "email:read", "scopes.2": nil, "preset": nil,
			"ip_allowlist.0": "203.0.113.0/24", "ip_allowlist.1": "198.51.100.7", "status": "active", "expires_at": nil, "last_used_at": nil} {
			if got := made.Value(path); got != value {
				t.Errorf("%s = %v, want %v", path, got, value)
			}
		}
		if strings.Contains(listed.Body, key) || listed.Value("data.0.token") != nil || listed.Text("data.0.id") != made.Text("id") || listed.Value("total") != 1.0 {
			t.Errorf("list: %s", listed.Body)
		}
		h.program(key).Must(200, "POST", "/v1/emails", map[string]any{})
	})
}

func TestKeysCannotReachTheRoutesOfKeys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		made := create(owner, map[string]any{"preset": "full_access"})
		program := h.program(made.Text("token"))

		for _, route := range h.keys.Routes() {
			path := "/v1" + strings.ReplaceAll(route.Path, "{id}", made.Text("id"))
			program.Refused(403, "dashboard_session_required", route.Method, path, map[string]any{"name": "x", "preset": "full_access"})
		}
		program.Refused(403, "dashboard_session_required", "GET", "/account", nil)
		if got := owner.Must(200, "GET", "/v1/api-keys", nil); got.Value("total") != 1.0 || got.Text("data.0.status") != "active" || got.Value("data.0.rotated_at") != nil {
			t.Fatalf("something changed: %s", got.Body)
		}
	})
}

func TestOnlyManagersWithAFreshSecondFactorChangeKeys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		id := create(owner, map[string]any{"preset": "read_only"}).Text("id")
		developer := owner.Join("dev@acme.test", api.Developer)
		changes := []struct{ method, path string }{{"POST", "/v1/api-keys"}, {"POST", "/v1/api-keys/" + id + "/rotate"}, {"DELETE", "/v1/api-keys/" + id}}
		for _, c := range changes {
			developer.Refused(403, "workspace_role_required", c.method, c.path, map[string]any{})
		}
		developer.Refused(403, "workspace_role_required", "GET", "/v1/api-keys", nil)
		recovery := secondFactor(owner)
		h.Clock.Move(10 * time.Minute)
		for _, c := range changes {
			owner.Refused(403, "two_factor_required", c.method, c.path, map[string]any{})
		}
		owner.Must(200, "GET", "/v1/api-keys", nil)

		owner.Must(200, "POST", "/auth/2fa/verify", map[string]any{"recovery_code": recovery})

		owner.Must(200, "DELETE", "/v1/api-keys/"+id, nil)
	})
}

func TestWhatAKeyIsAskedToBe(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		many := make([]string, 51)
		for i := range many {
			many[i] = fmt.Sprintf("198.51.100.%d", i)
		}
		for name, c := range map[string]struct {
			body   map[string]any
			status int
			want   string
		}{
			"full access":           {map[string]any{"preset": "full_access"}, 201, `"preset":"full_access"`},
			"permission":            {map[string]any{"permission": "sending_access"}, 201, `"scopes":["email:send"],"preset":"sending_access"`},
			"platform":              {map[string]any{"preset": "customer_platform", "domain_ids": []string{ownDomain}}, 201, `"domain_ids":[]`},
			"webhooks":              {map[string]any{"preset": "webhooks"}, 201, `"scopes":["webhook:read","webhook:manage"]`},
			"test mode":             {map[string]any{"preset": "webhooks", "mode": "test"}, 201, `"key_prefix":"pr_test_`},
			"one domain":            {map[string]any{"preset": "read_only", "domain_id": ownDomain}, 201, `"domain_ids":["` + ownDomain + `"]`},
			"empty values":          {map[string]any{"preset": "read_only", "domain_id": "", "expires_at": "", "scopes": []string{}}, 201, `"expires_at":null`},
			"nothing":               {map[string]any{}, 400, `"scopes":[`},
			"two ways":              {map[string]any{"preset": "webhooks", "scopes": []string{"email:send"}}, 400, `"scopes":[`},
			"neither name nor way":  {map[string]any{"name": ""}, 400, `"name":["Must be one line of 1 to 80 characters."],"scopes":[`},
			"name of two lines":     {map[string]any{"name": "a\nb", "preset": "webhooks"}, 400, `"name":["Must be one line of 1 to 80 characters."]`},
			"unknown scope":         {map[string]any{"scopes": []string{"email:send", "root"}}, 400, `"scopes[1]":[`},
			"unknown preset":        {map[string]any{"preset": "root"}, 400, `"preset":[`},
			"preset as permission":  {map[string]any{"permission": "webhooks"}, 400, `"permission":[`},
			"unknown mode":          {map[string]any{"preset": "webhooks", "mode": "wild"}, 400, `"mode":[`},
			"no name":               {map[string]any{"preset": "webhooks", "name": " "}, 400, `"name":[`},
			"long name":             {map[string]any{"preset": "webhooks", "name": strings.Repeat("x", 81)}, 400, `"name":[`},
			"past expiry":           {map[string]any{"preset": "webhooks", "expires_at": "2026-11-15T01:59:59Z"}, 400, `"expires_at":[`},
			"foreign domain":        {map[string]any{"preset": "read_only", "domain_ids": []string{ownDomain, foreignDomain}}, 400, `"domain_ids":[`},
			"no domain id":          {map[string]any{"preset": "read_only", "domain_ids": []string{"acme.test"}}, 400, `"domain_ids[0]":[`},
			"no network":            {map[string]any{"preset": "read_only", "ip_allowlist": []string{"acme.test"}}, 400, `"ip_allowlist[0]":[`},
			"too many networks":     {map[string]any{"preset": "read_only", "ip_allowlist": many}, 400, `"ip_allowlist":[`},
			"id of another by hand": {map[string]any{"preset": "webhooks", "workspace_id": missing, "id": missing, "status": "revoked"}, 201, `"status":"active"`},
		} {
			if c.body["name"] == nil {
				c.body["name"] = "n"
			}
			h.Clock.Move(time.Second)
			if got := owner.Do("POST", "/v1/api-keys", c.body); got.Code != c.status || !strings.Contains(got.Body, c.want) {
				t.Errorf("%s: %d %s", name, got.Code, got.Body)
			}
		}
	})
}

func TestRestrictionsOfAKeyHold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		token := func(body map[string]any) string { return create(owner, body).Text("token") }
		networks := h.program(token(map[string]any{"preset": "sending_access", "ip_allowlist": []string{"198.51.100.0/24", "2001:db8::/32", "::ffff:192.0.2.0/120"}}))
		for _, spoof := range []string{"X-Forwarded-For", "X-Real-Ip", "Forwarded"} {
			networks.Header[spoof] = "198.51.100.7"
			networks.Refused(403, "ip_not_allowed", "POST", "/v1/emails", map[string]any{})
		}
		for _, ip := range []string{"198.51.100.7", "2001:db8::1", "192.0.2.7"} {
			networks.IP = ip
			networks.Must(200, "POST", "/v1/emails", map[string]any{})
		}
		expiring := h.program(token(map[string]any{"preset": "sending_access", "expires_at": "2026-11-15T03:00:00+00:00"}))
		expiring.Must(200, "POST", "/v1/emails", map[string]any{})
		restricted := h.program(token(map[string]any{"permission": "sending_access", "domain_id": ownDomain, "mode": "test"})).
			Must(200, "POST", "/v1/emails", map[string]any{})
		h.program(token(map[string]any{"preset": "read_only"})).Refused(403, "insufficient_scope", "POST", "/v1/emails", map[string]any{})

		h.Clock.Move(time.Hour)
		expired := expiring.Refused(401, "api_key_expired", "POST", "/v1/emails", map[string]any{})
		owner.SignIn("olga@acme.test", accounttest.Password)
		owner.Refused(409, "invalid_state", "POST", "/v1/api-keys/"+owner.Must(200, "GET", "/v1/api-keys?status=expired", nil).Text("data.0.id")+"/rotate", nil)

		if expired.Text("error.details.expires_at") != "2026-11-15T03:00:00.000Z" {
			t.Errorf("details: %s", expired.Body)
		}
		if restricted.Value("test") != true || restricted.Value("own") != true || restricted.Value("foreign") != false {
			t.Errorf("restricted: %s", restricted.Body)
		}
	})
}

func TestARevokedKeyIsRefusedAtOnceAndElsewhereWithinASecond(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		made := create(owner, map[string]any{"preset": "sending_access"})
		program, elsewhere := h.program(made.Text("token")), newService(h.House)
		check := func() error {
			_, err := elsewhere.CheckKey(context.Background(), made.Text("token"), somewhere)
			return err
		}
		program.Must(200, "POST", "/v1/emails", map[string]any{})
		if err := check(); err != nil {
			t.Fatal(err)
		}
		var flying sync.WaitGroup
		for range 20 {
			flying.Go(func() { h.program(made.Text("token")).Do("POST", "/v1/emails", map[string]any{}) })
		}

		deleted := owner.Must(200, "DELETE", "/v1/api-keys/"+made.Text("id"), nil)

		program.Refused(401, "invalid_api_key", "POST", "/v1/emails", map[string]any{})
		flying.Wait()
		program.Refused(401, "invalid_api_key", "POST", "/v1/emails", map[string]any{})
		h.Clock.Move(time.Second)
		if err := check(); !errors.Is(err, api.ErrInvalidKey) {
			t.Errorf("another node: %v", err)
		}
		if deleted.Value("deleted") != true || deleted.Text("id") != made.Text("id") || deleted.Text("object") != "api_key" {
			t.Errorf("answer: %s", deleted.Body)
		}
		owner.Must(200, "DELETE", "/v1/api-keys/"+made.Text("id"), nil)
		owner.Refused(409, "invalid_state", "POST", "/v1/api-keys/"+made.Text("id")+"/rotate", nil)
	})
}

func TestARotatedKeyKeepsItsIDAndItsOldSecretForTheGrace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		first := create(owner, map[string]any{"preset": "sending_access"})
		works := func(token string) bool {
			return h.program(token).Do("POST", "/v1/emails", map[string]any{}).Code == 200
		}
		rotate := func(seconds int) string {
			got := owner.Must(200, "POST", "/v1/api-keys/"+first.Text("id")+"/rotate", map[string]any{"grace_sec": seconds})
			if got.Text("id") != first.Text("id") || got.Text("key_prefix") != first.Text("key_prefix") || got.Text("rotated_at") == "" {
				t.Errorf("rotated: %s", got.Body)
			}
			return got.Text("token")
		}
		works(first.Text("token"))

		second := rotate(0)
		if works(first.Text("token")) || !works(second) {
			t.Error("without grace the old secret must die at once")
		}
		third := rotate(60)
		if !works(second) || !works(third) {
			t.Error("during the grace both secrets are good")
		}
		fourth := rotate(86400)
		if works(second) || !works(third) || !works(fourth) {
			t.Error("a second rotation ends the oldest secret")
		}
		h.Clock.Move(24 * time.Hour)
		if works(third) || !works(fourth) {
			t.Error("the grace does not end")
		}
		for _, seconds := range []int{-1, 86401, 1 << 40} {
			owner.SignIn("olga@acme.test", accounttest.Password)
			owner.Refused(400, "validation_error", "POST", "/v1/api-keys/"+first.Text("id")+"/rotate", map[string]any{"grace_sec": seconds})
		}
	})
}

func TestAKeyOfASuspendedWorkspaceIsToldWhy(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		program := h.program(create(owner, map[string]any{"preset": "full_access"}).Text("token"))
		program.Must(200, "GET", "/v1/limits", nil)
		if err := h.Accounts.Suspend(context.Background(), space.ID(owner.Workspace()), "spam"); err != nil {
			t.Fatal(err)
		}
		h.Clock.Move(time.Second)

		stopped := program.Refused(403, "workspace_suspended", "GET", "/v1/limits", nil)

		if stopped.Text("error.details.reason") != "spam" {
			t.Errorf("details: %s", stopped.Body)
		}
	})
}

func TestAnyKeySeesTheLimitsOfItsWorkspace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		program := h.program(create(owner, map[string]any{"preset": "webhooks"}).Text("token"))
		got := program.Must(200, "GET", "/v1/limits", nil)
		if got.Text("plan") != "free" || got.Value("usage.members") != 1.0 {
			t.Errorf("limits: %s", got.Body)
		}
		h.Browser().Refused(401, "missing_api_key", "GET", "/v1/limits", nil)

		if err := h.Accounts.SetPlan(context.Background(), space.ID(owner.Workspace()), "pro"); err != nil {
			t.Fatal(err)
		}
		h.Clock.Move(time.Second)

		if got := program.Must(200, "GET", "/v1/limits", nil); got.Text("plan") != "pro" || got.Header.Get("Ratelimit-Limit") != "200" {
			t.Errorf("after the change: %v %s", got.Header, got.Body)
		}
	})
}

func TestTheLastUseIsWrittenAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		program := h.program(create(owner, map[string]any{"preset": "sending_access"}).Text("token"))
		use := func() string {
			program.Must(200, "POST", "/v1/emails", map[string]any{})
			for _, worker := range h.keys.Workers() {
				if _, err := worker.Step(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			return owner.Must(200, "GET", "/v1/api-keys", nil).Text("data.0.last_used_at")
		}

		first := use()
		h.Clock.Move(30 * time.Second)
		second := use()
		h.Clock.Move(30 * time.Second)
		third := use()

		if first == "" || second != first || third == second {
			t.Fatalf("last used %q, then %q, then %q", first, second, third)
		}
		if ip := owner.Must(200, "GET", "/v1/api-keys", nil).Text("data.0.last_used_ip"); ip != "203.0.113.9" {
			t.Fatalf("from %q", ip)
		}
	})
}

func TestAUseThatCouldNotBeWrittenIsWrittenLater(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		h.program(create(owner, map[string]any{"preset": "sending_access"}).Text("token")).Must(200, "POST", "/v1/emails", map[string]any{})
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		step := h.keys.Workers()[0].Step
		if _, err := step(gone); err == nil {
			t.Fatal("the use was written")
		}

		if _, err := step(context.Background()); err != nil {
			t.Fatal(err)
		}

		if got := owner.Must(200, "GET", "/v1/api-keys", nil); got.Text("data.0.last_used_at") == "" {
			t.Errorf("the use is lost: %s", got.Body)
		}
	})
}

func TestTheLastUseIsTheLatestOfAllNodes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		token := create(owner, map[string]any{"preset": "sending_access"}).Text("token")
		elsewhere := newService(h.House)
		for _, node := range []*apikey.Service{elsewhere, h.keys} {
			if _, err := node.CheckKey(context.Background(), token, somewhere); err != nil {
				t.Fatal(err)
			}
			h.Clock.Move(time.Second)
		}
		var told []string
		for _, node := range []*apikey.Service{h.keys, elsewhere} { // the later use is written first
			if _, err := node.Workers()[0].Step(context.Background()); err != nil {
				t.Fatal(err)
			}
			told = append(told, owner.Must(200, "GET", "/v1/api-keys", nil).Text("data.0.last_used_at"))
		}
		if told[0] == "" || told[1] != told[0] {
			t.Errorf("the last use is %q, then %q", told[0], told[1])
		}
	})
}

func TestKeysAreFoundByStatusAndText(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		create(owner, map[string]any{"name": "Invoices 100%", "preset": "read_only"})
		create(owner, map[string]any{"name": "Newsletter", "preset": "read_only", "expires_at": "2026-11-15T02:30:00Z"})
		gone := create(owner, map[string]any{"name": "Old", "preset": "read_only"})
		owner.Must(200, "DELETE", "/v1/api-keys/"+gone.Text("id"), nil)
		h.Clock.Move(time.Hour)
		for query, want := range map[string]string{"": "Old Newsletter Invoices 100%", "status=active": "Invoices 100%", "status=expired": "Newsletter", "status=revoked": "Old",
			"status=active,revoked": "Old Invoices 100%", "search=NEWS": "Newsletter", "search=%25": "Invoices 100%", "search=_": "Old Newsletter Invoices 100%",
			"search=%27": "", "search=" + gone.Text("key_prefix"): "Old", "limit=1&offset=1": "Newsletter", "status=expired&search=old": ""} {
			var names []string
			for _, row := range owner.Must(200, "GET", "/v1/api-keys?"+query, nil).Value("data").([]any) {
				names = append(names, row.(map[string]any)["name"].(string))
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%q found %q, want %q", query, got, want)
			}
		}
		owner.Refused(400, "validation_error", "GET", "/v1/api-keys?status=lost", nil)
		owner.Refused(400, "validation_error", "GET", "/v1/api-keys?limit=201", nil)
	})
}

func TestForeignAndMissingKeysAreOneAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		made := create(h.SignUp("olga@acme.test"), map[string]any{"preset": "sending_access"})
		stranger := h.SignUp("eve@evil.test")
		for _, c := range []struct{ method, suffix string }{{"DELETE", ""}, {"POST", "/rotate"}} {
			foreign := stranger.Must(404, c.method, "/v1/api-keys/"+made.Text("id")+c.suffix, nil)
			for _, id := range []string{missing, "x", "%27"} {
				if absent := stranger.Must(404, c.method, "/v1/api-keys/"+id+c.suffix, nil); absent.Same() != foreign.Same() {
					t.Errorf("%s: %s, missing: %s", c.method, foreign.Body, absent.Body)
				}
			}
		}
		foreign, absent := stranger.Do("GET", "/v1/api-keys?after="+made.Text("id"), nil), stranger.Do("GET", "/v1/api-keys?after="+missing, nil)
		if foreign.Code != absent.Code || foreign.Same() != absent.Same() {
			t.Errorf("after a foreign key: %s, a missing one: %s", foreign.Body, absent.Body)
		}
		h.program(made.Text("token")).Must(200, "POST", "/v1/emails", map[string]any{})
		if got := stranger.Must(200, "GET", "/v1/api-keys", nil); got.Value("total") != 0.0 {
			t.Errorf("foreign keys are listed: %s", got.Body)
		}
	})
}

func TestChangesOfKeysAreInTheAuditLog(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		owner := h.SignUp("olga@acme.test")
		id := create(owner, map[string]any{"preset": "sending_access"}).Text("id")
		owner.Must(200, "POST", "/v1/api-keys/"+id+"/rotate", nil)
		owner.Must(200, "DELETE", "/v1/api-keys/"+id, nil)
		log := owner.Must(200, "GET", "/workspaces/"+owner.Workspace()+"/audit-log", nil)
		for path, want := range map[string]string{"data.0.action": "api_key.revoked", "data.1.action": "api_key.rotated", "data.2.action": "api_key.created",
			"data.2.target.id": id, "data.2.target.name": "Production", "data.2.actor.email": "olga@acme.test"} {
			if got := log.Text(path); got != want {
				t.Errorf("%s = %q, want %q", path, got, want)
			}
		}
	})
}

func TestAKeyIsNotFoundInStorageOrLogs(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "sqlite")
	h := newHouse(accounttest.New(t, url, account.Config{}))
	token := create(h.SignUp("olga@acme.test"), map[string]any{"preset": "sending_access"}).Text("token")
	h.program(token).Must(200, "POST", "/v1/emails", map[string]any{})
	h.program(token[:56]+"!").Must(401, "POST", "/v1/emails", map[string]any{})
	if err := h.DB.Close(); err != nil {
		t.Fatal(err)
	}

	kept := h.Log.String()
	files, err := filepath.Glob(url + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kept += string(raw)
	}
	if public := token[len("pr_live_"):18]; !strings.Contains(kept, public) {
		t.Fatal("the search would find nothing")
	}
	if secret := token[19:51]; strings.Contains(kept, secret) {
		t.Fatal("the secret of a key is stored or logged")
	}
}

func TestABadChecksumIsRefusedWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	h := newHouse(accounttest.New(t, dbtest.URL(t, "sqlite"), account.Config{}))
	token := create(h.SignUp("olga@acme.test"), map[string]any{"preset": "sending_access"}).Text("token")
	if err := h.DB.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range len(token) {
		typo := []byte(token)
		typo[i] ^= 1
		if _, err := h.keys.CheckKey(context.Background(), string(typo), somewhere); !errors.Is(err, api.ErrInvalidKey) {
			t.Fatalf("%s: %v", typo, err)
		}
	}
	if _, err := h.keys.CheckKey(context.Background(), token, somewhere); !errors.Is(err, db.ErrUnavailable) {
		t.Fatalf("the right key did not ask the database: %v", err)
	}
}
