package account_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/account/accounttest"
	"postrider/product/plan"
)

func TestPeopleChangeTheirProfile(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		got := b.Must(200, "PATCH", "/account", map[string]any{"locale": "pt-BR", "timezone": "Europe/Berlin"})
		if got.Text("name") != "Olga" || got.Text("locale") != "pt-BR" || got.Text("timezone") != "Europe/Berlin" || got.Text("object") != "user" {
			t.Errorf("account: %s", got.Body)
		}
		for field, value := range map[string]string{"name": "", "locale": "../../etc", "timezone": "Mars/Olympus"} {
			if got := b.Must(400, "PATCH", "/account", map[string]any{field: value}); !strings.Contains(got.Body, `"`+field+`":[`) {
				t.Errorf("%s: %s", field, got.Body)
			}
		}
	})
}

func TestPeopleSeeAndEndTheirSessions(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		here, there := h.SignUp("olga@acme.test"), h.Browser()
		there.IP = "198.51.100.7"
		other := there.SignIn("olga@acme.test", accounttest.Password).Text("id")
		list := here.Must(200, "GET", "/account/sessions", nil)
		if list.Value("total") != 2.0 || list.Text("data.0.id") != other || list.Value("data.0.current") != false || list.Value("data.1.current") != true ||
			list.Text("data.0.ip") != "198.51.100.7" {
			t.Errorf("sessions: %s", list.Body)
		}

		here.Must(200, "DELETE", "/account/sessions/"+other, nil)

		there.Refused(401, "session_expired", "GET", "/account/sessions", nil)
		here.Must(200, "GET", "/account/sessions", nil)
	})
}

func TestAPersonHasFiftySessionsAndSeesThoseThatAreGood(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		first, last := h.SignUp("olga@acme.test"), h.Browser()
		for range 101 { // more than an address may fail
			last = h.Browser()
			if in := last.SignIn("olga@acme.test", accounttest.Password); in.Code != 200 {
				t.Fatalf("%d %s", in.Code, in.Body)
			}
		}
		first.Refused(401, "session_expired", "GET", "/account/sessions", nil)
		if list := last.Must(200, "GET", "/account/sessions", nil); list.Value("total") != 50.0 {
			t.Errorf("%v sessions, want 50", list.Value("total"))
		}

		h.Clock.Move(24 * time.Hour)
		back := h.Browser()
		back.SignIn("olga@acme.test", accounttest.Password)
		if list := back.Must(200, "GET", "/account/sessions", nil); list.Value("total") != 1.0 {
			t.Errorf("%v sessions after a day, want 1: %s", list.Value("total"), list.Body)
		}
	})
}

func TestTheAuditLogTellsWhoDidWhat(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		ann := owner.Join("ann@b.test", api.Developer)
		ann.SignIn("ann@b.test", "wrong")
		withPhone(ann)
		owner.Must(200, "PATCH", path+"/members/"+memberID(owner, path, "ann@b.test"), map[string]any{"role": "viewer"})
		owner.Must(200, "DELETE", path+"/members/"+memberID(owner, path, "ann@b.test"), nil)

		log := owner.Must(200, "GET", path+"/audit-log?limit=50", nil)

		var actions []string
		for i := range int(log.Value("total").(float64)) {
			actions = append(actions, log.Text(fmt.Sprintf("data.%d.action", i)))
		}
		want := []string{"member.removed", "member.role_changed", "two_factor.enabled", "session.sign_in_failed", "session.signed_in", "member.joined",
			"member.invited", "workspace.plan_changed", "session.signed_in", "workspace.created"}
		if !slices.Equal(actions, want) {
			t.Errorf("actions %v, want %v", actions, want)
		}
		for path, value := range map[string]any{"data.0.actor.email": "olga@acme.test", "data.0.target.name": "ann@b.test", "data.0.ip": "203.0.113.9",
			"data.3.actor.email": "ann@b.test", "data.5.ip": "203.0.113.9", "data.7.actor.type": "operator", "data.7.ip": nil, "data.9.ip": "203.0.113.9"} {
			if got := log.Value(path); got != value {
				t.Errorf("%s = %v, want %v", path, got, value)
			}
		}
	})
}

func TestThePlanRecordShowsLimitsAndUse(t *testing.T) {
	t.Parallel()
	config := account.Config{Counters: account.Counters{
		VerifiedDomains: func(*db.Tx, space.ID) (int64, error) { return 3, nil },
	}}
	accounttest.Each(t, config, func(t *testing.T, h *accounttest.House) {
		owner, _ := team(h)
		err := h.DB.Write(context.Background(), func(tx *db.Tx) error {
			_, err := h.Plans.UseEmails(tx, space.ID(owner.Workspace()), plan.Pro, tx.Now(), 120)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}

		got := owner.Must(200, "GET", "/billing/plan", nil)

		want := []string{"limits", "object", "period_end", "period_start", "plan", "rate_limits", "usage"}
		if keys := slices.Sorted(maps.Keys(got.JSON)); !slices.Equal(keys, want) {
			t.Errorf("record has %v", keys)
		}
		for path, value := range map[string]any{"object": "plan_limits", "plan": "pro", "period_start": "2026-11-01T00:00:00.000Z",
			"period_end": "2026-12-01T00:00:00.000Z", "limits.members": 10.0, "limits.emails_per_day": nil, "usage.verified_domains": 3.0,
			"usage.emails_this_month": 120.0, "usage.emails_today": 120.0, "usage.webhooks": 0.0, "usage.members": 1.0,
			"rate_limits.email_send.per_sec": 50.0, "rate_limits.read.burst": 200.0} {
			if v := got.Value(path); v != value {
				t.Errorf("%s = %v, want %v", path, v, value)
			}
		}
	})
}

func TestAPlanThatIsInUseMustExist(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		ctx, ws := context.Background(), h.SignUp("olga@acme.test").Workspace()
		h.SignUp("otto@other.test")
		if err := h.Accounts.CheckPlans(ctx); err != nil {
			t.Fatal(err)
		}
		err := h.DB.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE account_workspace SET plan = 'gold' WHERE id = $1`, ws)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Accounts.CheckPlans(ctx); err == nil || !strings.Contains(err.Error(), `"gold"`) || !strings.Contains(err.Error(), ws) {
			t.Errorf("a workspace is on a plan that is no more: %v", err)
		}
	})
}

func TestASuspendedWorkspaceIsStoppedButItsPeopleSeeWhy(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		ws := space.ID(owner.Workspace())
		if err := h.Accounts.Suspend(context.Background(), ws, "spam reports"); err != nil {
			t.Fatal(err)
		}

		stopped := owner.Refused(403, "workspace_suspended", "GET", "/v1/limits", nil)
		seen := owner.Must(200, "GET", "/auth/session", nil)
		owner.Refused(403, "workspace_suspended", "POST", path+"/invitations", map[string]any{"email": "x@y.test", "role": "viewer"})

		if stopped.Text("error.details.reason") != "spam reports" || seen.Text("workspace.status") != "suspended" {
			t.Errorf("stopped %s, seen %s", stopped.Body, seen.Body)
		}
		if err := h.Accounts.Resume(context.Background(), ws); err != nil {
			t.Fatal(err)
		}
		owner.Must(200, "GET", "/v1/limits", nil)
	})
}

func TestTheOperatorMakesWorkspacesWithVerifiedOwners(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		ctx := context.Background()
		in := account.CreateWorkspace{Name: "Acme", Plan: plan.Unlimited, OwnerEmail: "Olga@acme.test", OwnerPassword: accounttest.Password}
		w, owner, err := h.Accounts.CreateWorkspace(ctx, in)
		if err != nil || w.Slug != "acme" || w.Plan != plan.Unlimited || w.Status != account.Active {
			t.Fatalf("%+v, %v", w, err)
		}
		second, same, err := h.Accounts.CreateWorkspace(ctx, in)
		if err != nil || same != owner || second.ID == w.ID {
			t.Fatalf("second workspace of one owner: %+v %s, %v", second, same, err)
		}
		in.OwnerPassword = "another password"
		if _, _, err := h.Accounts.CreateWorkspace(ctx, in); err == nil {
			t.Error("a wrong password for a known owner was accepted")
		}
		in.OwnerEmail, in.Plan = "x@y.test", "golden"
		if _, _, err := h.Accounts.CreateWorkspace(ctx, in); err == nil {
			t.Error("an unknown plan was accepted")
		}
		if err := h.Accounts.SetPlan(ctx, space.ID(missing), plan.Free); err == nil {
			t.Error("a missing workspace changed its plan")
		}
		got := h.Browser().SignIn("olga@acme.test", accounttest.Password)
		if got.Value("user.email_verified") != true || got.Text("workspace.plan") != "unlimited" || got.Value("user.operator") != true {
			t.Fatalf("owner: %s", got.Body)
		}
	})
}

const missing = "0193a1e0-2222-7000-8000-000000000501"

func TestVerifiedAddressesAreAskedOfPeopleAndKeysAlike(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		session := h.SignUp("olga@acme.test").Must(200, "GET", "/auth/session", nil)
		ws := space.ID(session.Text("workspace.id"))
		person := api.Caller{Principal: api.Principal{Workspace: ws, UserID: session.Text("user.id")}}
		key := api.Caller{Principal: api.Principal{Workspace: ws, KeyID: missing}}
		ask := func(caller api.Caller) error {
			return h.DB.Read(context.Background(), func(tx *db.Tx) error { return h.Accounts.RequireVerified(tx, caller) })
		}
		if ask(person) != account.ErrUnverified || ask(key) != account.ErrUnverified {
			t.Errorf("unverified: %v, %v", ask(person), ask(key))
		}

		h.Browser().Must(200, "POST", "/auth/verify-email", map[string]any{"token": h.LastLetter("olga@acme.test").Token("/verify-email/")})

		if ask(person) != nil || ask(key) != nil {
			t.Errorf("verified: %v, %v", ask(person), ask(key))
		}
	})
}

func TestWhatHasRunOutIsSweptAway(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		owner.Must(201, "POST", path+"/invitations", map[string]any{"email": "x@y.test", "role": "viewer"})
		withPhone(owner)
		challenge(h.Browser(), "olga@acme.test")
		h.Browser().SignIn("nobody@acme.test", "wrong")
		rows := func() (total int64) {
			for _, table := range []string{"account_session", "account_challenge", "account_invitation", "account_attempt"} {
				if err := h.DB.Read(context.Background(), func(tx *db.Tx) error {
					n, err := db.One(tx, db.Value[int64], "SELECT COUNT(*) FROM "+table)
					total += n
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			return total
		}
		h.Work()
		before := rows()
		h.Clock.Move(7*24*time.Hour + time.Minute)
		h.Work()

		if before < 4 || rows() != 0 {
			t.Fatalf("%d rows before, %d after", before, rows())
		}
	})
}

func TestNoSecretIsStoredOrLogged(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "sqlite")
	h := accounttest.New(t, url, account.Config{})
	b := h.SignUp("olga@acme.test")
	p, codes := withPhone(b)
	token := h.LastLetter("olga@acme.test").Token("/verify-email/")
	secrets := append([]string{accounttest.Password, b.Cookie, p.secret, token, strings.ReplaceAll(codes[0], "-", "")}, codes...)
	if err := h.DB.Close(); err != nil {
		t.Fatal(err)
	}

	kept := h.Log.String()
	files, err := filepath.Glob(url + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kept += string(raw)
	}
	if !strings.Contains(kept, "olga@acme.test") {
		t.Fatal("the search would find nothing")
	}
	for _, secret := range secrets {
		if len(secret) < 8 || strings.Contains(kept, secret) {
			t.Errorf("found %q", secret)
		}
	}
}

func TestARequestWithoutASessionIsToldToSignIn(t *testing.T) {
	t.Parallel()
	h := accounttest.New(t, dbtest.URL(t, "sqlite"), account.Config{})
	for _, route := range h.Accounts.Routes() {
		path := strings.NewReplacer("{id}", missing, "{member_id}", missing, "{invitation_id}", missing).Replace(route.Path)
		if !route.Private || route.Access == api.Public {
			continue
		}
		for _, cookie := range []string{"", "guess", strings.Repeat("A", 43)} {
			b := h.Browser()
			b.Cookie = cookie
			b.Refused(401, "session_expired", route.Method, path, nil)
		}
	}
}
