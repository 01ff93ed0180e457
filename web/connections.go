package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// connectionsPage is what the workspace is joined to: accounts at DNS hosts, and a server that mail goes through.
type connectionsPage struct {
	shell
	Tabs        []tab
	Connections []connectionRow
	Relay       relayForm
	HasRelay    bool
	// Name is that of an account which was refused.
	Name    string
	Problem *problem
	At      string
}

type connectionRow struct {
	ID, Name, Provider, TokenEnd string
	Since                        moment
}

// relayForm is a relay as its form has it: a port that is no number comes back as it was typed.
type relayForm struct {
	Host     string
	Port     json.Number
	Security string
	Username string
}

func (v *visit) connectionsPage() (connectionsPage, error) {
	p := connectionsPage{shell: v.shell("Connections", "settings"), Tabs: v.settingsTabs("connections"), Relay: relayForm{Port: "587", Security: "starttls"}}
	var list struct {
		Data []struct {
			ID, Name, Provider string
			TokenEnd           string    `json:"api_token_last4"`
			Since              time.Time `json:"created_at"`
		}
	}
	if err := v.get(v.home("dns-connections"), nil, &list); err != nil {
		return p, err
	}
	for _, c := range list.Data {
		p.Connections = append(p.Connections, connectionRow{c.ID, visible(c.Name), words(c.Provider), c.TokenEnd, v.moment(c.Since)})
	}
	err := v.get(v.home("relay"), nil, &p.Relay)
	if isRefused(err, "not_found") {
		return p, nil
	}
	p.HasRelay = err == nil
	return p, err
}

func showConnections(v *visit) error {
	p, err := v.connectionsPage()
	if err != nil {
		return err
	}
	return v.show("settings/connections", p)
}

func (v *visit) connectionRefused(form string, err error, change func(*connectionsPage)) error {
	refused, ok := err.(*problem)
	if !ok || refused.Status == http.StatusForbidden {
		return err
	}
	p, err := v.connectionsPage()
	if err != nil {
		return err
	}
	p.Problem, p.At = refused, form
	change(&p)
	return v.showStatus(refused.Status, "settings/connections", p)
}

func addConnection(v *visit) error {
	err := v.send(http.MethodPost, v.home("dns-connections"), map[string]string{"provider": "cloudflare", "name": v.value("name"), "api_token": v.value("api_token")}, nil)
	if err != nil {
		return v.connectionRefused("dns", err, func(p *connectionsPage) { p.Name = v.value("name") })
	}
	return v.redirect(v.link("settings", "connections"), "Connected. The records of a domain can be published from its page now.")
}

func removeConnection(v *visit) error {
	if err := v.send(http.MethodDelete, v.home("dns-connections", v.path("id")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("settings", "connections"), "Disconnected. Records that were published stay.")
}

func saveRelay(v *visit) error {
	form := relayForm{Host: v.value("host"), Port: json.Number(strings.TrimSpace(v.value("port"))), Security: v.value("security"), Username: v.value("username")}
	port, _ := strconv.Atoi(form.Port.String()) // what is no number is refused by the API
	body := map[string]any{"host": form.Host, "port": port, "security": form.Security, "username": form.Username}
	if password := v.value("relay_password"); password != "" {
		body["password"] = password
	}
	if err := v.send(http.MethodPut, v.home("relay"), body, nil); err != nil {
		return v.connectionRefused("relay", err, func(p *connectionsPage) { p.Relay = form })
	}
	return v.redirect(v.link("settings", "connections"), "The relay answered and is in use.")
}

func removeRelay(v *visit) error {
	if err := v.send(http.MethodDelete, v.home("relay"), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("settings", "connections"), "Mail goes straight to its receivers again.")
}
