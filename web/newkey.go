package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"postrider/platform/api"
)

// presets are sets of rights that have a name; the empty one means by hand.
var presets = []choice{
	{Value: "sending_access", Label: "Send only", Hint: "The right one for an app that sends mail."},
	{Value: "full_access", Label: "Everything", Hint: "All that the API can do, except for making keys."},
	{Value: "read_only", Label: "Read only", Hint: "Looks at everything, changes nothing."},
	{Value: "customer_platform", Label: "Customer platform", Hint: "Manages customers and their domains."},
	{Value: "webhooks", Label: "Webhooks", Hint: "Manages webhooks and follows events."},
	{Value: "", Label: "By hand", Hint: "You tick what it may do."},
}

var presetLabels = map[string]string{"sending_access": "Send only", "full_access": "Everything", "read_only": "Read only", "customer_platform": "Customer platform",
	"webhooks": "Webhooks"}

var modeWords = map[string]string{"live": "Live: mail goes out", "test": "Test: mail stays in the sandbox"}

// scopeWords say what a scope lets a key do.
var scopeWords = map[api.Scope]string{
	"email:send": "Send emails", "email:read": "Look at emails sent and received", "domain:read": "Look at domains and their records",
	"domain:manage": "Add, check, change and remove domains", "webhook:read": "Look at webhooks, follow events", "webhook:manage": "Add, test, change and remove webhooks",
	"template:read": "Look at templates", "template:manage": "Write and publish templates", "audience:read": "Look at contacts, lists and broadcasts",
	"audience:manage": "Change contacts, send broadcasts", "automation:read": "Look at automations and their runs", "automation:manage": "Build and publish automations",
	"automation:run": "Start automations with events", "suppression:read": "Look at suppressed addresses", "suppression:manage": "Suppress and release addresses",
	"analytics:read": "Look at statistics", "logs:read": "Look at logs", "tenant:read": "Look at customers", "tenant:manage": "Add, pause and remove customers",
}

// newKeyPage makes a key.
type newKeyPage struct {
	shell
	Name, Networks, ExpiresAt string
	Test                      bool
	Presets, Scopes, Domains  []choice
	Problem                   *problem
}

func (v *visit) newKeyPage(preset string, scopes, domains []string) (newKeyPage, error) {
	p := newKeyPage{shell: v.shell("Create key", "keys").under(crumb{"API keys", v.link("keys")}).with("build.css")}
	for _, c := range presets {
		c.Chosen = c.Value == preset
		p.Presets = append(p.Presets, c)
	}
	for _, scope := range api.Scopes {
		p.Scopes = append(p.Scopes, choice{Value: string(scope), Label: scopeWords[scope], Hint: string(scope), Chosen: slices.Contains(scopes, string(scope))})
	}
	var err error
	p.Domains, err = v.domainChoices(domains)
	return p, err
}

func showNewKey(v *visit) error {
	p, err := v.newKeyPage("sending_access", nil, nil)
	if err != nil {
		return err
	}
	return v.show("keys/new", p)
}

func createKey(v *visit) error {
	p, err := v.newKeyPage(v.value("preset"), v.form["scopes"], v.form["domain_ids"])
	if err != nil {
		return err
	}
	p.Name, p.Networks, p.ExpiresAt, p.Test = v.value("name"), v.value("networks"), v.value("expires_at"), v.value("mode") == "test"
	body := map[string]any{"name": p.Name, "domain_ids": v.form["domain_ids"], "ip_allowlist": strings.Fields(strings.ReplaceAll(p.Networks, ",", " ")), "mode": "live"}
	if p.Test {
		body["mode"] = "test"
	}
	if preset := v.value("preset"); preset != "" {
		body["preset"] = preset
	} else {
		body["scopes"] = v.form["scopes"]
	}
	if p.ExpiresAt != "" {
		body["expires_at"] = v.instant(p.ExpiresAt)
	}
	var made keyRecord
	err = v.send(http.MethodPost, "/v1/api-keys", body, &made)
	if p.Problem = refusal(err); p.Problem != nil {
		return v.showStatus(p.Problem.Status, "keys/new", p)
	}
	if err != nil {
		return err
	}
	return v.showKeySecret(made, "Your new key")
}

// createdKeyPage shows the secret of a key, once.
type createdKeyPage struct {
	shell
	Key           keyRecord
	Heading       string
	Secret, Env   secretText
	Curl, CurlFor string
}

// secretText is something to copy that is not shown again.
type secretText struct{ Name, Value string }

func (v *visit) showKeySecret(k keyRecord, heading string) error {
	p := createdKeyPage{shell: v.shell(visible(k.Name), "keys").under(crumb{"API keys", v.link("keys")}).with("build.css"), Key: k, Heading: heading,
		Secret: secretText{"the key", k.Token}, Env: secretText{"the line for .env", "POSTRIDER_API_KEY=" + k.Token}}
	var err error
	p.Curl, p.CurlFor, err = v.firstCall(k)
	if err != nil {
		return err
	}
	return v.show("keys/created", p)
}

// looks are requests that a key with a scope can make without changing anything, the most telling first.
var looks = []struct {
	scope api.Scope
	path  string
}{{"email:read", "emails"}, {"domain:read", "domains"}, {"tenant:read", "managed-tenants"}, {"webhook:read", "webhooks"}, {"template:read", "templates"},
	{"audience:read", "contacts"}, {"suppression:read", "suppressions"}, {"automation:read", "automations"}, {"logs:read", "logs"}, {"analytics:read", "stats/overview"}}

// firstCall is a command that works with the key as it stands, and what it does. It is empty if there is none.
func (v *visit) firstCall(k keyRecord) (command, does string, err error) {
	if slices.Contains(k.Scopes, "email:send") {
		sender, err := v.senderFor(k.DomainIDs)
		if err != nil {
			return "", "", err
		}
		if sender != "" {
			return v.snippet("curl", sample{Key: k.Token, From: sender}), "Send an email with it", nil
		}
	}
	for _, look := range looks {
		if slices.Contains(k.Scopes, look.scope) {
			return fmt.Sprintf("curl %s/v1/%s \\\n  -H \"Authorization: Bearer %s\"\n", v.dashboard.config.BaseURL, look.path, k.Token), "Try it", nil
		}
	}
	return "", "", nil
}

// senderFor returns an address that mail can be sent from, on one of the domains if there are any. It is empty if no domain is ready.
func (v *visit) senderFor(domains []string) (string, error) {
	if len(domains) == 0 {
		names, err := v.knownSenders()
		if err != nil || len(names) == 0 {
			return "", err
		}
		return "hello@" + names[0], nil
	}
	for _, id := range domains {
		var d domainRecord
		if err := v.get(apiPath("domains", id), nil, &d); err != nil {
			return "", err
		}
		if d.Verified {
			return "hello@" + d.Domain, nil
		}
	}
	return "", nil
}
