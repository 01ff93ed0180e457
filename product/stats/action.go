package stats

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"postrider/platform/api"
)

// severity says how soon something should be done.
type severity string

const (
	critical severity = "critical"
	warning  severity = "warning"
	info     severity = "info"
)

// action is something that a person can do to have more mail arrive.
type action struct {
	Code     string   `json:"code" example:"raise_dmarc_policy"`
	Severity severity `json:"severity" example:"info"`
	Title    string   `json:"title" example:"Move DMARC to quarantine"`
	Message  string   `json:"message" example:"SPF and DKIM of acme.com have passed for 30 days. Set dmarc_policy to quarantine and publish the new record."`
	Domain   api.Ref  `json:"domain_id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	Tenant   api.Ref  `json:"managed_tenant_id"`
	ISP      api.Ref  `json:"isp"`
	Doc      api.Ref  `json:"doc"`
}

const (
	// settled is how long a domain must have been well before its policy should become stricter.
	settled = 30 * day
	// maxActions is as much as a person can take in; the most urgent come first.
	maxActions = 20
	// fewReported is how much others must have seen before their reports ask for something.
	fewReported = 100
	// poorlyProven is which part of a domain's mail should at least be its own; forwarders break the rest. unsafeSessions is which
	// part of the connections may fail now and then.
	poorlyProven   = 0.95
	unsafeSessions = 0.01
)

// actionsOfDomains tells what to publish, the most urgent first.
func actionsOfDomains(domains []Domain, now time.Time) []action {
	if len(domains) == 0 {
		return []action{{Code: "add_domain", Severity: critical, Title: "Add a sending domain",
			Message: "Register the domain you send from and publish its DNS records. Without one, no mail can be sent."}}
	}
	var actions []action
	for _, d := range domains {
		actions = append(actions, d.actions(now)...)
	}
	rank := map[severity]int{critical: 0, warning: 1, info: 2}
	slices.SortStableFunc(actions, func(a, b action) int { return cmp.Compare(rank[a.Severity], rank[b.Severity]) })
	return actions[:min(len(actions), maxActions)]
}

func (d Domain) actions(now time.Time) []action {
	var actions []action
	add := func(code string, s severity, title, message string) {
		actions = append(actions, action{Code: code, Severity: s, Title: title, Message: message, Domain: api.Ref(d.ID)})
	}
	if !d.stands(d.DKIM) {
		add("publish_dkim", critical, "Publish the DKIM record of "+d.Name,
			fmt.Sprintf("Receivers cannot check the signature of mail from %s (%s). Publish the DKIM record shown with the domain, then verify it.", d.Name, said(d.DKIM)))
	}
	if !d.stands(d.SPF) {
		add("publish_spf", critical, "Publish the SPF record of "+d.Name,
			fmt.Sprintf("SPF of %s does not allow our servers (%s). Publish the SPF record shown with the domain, then verify it.", d.Name, said(d.SPF)))
	}
	if !d.stands(d.DMARC) {
		add("publish_dmarc", warning, "Publish a DMARC record for "+d.Name,
			fmt.Sprintf("Google and Yahoo want a DMARC record of whoever sends in bulk, and %s has none that counts (%s). Begin with the policy none.", d.Name, said(d.DMARC)))
	}
	if !d.stands(d.ReturnPath) {
		add("fix_return_path", info, "Point the return path of "+d.Name+" to us",
			fmt.Sprintf("Bounces of %s go to a name of ours, so SPF is not aligned. Publish the return-path record shown with the domain.", d.Name))
	}
	if r := d.Reports; r.Messages >= fewReported && rate(r.Passed, r.Messages) < poorlyProven {
		add("unproven_mail", warning, "Find who else sends as "+d.Name,
			fmt.Sprintf("Other providers report that %.1f %% of %d mails in the name of %s were not proven to be yours. Find the services that send them and sign their mail, or raise the policy if they are not yours.",
				100-100*rate(r.Passed, r.Messages), r.Messages, d.Name))
	}
	if r := d.Reports; r.Sessions >= fewReported && rate(r.Failed, r.Sessions) > unsafeSessions {
		add("unsafe_connections", warning, "Mend the encryption of mail to "+d.Name,
			fmt.Sprintf("Other providers report that %.1f %% of their connections to deliver mail to %s were not safe. Check the certificates of its mail servers.", 100*rate(r.Failed, r.Sessions), d.Name))
	}
	if d.DKIM == pass && d.SPF == pass && d.DMARC == pass && d.Policy == "none" && !d.VerifiedAt.IsZero() && now.Sub(d.VerifiedAt) >= settled {
		add("raise_dmarc_policy", info, "Move DMARC of "+d.Name+" to quarantine",
			fmt.Sprintf("SPF and DKIM of %s have passed for %d days. Set dmarc_policy to quarantine and publish the new record.", d.Name, int(now.Sub(d.VerifiedAt)/day)))
	}
	return actions
}

// said is what a look at DNS has shown, in words.
func said(status string) string {
	words := map[string]string{"missing": "there is no record", "mismatch": "the record says something else", "multiple": "there is more than one record",
		"too_many_lookups": "the record needs too many look-ups", "dns_error": "the name servers did not answer", "not_checked": "nobody has looked yet"}
	if text, ok := words[status]; ok {
		return text
	}
	return status
}

// actionsOfMail tells what to change about whom mail is sent to, and how fast.
func actionsOfMail(rates Rates, providers []providerRecord) []action {
	var actions []action
	if rates.Bounce > bounceLimit {
		actions = append(actions, action{Code: "reduce_bounces", Severity: critical, Title: "Clean your lists",
			Message: fmt.Sprintf("%.1f %% of your mail bounces; above %.0f %% providers begin to distrust you. Remove addresses that bounced, and confirm new ones before you mail them.",
				100*rates.Bounce, 100*bounceLimit)})
	}
	if rates.Complaint > complaintLimit {
		actions = append(actions, action{Code: "reduce_complaints", Severity: critical, Title: "Mail only those who asked for it",
			Message: fmt.Sprintf("%.2f %% of your readers call your mail spam; stay below %.1f %%. Show the unsubscribe link, and leave out who has not opened for months.",
				100*rates.Complaint, 100*complaintLimit)})
	}
	for _, p := range providers {
		switch {
		case p.Status == blocked:
			actions = append(actions, action{Code: "ask_provider", Severity: critical, Title: ispName(p.ISP) + " refuses your mail", ISP: api.Ref(p.ISP),
				Message: fmt.Sprintf("%s refuses %.1f %% of your mail for what it is, not for whom. Read the answers in the log, stop mailing readers there who do not react, and ask its postmaster.",
					ispName(p.ISP), 100*p.Block)})
		case p.Status == degraded && p.Deferral > slowDeferrals:
			actions = append(actions, action{Code: "slow_down", Severity: warning, Title: "Send to " + ispName(p.ISP) + " more slowly", ISP: api.Ref(p.ISP),
				Message: fmt.Sprintf("%s asks to come back later for %.0f %% of your mail. Spread large sends over more hours.", ispName(p.ISP), 100*p.Deferral)})
		case p.Status == degraded:
			actions = append(actions, action{Code: "review_provider", Severity: warning, Title: "Look at your mail to " + ispName(p.ISP), ISP: api.Ref(p.ISP),
				Message: fmt.Sprintf("Only %.1f %% of your mail to %s arrives. Look at the bounces in the log and remove addresses that do not exist.", 100*p.Delivery, ispName(p.ISP))})
		}
	}
	return actions
}

// actionsOfHolds tells who is held back, and what lets them go on.
func actionsOfHolds(holds []Hold) []action {
	actions := make([]action, 0, len(holds))
	for _, h := range holds {
		who := "Your workspace"
		if h.Tenant != "" {
			who = "A managed customer"
		}
		a := action{Code: "sender_" + h.Step, Severity: critical, Title: who + " is " + h.Step, Tenant: api.Ref(h.Tenant)}
		switch h.Step {
		case "throttled":
			a.Message = fmt.Sprintf("%s has so many bounces or complaints that its new mail is spread over time, %d recipients an hour. Mail only addresses that are known to be good until the rate has fallen.", who, h.Hourly)
		case "paused":
			a.Message = who + " was stopped because of its bounces or complaints. Find the cause, then resume it."
		default:
			a.Severity = warning
			a.Message = who + " has so many bounces or complaints that it will be slowed down if nothing changes. Remove addresses that bounce, and mail only who asked for it."
		}
		actions = append(actions, a)
	}
	return actions
}
