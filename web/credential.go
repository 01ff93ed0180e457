package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

func credentialPages() []page {
	return []page{
		{"GET /credentials", listCredentials},
		{"GET /credentials/new", needing("automation:manage", showNewCredential)}, {"POST /credentials/new", createCredential},
		{"GET /credentials/{id}", showCredential}, {"POST /credentials/{id}", saveCredential},
		{"POST /credentials/{id}/rotate", rotateCredential}, {"POST /credentials/{id}/test", testCredential}, {"POST /credentials/{id}/delete", deleteCredential},
	}
}

// credentialRecord is a credential as the API tells of it: never with its secret.
type credentialRecord struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Type         string   `json:"type"`
	SecretPrefix *string  `json:"secret_prefix"`
	Username     *string  `json:"username"`
	HeaderName   *string  `json:"header_name"`
	AllowedHosts []string `json:"allowed_hosts"`
	BaseURL      *string  `json:"base_url"`
	Settings     struct {
		TimeoutMS      json.Number       `json:"timeout_ms"`
		DefaultHeaders map[string]string `json:"default_headers"`
	} `json:"settings"`
	InUseBy    []string        `json:"in_use_by"`
	LastUsedAt *time.Time      `json:"last_used_at"`
	LastTest   *credentialTest `json:"last_test"`
	CreatedAt  time.Time       `json:"created_at"`
	RotatedAt  *time.Time      `json:"rotated_at"`
}

type credentialTest struct {
	OK         bool      `json:"ok"`
	StatusCode *int      `json:"status_code"`
	DurationMS int64     `json:"duration_ms"`
	Error      *string   `json:"error"`
	TestedAt   time.Time `json:"tested_at"`
}

// credentialKinds are the ways of showing a secret, as pairs of value and label.
var credentialKinds = []string{"bearer", "Bearer token in the Authorization header", "basic", "User name and password", "header", "A header of its own", "query", "A parameter in the address"}

func credentialKind(kind string) string {
	for i := 0; i+1 < len(credentialKinds); i += 2 {
		if credentialKinds[i] == kind {
			return credentialKinds[i+1]
		}
	}
	return words(kind)
}

// credentialsPage lists the secrets of HTTP steps, without the secrets.
type credentialsPage struct {
	shell
	Tabs     []tab
	Rows     []credentialRow
	Pager    pager
	Query    string
	Kinds    []choice
	Filtered bool
}

type credentialRow struct {
	Name, Kind, Hosts, Uses, Test, Href string
	UsedAt                              moment
}

func listCredentials(v *visit) error {
	p := credentialsPage{shell: v.shell("Credentials", "automations").under(crumb{"Automations", v.link("automations")}), Tabs: v.automationTabs("credentials"), Query: v.query("q")}
	p.Kinds = choices(v.query("type"), append([]string{"", "Every kind"}, credentialKinds...)...)
	p.Filtered = p.Query != "" || v.query("type") != ""
	var list listOf[credentialRecord]
	if err := v.get("/v1/automation-credentials", add(v.pageQuery(), map[string]string{"search": p.Query, "type": v.query("type")}), &list); err != nil {
		return err
	}
	for _, c := range list.Data {
		row := credentialRow{Name: visible(c.Name), Kind: credentialKind(c.Type), Hosts: visible(strings.Join(c.AllowedHosts, ", ")), Uses: v.plural(int64(len(c.InUseBy)), "automation", "automations"),
			Href: v.link("credentials", c.ID)}
		if c.LastUsedAt != nil {
			row.UsedAt = v.ago(*c.LastUsedAt)
		}
		if c.LastTest != nil {
			row.Test = testState(c.LastTest)
		}
		p.Rows = append(p.Rows, row)
	}
	p.Pager = beside(v, list)
	return v.show("credentials/list", p)
}

func testState(t *credentialTest) string {
	if t.OK {
		return "pass"
	}
	return "failed"
}

// credentialForm is what can be said about a credential. Its secret is only ever written.
type credentialForm struct {
	Name, Type, Username, HeaderName, Hosts, BaseURL, Timeout, Headers string
	Problem                                                            *problem
}

func (v *visit) credentialForm() credentialForm {
	return credentialForm{Name: v.value("name"), Type: v.value("type"), Username: v.value("username"), HeaderName: v.value("header_name"), Hosts: v.value("allowed_hosts"), BaseURL: v.value("base_url"),
		Timeout: v.value("timeout_ms"), Headers: v.value("default_headers")}
}

// body writes the form for the API.
func (f credentialForm) body() (map[string]any, *problem) {
	wrong := &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "The credential is not saved yet.", Fields: map[string]string{}}
	settings := map[string]any{"default_headers": map[string]string{}}
	if text := strings.TrimSpace(f.Headers); text != "" {
		var headers map[string]string
		if json.Unmarshal([]byte(text), &headers) != nil {
			wrong.Fields["settings.default_headers"] = "Must be an object in JSON, such as {\"X-Source\": \"mail\"}."
		}
		settings["default_headers"] = headers
	}
	if f.Timeout != "" {
		var number json.Number
		if json.Unmarshal([]byte(f.Timeout), &number) != nil {
			wrong.Fields["settings.timeout_ms"] = "Must be a number."
		}
		settings["timeout_ms"] = number
	}
	body := map[string]any{"name": f.Name, "allowed_hosts": addresses(f.Hosts), "base_url": f.BaseURL, "settings": settings}
	switch f.Type {
	case "basic":
		body["username"] = f.Username
	case "header", "query":
		body["header_name"] = f.HeaderName
	}
	if len(wrong.Fields) > 0 {
		return body, wrong
	}
	return body, nil
}

// newCredentialPage takes a secret.
type newCredentialPage struct {
	shell
	credentialForm
	Kinds []choice
}

func (v *visit) newCredentialPage(f credentialForm) newCredentialPage {
	return newCredentialPage{v.shell("Add credential", "automations").with("flow.css").under(crumb{"Credentials", v.link("credentials")}), f, choices(f.Type, credentialKinds...)}
}

func showNewCredential(v *visit) error {
	return v.show("credentials/new", v.newCredentialPage(credentialForm{Type: "bearer", Timeout: "10000"}))
}

func createCredential(v *visit) error {
	f := v.credentialForm()
	body, wrong := f.body()
	var created struct{ ID string }
	var err error
	if wrong == nil {
		body["type"], body["secret"] = f.Type, v.value("secret")
		err = v.send(http.MethodPost, "/v1/automation-credentials", body, &created)
		wrong = refusal(err)
	}
	if f.Problem = wrong; wrong != nil {
		return v.showStatus(wrong.Status, "credentials/new", v.newCredentialPage(f))
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("credentials", created.ID), "Added. The secret is kept encrypted and never shown.")
}
