package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"postrider/platform/api"
)

func keyPages() []page {
	return []page{
		{"GET /keys", listKeys},
		{"GET /keys/new", managing(showNewKey)}, {"POST /keys/new", createKey},
		{"GET /keys/{id}", showKey},
		{"POST /keys/{id}/rotate", rotateKey}, {"POST /keys/{id}/revoke", revokeKey},
	}
}

// keyRecord is an API key as the API tells it.
type keyRecord struct {
	ID, Name, Mode, Preset, Status string
	Prefix                         string `json:"key_prefix"`
	Scopes                         []api.Scope
	DomainIDs                      []string  `json:"domain_ids"`
	Networks                       []string  `json:"ip_allowlist"`
	ExpiresAt                      time.Time `json:"expires_at"`
	LastUsedAt                     time.Time `json:"last_used_at"`
	LastUsedIP                     string    `json:"last_used_ip"`
	CreatedAt                      time.Time `json:"created_at"`
	RotatedAt                      time.Time `json:"rotated_at"`
	RevokedAt                      time.Time `json:"revoked_at"`
	// Token is the secret, which comes once.
	Token string
}

// keysPage is the list of API keys.
type keysPage struct {
	shell
	Rows          []keyRow
	Query, Status string
	States        []choice
	Pager         pager
}

// Filtered tells whether the list shows a choice of all keys.
func (p keysPage) Filtered() bool { return p.Query != "" || p.Status != "" }

type keyRow struct {
	Name, Prefix, Status, May, Limits, Href string
	Test                                    bool
	Used, Ends                              moment
}

func listKeys(v *visit) error {
	p := keysPage{shell: v.shell("API keys", "keys").with("build.css"), Query: v.query("q"), Status: v.query("status")}
	p.States = choices(p.Status, "", "Every status", "active", "Active", "expired", "Expired", "revoked", "Revoked")
	var list listOf[keyRecord]
	if err := v.get("/v1/api-keys", add(v.pageQuery(), map[string]string{"search": p.Query, "status": p.Status}), &list); err != nil {
		return err
	}
	for _, k := range list.Data {
		p.Rows = append(p.Rows, keyRow{Name: visible(k.Name), Prefix: k.Prefix, Status: k.Status, May: v.mayOf(k), Limits: v.limitsOf(k), Href: v.link("keys", k.ID),
			Test: k.Mode == "test", Used: v.ago(k.LastUsedAt), Ends: v.moment(k.ExpiresAt)})
	}
	p.Pager = beside(v, list)
	return v.show("keys/list", p)
}

// mayOf says in a few words what a key may do.
func (v *visit) mayOf(k keyRecord) string {
	if label := presetLabels[k.Preset]; label != "" {
		return label
	}
	if len(k.Scopes) == 1 {
		return scopeWords[k.Scopes[0]]
	}
	return v.plural(int64(len(k.Scopes)), "right", "rights")
}

func (v *visit) limitsOf(k keyRecord) string {
	var limits []string
	if n := int64(len(k.DomainIDs)); n > 0 {
		limits = append(limits, v.plural(n, "domain", "domains"))
	}
	if n := int64(len(k.Networks)); n > 0 {
		limits = append(limits, v.plural(n, "network", "networks"))
	}
	return strings.Join(limits, ", ")
}

// keyPage is one key, without its secret.
type keyPage struct {
	shell
	Key     keyRecord
	Facts   []fact
	Scopes  []string
	Graces  []choice
	Calls   []logRow
	Problem *problem
}

func showKey(v *visit) error { return v.showKey(nil) }

func (v *visit) showKey(refused *problem) error {
	k, err := v.findKey(v.path("id"))
	if err != nil {
		return err
	}
	p := keyPage{shell: v.shell(visible(k.Name), "keys").under(crumb{"API keys", v.link("keys")}).with("build.css"), Key: k, Problem: refused}
	p.Graces = choices("3600", "0", "Ends at once", "3600", "Stays good for an hour", "86400", "Stays good for a day")
	if p.Facts, err = v.keyFacts(k); err != nil {
		return err
	}
	for _, scope := range k.Scopes {
		p.Scopes = append(p.Scopes, scopeWords[scope])
	}
	if v.can("logs:read") {
		calls, err := v.logRows(url.Values{"api_key_id": {k.ID}, "limit": {"10"}})
		if err != nil {
			return err
		}
		p.Calls = calls.Data
	}
	status := http.StatusOK
	if refused != nil {
		status = refused.Status
	}
	return v.showStatus(status, "keys/detail", p)
}

// findKey looks a key up in the list, because the API has no door to a single one.
func (v *visit) findKey(id string) (keyRecord, error) {
	const rows = 200
	for offset := 0; ; offset += rows {
		var list listOf[keyRecord]
		if err := v.get("/v1/api-keys", url.Values{"limit": {strconv.Itoa(rows)}, "offset": {strconv.Itoa(offset)}}, &list); err != nil {
			return keyRecord{}, err
		}
		if i := slices.IndexFunc(list.Data, func(k keyRecord) bool { return k.ID == id }); i >= 0 {
			return list.Data[i], nil
		}
		if !list.HasMore {
			return keyRecord{}, &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such API key."}
		}
	}
}

func (v *visit) keyFacts(k keyRecord) ([]fact, error) {
	facts := []fact{{Name: "Begins with", Value: k.Prefix, Code: true, Copy: true}, {Name: "Mode", Value: modeWords[k.Mode]}, {Name: "Created", Value: v.moment(k.CreatedAt).Text}}
	only, err := v.keepingNamed(nil, "domains", k.DomainIDs)
	if err != nil {
		return nil, err
	}
	for _, d := range only {
		facts = append(facts, fact{Name: "Only domain", Value: d.Label, Href: v.link("domains", d.Value)})
	}
	for _, network := range k.Networks {
		facts = append(facts, fact{Name: "Only from", Value: network, Code: true})
	}
	for _, at := range []struct {
		name string
		at   time.Time
	}{{"Last used", k.LastUsedAt}, {"Expires", k.ExpiresAt}, {"Rotated", k.RotatedAt}, {"Revoked", k.RevokedAt}} {
		if !at.at.IsZero() {
			facts = append(facts, fact{Name: at.name, Value: v.ago(at.at).Text})
		}
	}
	if k.LastUsedIP != "" {
		facts = append(facts, fact{Name: "Last used from", Value: k.LastUsedIP, Code: true})
	}
	return facts, nil
}

func rotateKey(v *visit) error {
	seconds, _ := strconv.ParseInt(v.value("grace"), 10, 64) // what is no number ends the old secret at once
	var k keyRecord
	err := v.send(http.MethodPost, apiPath("api-keys", v.path("id"), "rotate"), map[string]int64{"grace_sec": seconds}, &k)
	if refused := refusal(err); refused != nil {
		return v.showKey(refused)
	}
	if err != nil {
		return err
	}
	return v.showKeySecret(k, "The new secret")
}

func revokeKey(v *visit) error {
	if err := v.send(http.MethodDelete, apiPath("api-keys", v.path("id")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("keys"), "Revoked. Requests with the key are refused from now on.")
}
