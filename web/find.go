package web

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// findPage says that nothing was found, and what can be looked for.
type findPage struct {
	shell
	Query string
}

var (
	idText     = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	keyText    = regexp.MustCompile(`^pr_(live|test)_[0-9A-Za-z]{1,10}`)
	domainText = regexp.MustCompile(`^[\pL\pN-]+(\.[\pL\pN-]+)+$`)
)

// find goes to what a text names: an email, an address, a domain, a key, a request, or whatever else has this id.
func find(v *visit) error {
	text := strings.TrimSpace(v.query("q"))
	to, err := v.targetOf(text)
	if err != nil {
		return err
	}
	if to != "" {
		http.Redirect(v.w, v.r, to, http.StatusSeeOther)
		return nil
	}
	return v.show("people/find", findPage{v.shell("Search", ""), visible(text)})
}

func (v *visit) targetOf(text string) (string, error) {
	switch {
	case text == "":
		return "", nil
	case idText.MatchString(text):
		return v.ofID(strings.ToLower(text))
	case strings.HasPrefix(text, "req_"):
		return v.ofRequest(text)
	case keyText.MatchString(text):
		return v.ofKey(keyText.FindString(text))
	case strings.HasPrefix(text, "<") || strings.Count(text, "@") > 1:
		return v.ofSearch(text)
	case strings.Contains(text, "@"):
		return v.link("people", strings.ToLower(strings.TrimPrefix(text, "mailto:"))), nil
	case domainText.MatchString(text):
		if to, err := v.ofDomain(text); to != "" || err != nil {
			return to, err
		}
	}
	return v.ofSearch(text)
}

// places are where an id may belong: the right to look there, the path of the API, and the page.
var places = []struct {
	scope     string
	api, page []string
}{
	{"email:read", []string{"emails"}, []string{"emails"}}, {"domain:read", []string{"domains"}, []string{"domains"}},
	{"logs:read", []string{"logs"}, []string{"logs"}}, {"webhook:read", []string{"webhooks"}, []string{"webhooks"}},
	{"webhook:read", []string{"webhook-deliveries"}, []string{"webhooks", "deliveries"}}, {"template:read", []string{"templates"}, []string{"templates"}},
	{"audience:read", []string{"contacts"}, []string{"audience", "contacts"}}, {"audience:read", []string{"broadcasts"}, []string{"broadcasts"}},
	{"automation:read", []string{"automations"}, []string{"automations"}}, {"tenant:read", []string{"managed-tenants"}, []string{"customers"}},
	{"email:read", []string{"emails", "receiving"}, []string{"inbox"}},
}

func (v *visit) ofID(id string) (string, error) {
	for _, place := range places {
		if !v.can(place.scope) {
			continue
		}
		err := v.get(apiPath(append(append([]string{}, place.api...), id)...), nil, nil)
		if err == nil {
			return v.link(append(append([]string{}, place.page...), id)...), nil
		}
		if p, ok := err.(*problem); !ok || p.Status >= 500 || p.Status == http.StatusTooManyRequests {
			return "", err
		}
	}
	if v.shell("", "").Manages() {
		if _, err := v.findKey(id); err == nil {
			return v.link("keys", id), nil
		}
	}
	return "", nil
}

func (v *visit) ofRequest(id string) (string, error) {
	if !v.can("logs:read") {
		return "", nil
	}
	var list listOf[logRecord]
	if err := v.get("/v1/logs", url.Values{"search": {id}, "limit": {"10"}}, &list); err != nil {
		return "", err
	}
	for _, e := range list.Data {
		if e.RequestID == id {
			return v.link("logs", e.ID), nil
		}
	}
	return "", nil
}

func (v *visit) ofKey(prefix string) (string, error) {
	if !v.shell("", "").Manages() {
		return "", nil
	}
	var list listOf[keyRecord]
	if err := v.get("/v1/api-keys", url.Values{"search": {prefix}, "limit": {"10"}}, &list); err != nil {
		return "", err
	}
	for _, k := range list.Data {
		if strings.HasPrefix(k.Prefix, prefix) {
			return v.link("keys", k.ID), nil
		}
	}
	return "", nil
}

func (v *visit) ofDomain(name string) (string, error) {
	if !v.can("domain:read") {
		return "", nil
	}
	d, err := v.domainCalled(name)
	if err != nil || d.ID == "" {
		return "", err
	}
	return v.link("domains", d.ID), nil
}

// domainCalled is the domain of a name; the zero one if there is none. The API finds all whose names have this one in them.
func (v *visit) domainCalled(name string) (domainRecord, error) {
	all, err := every[domainRecord](v, "/v1/domains", url.Values{"search": {name}}, 0)
	if i := slices.IndexFunc(all, func(d domainRecord) bool { return strings.EqualFold(d.Domain, name) }); i >= 0 {
		return all[i], nil
	}
	return domainRecord{}, err
}

// ofSearch looks for emails; one goes straight to it, several to their list.
func (v *visit) ofSearch(text string) (string, error) {
	if !v.can("email:read") {
		return "", nil
	}
	var list struct{ Data []emailRecord }
	err := v.get("/v1/emails", url.Values{"search": {text}, "limit": {"2"}}, &list)
	if refusal(err) != nil {
		return "", nil
	}
	switch {
	case err != nil || len(list.Data) == 0:
		return "", err
	case len(list.Data) == 1:
		return v.link("emails", list.Data[0].ID), nil
	}
	return v.link("emails") + "?" + url.Values{"q": {text}}.Encode(), nil
}
