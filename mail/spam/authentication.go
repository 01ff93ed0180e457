package spam

import "strings"

var (
	adviceVerify = advice{"verify_domain", "Add the sender's domain and publish its DNS records until it is verified."}
	adviceAlign  = advice{"align_from", "Send from an address on the domain that is authenticated."}
	adviceSPF    = advice{"fix_spf", "Publish the SPF record that the domain's page shows."}
	adviceDKIM   = advice{"fix_dkim", "Publish the DKIM record that the domain's page shows."}
	adviceDMARC  = advice{"fix_dmarc", "Publish a DMARC record for the domain, beginning with v=DMARC1; p=none."}
)

var authenticationRules = []rule{
	{
		id: "DOMAIN_UNVERIFIED", severity: Critical, score: 2,
		description: "The sender's domain is not verified.",
		advice:      adviceVerify,
		when:        func(f *facts) bool { return !f.Authentication.Verified },
	},
	{
		id: "DOMAIN_NOT_ALIGNED", severity: Warning, score: 1.5,
		description: "The sender's domain is not the one that is authenticated.",
		advice:      adviceAlign,
		when: func(f *facts) bool {
			domain := strings.ToLower(f.Authentication.Domain)
			return domain != "" && f.sender.Domain != "" && !sameOwner(domain, f.sender.Domain)
		},
	},
	authenticationRule("SPF_FAIL", Critical, 1.5, "SPF does not pass.", adviceSPF, spfOf, fails),
	authenticationRule("SPF_NONE", Warning, 0.5, "The domain has no SPF record.", adviceSPF, spfOf, isNone),
	authenticationRule("DKIM_FAIL", Critical, 2, "DKIM does not pass.", adviceDKIM, dkimOf, fails),
	authenticationRule("DKIM_NONE", Warning, 1, "The message would not be signed with DKIM.", adviceDKIM, dkimOf, isNone),
	authenticationRule("DMARC_FAIL", Critical, 2, "DMARC does not pass.", adviceDMARC, dmarcOf, fails),
	authenticationRule("DMARC_NONE", Warning, 0.5, "The domain has no DMARC record.", adviceDMARC, dmarcOf, isNone),
}

func authenticationRule(id string, severity Severity, score float64, description string, a advice,
	of func(Authentication) string, claim func(string) bool) rule {
	return rule{
		id: id, severity: severity, score: score, description: description, advice: a,
		when: func(f *facts) bool { return claim(strings.ToLower(of(f.Authentication))) },
	}
}

func spfOf(a Authentication) string   { return a.SPF }
func dkimOf(a Authentication) string  { return a.DKIM }
func dmarcOf(a Authentication) string { return a.DMARC }

// fails leaves out passing errors of name servers (temperror), which say nothing about the sender.
func fails(result string) bool {
	return result == "fail" || result == "softfail" || result == "permerror" || result == "policy"
}

func isNone(result string) bool { return result == "none" || result == "neutral" }
