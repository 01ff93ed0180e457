package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// credentialPage changes one credential, replaces its secret and tries it.
type credentialPage struct {
	shell
	credentialForm
	ID     string
	Record credentialRecord
	Facts  []fact
	Uses   []crumb
	Test   *credentialTest
	// Tested says in a sentence what the test showed.
	Tested    string
	URL       string
	Rotate    *problem
	TestWrong *problem
}

// credentialPage finds a credential; the API has no way to ask for one, so the list is searched.
func (v *visit) credentialPage() (credentialPage, error) {
	var p credentialPage
	id := v.path("id")
	for offset := 0; p.ID == ""; offset += 200 {
		var list listOf[credentialRecord]
		if err := v.get("/v1/automation-credentials", url.Values{"limit": {"200"}, "offset": {fmt.Sprint(offset)}}, &list); err != nil {
			return p, err
		}
		for _, c := range list.Data {
			if c.ID == id {
				p.ID, p.Record = id, c
			}
		}
		if p.ID == "" && !list.HasMore {
			return p, &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such credential."}
		}
	}
	v.describeCredential(&p)
	return p, nil
}

func (v *visit) describeCredential(p *credentialPage) {
	c := p.Record
	p.shell = v.shell(visible(c.Name), "automations").with("flow.css").under(crumb{"Automations", v.link("automations")}, crumb{"Credentials", v.link("credentials")})
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	p.credentialForm = credentialForm{Name: c.Name, Type: c.Type, Username: text(c.Username), HeaderName: text(c.HeaderName), Hosts: strings.Join(c.AllowedHosts, "\n"), BaseURL: text(c.BaseURL),
		Timeout: c.Settings.TimeoutMS.String()}
	if len(c.Settings.DefaultHeaders) > 0 {
		p.Headers = textOf(anyMap(c.Settings.DefaultHeaders))
	}
	p.URL = text(c.BaseURL)
	if p.URL == "" && len(c.AllowedHosts) > 0 {
		p.URL = "https://" + c.AllowedHosts[0] + "/"
	}
	p.Facts = []fact{{Name: "Credential ID", Value: c.ID, Code: true, Copy: true}, {Name: "Kind", Value: credentialKind(c.Type)}, {Name: "Added", Value: v.moment(c.CreatedAt).Text}}
	if c.SecretPrefix != nil {
		p.Facts = append(p.Facts, fact{Name: "Begins with", Value: *c.SecretPrefix + "…", Code: true})
	}
	if c.RotatedAt != nil {
		p.Facts = append(p.Facts, fact{Name: "Replaced", Value: v.moment(*c.RotatedAt).Text})
	}
	if c.LastUsedAt != nil {
		p.Facts = append(p.Facts, fact{Name: "Last used", Value: v.ago(*c.LastUsedAt).Text})
	}
	for i, use := range c.InUseBy {
		p.Uses = append(p.Uses, crumb{fmt.Sprintf("Automation %d", i+1), v.link("automations", use)})
	}
	if p.Test = c.LastTest; p.Test != nil {
		p.Tested = sayTest(*p.Test) + " " + v.ago(p.Test.TestedAt).Text
	}
}

func anyMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for key, value := range m {
		out[key] = value
	}
	return out
}

func sayTest(t credentialTest) string {
	switch {
	case t.Error != nil:
		return visible(*t.Error)
	case t.StatusCode != nil:
		return fmt.Sprintf("The server answered %d after %d ms,", *t.StatusCode, t.DurationMS)
	}
	return "Nothing was answered,"
}

// nameUses looks up how the automations are called that use the credential.
func (v *visit) nameUses(p *credentialPage) error {
	for i, id := range p.Record.InUseBy {
		var a automationRecord
		if err := v.get(apiPath("automations", id), nil, &a); err != nil {
			return err
		}
		p.Uses[i].Label = visible(a.Name)
	}
	return nil
}

func showCredential(v *visit) error {
	p, err := v.credentialPage()
	if err != nil {
		return err
	}
	return v.drawCredential(http.StatusOK, p)
}

func (v *visit) drawCredential(status int, p credentialPage) error {
	if err := v.nameUses(&p); err != nil {
		return err
	}
	return v.showStatus(status, "credentials/detail", p)
}

func saveCredential(v *visit) error {
	p, err := v.credentialPage()
	if err != nil {
		return err
	}
	kind := p.Type
	p.credentialForm = v.credentialForm()
	p.Type = kind
	body, wrong := p.body()
	if wrong == nil {
		err = v.send(http.MethodPatch, apiPath("automation-credentials", p.ID), body, nil)
		wrong = refusal(err)
	}
	if p.Problem = wrong; wrong != nil {
		return v.drawCredential(wrong.Status, p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("credentials", p.ID), "Saved.")
}

func rotateCredential(v *visit) error {
	p, err := v.credentialPage()
	if err != nil {
		return err
	}
	err = v.send(http.MethodPost, apiPath("automation-credentials", p.ID, "rotate"), map[string]string{"secret": v.value("secret")}, nil)
	if p.Rotate = refusal(err); p.Rotate != nil {
		return v.drawCredential(p.Rotate.Status, p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("credentials", p.ID), "The secret is replaced. Steps use the new one from now on.")
}

func testCredential(v *visit) error {
	p, err := v.credentialPage()
	if err != nil {
		return err
	}
	p.URL = v.value("url")
	err = v.send(http.MethodPost, apiPath("automation-credentials", p.ID, "test"), map[string]string{"url": p.URL, "method": orElse(v.value("method"), "GET")}, nil)
	if p.TestWrong = refusal(err); p.TestWrong != nil {
		return v.drawCredential(p.TestWrong.Status, p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("credentials", p.ID), "Tested. The result stands below.")
}

func deleteCredential(v *visit) error {
	p, err := v.credentialPage()
	if err != nil {
		return err
	}
	err = v.send(http.MethodDelete, apiPath("automation-credentials", p.ID), nil, nil)
	if p.Problem = refusal(err); p.Problem != nil {
		return v.drawCredential(p.Problem.Status, p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("credentials"), "The credential is deleted.")
}
