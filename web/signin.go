package web

import (
	"net/http"
)

func signInPages() []page {
	return []page{
		{"GET /signin", showSignIn}, {"POST /signin", signIn}, {"POST /signin/code", confirmSignIn},
		{"GET /signup", showSignUp}, {"POST /signup", signUp}, {"GET /invite/{token}", showInvitation},
		{"GET /forgot", showForgot}, {"POST /forgot", forgot},
		{"GET /reset/{token}", showReset}, {"POST /reset/{token}", reset},
		{"GET /verify-email/{token}", showVerify}, {"POST /verify-email/{token}", verifyEmail},
	}
}

// signInPage asks for a password, or in its second step for a second factor.
type signInPage struct {
	shell
	Email, Next string
	// Challenge is set in the second step: the password was right.
	Challenge string
	Problem   *problem
}

func showSignIn(v *visit) error {
	return v.show("signin/signin", signInPage{shell: v.shell("Sign in", "").with("passkey.js"), Next: local(v.query("next"), "/")})
}

func signIn(v *visit) error {
	p := signInPage{shell: v.shell("Sign in", "").with("passkey.js"), Email: v.value("email"), Next: local(v.value("next"), "/")}
	var opened struct {
		session
		Challenge string `json:"challenge"`
	}
	err := v.send(http.MethodPost, "/auth/login", map[string]string{"email": p.Email, "password": v.value("password")}, &opened)
	if refused, ok := err.(*problem); ok {
		p.Problem = refused
		return v.showStatus(refused.Status, "signin/signin", p)
	}
	if err != nil {
		return err
	}
	if opened.Challenge != "" {
		p.Challenge = opened.Challenge
		return v.show("signin/signin", p)
	}
	return v.redirect(p.Next, "")
}

func confirmSignIn(v *visit) error {
	p := signInPage{shell: v.shell("Sign in", "").with("passkey.js"), Email: v.value("email"), Next: local(v.value("next"), "/"), Challenge: v.value("challenge")}
	body := proofOf(v.value("code"))
	body["challenge"] = p.Challenge
	err := v.send(http.MethodPost, "/auth/login/2fa", body, nil)
	if refused, ok := err.(*problem); ok {
		p.Problem = refused
		return v.showStatus(refused.Status, "signin/signin", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(p.Next, "")
}

// signUpPage makes an account, by invitation or without.
type signUpPage struct {
	shell
	Name, Email, Workspace string
	// Invitation is set for those who follow one: the token, and what it says.
	Invitation string
	Invited    *invitation
	Problem    *problem
}

type invitation struct {
	Email         string `json:"email"`
	Role          string `json:"role"`
	WorkspaceName string `json:"workspace_name"`
	InvitedBy     string `json:"invited_by"`
}

func showSignUp(v *visit) error {
	return v.show("signin/signup", signUpPage{shell: v.shell("Create an account", "")})
}

func signUp(v *visit) error {
	p := signUpPage{shell: v.shell("Create an account", ""), Name: v.value("name"), Email: v.value("email"), Workspace: v.value("workspace_name"), Invitation: v.value("invite_token")}
	body := map[string]string{"email": p.Email, "name": p.Name, "password": v.value("password")}
	if p.Invitation != "" {
		body["invite_token"] = p.Invitation
	} else {
		body["workspace_name"] = p.Workspace
	}
	err := v.send(http.MethodPost, "/auth/signup", body, nil)
	if refused, ok := err.(*problem); ok {
		p.Problem = refused
		if p.Invitation != "" {
			p.Invited = &invitation{Email: p.Email, WorkspaceName: v.value("invited_to")}
		}
		return v.showStatus(refused.Status, "signin/signup", p)
	}
	if err != nil {
		return err
	}
	return v.redirect("/", "Your account is ready. We sent you a mail to verify the address.")
}

// showInvitation tells who invites, and lets people join with a new account or with the one they have.
func showInvitation(v *visit) error {
	p := signUpPage{shell: v.shell("You are invited", ""), Invitation: v.path("token"), Invited: &invitation{}}
	if err := v.send(http.MethodPost, "/auth/invitation", map[string]string{"token": p.Invitation}, p.Invited); err != nil {
		return err
	}
	p.Email = p.Invited.Email
	return v.show("signin/signup", p)
}

// forgotPage asks where to send a link to a new password.
type forgotPage struct {
	shell
	Email   string
	Sent    bool
	Problem *problem
}

func showForgot(v *visit) error {
	return v.show("signin/forgot", forgotPage{shell: v.shell("Set a new password", "")})
}

func forgot(v *visit) error {
	p := forgotPage{shell: v.shell("Set a new password", ""), Email: v.value("email")}
	err := v.send(http.MethodPost, "/auth/password/forgot", map[string]string{"email": p.Email}, nil)
	if refused, ok := err.(*problem); ok {
		p.Problem = refused
		return v.showStatus(refused.Status, "signin/forgot", p)
	}
	if err != nil {
		return err
	}
	p.Sent = true
	return v.show("signin/forgot", p)
}

// tokenPage is behind a link from a mail. Following it changes nothing, because scanners follow links; its button does.
type tokenPage struct {
	shell
	Action  string
	Problem *problem
}

func showReset(v *visit) error {
	return v.show("signin/reset", tokenPage{shell: v.shell("Set a new password", ""), Action: v.r.URL.Path})
}

func reset(v *visit) error {
	err := v.send(http.MethodPost, "/auth/password/reset", map[string]string{"token": v.path("token"), "password": v.value("password")}, nil)
	if refused, ok := err.(*problem); ok {
		return v.showStatus(refused.Status, "signin/reset", tokenPage{shell: v.shell("Set a new password", ""), Action: v.r.URL.Path, Problem: refused})
	}
	if err != nil {
		return err
	}
	return v.redirect("/signin", "Your password is changed. Sign in with the new one.")
}

func showVerify(v *visit) error {
	return v.show("signin/verify", tokenPage{shell: v.shell("Verify your address", ""), Action: v.r.URL.Path})
}

func verifyEmail(v *visit) error {
	err := v.send(http.MethodPost, "/auth/verify-email", map[string]string{"token": v.path("token")}, nil)
	if refused, ok := err.(*problem); ok {
		return v.showStatus(refused.Status, "signin/verify", tokenPage{shell: v.shell("Verify your address", ""), Action: v.r.URL.Path, Problem: refused})
	}
	if err != nil {
		return err
	}
	return v.redirect("/", "Your address is verified.")
}
