package web

import (
	"net/http"
	"net/url"
	"time"

	"postrider/platform/api"
)

func settingsPages() []page {
	return []page{
		{"GET /settings", showSettings}, {"POST /settings", saveSettings},
		{"GET /settings/members", showMembers}, {"POST /settings/members/invite", inviteMember},
		{"POST /settings/members/{id}/role", changeRole}, {"POST /settings/members/{id}/remove", removeMember}, {"POST /settings/invitations/{id}/withdraw", withdrawInvitation},
		{"GET /settings/plan", showPlan}, {"GET /settings/audit", showAudit},
		{"GET /settings/connections", showConnections}, {"POST /settings/connections", addConnection}, {"POST /settings/connections/{id}/remove", removeConnection},
		{"POST /settings/relay", saveRelay}, {"POST /settings/relay/remove", removeRelay},
	}
}

func (v *visit) settingsTabs(now string) []tab {
	tabs := []tab{{Name: "", Label: "General"}, {Name: "plan", Label: "Plan and usage"}}
	if v.session.Workspace.Role == api.Owner || v.session.Workspace.Role == api.Admin {
		tabs = append(tabs, tab{Name: "members", Label: "Members"}, tab{Name: "connections", Label: "Connections"}, tab{Name: "audit", Label: "Audit log"})
	}
	for i := range tabs {
		tabs[i].Href, tabs[i].Current = v.link("settings"), tabs[i].Name == now
		if tabs[i].Name != "" {
			tabs[i].Href = v.link("settings", tabs[i].Name)
		}
	}
	return tabs
}

// home is the path of the private routes of this workspace.
func (v *visit) home(parts ...string) string {
	path := "/workspaces/" + url.PathEscape(v.session.Workspace.ID)
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// settingsPage is the workspace itself.
type settingsPage struct {
	shell
	Tabs    []tab
	Name    string
	Created moment
	Problem *problem
}

func showSettings(v *visit) error {
	var w struct {
		Name    string
		Created time.Time `json:"created_at"`
	}
	if err := v.get(v.home(), nil, &w); err != nil {
		return err
	}
	return v.show("settings/general", settingsPage{shell: v.shell("Settings", "settings"), Tabs: v.settingsTabs(""), Name: w.Name, Created: v.moment(w.Created)})
}

func saveSettings(v *visit) error {
	p := settingsPage{shell: v.shell("Settings", "settings"), Tabs: v.settingsTabs(""), Name: v.value("name")}
	err := v.send(http.MethodPatch, v.home(), map[string]string{"name": p.Name}, nil)
	if refused, ok := err.(*problem); ok {
		p.Problem = refused
		return v.showStatus(refused.Status, "settings/general", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("settings"), "Saved.")
}

// membersPage is who may do what here.
type membersPage struct {
	shell
	Tabs        []tab
	Members     []memberRow
	Invitations []invitationRow
	Roles       []roleChoice
	Email, Role string
	Problem     *problem
}

type memberRow struct {
	ID, Name, Email, Role string
	TwoFactor, You        bool
	Seen                  moment
}

type invitationRow struct {
	ID, Email, Role string
	Expires         moment
}

type roleChoice struct{ Name, Can string }

var roleChoices = []roleChoice{{"owner", "Everything, the plan included"}, {"admin", "Everything but the plan"}, {"developer", "Everything but members, keys and secrets"},
	{"marketer", "Emails, audience, broadcasts, templates, statistics"}, {"viewer", "Reads"}}

func (v *visit) membersPage() (membersPage, error) {
	p := membersPage{shell: v.shell("Members", "settings"), Tabs: v.settingsTabs("members"), Roles: roleChoices, Role: "developer"}
	members, err := every[struct {
		ID, Email, Name, Role string
		UserID                string     `json:"user_id"`
		TwoFactor             bool       `json:"two_factor_enabled"`
		Seen                  *time.Time `json:"last_seen_at"`
	}](v, v.home("members"), nil, 0)
	if err != nil {
		return p, err
	}
	for _, m := range members {
		row := memberRow{ID: m.ID, Name: visible(m.Name), Email: m.Email, Role: m.Role, TwoFactor: m.TwoFactor, You: m.UserID == v.session.User.ID}
		if m.Seen != nil {
			row.Seen = v.ago(*m.Seen)
		}
		p.Members = append(p.Members, row)
	}
	invited, err := every[struct {
		ID, Email, Role string
		Expires         time.Time `json:"expires_at"`
	}](v, v.home("invitations"), nil, 0)
	if err != nil {
		return p, err
	}
	for _, i := range invited {
		p.Invitations = append(p.Invitations, invitationRow{i.ID, i.Email, i.Role, v.ago(i.Expires)})
	}
	return p, nil
}

func showMembers(v *visit) error {
	p, err := v.membersPage()
	if err != nil {
		return err
	}
	return v.show("settings/members", p)
}

func inviteMember(v *visit) error {
	err := v.send(http.MethodPost, v.home("invitations"), map[string]string{"email": v.value("email"), "role": v.value("role")}, nil)
	if refused, ok := err.(*problem); ok && refused.Status != http.StatusForbidden {
		p, err := v.membersPage()
		if err != nil {
			return err
		}
		p.Problem, p.Email, p.Role = refused, v.value("email"), v.value("role")
		return v.showStatus(refused.Status, "settings/members", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("settings", "members"), "An invitation is on its way to "+v.value("email")+".")
}

func changeRole(v *visit) error {
	if err := v.send(http.MethodPatch, v.home("members", v.path("id")), map[string]string{"role": v.value("role")}, nil); err != nil {
		return err
	}
	return v.redirect(v.link("settings", "members"), "The role is changed.")
}

func removeMember(v *visit) error {
	if err := v.send(http.MethodDelete, v.home("members", v.path("id")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("settings", "members"), "Removed from the workspace.")
}

func withdrawInvitation(v *visit) error {
	if err := v.send(http.MethodDelete, v.home("invitations", v.path("id")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("settings", "members"), "The invitation is withdrawn.")
}
