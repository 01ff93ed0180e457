package web

import (
	"net/http"
)

// cloudflarePart is the set-up at Cloudflare: by a link, or with an account that is connected.
type cloudflarePart struct {
	Connections []choice
	// Mail, Inbound and Overwrite are what is ticked.
	Mail, Inbound, Overwrite bool
	// Link leads to the page where the owner agrees, once it was asked for.
	Link    string
	Results []applyResult
	Applied int
	Failed  int
}

// applyResult is what became of one record.
type applyResult struct{ Type, Name, Action, Error string }

func (v *visit) cloudflarePart(d domainRecord) (cloudflarePart, error) {
	part := cloudflarePart{Mail: true, Inbound: d.ReceivingWanted}
	if !v.shell("", "").Manages() {
		return part, nil
	}
	var list listOf[struct {
		ID, Name string
		TokenEnd string `json:"api_token_last4"`
	}]
	if err := v.get(v.home("dns-connections"), nil, &list); err != nil {
		return part, err
	}
	for _, c := range list.Data {
		part.Connections = append(part.Connections, choice{Value: c.ID, Label: visible(c.Name) + " (token ends in " + c.TokenEnd + ")"})
	}
	return part, nil
}

// selected are the records that were chosen.
func (v *visit) selected() map[string]bool {
	return map[string]bool{"mail": v.checked("mail"), "inbound": v.checked("inbound")}
}

// keepChoices puts back what was chosen: another press of the button is to write no other records.
func (v *visit) keepChoices(p *domainPage) {
	c := &p.Cloudflare
	c.Mail, c.Inbound, c.Overwrite = v.checked("mail"), v.checked("inbound"), v.checked("overwrite")
	c.Connections = rechosen(c.Connections, v.value("connection_id"))
}

// linkToCloudflare asks for a link and shows it: the browser may not be sent elsewhere by a form of ours.
func linkToCloudflare(v *visit) error {
	var link struct{ URL string }
	err := v.send(http.MethodPost, apiPath("domains", v.path("id"), "domain-connect", "cloudflare-url"), map[string]any{"records": v.selected()}, &link)
	if err != nil {
		return v.domainChanged(err, "cloudflare", "", v.keepChoices)
	}
	return v.showDomain(nil, "cloudflare", func(p *domainPage) {
		v.keepChoices(p)
		p.Cloudflare.Link = link.URL
	})
}

func applyAtCloudflare(v *visit) error {
	var applied struct {
		Results []applyResult
		Applied int
		Failed  int
	}
	body := map[string]any{"records": v.selected(), "overwrite": v.checked("overwrite")}
	if id := v.value("connection_id"); id != "" {
		body["connection_id"] = id
	}
	err := v.send(http.MethodPost, apiPath("domains", v.path("id"), "cloudflare", "apply"), body, &applied)
	if err != nil {
		return v.domainChanged(err, "cloudflare", "", v.keepChoices)
	}
	return v.showDomain(nil, "cloudflare", func(p *domainPage) {
		v.keepChoices(p)
		p.Cloudflare.Results, p.Cloudflare.Applied, p.Cloudflare.Failed = applied.Results, applied.Applied, applied.Failed
	})
}
