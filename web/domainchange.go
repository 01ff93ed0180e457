package web

import (
	"net/http"
	"net/url"
	"strings"
)

// domainForm are the settings of a domain.
type domainForm struct {
	OpenTracking, ClickTracking, Sending bool
	Tracking, ReturnPath, TypedName      string
	TLS, Policies, Ways                  []choice
}

func (v *visit) domainForm(d domainRecord) (domainForm, error) {
	way := d.Provider
	if d.NodeID != "" {
		way = nodeWay + d.NodeID
	}
	ways, err := v.domainWays(way)
	return domainForm{OpenTracking: d.OpenTracking, ClickTracking: d.ClickTracking, Sending: d.Capabilities.Sending == "enabled", Tracking: d.TrackingLabel,
		ReturnPath: d.ReturnPath, TLS: tlsChoices(d.TLS), Policies: policyChoices(askedPolicy(d)), Ways: ways}, err
}

// askedPolicy is the DMARC policy that the domain is asked to publish; it stands only in the record.
func askedPolicy(d domainRecord) string {
	for _, r := range d.Records {
		if r.Purpose == "dmarc" {
			_, after, _ := strings.Cut(r.Value, "p=")
			policy, _, _ := strings.Cut(after, ";")
			return strings.TrimSpace(policy)
		}
	}
	return "none"
}

// nodeWay begins the value of a way that leads through one node.
const nodeWay = "node:"

// domainWays are how mail of a domain can go out.
func (v *visit) domainWays(now string) ([]choice, error) {
	pairs := []string{"inherit", "As the workspace does", "direct", "Straight to the receivers", "relay", "Through the workspace's relay"}
	nodes, err := every[struct{ ID, Name, Hostname string }](v, "/v1/sending-nodes", nil, maxOffered)
	if err != nil && refusal(err) == nil {
		return nil, err
	}
	for _, node := range nodes {
		pairs = append(pairs, nodeWay+node.ID, "Only from "+visible(node.Name)+" ("+visible(node.Hostname)+")")
	}
	return keeping(choices(now, pairs...), now), nil
}

// domainChanged goes on after a change, or shows the page again with why it was refused.
func (v *visit) domainChanged(err error, form, notice string, change func(*domainPage)) error {
	if refused := refusal(err); refused != nil {
		return v.showDomain(refused, form, change)
	}
	if err != nil {
		return err
	}
	to := v.link("domains", v.path("id"))
	if form != "" {
		to += "?tab=" + form
	}
	return v.redirect(to, notice)
}

func checkDomain(v *visit) error {
	var d domainRecord
	err := v.send(http.MethodPost, apiPath("domains", v.path("id"), "verify"), nil, &d)
	notice := "Checked. What is missing is marked below; changes in DNS can take some minutes to be seen."
	if d.Verified {
		notice = "Checked. The domain is verified, and mail can be sent from it."
	}
	return v.domainChanged(err, "", notice, nil)
}

// publishInSandbox plays the owner who goes to the registrar, for domains that exist only on this machine.
func publishInSandbox(v *visit) error {
	var d domainRecord
	if err := v.get(apiPath("domains", v.path("id")), nil, &d); err != nil {
		return err
	}
	if v.dashboard.config.Sandbox == nil || !v.can("domain:manage") {
		return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no sandbox here."}
	}
	r, err := http.NewRequestWithContext(v.r.Context(), http.MethodPost, "/sandbox/domains/"+url.PathEscape(d.Domain)+"/publish", http.NoBody)
	if err != nil {
		return err
	}
	got := &answer{status: http.StatusOK, header: http.Header{}}
	v.dashboard.config.Sandbox.ServeHTTP(got, r)
	if got.status >= 400 {
		return got.problem()
	}
	return checkDomain(v)
}

// healthCheck is one thing that has to be well before a domain can receive.
type healthCheck struct {
	Pass        bool
	Title, Text string
}

// healthTitles are what the checks of the API look at.
var healthTitles = map[string]string{"receiver": "This installation takes mail", "domain": "The domain is verified", "mx": "The MX record leads here"}

// healthChecks reads why receiving was refused.
func healthChecks(refused *problem) []healthCheck {
	list, _ := refused.Details["checks"].([]any)
	var all []healthCheck
	for _, item := range list {
		check, _ := item.(map[string]any)
		name, _ := check["name"].(string)
		text, _ := check["message"].(string)
		title := healthTitles[name]
		if title == "" {
			title = words(name)
		}
		all = append(all, healthCheck{check["status"] == "pass", title, visible(text)})
	}
	return all
}

func switchReceiving(v *visit) error {
	on := v.value("enabled") == "true"
	err := v.send(http.MethodPost, apiPath("domains", v.path("id"), "receiving"), map[string]bool{"enabled": on}, nil)
	notice := "Receiving is off. Servers that deliver to the domain are refused."
	if on {
		notice = "Receiving is on. Mail to every address of the domain lands in your inbox."
	}
	return v.domainChanged(err, "receiving", notice, func(p *domainPage) { p.Health = healthChecks(p.Problem) })
}

func saveDomain(v *visit) error {
	form := domainForm{OpenTracking: v.checked("open_tracking"), ClickTracking: v.checked("click_tracking"), Sending: v.checked("sending"),
		Tracking: v.value("tracking_subdomain"), ReturnPath: v.value("custom_return_path"), TLS: tlsChoices(v.value("tls")), Policies: policyChoices(v.value("dmarc_policy"))}
	sending := "disabled"
	if form.Sending {
		sending = "enabled"
	}
	body := map[string]any{"open_tracking": form.OpenTracking, "click_tracking": form.ClickTracking, "tracking_subdomain": form.Tracking,
		"custom_return_path": form.ReturnPath, "tls": v.value("tls"), "dmarc_policy": v.value("dmarc_policy"), "capabilities": map[string]string{"sending": sending}}
	if node, only := strings.CutPrefix(v.value("way"), nodeWay); only {
		body["sending_node_id"] = node
	} else {
		body["provider"], body["sending_node_id"] = v.value("way"), nil
	}
	err := v.send(http.MethodPatch, apiPath("domains", v.path("id")), body, nil)
	return v.domainChanged(err, "settings", "Saved. A changed name has a new record to publish.", func(p *domainPage) {
		form.Ways = keeping(rechosen(p.Form.Ways, v.value("way")), v.value("way"))
		p.Form = form
	})
}

func rotateDomainKey(v *visit) error {
	err := v.send(http.MethodPost, apiPath("domains", v.path("id"), "rotate-dkim"), nil, nil)
	if refused := refusal(err); refused != nil {
		return v.showDomain(refused, "settings", nil)
	}
	return v.domainChanged(err, "", "A new signing key is ready. It takes over once its record is published; until then the current one signs.", nil)
}

func deleteDomain(v *visit) error {
	id := v.path("id")
	var d domainRecord
	if err := v.get(apiPath("domains", id), nil, &d); err != nil {
		return err
	}
	typed := strings.TrimSpace(v.value("typed"))
	keep := func(p *domainPage) { p.Form.TypedName = typed }
	if !strings.EqualFold(typed, d.Domain) {
		wrong := &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "The name does not match. Nothing was deleted.",
			Fields: map[string]string{"typed": "Type " + d.Domain + " to delete it."}}
		return v.showDomain(wrong, "settings", keep)
	}
	path := apiPath("domains", id)
	if v.checked("force") {
		path += "?force=true"
	}
	err := v.send(http.MethodDelete, path, nil, nil)
	if err != nil {
		return v.domainChanged(err, "settings", "", keep)
	}
	return v.redirect(v.link("domains"), d.Domain+" is deleted. No more mail goes out from it.")
}
