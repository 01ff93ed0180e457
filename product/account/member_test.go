package account_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/account/accounttest"
	"postrider/product/plan"
)

// team signs up an owner on a plan with room for others.
func team(h *accounttest.House) (owner *accounttest.Browser, path string) {
	h.T.Helper()
	owner = h.SignUp("olga@acme.test")
	owner.Verify()
	ws := owner.Workspace()
	if err := h.Accounts.SetPlan(context.Background(), space.ID(ws), plan.Pro); err != nil {
		h.T.Fatal(err)
	}
	return owner, "/workspaces/" + ws
}

// memberID finds a member by their address.
func memberID(b *accounttest.Browser, path, email string) string {
	b.House.T.Helper()
	for _, row := range b.Must(200, "GET", path+"/members", nil).Value("data").([]any) {
		if member := row.(map[string]any); member["email"] == email {
			return member["id"].(string)
		}
	}
	b.House.T.Fatalf("%s is no member", email)
	return ""
}

func TestInvitedPeopleJoinWithTheirRoleAndAVerifiedAddress(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{InviteOnly: true}, func(t *testing.T, h *accounttest.House) {
		_, _, err := h.Accounts.CreateWorkspace(context.Background(), account.CreateWorkspace{Name: "Acme", Plan: plan.Pro,
			OwnerEmail: "olga@acme.test", OwnerPassword: accounttest.Password, OwnerName: "Olga"})
		if err != nil {
			t.Fatal(err)
		}
		owner := h.Browser()
		owner.SignIn("olga@acme.test", accounttest.Password)
		path := "/workspaces/" + owner.Workspace()
		made := owner.Must(201, "POST", path+"/invitations", map[string]any{"email": "Ann@Acme.test", "role": "marketer"})
		if made.Text("invited_by") != "Olga" {
			t.Errorf("made: %s", made.Body)
		}
		token := h.LastLetter("ann@acme.test").Token("/invite/")
		if got := h.Browser().Must(200, "POST", "/auth/invitation", map[string]any{"token": token}); got.Text("workspace_name") != "Acme" ||
			got.Text("role") != "marketer" || got.Text("invited_by") != "Olga" {
			t.Errorf("invitation: %s", got.Body)
		}
		signUp := map[string]any{"email": "ann@acme.test", "password": accounttest.Password, "name": "Ann", "invite_token": token}
		other := map[string]any{"email": "eve@acme.test", "password": accounttest.Password, "name": "Eve", "invite_token": token}

		h.Browser().Refused(400, "validation_error", "POST", "/auth/signup", other)
		joined := h.Browser().Must(201, "POST", "/auth/signup", signUp)

		if joined.Text("workspace.role") != "marketer" || joined.Text("workspace.name") != "Acme" || joined.Value("user.email_verified") != true {
			t.Errorf("joined: %s", joined.Body)
		}
		h.Browser().Refused(400, "validation_error", "POST", "/auth/signup", signUp)
		h.Browser().Refused(400, "validation_error", "POST", "/auth/signup", other)
		h.Browser().Refused(400, "validation_error", "POST", "/auth/invitation", map[string]any{"token": token})
	})
}

func TestSomebodyWithAnAccountJoinsASecondWorkspace(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		ann := h.SignUp("ann@b.test")
		home := ann.Workspace()
		known := owner.Must(201, "POST", path+"/invitations", map[string]any{"email": "ann@b.test", "role": "viewer"})
		unknown := owner.Must(201, "POST", path+"/invitations", map[string]any{"email": "new@b.test", "role": "viewer"})
		if len(known.JSON) != len(unknown.JSON) {
			t.Errorf("inviting tells who has an account: %s, %s", known.Body, unknown.Body)
		}
		token := h.LastLetter("ann@b.test").Token("/invite/")
		owner.Refused(400, "validation_error", "POST", "/account/invitations/accept", map[string]any{"token": token})

		joined := ann.Must(200, "POST", "/account/invitations/accept", map[string]any{"token": token})

		if joined.Text("workspace.role") != "viewer" || len(joined.Value("workspaces").([]any)) != 2 {
			t.Errorf("joined: %s", joined.Body)
		}
		ann.Refused(400, "validation_error", "POST", "/account/invitations/accept", map[string]any{"token": token})
		again := h.Browser()
		again.SignIn("ann@b.test", accounttest.Password)
		if got := again.Workspace(); got != owner.Workspace() {
			t.Errorf("signs in to %s, and not where she was last", got)
		}
		old := *ann
		back := ann.Must(200, "PATCH", "/auth/session", map[string]any{"workspace_id": home})
		if back.Text("workspace.role") != "owner" {
			t.Errorf("back home: %s", back.Body)
		}
		old.Refused(401, "session_expired", "GET", "/auth/session", nil)
		ann.Refused(404, "not_found", "PATCH", "/auth/session", map[string]any{"workspace_id": "0193a1e0-2222-7000-8000-000000000501"})
	})
}

func TestAnInvitationCanBeWithdrawnAndExpires(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		invite := func() string {
			owner.Must(201, "POST", path+"/invitations", map[string]any{"email": "ann@b.test", "role": "viewer"})
			return h.LastLetter("ann@b.test").Token("/invite/")
		}
		replaced, withdrawn := invite(), invite()
		h.Browser().Refused(400, "validation_error", "POST", "/auth/invitation", map[string]any{"token": replaced})
		id := owner.Must(200, "GET", path+"/invitations", nil).Text("data.0.id")
		owner.Must(200, "DELETE", path+"/invitations/"+id, nil)
		h.Browser().Refused(400, "validation_error", "POST", "/auth/invitation", map[string]any{"token": withdrawn})
		owner.Refused(404, "not_found", "DELETE", path+"/invitations/"+id, nil)
		late := invite()
		h.Clock.Move(7 * 24 * time.Hour)

		h.Browser().Refused(410, "token_expired", "POST", "/auth/invitation", map[string]any{"token": late})
	})
}

func TestInvitationsAreNoWeaponAgainstAMailbox(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		ann, bob := map[string]any{"email": "ann@b.test", "role": "viewer"}, map[string]any{"email": "bob@b.test", "role": "viewer"}
		for range 10 {
			owner.Refused(400, "validation_error", "POST", path+"/invitations", map[string]any{"email": "ann@b.test", "role": "king"})
			owner.Refused(409, "already_exists", "POST", path+"/invitations", map[string]any{"email": "olga@acme.test", "role": "viewer"})
		}
		for range 5 {
			owner.Must(201, "POST", path+"/invitations", ann)
		}

		refused := owner.Refused(429, "rate_limit_exceeded", "POST", path+"/invitations", ann)

		if refused.Header.Get("Retry-After") == "" || refused.Text("error.details.bucket") != "auth" {
			t.Errorf("refused: %s", refused.Body)
		}
		owner.Must(201, "POST", path+"/invitations", bob)
		h.Clock.Move(time.Hour)
		owner.Must(201, "POST", path+"/invitations", ann)
	})
}

func TestInvitationsAreNoMailer(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		invite := func(i int) map[string]any {
			return map[string]any{"email": fmt.Sprintf("stranger%d@b.test", i), "role": "viewer"}
		}
		for i := range 100 {
			id := owner.Must(201, "POST", path+"/invitations", invite(i)).Text("id")
			owner.Must(200, "DELETE", path+"/invitations/"+id, nil)
		}

		owner.Refused(429, "rate_limit_exceeded", "POST", path+"/invitations", invite(100))

		h.Clock.Move(time.Hour) // a few more have room now
		owner.Must(201, "POST", path+"/invitations", invite(100))
	})
}

func TestOnlyVerifiedPeopleInvite(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner := h.SignUp("olga@acme.test")
		path := "/workspaces/" + owner.Workspace() + "/invitations"
		ann := map[string]any{"email": "ann@b.test", "role": "viewer"}
		for range 10 { // what is refused is not counted against the address
			owner.Refused(403, "email_verification_required", "POST", path, ann)
		}

		owner.Verify()

		owner.Must(201, "POST", path, ann)
	})
}

func TestThePlanLimitsMembersAndInvitationsTogether(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner := h.SignUp("olga@acme.test") // free: two members
		owner.Verify()
		path := "/workspaces/" + owner.Workspace()
		owner.Must(201, "POST", path+"/invitations", map[string]any{"email": "ann@b.test", "role": "viewer"})

		full := owner.Refused(402, "member_quota_exceeded", "POST", path+"/invitations", map[string]any{"email": "bob@b.test", "role": "viewer"})

		if full.Value("error.details.limit") != 2.0 || full.Value("error.details.used") != 2.0 || full.Text("error.details.plan") != "free" {
			t.Errorf("details: %s", full.Body)
		}
		owner.Must(201, "POST", path+"/invitations", map[string]any{"email": "ann@b.test", "role": "admin"})
		owner.Refused(409, "already_exists", "POST", path+"/invitations", map[string]any{"email": "olga@acme.test", "role": "admin"})

		h.Clock.Move(7 * 24 * time.Hour) // nobody came
		owner.SignIn("olga@acme.test", accounttest.Password)
		owner.Must(201, "POST", path+"/invitations", map[string]any{"email": "bob@b.test", "role": "viewer"})
	})
}

func TestAPlanThatBecameSmallerIsKeptToWhenPeopleJoin(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		for _, email := range []string{"ann@b.test", "bob@b.test"} {
			owner.Must(201, "POST", path+"/invitations", map[string]any{"email": email, "role": "viewer"})
		}
		if err := h.Accounts.SetPlan(context.Background(), space.ID(owner.Workspace()), plan.Free); err != nil { // two members
			t.Fatal(err)
		}
		join := func(email string) map[string]any {
			return map[string]any{"email": email, "password": accounttest.Password, "name": "X", "invite_token": h.LastLetter(email).Token("/invite/")}
		}
		h.Browser().Must(201, "POST", "/auth/signup", join("ann@b.test"))
		h.Browser().Refused(402, "member_quota_exceeded", "POST", "/auth/signup", join("bob@b.test"))
	})
}

func TestRolesDecideWhoMayChangeMembers(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		admin := owner.Join("admin@b.test", api.Admin)
		ownerID := memberID(owner, path, "olga@acme.test")
		for _, role := range []api.Role{api.Developer, api.Marketer, api.Viewer} {
			low := owner.Join(string(role)+"@b.test", role)
			self := memberID(owner, path, string(role)+"@b.test")
			low.Refused(403, "workspace_role_required", "PATCH", path, map[string]any{"name": "Mine"})
			low.Refused(403, "workspace_role_required", "GET", path+"/members", nil)
			low.Refused(403, "workspace_role_required", "GET", path+"/audit-log", nil)
			low.Refused(403, "workspace_role_required", "GET", "/billing/plan", nil)
			low.Refused(403, "workspace_role_required", "POST", path+"/invitations", map[string]any{"email": "x@b.test", "role": "owner"})
			low.Refused(403, "workspace_role_required", "PATCH", path+"/members/"+self, map[string]any{"role": "owner"})
			low.Refused(403, "workspace_role_required", "DELETE", path+"/members/"+ownerID, nil)
		}

		self := memberID(owner, path, "admin@b.test")
		admin.Refused(403, "workspace_role_required", "PATCH", path+"/members/"+self, map[string]any{"role": "owner"})
		admin.Refused(403, "workspace_role_required", "PATCH", path+"/members/"+ownerID, map[string]any{"role": "viewer"})
		admin.Refused(403, "workspace_role_required", "DELETE", path+"/members/"+ownerID, nil)
		admin.Refused(403, "workspace_role_required", "POST", path+"/invitations", map[string]any{"email": "x@b.test", "role": "owner"})
		admin.Refused(403, "workspace_role_required", "GET", "/billing/plan", nil)
		admin.Refused(400, "validation_error", "PATCH", path+"/members/"+self, map[string]any{"role": "king"})
		admin.Must(200, "DELETE", path+"/members/"+memberID(admin, path, "viewer@b.test"), nil)
	})
}

func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		id := memberID(owner, path, "olga@acme.test")
		last := owner.Refused(409, "invalid_state", "DELETE", path+"/members/"+id, nil)
		if last.Text("error.details.current") != "last_owner" || last.Text("error.details.allowed.0") != "owner" {
			t.Errorf("last owner: %s", last.Body)
		}
		owner.Refused(409, "invalid_state", "PATCH", path+"/members/"+id, map[string]any{"role": "admin"})
		second := owner.Join("ann@b.test", api.Owner)
		secondID := memberID(owner, path, "ann@b.test")

		// Both owners take the other's ownership away at once: one of them must fail.
		var codes [2]int
		var both sync.WaitGroup
		both.Go(func() { codes[0] = owner.Do("PATCH", path+"/members/"+secondID, map[string]any{"role": "viewer"}).Code })
		both.Go(func() { codes[1] = second.Do("PATCH", path+"/members/"+id, map[string]any{"role": "viewer"}).Code })
		both.Wait()

		if slices.Sort(codes[:]); codes[0] != 200 || codes[1] == 200 {
			t.Fatalf("answers %v", codes)
		}
	})
}

func TestMembersWereSeenWhenTheySignedIn(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		seen := func(i int) string {
			return owner.Must(200, "GET", path+"/members", nil).Text(fmt.Sprintf("data.%d.last_seen_at", i))
		}
		first := seen(0)
		owner.Join("ann@b.test", api.Viewer)
		joined := seen(1)

		h.Clock.Move(time.Hour)
		h.Browser().SignIn("ann@b.test", accounttest.Password)

		if first == "" || joined == "" || seen(1) <= joined {
			t.Errorf("owner seen at %q, ann at %q and then at %q", first, joined, seen(1))
		}
	})
}

func TestTheSameRoleAgainIsNoNews(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		ann := owner.Join("ann@b.test", api.Admin)
		before := owner.Must(200, "GET", path+"/audit-log", nil).Value("total")

		same := owner.Must(200, "PATCH", path+"/members/"+memberID(owner, path, "ann@b.test"), map[string]any{"role": "admin"})

		if after := owner.Must(200, "GET", path+"/audit-log", nil).Value("total"); after != before || same.Text("role") != "admin" {
			t.Errorf("%v audit entries, then %v; %s", before, after, same.Body)
		}
		ann.Must(200, "GET", path+"/members", nil)
	})
}

func TestAChangeOfRoleEndsTheSessionsThatHadIt(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		ann := owner.Join("ann@b.test", api.Admin)
		id := memberID(owner, path, "ann@b.test")

		changed := owner.Must(200, "PATCH", path+"/members/"+id, map[string]any{"role": "viewer"})
		ann.Refused(401, "session_expired", "GET", path+"/members", nil)
		ann.SignIn("ann@b.test", accounttest.Password)
		ann.Refused(403, "workspace_role_required", "GET", path+"/members", nil)
		owner.Must(200, "DELETE", path+"/members/"+id, nil)
		ann.Refused(401, "session_expired", "GET", path, nil)

		if changed.Text("role") != "viewer" {
			t.Errorf("changed: %s", changed.Body)
		}
		homeless := ann.SignIn("ann@b.test", accounttest.Password)
		if homeless.Code != 200 || homeless.Value("workspace") != nil {
			t.Errorf("without a workspace: %d %s", homeless.Code, homeless.Body)
		}
		ann.Refused(403, "workspace_role_required", "GET", "/v1/limits", nil)
	})
}

func TestForeignAndMissingThingsAreOneAnswer(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		owner.Join("ann@b.test", api.Admin)
		member := memberID(owner, path, "ann@b.test")
		owner.Must(201, "POST", path+"/invitations", map[string]any{"email": "bob@b.test", "role": "viewer"})
		invitation := owner.Must(200, "GET", path+"/invitations", nil).Text("data.0.id")
		session := owner.Must(200, "GET", "/auth/session", nil).Text("id")
		stranger := h.SignUp("eve@evil.test")
		home := "/workspaces/" + stranger.Workspace()
		for _, c := range []struct{ method, foreign, missing string }{
			{"GET", path, "/workspaces/" + missing},
			{"PATCH", path, "/workspaces/" + missing},
			{"GET", path + "/members", "/workspaces/" + missing + "/members"},
			{"GET", path + "/invitations", "/workspaces/" + missing + "/invitations"},
			{"GET", path + "/audit-log", "/workspaces/" + missing + "/audit-log"},
			{"PATCH", home + "/members/" + member, home + "/members/" + missing},
			{"DELETE", home + "/members/" + member, home + "/members/" + missing},
			{"DELETE", home + "/invitations/" + invitation, home + "/invitations/" + missing},
			{"DELETE", "/account/sessions/" + session, "/account/sessions/" + missing},
			{"DELETE", "/account/sessions/x", "/account/sessions/" + missing},
		} {
			body := map[string]any{"name": "Mine", "role": "viewer"}
			foreign, absent := stranger.Do(c.method, c.foreign, body), stranger.Do(c.method, c.missing, body)
			if foreign.Code != 404 || foreign.Same() != absent.Same() {
				t.Errorf("%s %s: %d %s, missing: %d %s", c.method, c.foreign, foreign.Code, foreign.Body, absent.Code, absent.Body)
			}
		}
		if got := owner.Must(200, "GET", path, nil); got.Text("name") != "Acme" || !strings.HasSuffix(path, got.Text("id")) {
			t.Errorf("workspace: %s", got.Body)
		}
		memberID(owner, path, "ann@b.test")
	})
}

func TestUnknownFieldsChangeNothing(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner := h.SignUp("olga@acme.test")
		path := "/workspaces/" + owner.Workspace()
		before := owner.Must(200, "GET", path, nil)
		owner.Must(200, "PATCH", path, map[string]any{"name": "Acme", "id": "x", "plan": "unlimited", "status": "suspended", "slug": "root", "role": "viewer"})
		owner.Must(200, "PATCH", "/account", map[string]any{"name": "Olga", "operator": false, "email": "x@y.test", "email_verified": true})

		if after := owner.Must(200, "GET", path, nil); after.Body != before.Body {
			t.Errorf("workspace was %s, is %s", before.Body, after.Body)
		}
		if got := owner.Must(200, "GET", "/account", nil); got.Text("email") != "olga@acme.test" || got.Value("email_verified") != false {
			t.Errorf("account: %s", got.Body)
		}
	})
}

func TestInvitationsEndWithTheRightToInvite(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		second := owner.Join("ann@b.test", api.Owner)
		invite := func(email string, role api.Role) string {
			second.Must(201, "POST", path+"/invitations", map[string]any{"email": email, "role": role})
			return h.LastLetter(email).Token("/invite/")
		}
		look := func(token string) int {
			return h.Browser().Do("POST", "/auth/invitation", map[string]any{"token": token}).Code
		}
		ownership, seat := invite("back@b.test", api.Owner), invite("new@b.test", api.Viewer)
		id := memberID(owner, path, "ann@b.test")

		owner.Must(200, "PATCH", path+"/members/"+id, map[string]any{"role": "admin"})
		lowered := []int{look(ownership), look(seat)}
		owner.Must(200, "DELETE", path+"/members/"+id, nil)

		if want := []int{400, 200}; !slices.Equal(lowered, want) {
			t.Errorf("after the owner became an admin: %v", lowered)
		}
		if removed := look(seat); removed != 400 {
			t.Errorf("after the admin was removed: %d", removed)
		}
		signUp := map[string]any{"email": "new@b.test", "password": accounttest.Password, "name": "New", "invite_token": seat}
		h.Browser().Refused(400, "validation_error", "POST", "/auth/signup", signUp)
	})
}
