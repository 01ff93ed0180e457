package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// code returns what an authenticator app shows now.
func code(t *testing.T, secret string) string {
	t.Helper()
	digits, err := totp.GenerateCode(secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return digits
}

func TestSecondFactorIsSetUpAndAskedForInTheMiddleOfAnAction(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.Visit("/you/security")
	o.Press("Set up")
	o.See("Or type the secret")
	secret := o.Eval(`document.querySelector('[name="secret"]').value`)
	o.Fill("code", "000000")
	o.Press("Turn on")
	o.See("The credentials are not right.")
	o.Fill("code", code(t, secret))
	o.Press("Turn on")
	o.See("Keep these recovery codes")
	recovery := o.Eval(`document.querySelector(".note pre").textContent.split("\n")[0]`)

	o.Visit("/you")
	o.Click(".ws")
	o.Eval(`document.querySelector('form[action="/signout"]').requestSubmit()`)
	o.See("You are signed out.")
	o.Fill("email", o.ready.Owner.Email)
	o.Fill("password", o.ready.Owner.Password)
	o.Press("Sign in")
	o.See("Second factor")
	o.Fill("code", recovery)
	o.Press("Sign in")
	o.See("Overview")
}

func TestMembersAreInvitedAndJoin(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/settings/members")
	o.Fill("email", "not an address")
	o.Eval(`document.querySelector('[action$="/invite"]').noValidate = true`)
	o.Press("Invite")
	o.See("email: ")
	o.Fill("email", "ann@example.net")
	o.Press("Invite")
	o.See("An invitation is on its way to ann@example.net.")
	o.See("Withdraw")
	o.look("members", "/settings/members")
	o.Press("Withdraw")
	o.See("The invitation is withdrawn.")
}

func TestEverySettingIsThere(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/settings")
	o.Fill("name", "Acme of tests")
	o.Press("Save")
	o.See("Saved.")
	o.Wait(`document.querySelector(".ws b").textContent === "Acme of tests"`)
	o.Visit("/you")
	o.Fill("timezone", "Europe/Rome")
	o.Press("Save")
	o.See("Saved.")
	for name, path := range map[string]string{"settings": "/settings", "plan": "/settings/plan", "audit": "/settings/audit", "connections": "/settings/connections"} {
		o.look(name, path)
	}
	o.Resize(390)
	o.open("/settings/audit")
	o.Wait(`document.querySelector(".tabs [aria-current]").getBoundingClientRect().right <= innerWidth`)
	o.lookAt("account", "/you")
	o.lookAt("security", "/you/security")
}

func TestDoorsAreFineForEverybody(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.lookAt("signin", "/signin")
	o.lookAt("signup", "/signup")
	o.lookAt("forgot", "/forgot")
	o.Visit("/nowhere")
	o.See("There is no such page.")
	o.Visit(o.ready.Start)
	o.See("Get ready for production")
	o.Visit(o.ready.Start)
	o.See("This link was used, or is too old.")
	o.Visit("/start/guessed")
	o.See("This link was used, or is too old.")
	o.Visit("/w/00000000-0000-7000-8000-000000000000/emails")
	o.See("not a member")
}

func TestPasskeySignsInAndConfirms(t *testing.T) {
	t.Parallel()
	o := begin(t)
	// A passkey belongs to a name; on this machine that is localhost.
	named := strings.Replace(o.ready.HTTP, "127.0.0.1", "localhost", 1)
	o.Authenticator()
	o.Visit(named + "/signin")
	o.Fill("email", o.ready.Owner.Email)
	o.Fill("password", o.ready.Owner.Password)
	o.Press("Sign in")
	o.See("Overview")
	o.Visit(named + "/you/security")
	o.Fill("passkey_name", "Laptop of tests")
	o.Press("Add a passkey")
	o.See("Laptop of tests")

	o.Eval(`document.querySelector('form[action="/signout"]').requestSubmit()`)
	o.See("You are signed out.")
	o.Press("Sign in with a passkey")
	o.See("Overview")
	o.Visit(named + "/you/security")
	o.See("last used")
	o.Press("Remove")
	o.Press("Yes, remove it")
	o.See("opens nothing any more")
	o.Eval(`document.querySelector('form[action="/signout"]').requestSubmit()`)
	o.See("You are signed out.")
	o.Press("Sign in with a passkey")
	o.Wait(`document.querySelector("[data-passkey] [role=alert]").textContent !== ""`)
}
