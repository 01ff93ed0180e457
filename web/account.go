package web

import (
	"net/http"
	"net/url"
	"time"
)

func accountPages() []page {
	return []page{
		{"GET /you", showAccount}, {"POST /you", saveAccount}, {"POST /you/verify", resendVerification},
		{"GET /you/security", showSecurity}, {"POST /you/password", changePassword},
		{"POST /you/factor", offerFactor}, {"POST /you/factor/enable", enableFactor}, {"POST /you/factor/disable", disableFactor},
		{"POST /you/factor/codes", renewCodes}, {"POST /you/sessions/{id}/end", endSession}, {"POST /you/passkeys/{id}/remove", removePasskey}, {"POST /you/passkeys/confirm", confirmForPasskey},
	}
}

// accountPage is what people can change about themselves.
type accountPage struct {
	shell
	Tabs           []tab
	Name, Timezone string
	Zones          []string
	Problem        *problem
}

// zones are one for every common offset, so that the list stays short; any other name can be typed.
var zones = []string{"UTC", "Europe/London", "Europe/Berlin", "Europe/Rome", "Europe/Athens", "Europe/Istanbul", "Africa/Lagos", "Africa/Johannesburg", "Africa/Nairobi", "Asia/Dubai",
	"Asia/Karachi", "Asia/Kolkata", "Asia/Dhaka", "Asia/Bangkok", "Asia/Shanghai", "Asia/Singapore", "Asia/Tokyo", "Australia/Sydney", "Pacific/Auckland", "America/Sao_Paulo",
	"America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "Pacific/Honolulu"}

func (v *visit) accountTabs(now string) []tab {
	return []tab{{Label: "Profile", Href: "/you", Current: now == ""}, {Label: "Security", Href: "/you/security", Current: now == "security"}}
}

func showAccount(v *visit) error {
	return v.show("account/profile", accountPage{shell: v.shell("Your account", ""), Tabs: v.accountTabs(""), Name: v.session.User.Name, Timezone: v.session.User.Timezone, Zones: zones})
}

func saveAccount(v *visit) error {
	p := accountPage{shell: v.shell("Your account", ""), Tabs: v.accountTabs(""), Name: v.value("name"), Timezone: v.value("timezone"), Zones: zones}
	err := v.send(http.MethodPatch, "/account", map[string]string{"name": p.Name, "timezone": p.Timezone}, nil)
	if refused, ok := err.(*problem); ok {
		p.Problem = refused
		return v.showStatus(refused.Status, "account/profile", p)
	}
	if err != nil {
		return err
	}
	return v.redirect("/you", "Saved.")
}

func resendVerification(v *visit) error {
	if err := v.send(http.MethodPost, "/auth/verify-email/resend", nil, nil); err != nil {
		return err
	}
	return v.redirect("/you", "A new mail is on its way to "+v.session.User.Email+".")
}

// securityPage is how somebody signs in, and where they are signed in now.
type securityPage struct {
	shell
	Tabs     []tab
	Sessions []sessionRow
	Passkeys []passkeyRow
	// PasskeyName is what the next one is to be called.
	PasskeyName string
	// Offer is a second factor that waits for its first code.
	Offer *factorOffer
	// Codes are new recovery codes, shown once.
	Codes   []string
	Problem *problem
	// At tells which form the problem belongs to.
	At string
}

type passkeyRow struct {
	ID, Name    string
	Since, Used moment
}

type sessionRow struct {
	ID, IP, Browser string
	Current         bool
	Since, Seen     moment
}

func (v *visit) securityPage() (securityPage, error) {
	p := securityPage{shell: v.shell("Security", "").with("passkey.js"), Tabs: v.accountTabs("security"), PasskeyName: v.query("passkey_name")}
	var list struct {
		Data []struct {
			ID      string    `json:"id"`
			Current bool      `json:"current"`
			IP      string    `json:"ip"`
			Agent   string    `json:"user_agent"`
			Since   time.Time `json:"authenticated_at"`
			Seen    time.Time `json:"last_seen_at"`
		}
	}
	if err := v.get("/account/sessions", nil, &list); err != nil {
		return p, err
	}
	for _, s := range list.Data {
		p.Sessions = append(p.Sessions, sessionRow{ID: s.ID, IP: s.IP, Browser: visible(s.Agent), Current: s.Current, Since: v.moment(s.Since), Seen: v.ago(s.Seen)})
	}
	return p, v.addPasskeys(&p)
}

func (v *visit) addPasskeys(p *securityPage) error {
	var list struct {
		Data []struct {
			ID, Name string
			Since    time.Time  `json:"created_at"`
			Used     *time.Time `json:"last_used_at"`
		}
	}
	if err := v.get("/account/passkeys", nil, &list); err != nil {
		return err
	}
	for _, k := range list.Data {
		row := passkeyRow{ID: k.ID, Name: visible(k.Name), Since: v.moment(k.Since)}
		if k.Used != nil {
			row.Used = v.ago(*k.Used)
		}
		p.Passkeys = append(p.Passkeys, row)
	}
	return nil
}

func removePasskey(v *visit) error {
	if err := v.send(http.MethodDelete, "/account/passkeys/"+v.path("id"), nil, nil); err != nil {
		return err
	}
	return v.redirect("/you/security", "The passkey opens nothing any more. Your device may still list it.")
}

func showSecurity(v *visit) error {
	p, err := v.securityPage()
	if err != nil {
		return err
	}
	return v.show("account/security", p)
}

// confirmForPasskey is where the script sends people who have to prove who they are before they add a passkey; it goes on after that.
func confirmForPasskey(v *visit) error {
	if err := v.send(http.MethodPost, "/account/passkeys/begin", map[string]any{}, nil); err != nil {
		return err
	}
	return v.redirect("/you/security?passkey_name="+url.QueryEscape(v.value("passkey_name")), "Thank you. Now add the passkey.")
}

// refusedAt shows the page again with what was refused beside the form it belongs to.
func (v *visit) refusedAt(form string, err error, change func(*securityPage)) error {
	refused, ok := err.(*problem)
	if !ok || isRefused(err, "two_factor_required", "reauthentication_required") {
		return err
	}
	p, err := v.securityPage()
	if err != nil {
		return err
	}
	p.Problem, p.At = refused, form
	if change != nil {
		change(&p)
	}
	return v.showStatus(refused.Status, "account/security", p)
}

func changePassword(v *visit) error {
	err := v.send(http.MethodPost, "/account/password", map[string]string{"password": v.value("password"), "new_password": v.value("new_password")}, nil)
	if err != nil {
		return v.refusedAt("password", err, nil)
	}
	return v.redirect("/you/security", "Your password is changed. All your other sessions have ended.")
}

func endSession(v *visit) error {
	if err := v.send(http.MethodDelete, "/account/sessions/"+v.path("id"), nil, nil); err != nil {
		return err
	}
	return v.redirect("/you/security", "That session has ended.")
}
