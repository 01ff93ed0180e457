package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// forwardingPage lists the rules that pass mail on, and takes a new one.
type forwardingPage struct {
	shell
	Rules   []ruleRow
	Pager   pager
	Asked   ruleForm
	Problem *problem
}

type ruleRow struct {
	Address, To, Description, State, Href string
	Passed                                string
	Everyone, KeepCopy                    bool
	Last                                  moment
	Error                                 string
}

type ruleRecord struct {
	ID, Address, Domain, Mode, Description string
	MatchType                              string   `json:"match_type"`
	ForwardTo                              []string `json:"forward_to"`
	Enabled                                bool
	KeepCopy                               bool      `json:"keep_copy"`
	Forwarded                              int64     `json:"forwarded_count"`
	Last                                   time.Time `json:"last_forwarded_at"`
	LastError                              string    `json:"last_error"`
}

// ruleForm is a rule as it is filled in.
type ruleForm struct {
	Address, To, Mode, Description string
	Enabled, KeepCopy              bool
}

func (v *visit) postedRule() ruleForm {
	return ruleForm{Address: strings.TrimSpace(v.value("address")), To: v.value("forward_to"), Mode: v.value("mode"), Description: v.value("description"),
		Enabled: v.checked("enabled"), KeepCopy: v.checked("keep_copy")}
}

func (f ruleForm) body() map[string]any {
	to := addresses(f.To)
	if to == nil {
		to = []string{}
	}
	return map[string]any{"forward_to": to, "enabled": f.Enabled, "keep_copy": f.KeepCopy, "mode": f.Mode, "description": f.Description}
}

func (v *visit) forwardingPage() (forwardingPage, error) {
	p := forwardingPage{shell: v.shell("Forwarding", "inbox").under(crumb{"Inbox", v.link("inbox")}).with("inbox.css"), Asked: ruleForm{Mode: "rewrite", Enabled: true, KeepCopy: true}}
	var list struct {
		Total int64
		Data  []ruleRecord
	}
	if err := v.get("/v1/emails/receiving/forwarding", v.pageQuery(), &list); err != nil {
		return p, err
	}
	for _, r := range list.Data {
		row := ruleRow{Address: r.Address, To: visible(strings.Join(r.ForwardTo, ", ")), Description: visible(r.Description), State: "disabled", Everyone: r.MatchType == "catch_all",
			KeepCopy: r.KeepCopy, Passed: v.plural(r.Forwarded, "message", "messages"), Last: v.lately(r.Last), Error: visible(r.LastError), Href: v.link("inbox", "forwarding", "rules", r.ID)}
		if r.Enabled {
			row.State = "enabled"
		}
		p.Rules = append(p.Rules, row)
	}
	p.Pager = v.pager(len(p.Rules), list.Total)
	return p, nil
}

func listForwarding(v *visit) error {
	p, err := v.forwardingPage()
	if err != nil {
		return err
	}
	return v.show("inbox/forwarding", p)
}

func addForwarding(v *visit) error {
	asked := v.postedRule()
	body := asked.body()
	body["address"] = asked.Address
	err := v.send(http.MethodPost, "/v1/emails/receiving/forwarding", body, nil)
	if refused, ok := err.(*problem); ok {
		p, err := v.forwardingPage()
		if err != nil {
			return err
		}
		p.Asked, p.Problem = asked, refused
		return v.showStatus(refused.Status, "inbox/forwarding", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("inbox", "forwarding"), "Mail to "+asked.Address+" is passed on from now on.")
}

// rulePage changes one rule.
type rulePage struct {
	shell
	Rule    ruleRecord
	Asked   ruleForm
	Error   string
	Problem *problem
}

// rulePage finds a rule in the list: the API has no look at a single one.
func (v *visit) rulePage() (rulePage, error) {
	var p rulePage
	for offset := 0; ; offset += pageSize {
		query := v.pageQuery()
		query.Set("offset", strconv.Itoa(offset))
		var list struct {
			Data []ruleRecord
			More bool `json:"has_more"`
		}
		if err := v.get("/v1/emails/receiving/forwarding", query, &list); err != nil {
			return p, err
		}
		for _, r := range list.Data {
			if r.ID != v.path("rule") {
				continue
			}
			p.shell = v.shell(r.Address, "inbox").under(crumb{"Inbox", v.link("inbox")}, crumb{"Forwarding", v.link("inbox", "forwarding")}).with("inbox.css")
			p.Rule, p.Error = r, visible(r.LastError)
			p.Asked = ruleForm{r.Address, strings.Join(r.ForwardTo, ", "), r.Mode, r.Description, r.Enabled, r.KeepCopy}
			return p, nil
		}
		if !list.More {
			return p, &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such forwarding rule. It may have been removed."}
		}
	}
}

func showForwarding(v *visit) error {
	p, err := v.rulePage()
	if err != nil {
		return err
	}
	return v.show("inbox/rule", p)
}

func changeForwarding(v *visit) error {
	asked := v.postedRule()
	err := v.send(http.MethodPatch, apiPath("emails", "receiving", "forwarding", v.path("rule")), asked.body(), nil)
	if refused, ok := err.(*problem); ok && refused.Status != http.StatusNotFound {
		p, err := v.rulePage()
		if err != nil {
			return err
		}
		asked.Address = p.Rule.Address
		p.Asked, p.Problem = asked, refused
		return v.showStatus(refused.Status, "inbox/rule", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("inbox", "forwarding"), "Rule saved.")
}

func removeForwarding(v *visit) error {
	if err := v.send(http.MethodDelete, apiPath("emails", "receiving", "forwarding", v.path("rule")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("inbox", "forwarding"), "Rule removed. Mail to the address stays here.")
}
