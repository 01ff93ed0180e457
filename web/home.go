package web

import "net/http"

func homePages() []page {
	return []page{
		{"GET /{$}", home},
		{"POST /signout", signOut},
		{"POST /switch", switchWorkspace},
		{"GET /join/{token}", showJoin}, {"POST /join/{token}", join},
	}
}

// home goes to the overview of the workspace that the session is in.
func home(v *visit) error {
	if v.session.Workspace == nil {
		return v.show("home/nowhere", v.shell("No workspace", ""))
	}
	http.Redirect(v.w, v.r, v.link(), http.StatusSeeOther)
	return nil
}

func signOut(v *visit) error {
	if err := v.send(http.MethodPost, "/auth/logout", nil, nil); err != nil {
		return err
	}
	return v.redirect("/signin", "You are signed out.")
}

// switchPage offers to go to another workspace, for a link that leads into one.
type switchPage struct {
	shell
	Other workspaceName
	Next  string
}

// otherWorkspace is the code of a form that came from a page of a workspace which its session has left since, in another tab.
const otherWorkspace = "other_workspace"

// offerWorkspace offers to go where a link leads. A form would be lost on the way there.
func (v *visit) offerWorkspace(other workspaceName) error {
	if v.r.Method != http.MethodGet {
		return &problem{Status: http.StatusConflict, Code: otherWorkspace, Message: "This belongs to " + visible(other.Name) + ", which you have left in another tab. Nothing was changed."}
	}
	return v.show("home/switch", switchPage{v.shell("Another workspace", ""), other, v.r.URL.RequestURI()})
}

func switchWorkspace(v *visit) error {
	to := v.value("workspace_id")
	if err := v.send(http.MethodPatch, "/auth/session", map[string]string{"workspace_id": to}, nil); err != nil {
		return err
	}
	return v.redirect(local(v.value("next"), workspaceLink(to)), "")
}

// joinPage lets somebody who has an account accept an invitation.
type joinPage struct {
	shell
	Invited invitation
	Action  string
}

func showJoin(v *visit) error {
	p := joinPage{shell: v.shell("You are invited", ""), Action: v.r.URL.Path}
	if err := v.send(http.MethodPost, "/auth/invitation", map[string]string{"token": v.path("token")}, &p.Invited); err != nil {
		return err
	}
	return v.show("home/join", p)
}

func join(v *visit) error {
	if err := v.send(http.MethodPost, "/account/invitations/accept", map[string]string{"token": v.path("token")}, nil); err != nil {
		return err
	}
	return v.redirect("/", "You joined the workspace.")
}

func startPages() []page { return []page{{"GET /start/{token}", start}} }

// start signs in the person who started the program on their own machine: the address was printed to their terminal.
func start(v *visit) error {
	if v.dashboard.config.Start == nil {
		return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page."}
	}
	cookie, workspace, err := v.dashboard.config.Start(v.r.Context(), v.r, v.path("token"))
	if err != nil {
		return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "This link was used, or is too old. Start postrider dev again for a new one, or sign in with the address and password it prints."}
	}
	http.SetCookie(v.w, cookie)
	return v.redirect(workspaceLink(workspace), "")
}
